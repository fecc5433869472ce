"""A page others can reach asks for its token, hands out a cookie, and sends nobody elsewhere."""

import stat
import sys

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from donkeysim.core.errors import SpecError
from donkeysim.web.token import COOKIE, TokenCheck, keep_token

TOKEN = "abcdefghjk"
BROWSER = {"accept": "text/html,*/*"}


async def answer(request):
    return PlainTextResponse("done")


def make_client(peer="192.0.2.9", host="http://192.0.2.7:8887"):
    app = Starlette(
        routes=[Route("/{rest:path}", answer, methods=["GET", "POST"])],
        middleware=[Middleware(TokenCheck, token=TOKEN)],
    )
    return TestClient(app, base_url=host, client=(peer, 5555), follow_redirects=False)


def test_nobody_comes_in_without_the_token():
    client = make_client()
    for headers in ({}, {"cookie": f"{COOKIE}=wrong"}, {"authorization": "Bearer no"}, {"authorization": TOKEN}):
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
    ],
)
def test_only_this_machine_asking_for_its_own_names_needs_none(peer, host, is_known):
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
