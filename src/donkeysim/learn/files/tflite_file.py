"""The bytes of a `.tflite` file: a flatbuffer with the tables, numbers and names of TensorFlow's published schema.

https://github.com/tensorflow/tensorflow/blob/master/tensorflow/compiler/mlir/lite/schema/schema.fbs
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from donkeysim.core.errors import import_extra
from donkeysim.learn.files.tflite_graph import Array, GraphTensor, Operation, Quantization, TfliteGraph
from donkeysim.learn.files.tflite_metadata import IDENTIFIER, PRODUCER, SIGNATURE

VERSION = 3
_ALIGNMENT = 16
"""Of constants, which interpreters use where they lie."""

_TYPES = {"float32": 0, "int32": 2, "uint8": 3, "int64": 4, "int8": 9}


class _Form(NamedTuple):
    """How an operation is written.

    Attributes:
        code: Its number.
        integer_version: The version of the operation that takes 8-bit integers; the first takes float32.
        options: The number of the table of its options; 0: none.
        slots: Its options: the number of the field, its type, and what is meant where it is left out.
    """

    code: int
    integer_version: int = 2
    options: int = 0
    slots: Mapping[str, tuple[int, str, int]] = {}


_ACTIVE = {"activation": (0, "Int8", 0)}

_POOLING = _Form(
    0,
    2,
    5,
    {
        "padding": (0, "Int8", 0),
        "stride_w": (1, "Int32", 0),
        "stride_h": (2, "Int32", 0),
        "filter_width": (3, "Int32", 0),
        "filter_height": (4, "Int32", 0),
    },
)

_CONVOLUTION = {
    "padding": (0, "Int8", 0),
    "stride_w": (1, "Int32", 0),
    "stride_h": (2, "Int32", 0),
    "activation": (3, "Int8", 0),
    "dilation_w": (4, "Int32", 1),
    "dilation_h": (5, "Int32", 1),
}

_DEPTHWISE = {
    "depth_multiplier": (3, "Int32", 0),
    **{key: (number + (number >= 3), kind, usual) for key, (number, kind, usual) in _CONVOLUTION.items()},
}
"""The same with one field more before the activation."""

OPERATORS: Mapping[str, _Form] = {
    "ADD": _Form(0, 2, 11, _ACTIVE),
    "AVERAGE_POOL_2D": _POOLING._replace(code=1),
    "CONCATENATION": _Form(2, 2, 10, {"axis": (0, "Int32", 0)}),
    "CONV_2D": _Form(3, 3, 1, _CONVOLUTION),
    "DEPTHWISE_CONV_2D": _Form(4, 3, 2, _DEPTHWISE),
    "DEQUANTIZE": _Form(6, 2),
    "FULLY_CONNECTED": _Form(9, 4, 8, _ACTIVE),
    "LOGISTIC": _Form(14),
    "MAX_POOL_2D": _POOLING._replace(code=17),
    "MUL": _Form(18, 2, 21, _ACTIVE),
    "RELU": _Form(19),
    "RESHAPE": _Form(22, 1),
    "RESIZE_BILINEAR": _Form(23, 3, 15, {"half_pixel_centers": (3, "Bool", 0)}),
    "SOFTMAX": _Form(25, 2, 9, {"beta": (0, "Float32", 0)}),
    "TANH": _Form(28),
    "PAD": _Form(34),
    "TRANSPOSE": _Form(39),
    "MEAN": _Form(40, 2, 27, {"keep_dims": (0, "Bool", 0)}),
    "STRIDED_SLICE": _Form(45, 2, 32),
    "SPLIT": _Form(49, 2, 35, {"num_splits": (0, "Int32", 0)}),
    "RSQRT": _Form(76),
    "RESIZE_NEAREST_NEIGHBOR": _Form(97, 3, 74, {"half_pixel_centers": (1, "Bool", 0)}),
    "ELU": _Form(111, 1),
    "QUANTIZE": _Form(114, 1),
}
"""Operations by their names in the format."""

_PLACE = "UOffsetTRelative"
"""The type of what lies elsewhere in the file."""

Fields = Sequence[tuple[int, str, Any]]
"""Fields of a table: number, type in `flatbuffers`, value."""


def write_tflite(graph: TfliteGraph, name: str, metadata: Mapping[str, str]) -> bytes:
    """Return the bytes of a file; `metadata`: texts that lie in the file beside it."""
    constants = [tensor.constant for tensor in graph.tensors if tensor.constant is not None]
    flatbuffers = import_extra("flatbuffers", "writing .tflite needs flatbuffers")
    builder = flatbuffers.Builder(sum(array.nbytes for array in constants) + (1 << 16))
    texts = [np.frombuffer(text.encode(), dtype=np.uint8) for text in metadata.values()]
    buffers = [_write_buffer(builder, array) for array in (None, *constants, *texts)]
    codes = sorted({(each.operator, _is_integer(graph, each)) for each in graph.operations})
    places = {key: number for number, key in enumerate(metadata, start=len(constants) + 1)}
    lists = {
        1: [_write_code(builder, *code) for code in codes],
        2: [_write_graph(builder, graph, name, codes)],
        4: buffers,
        6: _write_named(builder, places),
        7: [_write_signature(builder, graph)],
    }
    fields = [(number, _PLACE, _write_tables(builder, tables)) for number, tables in lists.items()]
    producer = (3, _PLACE, builder.CreateString(PRODUCER))
    builder.Finish(_write_table(builder, [(0, "Uint32", VERSION), producer, *fields]), IDENTIFIER)
    return bytes(builder.Output())


def _write_table(builder: Any, fields: Fields, defaults: Mapping[int, Any] | None = None) -> int:
    """Write a table whose parts are written already; returns its place."""
    count = max((number for number, _, _ in fields), default=-1) + 1
    builder.StartObject(count)
    for number, kind, value in fields:
        getattr(builder, f"Prepend{kind}Slot")(number, value, (defaults or {}).get(number, 0))
    place: int = builder.EndObject()
    return place


def _write_tables(builder: Any, places: Sequence[int]) -> int:
    """Write a list of tables; returns its place."""
    builder.StartVector(4, len(places), 4)
    for place in reversed(places):
        builder.PrependUOffsetTRelative(place)
    written: int = builder.EndVector()
    return written


def _write_numbers(builder: Any, numbers: Iterable[Any], dtype: Any = np.int32) -> int:
    array = np.asarray(list(numbers), dtype=dtype)
    if not array.size:
        return _write_tables(builder, [])
    place: int = builder.CreateNumpyVector(array)
    return place


def _write_buffer(builder: Any, array: Array | None) -> int:
    if array is None or not array.size:
        return _write_table(builder, [])
    content = array.tobytes()
    builder.Prep(_ALIGNMENT, len(content))
    return _write_table(builder, [(0, _PLACE, builder.CreateByteVector(content))])


def _is_integer(graph: TfliteGraph, operation: Operation) -> bool:
    """Say whether an operation works in 8-bit integers."""
    ends = (*operation.inputs[:1], *operation.outputs[:1])
    return any(graph.tensors[index].dtype == np.int8 for index in ends)


def _write_code(builder: Any, operator: str, is_integer: bool) -> int:
    form = OPERATORS[operator]
    version = form.integer_version if is_integer else 1
    fields = [(0, "Int8", form.code), (2, "Int32", version), (3, "Int32", form.code)]
    return _write_table(builder, fields, {2: 1})


def _write_graph(builder: Any, graph: TfliteGraph, name: str, codes: list[tuple[str, bool]]) -> int:
    buffers = iter(range(1, len(graph.tensors) + 1))
    tensors = [
        _write_tensor(builder, tensor, 0 if tensor.constant is None else next(buffers)) for tensor in graph.tensors
    ]
    operations = [
        _write_operation(builder, each, codes.index((each.operator, _is_integer(graph, each))))
        for each in graph.operations
    ]
    fields = [
        (0, _PLACE, _write_tables(builder, tensors)),
        (1, _PLACE, _write_numbers(builder, graph.inputs.values())),
        (2, _PLACE, _write_numbers(builder, graph.outputs.values())),
        (3, _PLACE, _write_tables(builder, operations)),
        (4, _PLACE, builder.CreateString(name)),
    ]
    return _write_table(builder, fields)


def _write_tensor(builder: Any, tensor: GraphTensor, buffer: int) -> int:
    fields = [
        (0, _PLACE, _write_numbers(builder, tensor.shape)),
        (1, "Int8", _TYPES[tensor.dtype.name]),
        (2, "Uint32", buffer),
        (3, _PLACE, builder.CreateString(tensor.name)),
    ]
    if tensor.quantization is not None:
        fields.append((4, _PLACE, _write_quantization(builder, tensor.quantization)))
    return _write_table(builder, fields)


def _write_quantization(builder: Any, quantization: Quantization) -> int:
    fields = [
        (2, _PLACE, _write_numbers(builder, quantization.scale, np.float32)),
        (3, _PLACE, _write_numbers(builder, quantization.zero_point, np.int64)),
        (6, "Int32", quantization.axis),
    ]
    return _write_table(builder, fields)


def _write_operation(builder: Any, operation: Operation, code: int) -> int:
    form = OPERATORS[operation.operator]
    fields = [
        (0, "Uint32", code),
        (1, _PLACE, _write_numbers(builder, operation.inputs)),
        (2, _PLACE, _write_numbers(builder, operation.outputs)),
    ]
    if form.options:
        chosen = [(*form.slots[name][:2], value) for name, value in operation.options.items()]
        defaults = {number: default for number, _, default in form.slots.values()}
        fields += [(3, "Uint8", form.options), (4, _PLACE, _write_table(builder, chosen, defaults))]
    return _write_table(builder, fields)


def _write_signature(builder: Any, graph: TfliteGraph) -> int:
    lists = [_write_tables(builder, _write_named(builder, ends)) for ends in (graph.inputs, graph.outputs)]
    fields = [(0, _PLACE, lists[0]), (1, _PLACE, lists[1]), (2, _PLACE, builder.CreateString(SIGNATURE))]
    return _write_table(builder, fields)


def _write_named(builder: Any, numbers: Mapping[str, int]) -> list[int]:
    """Write a table for each name and its number; returns their places."""
    fields = [((0, _PLACE, builder.CreateString(name)), (1, "Uint32", number)) for name, number in numbers.items()]
    return [_write_table(builder, pair) for pair in fields]
