"""By which names and addresses this machine is reached from its network."""

import ipaddress
import socket

ANYWHERE = ("192.0.2.1", 9)
"""An address of no one (RFC 5737): asking the way there sends nothing."""


def find_network_address() -> str | None:
    """Return the IPv4 address under which others in the network reach this machine, or None without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(ANYWHERE)
        except OSError:
            return None
        address: str = probe.getsockname()[0]
    return None if ipaddress.ip_address(address).is_loopback or address == "0.0.0.0" else address


def is_loopback(host: str) -> bool:
    """Return whether an address is this machine's own, which nobody else can send from."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def list_own_names(address: str | None) -> tuple[str, ...]:
    """Return the names of this machine in lower case: loopback, host name, and the network address if there is one."""
    name = socket.gethostname().lower()
    is_plain = name.isascii() and name.replace("-", "").replace(".", "").replace("_", "").isalnum()
    own = (name, name.partition(".")[0] + ".local") if is_plain else ()
    return tuple(dict.fromkeys(("localhost", "127.0.0.1", "::1", *own, *filter(None, [address]))))
