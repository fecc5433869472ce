"""A site, and a browser that visits it."""

import pytest
from benchmarks.site_visit.served_folder import serve_folder
from visiting import PLACES

from donkeysim.site.folder import write_site


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a site's folder."""
    out = tmp_path_factory.mktemp("site") / "out"
    write_site(out, PLACES, report=lambda _: None)
    return out


@pytest.fixture(scope="module")
def address(site):
    with serve_folder(site) as address:
        yield address


@pytest.fixture
def page(browser):
    context = browser.new_context(accept_downloads=True, viewport={"width": 1366, "height": 768}, locale="en-US")
    page = context.new_page()
    faults = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    yield page
    context.close()
    assert faults == []
