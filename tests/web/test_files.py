"""Files of a page have the right type on every system, and nothing else of the folder is served."""

import gzip
import hashlib
import mimetypes
import re
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount
from starlette.testclient import TestClient

from donkeysim.drive import control_page, tub_page
from donkeysim.watch import preview, spectator
from donkeysim.web.page import MEDIA_TYPES, SHARED_FOLDER, PageFiles

THREE = SHARED_FOLDER / "viewer" / "three.js"
"""Somebody else's; see `test_the_library_that_draws_is_the_one_that_was_built`."""

HASHES = Path(__file__).parents[2] / "supply" / "viewer" / "SHA256SUMS"
"""Of the bundle and of what it was made of, as `sha256sum` writes them."""


@pytest.fixture
def client(tmp_path):
    (tmp_path / "app.js").write_text("export {};")
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "module.py").write_text("x = 1")
    (tmp_path / "folder").mkdir()
    return TestClient(Starlette(routes=[Mount("/f", PageFiles(directory=tmp_path))]))


def test_a_script_is_a_script_whatever_the_system_says(client, monkeypatch):
    monkeypatch.setattr(mimetypes, "guess_type", lambda *args, **options: ("text/plain", None))
    answered = client.get("/f/app.js")
    assert answered.headers["content-type"] == "text/javascript; charset=utf-8"
    again = client.get("/f/app.js", headers={"if-none-match": answered.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("path", ["notes.txt", "module.py", "folder", "", "../app.js", "%2e%2e/app.js", "none.js"])
def test_other_files_do_not_exist(client, path):
    assert client.get(f"/f/{path}").status_code == 404


@pytest.mark.parametrize(
    "folder", [SHARED_FOLDER, spectator.PAGES, preview.PAGES, control_page.PAGES, tub_page.PAGES], ids=str
)
def test_pages_hold_served_kinds_only_and_load_nothing_from_outside(folder):
    files = [path for path in Path(folder).rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert path.suffix in MEDIA_TYPES
        if path.suffix in (".html", ".js", ".css", ".svg"):
            if path == THREE:
                continue
            text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
            assert not re.search(r"https?://|//[a-z]+\.[a-z]|@import|innerHTML|insertAdjacentHTML|\beval\b", text), path
        if path.suffix == ".html":
            assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|javascript:", path.read_text())


def test_the_library_that_draws_is_the_one_that_was_built():
    packed = len(gzip.compress(THREE.read_bytes(), 9))
    assert packed <= 400_000, "what a browser downloads"
    noted = dict(reversed(line.split("  ")) for line in HASHES.read_text(encoding="utf-8").splitlines())
    for name, digest in noted.items():
        assert hashlib.sha256((HASHES.parent / name).read_bytes()).hexdigest() == digest, (
            f"build {name} with make viewer"
        )
    assert (HASHES.parent / "../../src/donkeysim/web/static/viewer/three.js").resolve() == THREE
