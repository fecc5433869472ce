"""Only this machine's names, and only the page itself, get an answer."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse

from donkeysim.web.error_answers import PageHeaders
from donkeysim.web.origin import OriginCheck

PAGE = "http://127.0.0.1:9093"


async def answer(request):
    return PlainTextResponse("done")


async def echo(socket):
    await socket.accept()
    await socket.send_text(await socket.receive_text())


@pytest.fixture
def client():
    app = Starlette(
        routes=[Route("/", answer, methods=["GET", "POST", "DELETE"]), WebSocketRoute("/echo", echo)],
        middleware=[Middleware(PageHeaders), Middleware(OriginCheck)],
    )
    return TestClient(app, base_url=PAGE)


@pytest.mark.parametrize("host", ["127.0.0.1:9093", "localhost:9093", "LOCALHOST", "localhost:8000", "[::1]:9093"])
def test_names_of_this_machine_are_answered(client, host):
    assert client.get("/", headers={"host": host}).text == "done"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:9093",
        "localhost.evil.example",
        "127.0.0.1.nip.io:9093",
        "evil.example@127.0.0.1",
        "127.0.0.1:9093 ",
        "localhost:",
        "localhost/",
        "0.0.0.0:9093",
        "2130706433",
        "",
    ],
)
def test_other_hosts_are_refused_in_one_sentence(client, host):
    refused = client.get("/", headers={"host": host})
    assert refused.status_code == 403
    assert refused.text.startswith("This page answers to the hosts 127.0.0.1, [::1], localhost only")
    assert refused.text.count("\n") == 1


def test_two_host_headers_are_refused(client):
    assert client.get("/", headers=[("host", "127.0.0.1:9093"), ("host", "evil.example")]).status_code == 403


def test_the_page_itself_may_change_something(client):
    headers = {"origin": PAGE, "sec-fetch-site": "same-origin"}
    assert client.post("/", headers=headers).text == "done"
    assert client.post("/", headers={"host": "localhost:9093", "origin": "http://localhost:9093"}).text == "done"


@pytest.mark.parametrize("method", ["POST", "DELETE", "OPTIONS", "PUT"])
@pytest.mark.parametrize(
    "origin",
    [
        None,
        "null",
        "http://evil.example",
        "http://localhost:9093",
        "http://127.0.0.1:8887",
        "https://127.0.0.1:9093",
        "http://127.0.0.1",
    ],
)
def test_nobody_else_changes_anything(client, method, origin):
    refused = client.request(method, "/", headers={"origin": origin} if origin else {})
    assert refused.status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "nonsense"])
def test_requests_that_a_browser_marks_as_foreign_are_refused(client, site):
    image = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}
    frame = {"sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe"}
    assert client.get("/", headers=image).status_code == 403
    assert client.get("/", headers=frame).status_code == 403
    assert client.post("/", headers={"origin": PAGE, "sec-fetch-site": site}).status_code == 403


def test_a_link_from_elsewhere_may_open_the_page(client):
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert client.get("/", headers=link).text == "done"
    assert client.post("/", headers={**link, "origin": "http://evil.example"}).status_code == 403


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://evil.example"},
        {"origin": "http://localhost:9093"},
        {"origin": PAGE, "host": "evil.example:9093"},
        {"origin": "http://evil.example:9093", "host": "evil.example:9093"},
    ],
)
def test_a_foreign_web_socket_is_refused(client, headers):
    with pytest.raises(WebSocketDenialResponse) as refused, client.websocket_connect("/echo", headers=headers):
        pass
    assert refused.value.status_code == 403


def test_the_pages_own_web_socket_is_accepted(client):
    with client.websocket_connect("/echo", headers={"origin": PAGE, "host": "127.0.0.1:9093"}) as socket:
        socket.send_text("hello")
        assert socket.receive_text() == "hello"


def test_every_answer_carries_the_policy(client):
    for answered in (client.get("/"), client.get("/none"), client.get("/", headers={"host": "evil.example"})):
        policy = answered.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answered.headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in answered.headers


@pytest.fixture
def lenient_client():
    app = Starlette(
        routes=[Route("/", answer, methods=["GET", "POST"]), WebSocketRoute("/echo", echo)],
        middleware=[Middleware(OriginCheck, programs_may=True)],
    )
    return TestClient(app, base_url=PAGE)


def test_a_page_for_programs_takes_changes_without_an_origin_and_none_with_a_foreign_one(lenient_client):
    assert lenient_client.post("/").text == "done"
    assert lenient_client.post("/", headers={"origin": PAGE}).text == "done"
    for headers in ({"origin": "http://evil.example"}, {"origin": ""}, {"origin": "null"}, {"host": "evil.example"}):
        assert lenient_client.post("/", headers=headers).status_code == 403
    assert lenient_client.post("/", headers=[("origin", PAGE), ("origin", "http://evil.example")]).status_code == 403


def test_a_page_for_programs_opens_a_web_socket_without_an_origin_and_none_with_a_foreign_one(lenient_client):
    with lenient_client.websocket_connect("/echo", headers={"host": "127.0.0.1:9093"}) as socket:
        socket.send_text("hello")
        assert socket.receive_text() == "hello"
    with (
        pytest.raises(WebSocketDenialResponse),
        lenient_client.websocket_connect("/echo", headers={"origin": "http://evil.example", "host": "127.0.0.1:9093"}),
    ):
        pass
