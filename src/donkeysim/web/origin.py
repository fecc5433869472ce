"""Who may ask a page: only names of this machine, and for every change only the page itself.

A page on the loopback address is still reached by any web site open in the same browser. Three things keep it private:

* the Host header must be a known name (a site whose DNS answer points to 127.0.0.1 carries its own name);
* a request that a browser marks as coming from elsewhere is refused, except following a link to the page;
* whatever changes something (any method but GET and HEAD, and every WebSocket) must name the page as its Origin. A page
  made for programs too lets those pass that name no Origin at all: a browser always names one.

References:
    Fetch Metadata Request Headers (W3C); RFC 6455, section 10.2; RFC 9110, section 7.2.
"""

import re
from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "[::1]")
"""Names of this machine; any port is fine behind them, so that a forwarded port works."""

_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:[0-9]{1,5})?")
READING = ("GET", "HEAD")


class OriginCheck:
    """Middleware that answers 403 with one sentence to whoever may not ask."""

    def __init__(self, app: ASGIApp, hosts: Collection[str] = LOOPBACK_HOSTS, *, programs_may: bool = False) -> None:
        """Guard `app`.

        Args:
            hosts: Names, without port, that the page answers to, in lower case.
            programs_may: Whether a change without an Origin is allowed, as programs send it.
        """
        self._app = app
        self._hosts = frozenset(hosts)
        self._programs_may = programs_may

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a refusal or pass the request on."""
        refusal = self._find_refusal(scope) if scope["type"] in ("http", "websocket") else None
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await refuse(scope, receive, send, refusal, 403)

    def _find_refusal(self, scope: Scope) -> str | None:
        headers = Headers(scope=scope)
        return (
            check_host(headers.getlist("host"), self._hosts)
            or check_site(headers, is_socket=scope["type"] == "websocket")
            or check_origin(scope, headers, programs_may=self._programs_may)
        )


async def refuse(scope: Scope, receive: Receive, send: Send, sentence: str, status_code: int) -> None:
    """Answer a request, or the beginning of a WebSocket, with one sentence."""
    response = PlainTextResponse(sentence + "\n", status_code=status_code)
    if scope["type"] == "websocket":
        await WebSocket(scope, receive, send).send_denial_response(response)
    else:
        await response(scope, receive, send)


def check_host(given: list[str], hosts: Collection[str]) -> str | None:
    """Return why the Host header is refused, or None.

    Args:
        given: All Host headers of the request.
        hosts: Allowed names without port.
    """
    match = _HOST.fullmatch(given[0].lower()) if len(given) == 1 else None
    if match and match[1] in hosts:
        return None
    return f"This page answers to the hosts {', '.join(sorted(hosts))} only; open it by one of these names."


def check_site(headers: Headers, *, is_socket: bool) -> str | None:
    """Return why a request that a browser marks as foreign is refused, or None; following a link is allowed."""
    site = headers.get("sec-fetch-site", "none")
    follows_link = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    if site in ("same-origin", "none") or (follows_link and not is_socket):
        return None
    return "This page only answers itself, not other sites; open its address in the browser."


def check_origin(scope: Scope, headers: Headers, *, programs_may: bool = False) -> str | None:
    """Return why a changing request is refused, or None: its Origin must be the page that it was sent to.

    Args:
        programs_may: Whether no Origin at all is allowed too.
    """
    if scope["type"] == "http" and scope["method"] in READING:
        return None
    if programs_may and "origin" not in headers:
        return None
    scheme = "https" if scope["scheme"] in ("https", "wss") else "http"
    if headers.getlist("origin") == [f"{scheme}://{headers['host']}"]:
        return None
    return "Only the page itself may change anything; send the page's own address as Origin."
