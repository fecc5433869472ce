"""The browser of page tests, and pages in it."""

import chromium
import pytest
from playwright.sync_api import sync_playwright


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def _all_pages(browser):
    return chromium.Pages(browser)


@pytest.fixture
def pages(_all_pages):
    yield _all_pages
    _all_pages.put_back()
