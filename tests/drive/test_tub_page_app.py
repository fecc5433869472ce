"""The tub page's answers, without a browser."""

import struct

import numpy as np
import pytest
from starlette.testclient import TestClient

from donkeysim.core.errors import TubError
from donkeysim.drive.tub_page import create_app
from donkeysim.tub.reader import TubReader
from donkeysim.tub.writer import TubWriter
from tub.drives import INPUTS, TYPES, make_record, write_tub

BASE = "http://127.0.0.1:8886"


@pytest.fixture
def path(tmp_path):
    write_tub(tmp_path / "data", 6)
    return write_tub(tmp_path / "data", 4)


@pytest.fixture
def client(path):
    return TestClient(create_app(path), base_url=BASE, headers={"Origin": BASE})


def unpack_pictures(content):
    pictures = []
    while content:
        (length,) = struct.unpack("<I", content[:4])
        pictures.append(content[4 : 4 + length])
        content = content[4 + length :]
    return pictures


def test_summary_tells_sessions_and_deletions(client, path):
    summary = client.get("/summary").json()
    assert summary["count"] == 10
    assert [(session["first"], session["last"]) for session in summary["sessions"]] == [(0, 5), (6, 9)]
    assert summary["keys"] == ["user/angle", "user/throttle"]
    assert summary["state"]["deleted"] == []
    assert summary["can_change"]
    assert summary["lost"] == 0


def test_records_that_a_catalog_has_lost_are_counted(path):
    catalog = path / "catalog_0.catalog"
    catalog.write_bytes(b"".join(catalog.read_bytes().splitlines(keepends=True)[:7]))
    summary = TestClient(create_app(path), base_url=BASE, headers={"Origin": BASE}).get("/summary").json()
    assert (summary["count"], summary["lost"]) == (7, 3)


def test_numbers_and_times_come_as_arrays(client):
    angles = np.frombuffer(client.get("/numbers/user/angle").content, "<f4")
    assert angles[:3].tolist() == pytest.approx([-1.0, -0.9, -0.8])
    times = np.frombuffer(client.get("/times").content, "<f8")
    assert len(times) == 10
    assert times[0] == 0
    assert (np.diff(times) >= 0).all()
    assert client.get("/numbers/user/mode").status_code == 409


def test_pictures_come_in_stretches_and_missing_ones_are_empty(client, path):
    (path / "images" / "3_cam_image_array_.jpg").unlink()
    pictures = unpack_pictures(client.get("/pictures?first=2&count=100").content)
    assert len(pictures) == 8
    assert pictures[0] == (path / "images" / "2_cam_image_array_.jpg").read_bytes()
    assert pictures[1] == b""
    assert client.get("/pictures?first=x").status_code == 409
    assert client.get("/pictures?first=-5&count=-5").content == b""


def test_what_is_wrong_comes_with_stretches_and_examples(tmp_path):
    write_tub(tmp_path / "tub", 150)
    client = TestClient(create_app(tmp_path / "tub"), base_url=BASE)
    dark = client.get("/flaws").json()[0]
    assert dark["kind"] == "dark"
    assert dark["spans"] == [[0, 149]]
    assert list(dark["words"]) == ["en", "zh", "ja"]
    assert all("7.5" in finding and advice for finding, advice in dark["words"].values())
    assert dark["examples"] == [74]


def test_deletions_are_saved_at_once(client, path):
    revision = client.get("/summary").json()["state"]["revision"]
    answer = client.post("/deleted", json={"deleted": [[2, 4], [8, 99]], "count": 10, "revision": revision})
    assert answer.json()["deleted"] == [[2, 4], [8, 9]]
    assert TubReader(path).deleted_indexes == {2, 3, 4, 8, 9}
    assert client.get("/summary").json()["state"] == answer.json()


def test_a_change_by_somebody_else_is_not_overwritten(client, path):
    revision = client.get("/summary").json()["state"]["revision"]
    with TubWriter(path) as writer:
        writer.delete_last_n_records(1)
    answer = client.post("/deleted", json={"deleted": [], "count": 10, "revision": revision})
    assert answer.status_code == 409
    assert "changed by somebody else" in answer.json()["error"]
    assert TubReader(path).deleted_indexes == {9}


def test_records_written_meanwhile_keep_their_marks_and_are_shown(client, path):
    with TubWriter(path) as writer:
        writer.write_record(make_record(10))
        state = client.get("/summary").json()
        assert state["count"] == 11
        refused = client.post("/deleted", json={"deleted": [], "count": 10, "revision": state["state"]["revision"]})
        assert "being written to by another program" in refused.json()["error"]
        writer.delete_last_n_records(1)
    revision = client.get("/summary").json()["state"]["revision"]
    client.post("/deleted", json={"deleted": [[0, 0]], "count": 10, "revision": revision})
    assert TubReader(path).deleted_indexes == {0, 10}


@pytest.mark.parametrize("body", [b"", b"[]", b'{"deleted": "all"}', b'{"deleted": [[1]], "count": 1, "revision": 0}'])
def test_nonsense_is_refused_and_changes_nothing(client, path, body):
    answer = client.post("/deleted", content=body)
    assert answer.status_code == 409
    assert TubReader(path).deleted_indexes == frozenset()


def test_other_sites_may_not_delete(path):
    client = TestClient(create_app(path), base_url=BASE, headers={"Origin": "http://elsewhere.example"})
    assert client.post("/deleted", json={"deleted": [[0, 9]], "count": 10, "revision": 0}).status_code == 403


def test_a_tub_without_records_has_a_page(tmp_path):
    with TubWriter(tmp_path / "data", INPUTS, TYPES):
        pass
    client = TestClient(create_app(tmp_path / "data"), base_url=BASE)
    assert client.get("/summary").json()["count"] == 0
    assert client.get("/times").content == b""
    with pytest.raises(TubError, match="no tub"):
        create_app(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["../../secret.jpg", "/etc/hostname", "..", "sub/3.jpg", ""])
def test_a_tub_of_somebody_else_shows_pictures_of_its_own_folder_only(path, name):
    (path.parent / "secret.jpg").write_bytes(b"secret")
    catalog = path / "catalog_0.catalog"
    catalog.write_text(catalog.read_text().replace('"0_cam_image_array_.jpg"', f'"{name}"'))
    client = TestClient(create_app(path), base_url=BASE)
    hidden, shown = unpack_pictures(client.get("/pictures?first=0&count=2").content)
    assert hidden == b""
    assert shown == (path / "images/1_cam_image_array_.jpg").read_bytes()
