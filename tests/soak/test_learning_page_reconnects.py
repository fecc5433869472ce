"""The live page of learning outlasts the program: it says that it is gone, and shows the next one's learning alone."""

import pytest
from playwright.sync_api import expect, sync_playwright

from donkeysim.rl.page import LivePage
from donkeysim.rl.story import TrainingSummary
from donkeysim.web.serving import bind_port
from e2e import chromium
from stand_ins.told_learning import make_update
from stand_ins.watched_stage import WatchedStage

pytestmark = [pytest.mark.soak, chromium.NEEDED]

OVAL = WatchedStage().outline()


def test_a_page_shows_the_next_learning_on_its_port():
    learning = LivePage(bind_port(0), {"oval": OVAL}, ())
    learning(make_update(30))
    with sync_playwright() as playwright:
        browser = chromium.launch(playwright)
        page = browser.new_page(locale="en")
        page.goto(learning.url)
        expect(page.locator("#status")).to_have_text("Learning")
        learning.close()
        expect(page.locator("#lost")).to_be_visible()
        expect(page.locator("#status")).to_have_text("Not connected")
        expect(page.locator("#steps")).to_have_text("122,880")

        another = LivePage(bind_port(int(learning.url.rsplit(":", 1)[1])), {"eight": OVAL}, ())
        expect(page.locator("#name")).to_have_text("eight")
        expect(page.locator("#waiting")).to_be_visible()
        another(make_update(1))
        expect(page.locator("#steps")).to_have_text("4,096")
        expect(page.locator("#lost")).to_be_hidden()
        another.finish(TrainingSummary("stopped", resume="donkey rl --resume"))
        another.close()
        expect(page.locator("#outcome-title")).to_have_text("Stopped after 0:02")
        expect(page.locator("#outcome code")).to_have_text("donkey rl --resume")
        expect(page.locator("#lost")).to_be_hidden()
        browser.close()
