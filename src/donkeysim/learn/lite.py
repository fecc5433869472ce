"""Pilots as `.tflite` files for cars: in float32, and in 8-bit integers that are made for the pictures of a tub."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from donkeysim.core.errors import PilotError
from donkeysim.core.files import write_whole
from donkeysim.learn.batches import Examples
from donkeysim.learn.database import name_beside
from donkeysim.learn.files.header import PilotHeader
from donkeysim.learn.files.network import Network
from donkeysim.learn.files.tflite_graph import TfliteGraph
from donkeysim.learn.files.tflite_writer import make_graph, pack_graph

ENDING, INTEGER_ENDING = ".tflite", ".int8.tflite"

# Ranges are set by the brightest and darkest: a few hundred pictures of a drive show them, more change little.
EXAMPLE_COUNT = 200
"""Pictures from which the range of each number inside a network is taken."""


def write_lite(network: Network, header: PilotHeader | None, path: Path, examples: Examples | None) -> tuple[Path, ...]:
    """Write the `.tflite` files that belong to a pilot, and return them.

    Args:
        header: What the files say about themselves.
        path: Its own file; these lie beside it.
        examples: What it may see while driving; None: no file in integers is written.

    Raises:
        PilotError: A layer that such files cannot hold, or a folder that cannot be written.
        DonkeySimError: The extra `learn` is missing.
    """
    graph = make_graph(network)
    graphs = {ENDING: graph}
    if examples is not None:
        graphs[INTEGER_ENDING] = _make_integers(graph, examples)
    paths = []
    for ending, made in graphs.items():
        paths.append(path if path.suffix.lower() == ending else name_beside(path, ending))
        write_whole(paths[-1], pack_graph(made, network.name, header), PilotError)
    return tuple(paths)


def _make_integers(graph: TfliteGraph, examples: Examples) -> TfliteGraph:
    """Return a graph in 8-bit integers that hold what flows through it at some of the examples.

    Raises:
        PilotError: The examples do not fit the inputs, or it divides by how far numbers scatter, which few bits blur.
    """
    from donkeysim.learn.files.tflite_values import GraphRunner, quantize_graph

    if any(operation.operator == "RSQRT" for operation in graph.operations):
        raise PilotError(
            "a LayerNormalization cannot be said in 8-bit integers; write the .tflite file without --tub (and train "
            "with CREATE_TF_LITE = False), or put a BatchNormalization in its place."
        )
    chosen = np.unique(np.linspace(0, len(examples) - 1, min(len(examples), EXAMPLE_COUNT)).astype(np.int64))
    batch = examples.take(chosen, np.random.default_rng(0))
    names = list(graph.inputs)
    shapes = [graph.get_shape(graph.inputs[name])[1:] for name in names]
    given = [shape for shape in (batch.pictures.shape[1:], batch.vectors.shape[1:]) if shape != (0,)]
    if shapes != given:
        raise PilotError(
            f"the pilot takes {_describe(shapes)}, but the tub and the configuration give {_describe(given)}; set "
            "IMAGE_W, IMAGE_H, IMAGE_DEPTH and SEQUENCE_LENGTH to the pilot's."
        )
    runner = GraphRunner(graph)
    for picture, vector in zip(batch.pictures, batch.vectors, strict=True):
        values = [picture[np.newaxis].astype(np.float32) / np.float32(255.0), vector[np.newaxis]]
        runner.run(dict(zip(names, values, strict=False)))
    return quantize_graph(graph, runner.ranges)


def _describe(shapes: Sequence[tuple[int, ...]]) -> str:
    return " and ".join("x".join(map(str, shape)) for shape in shapes)
