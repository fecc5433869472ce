"""Whether the watching page answers, over TLS or without; a container is as healthy as that."""

import ssl
import sys
import urllib.error
import urllib.request

PORT = sys.argv[1] if len(sys.argv) > 1 else "9093"

OWN_CERTIFICATE = ssl.create_default_context()
OWN_CERTIFICATE.check_hostname = False
OWN_CERTIFICATE.verify_mode = ssl.CERT_NONE  # it is asked for on this machine, of a server that signs its own


def answers(scheme: str) -> bool:
    """Return whether the page answers."""
    try:
        with urllib.request.urlopen(f"{scheme}://127.0.0.1:{PORT}/", timeout=2, context=OWN_CERTIFICATE) as page:
            return bool(page.status == 200)
    except (OSError, urllib.error.URLError, ValueError):
        return False


sys.exit(0 if any(map(answers, ("http", "https"))) else 1)
