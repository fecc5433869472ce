"""How much of what was sent a peer has not read yet, as far as this system can tell.

The system's buffers on the client's side swallow dozens of telemetries when their owner sleeps, and it would wake up to
old pictures. The receive window that the peer announces shrinks by what lies there unread, so on Linux the sender can
see it (`TCP_INFO`). Elsewhere only the own send buffer limits what is under way.
"""

import socket
import struct
import sys

from donkeysim.core.clock import Clock

# A line that nobody reads waits at the peer: sent more often, they would fill its buffer, and what a client that comes
# back reads first would be old.
FORCED_SECONDS = 6.0
"""So long after the peer seemed to stop reading one line is sent anyway, to see whether that is still so [s]."""

# Acknowledgements are held back for up to 40 ms by Linux, for up to 200 ms by other systems.
SETTLING_SECONDS = 0.2
"""Until the acknowledgement of that line is surely here [s]."""

LIFE_SECONDS = 0.2
"""The window of a peer that answers is looked at this often [s]."""

_SEND_WINDOW_OFFSET = 228
"""Of `tcpi_snd_wnd` in the kernel's `struct tcp_info` (since Linux 5.4)."""

_INFO_BYTES = 232


class PeerWindow:
    """Watches one connection; ask `is_behind` before each telemetry."""

    def __init__(self, connection: socket.socket, read_clock: Clock) -> None:
        self._connection = connection
        self._read_clock = read_clock
        self._widest = 0
        self._lowest = 0
        self._seems_stalled = False
        self._forced: tuple[float, int] | None = None
        self._next_force = 0.0
        self._next_look = 0.0

    def is_behind(self, line_bytes: int) -> bool:
        """Return whether about two lines of this size lie unread at the peer, so that another would only age there."""
        window = self._read_window()
        if window is None:
            return False
        now = self._read_clock()
        self._widest = max(self._widest, window)
        if self._forced is not None and now - self._forced[0] > SETTLING_SECONDS:
            if window >= self._forced[1] - line_bytes // 4 and window > line_bytes:
                self._widest = window  # the forced line has been read: the peer's buffer has become smaller
            self._forced = None
        if self._seems_stalled and window >= self._lowest + line_bytes // 2:
            self._widest = window  # it opens: the peer reads, though its buffer may have become smaller meanwhile
        if self._widest - window <= line_bytes // 2:
            self._seems_stalled = False
            return False
        self._lowest = min(self._lowest, window) if self._seems_stalled else window
        if not self._seems_stalled:
            self._seems_stalled = True
            self._next_force = now + FORCED_SECONDS
        return True

    def note_life(self) -> None:
        """Take note that the peer said something after the last line was sent: who answers also reads.

        The system is asked now and then only, which takes as long as much of the rest.
        """
        now = self._read_clock()
        if not self._seems_stalled and now < self._next_look:
            return
        self._next_look = now + LIFE_SECONDS
        window = self._read_window()
        if window is not None:
            self._widest = window

    def may_force(self) -> bool:
        """Return whether one line shall be sent although the peer seems not to read; at most once in a while."""
        now = self._read_clock()
        window = self._read_window()
        if window is None or now < self._next_force:
            return False
        self._forced = (now, window)
        self._next_force = now + FORCED_SECONDS
        return True

    def _read_window(self) -> int | None:
        """Return the peer's receive window [byte], None where it cannot be known."""
        if sys.platform != "linux":
            return None
        try:
            info = self._connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _INFO_BYTES)
        except OSError:
            return None
        if len(info) < _INFO_BYTES:
            return None
        window: int = struct.unpack_from("=I", info, _SEND_WINDOW_OFFSET)[0]
        return window
