"""A film of JPEG pictures as browsers show it in an image element, for any number of viewers.

A picture is encoded once for all viewers, and only while somebody looks. A viewer gets the newest picture whenever the
last one has been taken from it, so a slow one sees fewer and never a queue of old ones. Browsers show a picture when
the line comes that begins the next one; it is therefore sent right behind the picture.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress

import numpy as np
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from donkeysim.core.image import encode_jpeg, spread_grey
from donkeysim.core.types import ByteArray

BOUNDARY = "--boundarydonotcross"
MEDIA_TYPE = f"multipart/x-mixed-replace;boundary={BOUNDARY}"
BOUNDARY_LINE = f"{BOUNDARY}\n".encode()

REPEAT_SECONDS = 1.0
"""A picture that does not change is sent again this often, so that nobody takes the connection for dead."""


class PictureStream:
    """The pictures of one camera, on their way to viewers; made and closed in the loop that serves them."""

    def __init__(self, placeholder: ByteArray) -> None:
        """Begin; `placeholder`: what viewers see before the first picture, shape [height, width, 3]."""
        self._part = _make_part(placeholder)
        self._shown: ByteArray | None = None
        self._changed = asyncio.Event()
        self._is_closed = False
        self.viewer_count = 0
        self.encoded_count = 0

    def publish(self, picture: ByteArray) -> None:
        """Show a picture to all viewers if it differs from the last; call it in the loop.

        Args:
            picture: Shape [height, width, 1 or 3]; not written to afterwards.
        """
        if self._shown is not None and np.array_equal(self._shown, picture):
            return
        self._shown = picture
        self._part = _make_part(picture)
        self.encoded_count += 1
        self._wake_viewers()

    def close(self) -> None:
        """End every viewer's film."""
        self._is_closed = True
        self._wake_viewers()

    def answer(self) -> Film:
        """Return an endless answer with the film for one viewer."""
        return Film(self)

    async def yield_parts(self) -> AsyncIterator[bytes]:
        """Yield the film's bytes, always the newest picture, until the stream is closed."""
        yield BOUNDARY_LINE
        while not self._is_closed:
            sent = self._part
            yield sent
            if sent is self._part:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), REPEAT_SECONDS)

    def _wake_viewers(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class Film(StreamingResponse):
    """The film for one viewer; ends when the viewer leaves, which the server reports only to those who ask."""

    def __init__(self, stream: PictureStream) -> None:
        super().__init__(
            stream.yield_parts(),
            headers={"Content-Type": MEDIA_TYPE, "Cache-Control": "no-store", "Connection": "close"},
        )
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send pictures until the stream is closed or the viewer leaves; only the headers to who asks for these."""
        if scope["method"] == "HEAD":
            await Response(headers=dict(self.headers))(scope, receive, send)
            return
        self._stream.viewer_count += 1
        tasks = [
            asyncio.create_task(self.stream_response(send)),
            asyncio.create_task(self.listen_for_disconnect(receive)),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            self._stream.viewer_count -= 1
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def _make_part(picture: ByteArray) -> bytes:
    """Return one picture with its headers, and the line that begins the next."""
    jpeg = encode_jpeg(spread_grey(picture.reshape(*picture.shape[:2], -1)))
    head = f"Content-type: image/jpeg\r\nContent-length: {len(jpeg)}\r\n\r\n".encode()
    return head + jpeg + BOUNDARY_LINE
