"""Pages speak three languages, and no text is missing in any of them."""

import json
import re
from pathlib import Path

import pytest

import donkeysim
from donkeysim.core.config import read_toml
from donkeysim.racing.rules.incident import INCIDENTS
from donkeysim.tub.flaws import WORDS
from donkeysim.web.page import SHARED_FOLDER
from donkeysim.world.tracks.tables.props import PROPS_FILE

FOLDERS = sorted(Path(donkeysim.__file__).parent.rglob("texts/en.json"))
CODES = ("en", "zh", "ja")
PLACES = re.compile(r'data-(?:text|label|title|alt)="([a-z_]+)"')
SAID = re.compile(r'say\("([a-z_]+)"')
ELEMENTS = (SHARED_FOLDER / "elements.js").read_text(encoding="utf-8")
COPIES = re.compile(r"import \{[^}]*\bcopy\b[^}]*\} from")
"""A script that copies says what `ELEMENTS` says."""


def read(folder, code):
    return json.loads((folder / f"{code}.json").read_text(encoding="utf-8"))


def test_the_languages_offered_are_those_with_texts():
    offered = (SHARED_FOLDER / "languages.js").read_text(encoding="utf-8")
    assert all(f'{code}: "' in offered for code in CODES)
    assert FOLDERS


@pytest.mark.parametrize("code", CODES)
def test_all_pages_have_one_name_for_each_view(code):
    package = Path(donkeysim.__file__).parent
    watch, drive, site = (
        read(package / folder / "texts", code) for folder in ("watch/pages", "drive/pages/control", "site/page")
    )
    for view in ("chase", "seat", "top", "orbit", "camera"):
        named = {texts.get(f"view_{view}", texts.get(view)) for texts in (watch, drive, site)}
        assert named == {watch[view]}
    assert len({texts["reset"] for texts in (watch, drive)}) == 1


@pytest.mark.parametrize("code", CODES)
def test_a_site_speaks_of_keys_only_where_there_are_any(code):
    texts = read(Path(donkeysim.__file__).parent / "site/page/texts", code)
    told = {name for name, text in texts.items() if re.search(r"W A S D|Backspace|Space\b|\bDel\b|[(（]R[)）]", text)}
    assert told == {"keys", "take_over"}  # which phones do not show


def test_flaws_of_drives_are_told_in_all_languages_with_the_same_values():
    for words in WORDS.values():
        assert tuple(words) == CODES
        assert len({tuple(sorted(re.findall(r"\{\w+\}", finding))) for finding, _ in words.values()}) == 1
        assert all(text.strip() for texts in words.values() for text in texts)


@pytest.mark.parametrize("code", CODES)
def test_incidents_of_a_race_are_told_in_all_languages(code):
    texts = read(Path(donkeysim.__file__).parent / "watch/pages/texts", code)
    assert all(texts[f"incident_{kind}"] == words or code != "en" for kind, words in INCIDENTS.items())


def test_what_stands_in_our_places_has_a_name_in_all_languages():
    script = (SHARED_FOLDER / "languages.js").read_text(encoding="utf-8")
    named = dict(re.findall(r'^  (\w+): \["([^"]+)", "[^"]+", "[^"]+"\],$', script, re.MULTILINE))
    labels = {table["hit"] for table in read_toml(PROPS_FILE).values()} | {"wall", "guard_rail", "tunnel"}
    assert {label: label.replace("_", " ") for label in labels}.items() <= named.items()


@pytest.mark.parametrize("folder", [path.parent for path in FOLDERS], ids=lambda path: path.parent.name)
class TestTexts:
    def test_all_languages_have_the_same_names_and_places_for_values(self, folder):
        english = read(folder, "en")
        for code in CODES[1:]:
            texts = read(folder, code)
            assert list(texts) == list(english)
            for name, text in texts.items():
                assert text.strip()
                assert sorted(re.findall(r"\{\w+\}", text)) == sorted(re.findall(r"\{\w+\}", english[name]))

    def test_every_text_a_page_names_exists_and_stands_in_it_in_english(self, folder):
        english = read(folder, "en")
        for path in folder.parent.glob("*.html"):
            page = path.read_text(encoding="utf-8")
            assert set(PLACES.findall(page)) <= set(english)
            for name, text in re.findall(r'data-text="([a-z_]+)"[^>]*>([^<]*)<', page):
                assert text.replace("&amp;", "&") == english[name]
        for path in folder.parent.glob("*.js"):
            script = path.read_text(encoding="utf-8")
            assert set(SAID.findall(script)) <= set(english)
            if COPIES.search(script):
                assert set(SAID.findall(ELEMENTS)) <= set(english)

    def test_no_text_is_left_that_nobody_says(self, folder):
        sources = "".join(
            path.read_text(encoding="utf-8") for path in folder.parent.iterdir() if path.suffix in (".js", ".html")
        )
        if COPIES.search(sources):
            sources += ELEMENTS
        starts = tuple(re.findall(r"`([a-z]+_)\$\{", sources))
        for name in read(folder, "en"):
            assert re.search(rf'"{name}"', sources) or name.startswith(starts), name
