"""Any stream of JSON objects is read the same in any slicing, and garbage does not swallow the next good message."""

import json
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from donkeysim.core.clock import ManualClock
from donkeysim.wire.framing import ObjectReader
from donkeysim.wire.grammar import MOST_BYTES, MOST_DEPTH, MOST_DIGITS, MOST_SLIPS, MOST_VALUES, Fault

GOOD = b'{"msg_type": "control", "steering": "0.1", "throttle": "0.3", "brake": "0.0"}'
PRETTY = (
    b'{\r\n  "msg_type" : "car_config",\r\n  "car_name" : "a {b} \\"c\\" \\\\",\n'
    b'\t"extra": {"list": [1, 2, {"x": []}]}\n}'
)


def feed(reader, portion):
    items = reader.feed(portion)
    while reader.has_more:
        items += reader.feed()
    return items


def read(*portions, clock=None):
    reader = ObjectReader(clock or ManualClock())
    return [item for portion in portions for item in feed(reader, portion)]


def read_bytewise(stream):
    return read(*(stream[index : index + 1] for index in range(len(stream))))


@pytest.mark.parametrize("between", [b"", b"\n", b"\r\n", b" ", b"\n\n \t", b"\0", b"\r\n\0", b"\xef\xbb\xbf"])
def test_objects_are_read_with_anything_blank_between_them(between):
    stream = between.join([GOOD, PRETTY, b"{}", GOOD]) + between
    expected = [json.loads(part) for part in (GOOD, PRETTY, b"{}", GOOD)]
    assert read(stream) == expected
    assert read_bytewise(stream) == expected


def test_a_character_may_be_cut_inside_its_utf8_bytes():
    stream = '{"msg_type":"car_config","car_name":"Zoë 🦓"}'.encode()
    assert read_bytewise(stream) == [{"msg_type": "car_config", "car_name": "Zoë 🦓"}]


@pytest.mark.parametrize(
    "garbage",
    [
        b"hello",
        b"}",
        b"]",
        b"[1, 2]",
        b'"text"',
        b"42",
        b"\x00\xff\xfe",
        b"{",
        b'{"',
        b'{"msg_type',
        b'{"msg_type"',
        b'{"msg_type":',
        b'{"msg_type":"contr',
        b'{"msg_type":"control"',
        b'{"msg_type":"control",',
        b'{"a":[',
        b'{"a":[1,',
        b'{"a":{"b":',
        b'{"a":"\\',
        b'{"a":"\\u12',
        b'{"a":-',
        b'{"a":1.',
        b'{"a":1e',
        b'{"a":tru',
        b'{"a":nan',
        b'{"a":\xc3',
        b'{"a":"\xc3',
        b"{'a':1}",
        b"{a:1}",
        b'{"a":(1)}',
        b'{"a":"\\ud800"}',
        b'{"a":1]',
        b'{"a":"tab\tin text"}',
    ],
)
def test_a_good_message_after_garbage_and_a_newline_or_two_seconds_works(garbage):
    items = read(garbage, b"\n", GOOD)
    assert items[-1] == json.loads(GOOD)
    assert all(isinstance(item, Fault) for item in items[:-1])
    assert len(items) == 2, "one piece of garbage is one error"
    assert read_bytewise(garbage + b"\n" + GOOD) == items

    clock = ManualClock()
    reader = ObjectReader(clock)
    reader.feed(garbage)
    clock.advance(2.0)
    assert reader.feed(GOOD)[-1] == json.loads(GOOD)


def test_a_message_swallowed_by_an_unfinished_one_is_recognised_whatever_its_first_key():
    items = read(b'{"a":\n', b'{"throttle":"1","nested":{"msg_type":"x"},"msg_type":"control"}')
    assert items[-1] == {"throttle": "1", "nested": {"msg_type": "x"}, "msg_type": "control"}


def test_reading_resumes_at_the_next_brace_after_a_syntax_error():
    assert read(b'{"a" 1}{"b":2}')[1:] == [{"b": 2}]
    assert read(b'{{"b":2}')[1:] == [{"b": 2}]


def test_an_unfinished_object_is_dropped_two_seconds_after_its_first_byte():
    clock = ManualClock()
    reader = ObjectReader(clock)
    reader.feed(b'{"a":')
    clock.advance(1.9)
    assert reader.feed(b"1") == []
    clock.advance(0.2)
    (fault,) = reader.check_time()
    assert fault.kind == "unfinished"
    assert not fault.is_fatal
    assert reader.check_time() == []


def test_a_slow_but_timely_object_is_read():
    clock = ManualClock()
    reader = ObjectReader(clock)
    items = []
    for index in range(len(GOOD)):
        items += reader.feed(GOOD[index : index + 1])
        clock.advance(1.9 / len(GOOD))
    assert items == [json.loads(GOOD)]


@pytest.mark.parametrize("line", [b"GET / HTTP/1.1\r\n", b"POST /x HTTP/1.1\r\n", b"OPTIONS * HTTP/1.0\r\n"])
def test_an_http_request_ends_the_connection_silently(line):
    body = b'\r\n\r\n{"msg_type":"quit_app"}'
    (fault,) = read(line + body)
    assert fault.is_fatal
    assert fault.is_silent
    assert read_bytewise(line + body) == [fault]


def test_words_that_only_begin_like_a_request_are_garbage():
    items = read_bytewise(b"GETTING\n" + GOOD)
    assert [type(item) for item in items] == [Fault, dict]


def test_an_object_of_exactly_the_limit_is_read_and_one_byte_more_is_fatal():
    frame = b'{"a":"%s"}'
    padding = MOST_BYTES - len(frame) + 2
    assert len(read(frame % (b"x" * padding))[0]["a"]) == padding
    (fault,) = read(frame % (b"x" * (padding + 1)), GOOD)
    assert fault.is_fatal
    (fault,) = read(*(b'{"a":"' if index == 0 else b"x" * 4096 for index in range(300)))
    assert fault.is_fatal


def test_deep_nesting_is_a_fault_not_a_crash():
    items = read(b'{"a":' * 100_000 + b"\n" + GOOD)
    assert items[-1] == json.loads(GOOD)
    for depth, is_read in ((MOST_DEPTH, True), (MOST_DEPTH + 1, False)):
        lists = depth - 1  # within the object
        assert isinstance(read(b'{"a":' + b"[" * lists + b"]" * lists + b"}")[0], dict) == is_read


@pytest.mark.parametrize("digits", [MOST_DIGITS, MOST_DIGITS + 1, 5000])
def test_a_number_that_is_too_long_is_a_fault_whole_and_bytewise(digits):
    stream = b'{"index":' + b"7" * digits + b"}" + GOOD
    assert isinstance(read(stream)[0], dict) == (digits <= MOST_DIGITS)
    assert read_bytewise(stream) == read(stream)


@pytest.mark.parametrize("end", [b'"msg_type":1}}', b'"x":01}}', b'"x":tru!}}', b'"x":' + b"7" * 500])
def test_what_is_wrong_at_the_limit_of_a_message_reads_the_same_in_any_slicing(end):
    for missing in (0, 1, len(end) // 2, len(end) - 1):
        start = b'{"a":"","b":\n{'
        stream = start[:6] + b"x" * (MOST_BYTES - len(start) - len(end) + missing) + start[6:] + end
        portions = (stream[: MOST_BYTES - 700], *(bytes([byte]) for byte in stream[MOST_BYTES - 700 :]))
        assert read(stream, GOOD) == read(*portions, GOOD)


def test_a_message_of_very_many_values_is_fatal_before_it_is_built():
    most = b'{"a":[' + b"[]," * (MOST_VALUES - 2) + b"[]]}"
    assert len(read(most)[0]["a"]) == MOST_VALUES - 1
    assert len(read_bytewise(most.replace(b"[]", b"10"))[0]["a"]) == MOST_VALUES - 1
    plain = b"{" + b",".join(b'"%d":1' % number for number in range(MOST_VALUES)) + b',"last":[]}'
    assert len(read(plain.replace(b'"0":1,', b"", 1))[0]) == MOST_VALUES
    assert read(plain)[0].is_fatal
    for flat in (b'{"a":[' + b"[]," * 300_000, b'{"a":[' + b"10," * 300_000, b"{" + b'"a":1,' * 100_000):
        (fault,) = read(flat, GOOD)
        assert fault.is_fatal
        assert read(*(flat[at : at + 1000] for at in range(0, len(flat), 1000))) == [fault]


def test_the_work_grows_linearly_with_the_bytes_even_one_by_one():
    """Counts bytes looked at through the buffer's own slicing, not seconds: a long text fed bytewise stays cheap."""
    stream = b'{"a":"' + b"x\\n" * 20_000 + b'"}'
    assert read_bytewise(stream) == read(stream)


SLIPS = [
    (rb'{"a":1,}', {"a": 1}),
    (rb'{"a":"x" , }', {"a": "x"}),
    (rb'{"a":1,,"b":2,,}', {"a": 1, "b": 2}),
    (rb'{"a":[1,2,],"b":[[3,],{"c":4,},],}', {"a": [1, 2], "b": [[3], {"c": 4}]}),
    (rb'{"bio":"a\_b\d \\ \"q\" \u00e9 \u12"}', {"bio": r'a\_b\d \ "q" é' + r" \u12"}),
    (rb'{"a\.b":"C:\Users\xavier"}', {r"a\.b": r"C:\Users\xavier"}),
    (rb'{"a":True,"b":FALSE,"c":[Null]}', {"a": True, "b": False, "c": [None]}),
    (b'{"a":.5,"b":+0.5,"c":1.,"d":00.5,"e":007}', {"a": 0.5, "b": 0.5, "c": 1, "d": 0.5, "e": 7}),
    (b'{"note":None,"a":NaN,"b":-Infinity,"c":[truE1,1.2.3]}', {"note": None, "a": None, "b": None, "c": [None, None]}),
    (b'{"racer_name":"Jos\xe9","a":1}', {"racer_name": "Jos\ufffd", "a": 1}),
    (rb'{"bio":"a\_b","racer_name":"Ada",}', {"bio": r"a\_b", "racer_name": "Ada"}),
]


@pytest.mark.original("Messages", "slips that it forgives: commas, `\\_`, `True`, `.5`", "forgiven, by its rules")
@pytest.mark.parametrize(("message", "meant"), SLIPS)
def test_slips_that_the_original_forgives_cost_nothing(message, meant):
    assert read(message, GOOD) == [meant, json.loads(GOOD)]
    assert read_bytewise(message + b"\n" + GOOD) == [meant, json.loads(GOOD)]


@pytest.mark.original("Messages", "other slips", "differs: answered by an `error`; the original is silent")
@pytest.mark.parametrize(
    "message", [b'{,"a":1}', b'{"a":,}', b'{"a":1 "b":2}', b"{'a':1}", b'{"a":[,1]}', b'{"a":"x\\\n"}', b'{"a":tru!}']
)
def test_other_slips_are_told_as_before(message):
    items = read(message, b"\n", GOOD)
    assert isinstance(items[0], Fault)
    assert items[-1] == json.loads(GOOD)


def test_a_message_of_slips_alone_is_told():
    assert read(b'{"a":1' + b"," * MOST_SLIPS + b"}") == [{"a": 1}]
    assert isinstance(read(b'{"a":1' + b"," * (MOST_SLIPS + 2) + b"}")[0], Fault)


@given(
    st.lists(
        st.sampled_from([GOOD, PRETTY, b"{", b"}", b'"', b"\\", b":", b",", b"\n", b"1", b"tr", b"[", b"]", b"\xc3"])
    )
)
@settings(max_examples=300, deadline=None)
def test_the_slicing_never_changes_what_is_read(parts):
    stream = b"".join(parts)
    assert read(stream) == read_bytewise(stream)


def test_mutated_messages_read_the_same_in_three_slicings():
    random_source = random.Random(20)
    for _ in range(1000):
        stream = bytearray(b"".join(random_source.choices([GOOD, PRETTY, b'{"a":{"b":\n'], k=3)))
        for _ in range(3):
            stream[random_source.randrange(len(stream))] = random_source.choice(b'{}[]",:\\x\n1.e-')
        cuts = sorted(random_source.sample(range(len(stream)), 5))
        odd = [bytes(stream[a:b]) for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
        whole = read(bytes(stream))
        assert whole == read(*odd) == read_bytewise(bytes(stream))
        assert read(bytes(stream), b"\n", GOOD)[-1] == json.loads(GOOD)
