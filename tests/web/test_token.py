"""A page others can reach asks for its token, hands out a cookie, and sends nobody elsewhere."""

import stat
import sys

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient

from donkeysim.core.errors import SpecError
from donkeysim.web.limits import MOST_FAILED_LOGINS
from donkeysim.web.token import COOKIE, TokenCheck, keep_token, may_change

TOKEN = "abcdefghjk"
BROWSER = {"accept": "text/html,*/*"}


async def answer(request):
    return PlainTextResponse("done")


async def tell_rights(socket):
    await socket.accept()
    await socket.send_text(str(may_change(socket.scope)))


def make_client(peer="192.0.2.9", host="http://192.0.2.7:8887", **options):
    app = Starlette(
        routes=[WebSocketRoute("/rights", tell_rights), Route("/{rest:path}", answer, methods=["GET", "POST"])],
        middleware=[Middleware(TokenCheck, token=TOKEN, **options)],
    )
    return TestClient(app, base_url=host, client=(peer, 5555), follow_redirects=False)


def test_nobody_comes_in_without_the_token():
    client = make_client()
    for headers in ({}, {"cookie": f"{COOKIE}_8887=wrong"}, {"authorization": "Bearer no"}, {"authorization": TOKEN}):
        refused = client.get("/drive", headers=headers)
        assert refused.status_code == 401
        assert refused.text.count("\n") == 1
    assert client.get("/drive?token=").status_code == 401
    assert client.get("/drive?token=%ff").status_code == 401


def test_the_token_in_the_address_becomes_a_cookie_and_leaves_the_address():
    client = make_client()
    opened = client.get(f"/drive?a=1&token={TOKEN}&b=2", headers=BROWSER)
    assert (opened.status_code, opened.headers["location"]) == (303, "/drive?a=1&b=2")
    assert client.get("/drive").text == "done"


def test_programs_may_show_it_in_each_request():
    client = make_client()
    assert client.post(f"/drive?token={TOKEN}").text == "done"
    assert client.post("/drive", headers={"authorization": f"bearer {TOKEN}"}).text == "done"


@pytest.mark.parametrize("path", ["//evil.example/", "/\\evil.example", "///evil.example", "/%5c%5cevil.example"])
def test_nobody_is_sent_to_another_site(path):
    target = make_client().get(f"http://192.0.2.7:8887{path}?token={TOKEN}", headers=BROWSER).headers["location"]
    assert target.startswith("/")
    assert not target.startswith(("//", "/\\"))


@pytest.mark.parametrize(
    ("peer", "host", "is_known"),
    [
        ("127.0.0.1", "http://localhost:8887", True),
        ("127.0.0.1", "http://127.0.0.1:8887", True),
        ("::1", "http://localhost:8887", True),
        ("127.0.0.1", "http://192.0.2.7:8887", False),
        ("192.0.2.9", "http://localhost:8887", False),
        ("192.0.2.127", "http://127.0.0.1", False),
        ("192.0.2.7", "http://192.0.2.7:8887", True),
    ],
)
def test_only_this_machine_needs_none(peer, host, is_known):
    assert make_client(peer, host).get("/").status_code == (200 if is_known else 401)


def test_a_token_is_kept_and_private(tmp_path):
    path = tmp_path / "new" / "token"
    token = keep_token(path)
    assert token == keep_token(path)
    assert len(token) == 10
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text("short\n")
    assert keep_token(path) != "short"
    assert len({keep_token(tmp_path / str(index)) for index in range(20)}) == 20


def test_a_folder_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SpecError, match=r"cannot keep the page's token in .*\.$"):
        keep_token(tmp_path / "file" / "token")


@pytest.mark.parametrize("port", [8887, 9093])
def test_pages_of_one_machine_keep_their_cookies_apart(port):
    opened = make_client(host=f"http://192.0.2.7:{port}").get(f"/?token={TOKEN}", headers=BROWSER)
    assert opened.headers["set-cookie"].startswith(f"{COOKIE}_{port}={TOKEN};")


def ask_rights(client, query="", host="192.0.2.7:8887"):
    with client.websocket_connect(f"/rights{query}", headers={"host": host}) as socket:
        return socket.receive_text()


def test_where_anybody_may_read_only_the_word_allows_changes():
    client = make_client(anybody_may_read=True)
    assert client.get("/").text == "done"
    assert client.head("/").status_code == 200
    assert client.post("/exit").status_code == 401
    assert ask_rights(client) == "False"
    assert ask_rights(client, f"?token={TOKEN}") == "True"
    client.get(f"/?token={TOKEN}", headers=BROWSER)
    assert client.post("/exit").text == "done"
    here = make_client("127.0.0.1", "http://localhost:8887", anybody_may_read=True)
    assert ask_rights(here, host="localhost:8887") == "True"


def test_whoever_guesses_is_not_even_told_when_a_guess_is_right():
    client = make_client()
    for count in range(MOST_FAILED_LOGINS):
        assert client.post("/", headers={"authorization": f"Bearer {count}"}).status_code == 401
    refused = client.post("/", headers={"authorization": f"Bearer {TOKEN}"})
    assert refused.status_code == 429
    assert refused.text.startswith("Too many wrong tokens from your address; wait 60 s")
    assert client.get(f"/?token={TOKEN}", headers=BROWSER).status_code == 429


def test_who_only_watches_goes_on_watching_with_the_cookie_of_yesterday():
    client = make_client(anybody_may_read=True)
    for _ in range(100):
        assert client.get("/", headers={"cookie": f"{COOKIE}_8887=yesterday"}).text == "done"
    assert client.post("/", headers={"authorization": f"Bearer {TOKEN}"}).text == "done"


def test_the_word_is_compared_in_constant_time(monkeypatch):
    compared = []
    monkeypatch.setattr("hmac.compare_digest", lambda given, word: compared.append((given, word)) or False)
    assert make_client().get(f"/?token={TOKEN}").status_code == 401
    assert (TOKEN.encode(), TOKEN.encode()) in compared
