"""A secret token for a page that others in the network can reach: in the address once, then in a cookie.

Whoever is on this machine (see `is_local`) needs none, so programs work as they are. Everybody else shows it in one of
three ways: `?token=TOKEN` at any address (a browser that opens a page so gets the cookie and is sent on to the address
without the token), that cookie, or `Authorization: Bearer TOKEN`.

A page may let anybody read: then the token is for changes only, and `may_change` says who may.
"""

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
from donkeysim.web.access import write_private
from donkeysim.web.limits import BLOCKED_SECONDS, FailedLogins, find_client
from donkeysim.web.listener import is_loopback
from donkeysim.web.origin import LOOPBACK_HOSTS, READING, check_host, refuse

COOKIE = "donkeysim_token"
"""With the port behind it: a browser sends the cookies of a machine to all its ports."""

# Pages that are bookmarked on a phone at home should keep working; browsers keep cookies for 400 days at most.
COOKIE_DAYS = 365

_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
_LENGTH = 10
"""Of 31 letters that cannot be mistaken for each other: 49 bits, to be typed on a phone."""

_REFUSAL = "This needs the page's token; open the address with ?token= that the program printed at its start."
_TOO_MANY = f"Too many wrong tokens from your address; wait {BLOCKED_SECONDS:g} s, then open the right address."

_MAY_CHANGE = "donkeysim.may_change"


def keep_token(path: Path) -> str:
    """Return the token in a file; a new one is written when there is none.

    Raises:
        SpecError: The file cannot be written.
    """
    try:
        kept = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        kept = ""
    if len(kept) >= _LENGTH and kept.isalnum():
        return kept
    token = make_token()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_private(path, f"{token}\n".encode())
    except OSError as error:
        raise SpecError(f"cannot keep the page's token in {path}: {describe_failure(error)}.") from error
    return token


def make_token() -> str:
    """Return a new token."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))


def may_change(scope: Scope) -> bool:
    """Return whether who asks may change something; where no token is needed, everybody who gets through may."""
    return bool(scope.get(_MAY_CHANGE, True))


class TokenCheck:
    """Middleware that answers 401 with one sentence to whoever does not know the token, 429 to whoever guesses it."""

    def __init__(self, app: ASGIApp, token: str, *, anybody_may_read: bool = False) -> None:
        """Guard `app`.

        Args:
            token: What whoever is elsewhere must show.
            anybody_may_read: Whether GET, HEAD and WebSockets, which then change nothing, need no token.
        """
        self._app = app
        self._token = token
        self._anybody_may_read = anybody_may_read
        self._failed_logins = FailedLogins()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a refusal, hand out the cookie, or pass the request on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        asked, client = HTTPConnection(scope), find_client(scope)
        is_guessing = self._failed_logins.is_blocked(client)
        right = set() if is_guessing else self._find_right_tokens(asked, client)
        is_known = bool(right) or is_local(scope)
        opens_page = (
            scope["type"] == "http" and scope["method"] == "GET" and "text/html" in asked.headers.get("accept", "")
        )
        if "address" in right and opens_page:
            await self._hand_out(asked)(scope, receive, send)
        elif is_known or (self._anybody_may_read and (scope["type"] == "websocket" or scope["method"] in READING)):
            await self._app({**scope, _MAY_CHANGE: is_known}, receive, send)
        else:
            sentence, code = (_TOO_MANY, 429) if is_guessing else (_REFUSAL, 401)
            await refuse(scope, receive, send, sentence, code)

    def _find_right_tokens(self, asked: HTTPConnection, client: str) -> set[str]:
        """Return where the token stands in a request; wrong tokens are counted when it stands nowhere."""
        kind, _, token = asked.headers.get("authorization", "").partition(" ")
        tokens = {
            "address": asked.query_params.get("token", ""),
            "header": token if kind.lower() == "bearer" else "",
            "cookie": asked.cookies.get(_name_cookie(asked), ""),
        }
        own = self._token.encode()
        right = {place for place, text in tokens.items() if hmac.compare_digest(text.encode("utf-8", "replace"), own)}
        for token in filter(None, () if right else tokens.values()):
            self._failed_logins.note(client, token)
        return right

    def _hand_out(self, asked: HTTPConnection) -> Response:
        rest = urlencode([(key, value) for key, value in asked.query_params.multi_items() if key != "token"])
        path = "/" + quote(asked.url.path.lstrip("/\\"))  # one slash: never the name of another site
        response = RedirectResponse(path + (f"?{rest}" if rest else ""), status_code=303)
        response.set_cookie(
            _name_cookie(asked),
            self._token,
            max_age=COOKIE_DAYS * 24 * 3600,
            secure=asked.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return response


def is_local(scope: Scope) -> bool:
    """Return whether a request comes from this machine: by loopback and one of its names, or to the sender's address.

    `OriginCheck` has looked at the name before: a site whose name was bent to this machine gets no further.
    """
    client, server = scope.get("client"), scope.get("server")
    if client is None:
        return False
    if is_loopback(client[0]):
        return check_host(Headers(scope=scope).getlist("host"), LOOPBACK_HOSTS) is None
    return server is not None and bool(client[0] == server[0])


def _name_cookie(asked: HTTPConnection) -> str:
    port = asked.url.port or (443 if asked.url.scheme in ("https", "wss") else 80)
    return f"{COOKIE}_{port}"
