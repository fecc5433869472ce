"""Recurrences in TFLite: written out row by row, with operations that every interpreter has."""

import numpy as np

from donkeysim.learn.files.layer_shapes import take_gates
from donkeysim.learn.files.network import Layer, split_ways
from donkeysim.learn.files.tflite_graph import NO_ACTIVATION, NOTHING, RELU6, TfliteGraph

_OPERATORS = {"tanh": "TANH", "relu": "RELU", "sigmoid": "LOGISTIC"}


def run_recurrence(graph: TfliteGraph, layer: Layer, source: int) -> list[int]:
    """Add an LSTM, a GRU or a plain recurrence; returns what it says, of a `Bidirectional` both ways."""
    run = {"LSTM": _run_lstm, "GRU": _run_gru, "SimpleRNN": _run_simple}[layer.class_name]
    if len(graph.get_shape(source)) != 2:
        raise ValueError("a sequence of sequences")
    ways = [run(graph, way, source) for way in split_ways(layer)]
    if not layer.settings.get("return_sequences", False):
        return [said[-1] for said in ways]
    return [graph.join(said[::-1] if number else said, 0) for number, said in enumerate(ways)]


def _list_rows(graph: TfliteGraph, layer: Layer, source: int) -> list[int]:
    """Return the rows of a sequence in the order in which a layer reads them."""
    length, width = graph.get_shape(source)
    rows = [graph.cut(source, [row, 0], [row + 1, width]) for row in range(length)]
    return rows[::-1] if layer.settings.get("go_backwards", False) else rows


def _run_simple(graph: TfliteGraph, layer: Layer, source: int) -> list[int]:
    (kernel, recurrent, *bias), _ = take_gates(layer, graph.get_shape(source)[1], 1)
    operator, said = _OPERATORS[layer.settings.get("activation", "tanh")], list[int]()
    recalled = graph.add_constant(recurrent.T)
    for row in _list_rows(graph, layer, graph.multiply(source, kernel, bias)):
        shape, summed = graph.get_shape(row), row
        if said:
            heard = graph.add("FULLY_CONNECTED", [said[-1], recalled, NOTHING], shape, activation=NO_ACTIVATION)
            summed = graph.combine("ADD", row, heard)
        said.append(graph.add(operator, [summed], shape))
    return said


def _run_lstm(graph: TfliteGraph, layer: Layer, source: int) -> list[int]:
    (kernel, recurrent, *bias), gate = take_gates(layer, graph.get_shape(source)[1], 4)
    seen = graph.multiply(source, kernel, bias)
    recalled, said = (graph.add_constant(recurrent.T), gate), []
    state = None
    for gates in _list_rows(graph, layer, seen):
        state = _add_lstm_step(graph, gates, recalled, state)
        said.append(state[1])
    return said


def _add_lstm_step(
    graph: TfliteGraph, gates: int, recalled: tuple[int, str], state: tuple[int, int] | None
) -> tuple[int, int]:
    """Add one step of an LSTM; returns its cell and what it says.

    Args:
        gates: What the input says to its gates, shape [1, 4 * unit]: in, forget, cell, out.
        recalled: The recurrent kernel, and the activation of gates.
        state: The cell, and what it said, before; None: at the first step.
    """
    kernel, gate = recalled
    shape = (1, graph.get_shape(gates)[1] // 4)
    if state is not None:
        heard = graph.add("FULLY_CONNECTED", [state[1], kernel, NOTHING], graph.get_shape(gates), activation=0)
        gates = graph.add("ADD", [gates, heard], graph.get_shape(gates), activation=0)
    axis = graph.add_constant(1, np.int32)
    into, forget, cell, out = graph.add_many("SPLIT", [axis, gates], [shape] * 4, num_splits=4)
    cell = graph.add("MUL", [_open(graph, into, gate), graph.add("TANH", [cell], shape)], shape, activation=0)
    if state is not None:
        kept = graph.add("MUL", [_open(graph, forget, gate), state[0]], shape, activation=0)
        cell = graph.add("ADD", [kept, cell], shape, activation=0)
    said = graph.add("MUL", [_open(graph, out, gate), graph.add("TANH", [cell], shape)], shape, activation=0)
    return cell, said


def _run_gru(graph: TfliteGraph, layer: Layer, source: int) -> list[int]:
    _, width = graph.get_shape(source)
    units, (weights, gate) = int(layer.settings["units"]), take_gates(layer, width, 3)
    kernel, recurrent, *bias = weights
    is_reset_after = bool(layer.settings.get("reset_after", True))
    heard_bias = [bias[0][1]] if bias and is_reset_after else []
    seen = graph.multiply(source, kernel, [bias[0][0] if is_reset_after else bias[0]] if bias else [])
    axis, said = graph.add_constant(1, np.int32), []
    state = graph.combine("MUL", graph.cut(seen, [0, 0], [1, units]), graph.add_constant([0.0]))  # 0, but no constant
    for into in _list_rows(graph, layer, seen):
        update, reset, fresh = graph.add_many("SPLIT", [axis, into], [(1, units)] * 3, num_splits=3)
        if is_reset_after:
            heard = graph.multiply(state, recurrent, heard_bias)
            heard_by = graph.add_many("SPLIT", [axis, heard], [(1, units)] * 3, num_splits=3)
        else:
            two = graph.multiply(state, recurrent[:, : 2 * units], [])
            heard_by = graph.add_many("SPLIT", [axis, two], [(1, units)] * 2, num_splits=2)
        update = _open(graph, graph.combine("ADD", update, heard_by[0]), gate)
        reset = _open(graph, graph.combine("ADD", reset, heard_by[1]), gate)
        if is_reset_after:
            recalled = graph.combine("MUL", reset, heard_by[2])
        else:
            recalled = graph.multiply(graph.combine("MUL", reset, state), recurrent[:, 2 * units :], [])
        fresh = graph.add("TANH", [graph.combine("ADD", fresh, recalled)], (1, units))
        turned = graph.combine("MUL", fresh, graph.add_constant([-1.0]))
        kept = graph.combine("MUL", update, graph.combine("ADD", state, turned))
        state = graph.combine("ADD", fresh, kept)
        said.append(state)
    return said


def _open(graph: TfliteGraph, index: int, gate: str) -> int:
    """Return how far a gate of an LSTM is open."""
    shape = graph.get_shape(index)
    if gate == "sigmoid":
        return graph.add("LOGISTIC", [index], shape)
    raised = graph.add("ADD", [index, graph.add_constant([3.0])], shape, activation=RELU6)
    return graph.add("MUL", [raised, graph.add_constant([1.0 / 6.0])], shape, activation=0)
