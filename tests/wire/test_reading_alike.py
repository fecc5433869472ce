"""Whichever way an object goes, to the decoder in C or through the careful reader, the same is read in any slicing."""

import itertools
import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from donkeysim.core.clock import ManualClock
from donkeysim.wire import framing
from wire import reference_reader
from wire.hostile import RAW, REAL, make_hostile

PIECES = [
    *RAW, *(json.dumps(message, indent=indent).encode() for message in REAL for indent in (None, 1)),
    b"GE", b"GET / HTTP/1.1\r\n", b"\n", b"\r\n", b" ", b",", b":", b"]", b"[", b'"', b"\\", b"1", b"-", b"tru",
    b"null", b"\xc3", b'{"a":1}', b'{"a":{}}', b'{"a":"\\n"}', b'{"a":"\\ud800"}', b'{"a":"\xff"}', b'{"a":01}',
    b'{"a":1e999}', b'{"a":' + b"7" * 401 + b"}",
    b'{"a":-0}', b'{"a":1}' + b" " * 300, b'{"a":\n', b'{"b":\n{"msg_type":"x"}}', b'{"a":"\n"}', b'{"a":"}"}',
    b"{\x0c}", b"\0", b"\xef\xbb\xbf", b"\xef",
]  # fmt: skip

HOSTILE = st.integers(0, 1 << 32).map(lambda seed: make_hostile(random.Random(seed)))
NUMBERS = st.from_regex(rb'\{"a":[-+0-9.eE]{1,9}\}', fullmatch=True)
PARTS = st.one_of(st.sampled_from(PIECES), HOSTILE, NUMBERS, st.binary(max_size=9))
STREAMS = st.lists(PARTS, max_size=6).map(b"".join)


def read(module, portions):
    reader = module.ObjectReader(ManualClock())
    items = []
    for portion in portions:
        items += reader.feed(portion)
        while reader.has_more:
            items += reader.feed()
    return [tuple(item) if isinstance(item, tuple) else item for item in items]


def check_alike(stream, cuts=()):
    expected = read(reference_reader, [stream])
    edges = [0, *sorted(cuts), len(stream)]
    portions = [stream[start:end] for start, end in itertools.pairwise(edges)]
    for way in ([stream], portions, [stream[at : at + 1] for at in range(len(stream))]):
        items = read(framing, way)
        assert repr(items) == repr(expected), "the same values, of the same types, in the same order"


@given(STREAMS, st.lists(st.integers(0, 500), max_size=5))
@settings(max_examples=200, deadline=None)
def test_any_stream_is_read_as_the_careful_reader_reads_it(stream, cuts):
    check_alike(stream, [min(cut, len(stream)) for cut in cuts])


def test_mutated_and_glued_messages_are_read_as_the_careful_reader_reads_them():
    source = random.Random(11)
    for _ in range(300):
        between = source.choice([b"", b"\n", b" ", b"\r\n\t"])
        check_alike(between.join(make_hostile(source) for _ in range(source.randint(1, 4))))


@pytest.mark.parametrize(
    "stream", [*PIECES, json.dumps(REAL[3], indent=2).encode() * 2], ids=lambda stream: stream[:20]
)
def test_a_stream_cut_in_two_at_each_of_its_bytes_is_read_as_the_careful_reader_reads_it(stream):
    stream = stream[:150] + b'\n{"msg_type":"reset_car"}'
    expected = repr(read(reference_reader, [stream]))
    for cut in range(len(stream)):
        assert repr(read(framing, [stream[:cut], stream[cut:]])) == expected, cut


@given(STREAMS, st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_how_much_is_read_at_a_time_does_not_change_what_is_read(stream, most_work):
    usual = framing.MOST_WORK
    try:
        framing.MOST_WORK = most_work
        items = read(framing, [stream])
    finally:
        framing.MOST_WORK = usual
    assert repr(items) == repr(read(reference_reader, [stream]))
