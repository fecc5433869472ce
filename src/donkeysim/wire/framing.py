"""Bytes to JSON objects, as they come: glued, split at any byte, pretty-printed, with garbage in between.

An object that has come whole and holds only texts and numbers, as nearly all messages do, is found by one regular
expression and goes to a decoder in C. All else is read with care, one token after another: the grammar is checked while
bytes arrive, so that broken text is noticed at its first wrong byte and the next good object is not swallowed by it.
Every byte is looked at a bounded number of times; neither the slicing nor an object's way changes what is read.

Slips that the original's reader forgives are forgiven: commas too many, words in capitals (Python's `True`), numbers
such as `.5`, other bare words, which are null, backslashes that escape nothing, and bytes that are no UTF-8.

What a portion of bytes asks for may be much more work than the portion is long. So the reader stops when it has done
`MOST_WORK`, and continues when it is asked to.
"""

import msgspec

from donkeysim.core.clock import Clock
from donkeysim.wire.grammar import (
    BARE,
    BLANK,
    ESCAPE_BEGUN,
    FLAT_OBJECT,
    GAP,
    LONG_NUMBER,
    MOST_BYTES,
    MOST_DEPTH,
    MOST_DIGITS,
    MOST_SECONDS,
    MOST_SLIPS,
    MOST_VALUES,
    NUMBER,
    PLAIN_MEMBER,
    STRING,
    WORDS,
    Fault,
    Item,
    decode,
    find_meaning,
    mend,
)

MOST_WORK = 500
"""Work of one call of the reader, in tokens; about a microsecond each."""

OBJECT_WORK = 30
"""What an object or a fault counts for: about what its sender's session does with it."""

MOST_FLAT_BYTES = 1 << 14
"""Longest object that goes to the decoder at once; the work that may be in vain is bounded by it."""

_METHODS = b"GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH PRI"
_REQUEST_STARTS = tuple(method + b" " for method in _METHODS.split())

# What may come next. The first two stand between objects.
_BLANK_OR_OBJECT, _ANYTHING, _KEY_OR_END, _KEY, _COLON = range(5)
_VALUE, _VALUE_OR_END, _COMMA_OR_END, _IN_KEY, _IN_TEXT = range(5, 10)

_EXPECTED = {
    _KEY_OR_END: "a key in quotes or '}'",
    _KEY: "a key in quotes",
    _COLON: "':'",
    _VALUE: "a value",
    _VALUE_OR_END: "a value or ']'",
    _COMMA_OR_END: "',' or the end of the object or list",
}

_decode = msgspec.json.Decoder().decode

_OPEN_OBJECT, _OPEN_LIST = ord("{"), ord("[")


class ObjectReader:
    """Turns one connection's bytes into JSON objects and faults.

    Attributes:
        has_more: Whether bytes wait to be read by further calls of `feed`, which need no new ones.
        work: Done in the last of these calls, in tokens.
    """

    def __init__(self, read_clock: Clock) -> None:
        self.has_more = False
        self.work = 0
        self._read_clock = read_clock
        self._head: bytes | None = b""
        """First bytes of the connection while they may still be an HTTP request line; None once they are not."""
        self._buffer = bytearray()
        """From the first byte of the unfinished object on; empty between objects."""
        self._position = 0
        """Bytes of the buffer already understood."""
        self._end = 0
        """Bytes of the buffer that may be looked at: what is beyond the longest object never decides anything."""
        self._value_count = 0
        """Values of the unfinished object."""
        self._expected = _BLANK_OR_OBJECT
        self._open: list[int] = []
        """Bracket of each open object and list, outermost first."""
        self._fresh_start: list[int] = []
        """For each: where it begins if it is an object on a new line (it may be a new message), else -1."""
        self._saw_newline = False
        self._key_start = 0
        self._comma = 0
        """Where the last comma is."""
        self._slips: list[tuple[int, int, bytes]] = []
        """What JSON does not allow and the original reads all the same: where, how many bytes, what it means."""
        self._began = 0.0
        self._is_closed = False

    def feed(self, data: bytes = b"") -> list[Item]:
        """Return what these bytes complete, in order, as far as the work of one call goes."""
        items = self.check_time()
        if self._is_closed:
            return items
        if self._head is not None:
            data = self._check_request_line(self._head + data, items)
        self._buffer += data
        self.work = 0
        while self._buffer and self.work < MOST_WORK and self._read_next(items):
            pass
        self.has_more = bool(self._buffer) and self.work >= MOST_WORK
        return items

    def check_time(self) -> list[Item]:
        """Drop an object that has been unfinished too long; call it now and then."""
        if self._expected <= _ANYTHING or self.has_more or self._read_clock() - self._began < MOST_SECONDS:
            return []
        self._end_object(len(self._buffer), _BLANK_OR_OBJECT)
        return [Fault("unfinished", f"a JSON object was still unfinished after {MOST_SECONDS:g} s and was dropped.")]

    def skip_time(self, seconds: float) -> None:
        """Do not count time in which bytes had come that were not fed yet [s]."""
        self._began += seconds

    # -- between objects ----------------------------------------------------------------------------------------------

    def _check_request_line(self, head: bytes, items: list[Item]) -> bytes:
        """Return the bytes to read, none while the first ones may become an HTTP request line."""
        if head.startswith(_REQUEST_STARTS):
            self._is_closed = True
            items.append(Fault("HTTP", "this port does not speak HTTP.", is_fatal=True, is_silent=True))
            return b""
        if any(start.startswith(head) for start in _REQUEST_STARTS):
            self._head = head
            return b""
        self._head = None
        return head

    def _read_next(self, items: list[Item]) -> bool:
        """Read up to the end of one object or fault; return False when more bytes are needed, or enough was done."""
        if self._expected == _BLANK_OR_OBJECT:
            return self._read_flat(items) or self._skip_blank(items)
        if self._expected == _ANYTHING:
            return self._skip_to_object()
        return self._read_object(items)

    def _read_flat(self, items: list[Item]) -> bool:
        """Read an object that is there as a whole; return False when this needs more care."""
        match = FLAT_OBJECT.match(self._buffer, 0, MOST_FLAT_BYTES)
        if match is None:
            return False
        raw = match.group()
        self.work += OBJECT_WORK + len(raw) // 16
        if len(raw) > MOST_DIGITS and LONG_NUMBER.search(raw) is not None:
            return False
        try:
            items.append(_decode(raw))
        except (msgspec.DecodeError, UnicodeDecodeError):
            return False
        del self._buffer[: match.end()]
        return True

    def _skip_blank(self, items: list[Item]) -> bool:
        end = GAP.match(self._buffer).end()  # type: ignore[union-attr]
        if end == len(self._buffer):
            self._buffer.clear()
            return False
        if self._buffer[end] == _OPEN_OBJECT:
            self._begin_object(end)
        else:
            given = chr(self._buffer[end]) if 32 <= self._buffer[end] < 127 else f"byte 0x{self._buffer[end]:02x}"
            text = f"a message is a JSON object and begins with '{{', not with {given!r}."
            items.append(Fault("not an object", text))
            self.work += OBJECT_WORK
            self._expected = _ANYTHING
        return True

    def _skip_to_object(self) -> bool:
        start = self._buffer.find(b"{")
        if start < 0:
            self._buffer.clear()
            return False
        del self._buffer[:start]
        self._expected = _BLANK_OR_OBJECT
        return True

    def _begin_object(self, start: int) -> None:
        del self._buffer[:start]
        self._position = 1
        self._value_count = 0
        self._expected = _KEY_OR_END
        self._open = [_OPEN_OBJECT]
        self._fresh_start = [-1]
        self._saw_newline = False
        self._slips = []
        self._began = self._read_clock()

    def _end_object(self, end: int, expected: int) -> None:
        del self._buffer[:end]
        self._position = 0
        self._expected = expected
        self._open = []
        self._fresh_start = []

    # -- inside an object ---------------------------------------------------------------------------------------------

    def _read_object(self, items: list[Item]) -> bool:
        self._end = min(len(self._buffer), MOST_BYTES)
        while self._open and self._value_count <= MOST_VALUES and self.work < MOST_WORK and self._read_token():
            self.work += 1
        if self._value_count > MOST_VALUES:
            return self._close("too long", f"a message has more than {MOST_VALUES} values.", items)
        if self._expected < 0:
            return self._report_syntax(items)
        if self._open and self.work < MOST_WORK and len(self._buffer) > MOST_BYTES:
            return self._close("too long", f"a message is longer than {MOST_BYTES} bytes.", items)
        if self._open:
            return False
        raw = mend(bytes(self._buffer[: self._position]), self._slips)
        self._end_object(self._position, _BLANK_OR_OBJECT)
        self.work += OBJECT_WORK
        try:
            items.append(decode(raw))
        except (msgspec.DecodeError, RecursionError) as error:
            items.append(Fault("syntax", f"the message is not valid JSON: {error}."))
        return True

    def _close(self, kind: str, text: str, items: list[Item]) -> bool:
        items.append(Fault(kind, text, is_fatal=True))
        self._is_closed = True
        self._buffer.clear()
        self._end_object(0, _BLANK_OR_OBJECT)
        return False

    def _report_syntax(self, items: list[Item]) -> bool:
        at = self._position
        given = ascii(chr(self._buffer[at])) if at < len(self._buffer) else "the end"
        wanted = _EXPECTED.get(-self._expected, "a shorter or valid text, number or nesting")
        text = f"the message is not valid JSON at byte {at}: expected {wanted}, got {given}; a new message may follow."
        items.append(Fault("syntax", text))
        self.work += OBJECT_WORK
        self._end_object(at, _ANYTHING)
        return True

    def _fail(self, expected: int | None = None) -> bool:
        """Note that the byte at the position is wrong; what was expected is kept, negated."""
        self._expected = -(self._expected if expected is None else expected)
        return False

    def _read_token(self) -> bool:
        """Read one token (or one plain member); return False when bytes are missing or wrong."""
        expected = self._expected
        if expected >= _IN_KEY:
            return self._read_text()
        if expected <= _KEY and len(self._open) == 1:
            member = PLAIN_MEMBER.match(self._buffer, self._position, self._end)
            if member is not None:
                return self._take_member(member.end())
        blank_end = BLANK.match(self._buffer, self._position, self._end).end()  # type: ignore[union-attr]
        if blank_end > self._position:
            self._saw_newline |= self._buffer.find(b"\n", self._position, blank_end) >= 0
            self._position = blank_end
        if blank_end == self._end:
            return False
        byte = self._buffer[blank_end]
        if expected <= _KEY:
            return self._begin_key(byte)
        if expected == _COLON:
            return self._step(_VALUE) if byte == 0x3A else self._fail()
        if expected == _COMMA_OR_END:
            return self._read_comma(byte)
        return self._begin_value(byte)

    def _take_member(self, end: int) -> bool:
        self._position = end
        self._value_count += 1
        self._saw_newline = False
        if self._buffer[end - 1] == 0x2C:
            self._expected, self._comma = _KEY, end - 1
        else:
            self._open.pop()
        return True

    def _step(self, expected: int) -> bool:
        self._position += 1
        self._saw_newline = False
        self._expected = expected
        return True

    def _begin_key(self, byte: int) -> bool:
        if byte == 0x22:
            self._key_start = self._position
            return self._step(_IN_KEY)
        if byte == 0x7D and self._expected == _KEY_OR_END:
            return self._close_bracket()
        return self._pass_comma(byte, 0x7D) if self._expected == _KEY else self._fail()

    def _pass_comma(self, byte: int, closing: int) -> bool:
        """Read what follows a comma that nothing needs: another one, or the end of the object or list."""
        if byte == 0x2C:
            return self._slip(self._position, 1) and self._step(self._expected)
        if byte == closing:
            return self._slip(self._comma, 1) and self._close_bracket()
        return self._fail()

    def _slip(self, begin: int, length: int, meant: bytes = b"") -> bool:
        """Note a slip that the original forgives; return False when there are too many."""
        self._slips.append((begin, length, meant))
        return len(self._slips) <= MOST_SLIPS or self._fail(_IN_TEXT)

    def _read_comma(self, byte: int) -> bool:
        is_object = self._open[-1] == _OPEN_OBJECT
        if byte == 0x2C:
            self._comma = self._position
            return self._step(_KEY if is_object else _VALUE)
        if byte == (0x7D if is_object else 0x5D):
            return self._close_bracket()
        return self._fail()

    def _close_bracket(self) -> bool:
        self._open.pop()
        self._fresh_start.pop()
        return self._step(_COMMA_OR_END)

    def _begin_value(self, byte: int) -> bool:
        if byte == 0x5D and self._expected == _VALUE_OR_END:
            return self._close_bracket()
        if byte in (0x2C, 0x5D) and self._open[-1] == _OPEN_LIST and self._expected == _VALUE:
            return self._pass_comma(byte, 0x5D)
        is_read = self._read_value(byte)
        self._value_count += is_read
        return is_read

    def _read_value(self, byte: int) -> bool:
        """Read a value, of a text, an object or a list only how it begins."""
        if byte == 0x22:
            return self._step(_IN_TEXT)
        if byte in (_OPEN_OBJECT, _OPEN_LIST):
            if len(self._open) >= MOST_DEPTH:
                return self._fail(_IN_TEXT)
            self._open.append(byte)
            self._fresh_start.append(self._position if byte == _OPEN_OBJECT and self._saw_newline else -1)
            return self._step(_KEY_OR_END if byte == _OPEN_OBJECT else _VALUE_OR_END)
        return self._read_bare()

    def _read_bare(self) -> bool:
        """Read a value without quotes, see `grammar.find_meaning`."""
        begin, end = self._position, BARE.match(self._buffer, self._position, self._end).end()  # type: ignore[union-attr]
        bare = bytes(self._buffer[begin:end])
        if not bare or len(bare) > MOST_DIGITS:
            return self._fail(None if not bare else _IN_TEXT)
        if end == self._end:
            return False
        is_json = bare in WORDS or NUMBER.fullmatch(bare) is not None
        if not is_json and not self._slip(begin, len(bare), find_meaning(bare)):
            return False
        self._position = end - 1
        return self._step(_COMMA_OR_END)

    def _keep_escape(self) -> bool:
        """Take a backslash that escapes nothing for itself."""
        self._position += 1
        return self._slip(self._position - 1, 0, b"\\")

    def _read_text(self) -> bool:
        """Continue inside a string; the position stays on an escape that is not complete yet."""
        begin = self._position
        position = self._position = STRING.match(self._buffer, begin, self._end).end()  # type: ignore[union-attr]
        if position == self._end:
            return False
        byte = self._buffer[position]
        if byte != 0x22:
            if position > begin:
                return True
            if byte != 0x5C:
                return self._fail()
            return ESCAPE_BEGUN.fullmatch(self._buffer, position, self._end) is None and self._keep_escape()
        if self._expected == _IN_TEXT:
            return self._step(_COMMA_OR_END)
        if self._fresh_start[-1] >= 0 and self._buffer[self._key_start + 1 : position] == b"msg_type":
            # An object on a new line with a msg_type is a message: what stands before it was never finished.
            self._position = self._fresh_start[-1]
            return self._fail(_COMMA_OR_END)
        return self._step(_COLON)
