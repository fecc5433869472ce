"""The page of `donkey tubclean`: look through a drive like a film, cut stretches out, put them back.

=====================  ===========================================================================================
`GET /`                the page
`GET /summary`         `TubSummary` as JSON; reads the tub anew when it has grown
`GET /times`           when each record was recorded [s], float64, little endian
`GET /numbers/KEY`     a key's values, float32, little endian, nan where there is none
`GET /pictures`        `?first=N&count=N`: the pictures of a stretch, each after its length (uint32; 0: none)
`GET /flaws`           what is wrong with the drive: a list of `PageFlaw`; looks at all pictures
`POST /deleted`        `Deletion`: make these the deleted stretches; saved at once, answers the new `DeletedState`
=====================  ===========================================================================================
"""

import zlib
from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec
import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from donkeysim.core.errors import TubError, describe_unknown
from donkeysim.tub.edit import change_deleted
from donkeysim.tub.files import read_picture_file
from donkeysim.tub.flaws import WORDS, Flaw, find_flaws
from donkeysim.tub.overview import SessionSpan, group_positions, read_overview
from donkeysim.tub.reader import TubReader, find_command_keys
from donkeysim.web.access import read_body
from donkeysim.web.page import answer_json, decode_question, make_page

PAGES = Path(__file__).parent / "pages" / "tub"

# A screen of small pictures; with 5 KB each the answer stays near a megabyte.
PICTURE_LIMIT = 256
"""Most pictures in one answer."""

BODY_LIMIT = 4 * 1024 * 1024
"""Longest body of a POST [byte]; a tub of 100,000 records with every other one deleted needs 0.8 MB."""


class DeletedState(msgspec.Struct):
    """Which stretches (first, last) are deleted, and a number that changes with them."""

    deleted: list[tuple[int, int]]
    revision: int


class TubSummary(msgspec.Struct):
    """What the page needs to begin."""

    name: str
    path: str
    count: int
    keys: list[str]
    command: tuple[str, str]
    """Those of steering and throttle."""
    sessions: list[SessionSpan]
    can_change: bool
    state: DeletedState
    lost: int


class PageFlaw(msgspec.Struct):
    """A flaw as the page says it; see `tub.flaws.Flaw`."""

    kind: str
    words: dict[str, tuple[str, str]]
    """What was found and what to do, by language."""
    spans: list[tuple[int, int]]
    examples: list[int]


class Deletion(msgspec.Struct, forbid_unknown_fields=True):
    """The stretches that are to be deleted, among the first `count` records, instead of those of `revision`."""

    deleted: list[tuple[int, int]]
    count: int
    revision: int


def create_app(path: str | Path) -> ASGIApp:
    """Return the page of one tub as an ASGI app.

    Raises:
        TubError: This is no tub.
    """
    page = TubPage(path)
    return make_page(
        PAGES,
        [
            Route("/summary", page.show_summary),
            Route("/times", page.show_times),
            Route("/numbers/{key:path}", page.show_numbers),
            Route("/pictures", page.show_pictures),
            Route("/flaws", page.show_flaws),
            Route("/deleted", page.set_deleted, methods=["POST"]),
        ],
    )


class TubPage:
    """The page's endpoints over one tub."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path).expanduser().absolute()
        self._overview = read_overview(TubReader(self._path))
        self._signature = _sign_files(self._path)

    async def show_summary(self, _request: Request) -> Response:
        """Answer the tub's outline."""
        return await run_in_threadpool(self._summarise)

    async def show_times(self, _request: Request) -> Response:
        """Answer when each record was recorded."""
        return _answer_bytes(self._overview.times.astype("<f8").tobytes())

    async def show_numbers(self, request: Request) -> Response:
        """Answer the values of one key."""
        key, numbers = request.path_params["key"], self._overview.numbers
        if key not in numbers:
            raise TubError(describe_unknown("numeric key", key, numbers))
        return _answer_bytes(numbers[key].astype("<f4").tobytes())

    async def show_pictures(self, request: Request) -> Response:
        """Answer the pictures of a stretch."""
        try:
            first, count = (int(request.query_params[name]) for name in ("first", "count"))
        except (KeyError, ValueError) as error:
            raise TubError("request pictures by ?first=N&count=N with whole numbers.") from error
        paths = self._overview.list_picture_paths(first, min(count, PICTURE_LIMIT))
        return _answer_bytes(await run_in_threadpool(_pack_pictures, paths))

    async def show_flaws(self, _request: Request) -> Response:
        """Answer what is wrong with the drive."""
        flaws = await run_in_threadpool(find_flaws, TubReader(self._path))
        return answer_json([_describe_flaw(flaw) for flaw in flaws])

    async def set_deleted(self, request: Request) -> Response:
        """Save which records are deleted."""
        too_long = TubError(f"the request is longer than {BODY_LIMIT} bytes; delete fewer separate stretches.")
        wanted = decode_question(await read_body(request, BODY_LIMIT, too_long), Deletion)
        state = await run_in_threadpool(save_deletion, self._path, wanted)
        return answer_json(state)

    def _summarise(self) -> Response:
        signature = _sign_files(self._path)
        tub = TubReader(self._path)
        if signature != self._signature:
            self._overview, self._signature = read_overview(tub), signature
        overview = self._overview
        summary = TubSummary(
            self._path.name,
            str(self._path),
            overview.count,
            sorted(overview.numbers),
            find_command_keys(overview.numbers),
            overview.sessions,
            not tub.is_old_format,
            describe_deleted(tub.deleted_indexes),
            tub.lost_count,
        )
        return answer_json(summary)


def describe_deleted(positions: Collection[int]) -> DeletedState:
    """Return deleted positions as stretches, and the number that stands for them."""
    spans = group_positions(positions)
    return DeletedState(spans, zlib.crc32(msgspec.json.encode(spans)))


def save_deletion(path: Path, wanted: Deletion) -> DeletedState:
    """Save what the page wants deleted, provided that it knew what was deleted before.

    Raises:
        TubError: Somebody else has changed the tub, is writing to it, or it cannot be written to.
    """

    def change(deleted: set[int], count: int) -> set[int]:
        if describe_deleted(deleted).revision != wanted.revision:
            raise TubError("the tub was changed by somebody else in the meantime; check it before you go on.")
        end = min(wanted.count, count)
        inside = {position for first, last in wanted.deleted for position in range(max(first, 0), min(last + 1, end))}
        return inside | {position for position in deleted if position >= end}

    return describe_deleted(change_deleted(path, change))


def _sign_files(path: Path) -> tuple[tuple[str, int], ...]:
    """Return what changes when a tub grows: its catalogs and their sizes, or how many files an old one has."""
    catalogs = sorted((file.name, file.stat().st_size) for file in path.glob("catalog_*.catalog"))
    return tuple(catalogs) or (("files", len(list(path.glob("record_*.json")))),)


def _describe_flaw(flaw: Flaw) -> PageFlaw:
    words = {code: flaw.describe(code) for code in WORDS[flaw.kind]}
    return PageFlaw(flaw.kind, words, list(flaw.spans), list(flaw.examples))


def _pack_pictures(paths: Iterable[Path | None]) -> bytes:
    parts: list[bytes] = []
    for path in paths:
        try:
            content = read_picture_file(path) if path else b""
        except OSError:
            content = b""
        parts += [np.uint32(len(content)).astype("<u4").tobytes(), content]
    return b"".join(parts)


def _answer_bytes(content: bytes) -> Response:
    return Response(content, media_type="application/octet-stream")
