"""Who reaches a page and under which addresses: this machine only, or its network too, with a token and over TLS.

Its certificate it signs itself, and keeps it in a folder, so that a phone asks about it once only. From nobody it takes
more than it has use for (`read_body`).
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request

from donkeysim.core.errors import DonkeySimError, SpecError, WireError
from donkeysim.core.files import describe_failure
from donkeysim.web.listener import find_network_address, list_own_names
from donkeysim.web.origin import LOOPBACK_HOSTS

if TYPE_CHECKING:
    from cryptography import x509

# The longest body (4 MiB) comes in time at 3.4 Mbit/s; a client that sends a byte now and then would keep its
# connection for ever.
BODY_SECONDS = 10.0
"""Longest time that a body may take to come [s]."""

LIFETIME = timedelta(days=820)
"""Phones refuse certificates that are valid for longer than 825 days."""


@dataclass(frozen=True)
class Certificate:
    """Where a certificate and its private key lie, both PEM."""

    chain: Path
    key: Path


@dataclass(frozen=True)
class Access:
    """How a page is reached.

    Attributes:
        hosts: Names the page answers to, without port, in lower case.
        token: What others in the network must know; None: they do not reach the page.
        certificate: Of TLS; None: plain HTTP.
        url: Where the page is on this machine, without a slash at its end.
        network_url: Where others in the network find it, likewise; None when they cannot.
    """

    hosts: frozenset[str] = frozenset(LOOPBACK_HOSTS)
    token: str | None = None
    certificate: Certificate | None = None
    url: str = ""
    network_url: str | None = None


THIS_MACHINE = Access()
"""Nobody else reaches the page."""


def arrange_access(
    listener: socket.socket, make_token: Callable[[], str], tls_folder: Path | None, own_name: str = "127.0.0.1"
) -> Access:
    """Return how the page on a bound socket is reached.

    Args:
        listener: Bound to a loopback address, to another one of this machine, or to all of them.
        make_token: Returns the token; asked only when others reach the page.
        tls_folder: Where certificate and key are kept; None: no TLS.
        own_name: What the page is called on this machine.

    Raises:
        SpecError: Token or certificate cannot be kept; the socket is closed then.
    """
    try:
        return _arrange(listener, make_token, tls_folder, own_name)
    except SpecError:
        listener.close()
        raise


def _arrange(listener: socket.socket, make_token: Callable[[], str], tls_folder: Path | None, own_name: str) -> Access:
    host, port = listener.getsockname()[:2]
    bound = ipaddress.ip_address(host.partition("%")[0])
    is_open = not bound.is_loopback
    address = find_network_address() if bound.is_unspecified else host if is_open else None
    names = list_own_names(address)
    certificate = None if tls_folder is None else keep_certificate(tls_folder, names)
    scheme = "https" if certificate else "http"
    is_own_name = bound.is_unspecified or host == "127.0.0.1"
    own = own_name if is_own_name else write_host(host)
    outside = f"{scheme}://{write_host(address or socket.gethostname())}:{port}" if is_open else None
    return Access(
        hosts=frozenset((*LOOPBACK_HOSTS, *(map(write_host, names) if is_open else ()))),
        token=make_token() if is_open else None,
        certificate=certificate,
        url=f"{scheme}://{own}:{port}",
        network_url=outside,
    )


def write_host(name: str) -> str:
    """Return a name or address as it stands in a URL."""
    return f"[{name}]" if ":" in name else name


async def read_body(request: Request, limit: int, too_long: DonkeySimError) -> bytes:
    """Return the body of a request.

    Args:
        limit: The most bytes to take; the rest is not read.
        too_long: What is raised when there are more.

    Raises:
        DonkeySimError: `too_long`, or it did not come within `BODY_SECONDS`.
        ClientDisconnect: Who asked has gone.
    """
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limit:
                    raise too_long
    except TimeoutError as error:
        raise WireError(f"the request did not come within {BODY_SECONDS:g} s; send it again.") from error
    return bytes(body)


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
