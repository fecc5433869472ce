"""A secret word for a page that others in the network can reach: in the address once, then in a cookie.

Whoever is on this machine (its own address, and asking for one of its loopback names) needs none, so programs go on
as they are. Everybody else shows it in one of three ways: `?token=WORD` at any address (a browser that opens a page so
gets the cookie and is sent on to the address without the word), that cookie, or `Authorization: Bearer WORD`.
"""

from __future__ import annotations

import hmac
import secrets
from pathlib import Path
from urllib.parse import quote, urlencode

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from donkeysim.core.errors import SpecError
from donkeysim.core.files import describe_failure
from donkeysim.web.origin import LOOPBACK_HOSTS, check_host, refuse
from donkeysim.web.tls import write_private

COOKIE = "donkeysim_token"
COOKIE_DAYS = 365

_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_LENGTH = 10
"""Of 31 letters that cannot be mistaken for each other: 49 bits, to be typed on a phone."""

_REFUSAL = "This page needs its token; open the address that the drive program shows, with ?token= at its end."


def keep_token(path: Path) -> str:
    """Return the word in a file; a new one is written when there is none.

    Raises:
        SpecError: The file cannot be written.
    """
    try:
        kept = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        kept = ""
    if len(kept) >= _LENGTH and kept.isalnum():
        return kept
    token = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_private(path, f"{token}\n".encode())
    except OSError as error:
        raise SpecError(f"cannot keep the page's token in {path}: {describe_failure(error)}.") from error
    return token


class TokenCheck:
    """Middleware that answers 401 with one sentence to whoever does not know the word."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        """Guard `app` with `token`."""
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a refusal, hand out the cookie, or pass the request on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        asked = HTTPConnection(scope)
        in_address = self._is_right(asked.query_params.get("token", ""))
        if in_address and scope["type"] == "http" and _opens_page(asked.headers, scope["method"]):
            await self._hand_out(asked)(scope, receive, send)
        elif in_address or is_local(scope) or self._is_known(asked):
            await self._app(scope, receive, send)
        else:
            await refuse(scope, receive, send, _REFUSAL, 401)

    def _is_known(self, asked: HTTPConnection) -> bool:
        kind, _, word = asked.headers.get("authorization", "").partition(" ")
        return (kind.lower() == "bearer" and self._is_right(word)) or self._is_right(asked.cookies.get(COOKIE, ""))

    def _is_right(self, word: str) -> bool:
        return hmac.compare_digest(word.encode("utf-8", "replace"), self._token.encode())

    def _hand_out(self, asked: HTTPConnection) -> Response:
        rest = urlencode([(key, value) for key, value in asked.query_params.multi_items() if key != "token"])
        path = "/" + quote(asked.url.path.lstrip("/\\"))  # one slash: never the name of another site
        response = RedirectResponse(path + (f"?{rest}" if rest else ""), status_code=303)
        response.set_cookie(
            COOKIE,
            self._token,
            max_age=COOKIE_DAYS * 24 * 3600,
            secure=asked.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return response


def is_local(scope: Scope) -> bool:
    """Return whether a request comes from this machine and asks for one of its loopback names."""
    client = scope.get("client")
    comes_from_here = client is not None and (client[0].startswith("127.") or client[0] == "::1")
    return comes_from_here and check_host(Headers(scope=scope).getlist("host"), LOOPBACK_HOSTS) is None


def _opens_page(headers: Headers, method: str) -> bool:
    return method == "GET" and "text/html" in headers.get("accept", "")
