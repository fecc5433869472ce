"""A certificate that a page signs itself, kept in a folder, so that a phone asks about it once only."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from donkeysim.core.errors import SpecError
from donkeysim.core.files import describe_failure

if TYPE_CHECKING:
    from cryptography import x509

LIFETIME = timedelta(days=820)
"""Phones refuse certificates that are valid for longer than 825 days."""


@dataclass(frozen=True)
class Certificate:
    """Where a certificate and its private key lie, both PEM."""

    chain: Path
    key: Path


def keep_certificate(folder: Path, names: Iterable[str]) -> Certificate:
    """Return the folder's certificate; a new one where none can be read or holds for a day from now.

    Args:
        folder: Where `certificate.pem` and `key.pem` lie; made if need be.
        names: Host names and IP addresses a new certificate speaks for.

    Raises:
        SpecError: The folder cannot be written.
    """
    kept = Certificate(folder / "certificate.pem", folder / "key.pem")
    if not _is_usable(kept):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _write_certificate(kept, names)
        except OSError as error:
            raise SpecError(f"cannot keep the page's certificate in {folder}: {describe_failure(error)}.") from error
    return kept


def write_private(path: Path, content: bytes) -> None:
    """Write a file that only its owner can read (where the system knows owners)."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def _is_usable(kept: Certificate) -> bool:
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        certificate = x509.load_pem_x509_certificate(kept.chain.read_bytes())
        key = load_pem_private_key(kept.key.read_bytes(), password=None)
    except (OSError, ValueError, TypeError):
        return False
    now = datetime.now(UTC)
    is_valid = certificate.not_valid_before_utc <= now < certificate.not_valid_after_utc - timedelta(days=1)
    return is_valid and certificate.public_key() == key.public_key()


def _write_certificate(kept: Certificate, names: Iterable[str]) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.oid.NameOID.COMMON_NAME, "donkeysim")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.SubjectAlternativeName([_name_host(host) for host in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([x509.oid.ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    write_private(kept.key, key.private_bytes(*plain))
    kept.chain.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


def _name_host(host: str) -> x509.GeneralName:
    from cryptography import x509

    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)
