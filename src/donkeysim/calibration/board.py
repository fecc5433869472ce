"""The printed board: drawn for paper, and found in pictures."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from donkeysim.core.errors import SpecError, import_extra
from donkeysim.core.files import replace_file
from donkeysim.core.types import ByteArray, FloatArray

PAPER = (297.0, 210.0)
"""Of the sheet, A4 lying; Letter holds the same board [mm]."""

# 300 dots per inch, as office printers have them.
DOTS_PER_MM = 300 / 25.4

SHEET_SUFFIXES = (".pdf", ".png")

LEAST_WIDTH = 600
"""Pictures are made so wide at least before corners are looked for: small squares are not found [pixel]."""

LEAST_SIDE = 20.0
"""Corners of squares smaller than this are looked for again in a picture twice as large [pixel]."""


FEWEST, MOST = 3, 40
"""Corners of a board along a side."""


@dataclass(frozen=True)
class Board:
    """A chessboard.

    Attributes:
        columns: Corners between squares, along the sheet's long side.
        rows: The same along the short one.
        square: Side of a square [m].
    """

    columns: int = 8
    rows: int = 5
    square: float = 0.03

    def __post_init__(self) -> None:
        for count in (self.columns, self.rows):
            if not FEWEST <= count <= MOST:
                raise SpecError(
                    f"a board of {self.columns}x{self.rows} corners is not valid; it takes {FEWEST} to {MOST} "
                    "a side, counted between the squares, along the longer side first."
                )
        if not 0.001 <= self.square <= 1.0:
            raise SpecError(f"a board's square of {self.square * 1000:g} mm is not valid; it takes 1 to 1000 mm.")

    def list_corners(self) -> FloatArray:
        """Return the corners on the board, row by row, x along the long side, z = 0 [m], shape [count, 3]."""
        row, column = np.divmod(np.arange(self.columns * self.rows), self.columns)
        return np.stack([column, row, np.zeros_like(row)], axis=-1) * self.square


def make_board(corners: str, square: float) -> Board:
    """Return the board that `--corners` and `--square` [mm] describe.

    Raises:
        SpecError: They describe none.
    """
    columns, cross, rows = corners.partition("x")
    if not (cross and columns.isdecimal() and rows.isdecimal()):
        raise SpecError(f"--corners {corners} is not valid; it takes columns and rows, for example 8x5.")
    return Board(int(columns), int(rows), square / 1000.0)


def draw_board(board: Board, path: Path) -> None:
    """Write the board as a `.pdf` or a picture to print at its own size, without fitting it to the page.

    Raises:
        SpecError: It does not fit on the sheet, it is to be a file of another kind, or it cannot be written.
    """
    if path.suffix.lower() not in SHEET_SUFFIXES:
        raise SpecError(f"a board is not written as {path.name}; give --board a name that ends in .pdf or .png.")
    sides = (board.columns + 1) * board.square * 1000, (board.rows + 1) * board.square * 1000
    if sides[0] > PAPER[0] - 10 or sides[1] > PAPER[1] - 10:
        most = int(min((PAPER[0] - 10) / (board.columns + 1), (PAPER[1] - 10) / (board.rows + 1)))
        raise SpecError(
            f"squares of {board.square * 1000:g} mm make a board larger than the sheet; take {most} mm at most."
        )
    marks = []
    for paper, side in zip(PAPER, sides, strict=True):
        at = (np.arange(round(paper * DOTS_PER_MM)) + 0.5) / DOTS_PER_MM - 0.5 * (paper - side)
        marks.append((np.floor(at / (board.square * 1000)).astype(int), (at >= 0.0) & (at < side)))
    (across, is_across), (down, is_down) = marks
    is_black = (down[:, None] + across) % 2 == 0
    is_black &= is_down[:, None] & is_across
    sheet = Image.fromarray(np.where(is_black, 0, 255).astype(np.uint8))
    with replace_file(path, SpecError) as beside:
        sheet.save(beside, resolution=300.0, dpi=(300, 300))


def find_corners(picture: ByteArray, board: Board) -> FloatArray | None:
    """Return where the board's corners are in a picture [pixel], shape [count, 2]; None: they were not all found.

    Args:
        picture: Shape [height, width, 3] or [height, width, 1].
        board: What to look for; it may be turned by 180°.
    """
    cv2 = import_extra("cv2", "finding a board needs OpenCV")
    weights = (0.2126, 0.7152, 0.0722) if picture.shape[2] == 3 else (1.0,)
    grey = (picture @ weights).astype(np.uint8)
    scale = max(1, -(-LEAST_WIDTH // grey.shape[1]))
    places = _look_for_corners(cv2, grey, board, scale)
    if places is not None and _find_least_side(places, board) * scale < LEAST_SIDE:
        again = _look_for_corners(cv2, grey, board, 2 * scale)
        return places if again is None else again
    return places


def _look_for_corners(cv2: Any, grey: ByteArray, board: Board, scale: int) -> FloatArray | None:
    """Return where corners are, looked for in a picture enlarged by a factor."""
    large = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_CUBIC)
    flags = cv2.CALIB_CB_NORMALIZE_IMAGE | cv2.CALIB_CB_ACCURACY
    for more in (0, cv2.CALIB_CB_EXHAUSTIVE):  # which takes seconds where there is no board
        found, corners = cv2.findChessboardCornersSB(large, (board.columns, board.rows), flags=flags | more)
        if found:
            places: FloatArray = (corners.reshape(-1, 2).astype(float) + 0.5) / scale - 0.5
            return places
    return None


def _find_least_side(places: FloatArray, board: Board) -> float:
    """Return the shortest side of a square [pixel]."""
    grid = places.reshape(board.rows, board.columns, 2)
    return float(min(np.linalg.norm(np.diff(grid, axis=axis), axis=-1).min() for axis in (0, 1)))
