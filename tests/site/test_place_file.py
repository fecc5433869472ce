"""Files of places for pages: what is written is what is read, and what is no such file says so."""

import gzip
import itertools
import struct

import pytest

from donkeysim.core.errors import DonkeySimError
from donkeysim.site.freeze import freeze
from donkeysim.site.place_file import FORMAT, MAGIC, read_header
from donkeysim.watch.place_model import write_place
from donkeysim.world.specs import SceneSpec, load_car
from donkeysim.world.tracks.catalogue import share_scene

SPEC = SceneSpec("waveshare")


@pytest.fixture(scope="module")
def content():
    return freeze(SPEC, "kernels-0.wasm")


def take(content, name):
    header = read_header(content)
    begin, length = header.sections[name]
    first = 16 + struct.unpack_from("<I", content, 12)[0] + begin
    return content[first : first + length]


def test_the_same_place_gives_the_same_file(content):
    assert freeze(SPEC, "kernels-0.wasm") == content


def test_sections_lie_one_behind_the_other_and_the_model_comes_last(content):
    header = read_header(content)
    places = sorted(header.sections.values())
    assert all(begin + length == after for (begin, length), (after, _) in itertools.pairwise(places))
    assert places[-1] == header.sections["model"]
    assert sum(places[-1]) + 16 + struct.unpack_from("<I", content, 12)[0] == len(content)


def test_the_model_is_that_of_people(content):
    scene = share_scene(SPEC)
    assert gzip.decompress(take(content, "model")) == write_place(scene, load_car("original"))


def test_parts_fill_the_section_and_stay_within_memory(content):
    header = read_header(content)
    assert sum(length for _, length in header.parts) == len(gzip.decompress(take(content, "memory")))
    assert all(at + length <= header.size for at, length in header.parts)
    assert header.name == "waveshare"
    assert header.kernels == "kernels-0.wasm"


def test_what_is_no_place_says_so():
    with pytest.raises(DonkeySimError, match="no place for pages"):
        read_header(b"PK\x03\x04 something else")


def test_a_newer_format_asks_for_an_update(content):
    newer = struct.pack("<8sI", MAGIC, FORMAT + 1) + content[12:]
    with pytest.raises(DonkeySimError, match=f"format {FORMAT + 1}.*update"):
        read_header(newer)
