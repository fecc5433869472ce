"""A page's certificate is made once, kept, and renewed when it cannot be used."""

import ipaddress
import ssl
import stat
import sys
from datetime import datetime, timedelta

import pytest
from cryptography import x509

from donkeysim.core.errors import SpecError
from donkeysim.web import access
from donkeysim.web.access import keep_certificate
from small_disk import forbid_writing, mount_disk

NAMES = ("localhost", "127.0.0.1", "::1", "car.local")


def read(kept):
    return x509.load_pem_x509_certificate(kept.chain.read_bytes())


def test_a_certificate_speaks_for_its_names_and_phones_accept_its_form(tmp_path):
    certificate = read(keep_certificate(tmp_path / "new", NAMES))
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost", "car.local"]
    assert ipaddress.ip_address("127.0.0.1") in names.get_values_for_type(x509.IPAddress)
    usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert x509.oid.ExtendedKeyUsageOID.SERVER_AUTH in usage
    assert certificate.not_valid_after_utc - certificate.not_valid_before_utc <= timedelta(days=825)


def test_it_is_kept_and_its_key_is_private(tmp_path):
    kept = keep_certificate(tmp_path, NAMES)
    before = (kept.chain.read_bytes(), kept.key.read_bytes())
    assert keep_certificate(tmp_path, NAMES) == kept
    assert (kept.chain.read_bytes(), kept.key.read_bytes()) == before
    if sys.platform != "win32":
        assert stat.S_IMODE(kept.key.stat().st_mode) == 0o600


@pytest.mark.parametrize("fault", ["no key", "no certificate", "broken", "another key", "ended"])
def test_one_that_cannot_be_used_is_made_anew(tmp_path, monkeypatch, fault):
    if fault == "ended":
        monkeypatch.setattr(access, "LIFETIME", timedelta(hours=5))
    kept = keep_certificate(tmp_path, NAMES)
    before = kept.chain.read_bytes()
    if fault == "no key":
        kept.key.unlink()
    elif fault == "no certificate":
        kept.chain.unlink()
    elif fault == "broken":
        kept.chain.write_text("-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n")
    elif fault == "another key":
        kept.key.write_bytes(keep_certificate(tmp_path / "other", NAMES).key.read_bytes())
    monkeypatch.undo()
    keep_certificate(tmp_path, NAMES)
    assert kept.chain.read_bytes() != before
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(kept.chain, kept.key)


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SpecError, match=r"cannot keep the page's certificate in .*\.$"):
        keep_certificate(tmp_path / "file" / "web", NAMES)


def test_one_that_begins_in_the_future_is_made_anew_as_when_a_clock_was_set_back(tmp_path, monkeypatch):
    class Future(datetime):
        @classmethod
        def now(cls, zone=None):
            return datetime.now(zone) + timedelta(days=400)

    with monkeypatch.context() as patch:
        patch.setattr(access, "datetime", Future)
        before = keep_certificate(tmp_path, NAMES).chain.read_bytes()
    assert keep_certificate(tmp_path, NAMES).chain.read_bytes() != before


def test_a_read_only_disk_is_told_with_what_to_do(tmp_path):
    with mount_disk(tmp_path / "disk") as disk:
        forbid_writing(disk)
        with pytest.raises(SpecError, match="Read-only file system; work in another folder"):
            keep_certificate(disk, NAMES)
