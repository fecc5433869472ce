"""The line of a model that is a path: seen from above, x to the right and the model's -z up."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from donkeysim.core.errors import SceneError, describe_unknown
from donkeysim.world.tracks.paths.gltf_lines import ModelLine, read_model_lines
from donkeysim.world.tracks.paths.raw_path import RawPath


def read_model_path(path: Path, element: str) -> RawPath:
    """Return a path of a model.

    Args:
        path: A .glb or .gltf file.
        element: Name of the node that holds the line; "": the only one.

    Raises:
        SceneError: This is no model, or has no such line; one sentence.
    """
    lines, others = read_model_lines(path)
    line = _choose(lines, others, element, path)
    point = line.point
    if line.is_closed and np.array_equal(point[0], point[-1]):
        point = point[:-1]
    return RawPath(np.column_stack((point[:, 0], -point[:, 2])), is_closed=line.is_closed)


def _choose(lines: list[ModelLine], others: list[str], element: str, path: Path) -> ModelLine:
    if element:
        found = [line for line in lines if line.name == element]
        if len(found) == 1:
            return found[0]
        if found:
            raise SceneError(f"{path}: {len(found)} lines are called {element!r}; a path is one line.")
        if element in others:
            raise SceneError(f"{path}: {element!r} has faces; the path is a line: edges without faces, or a curve.")
        raise SceneError(f"{path}: {describe_unknown('element', element, {line.name for line in lines})}")
    if not lines:
        raise SceneError(f"{path} has no line; draw the path as edges without faces, and export loose edges too.")
    if len(lines) > 1:
        names = ", ".join(repr(line.name) for line in lines[:20])
        raise SceneError(
            f'{path} has {len(lines)} lines: {names}; choose one in [path] by element = "NAME", or with --element.'
        )
    return lines[0]
