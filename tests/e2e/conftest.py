"""Pages in the browser of page tests."""

import chromium
import pytest


@pytest.fixture(scope="module")
def _all_pages(browser):
    return chromium.Pages(browser)


@pytest.fixture
def pages(_all_pages):
    yield _all_pages
    _all_pages.put_back()
