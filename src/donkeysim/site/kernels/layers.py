"""Layers of small networks, for pilots that drive in a page. What is beside them, adding and bending, pages do."""

from donkeysim.core.kernel import kernel
from donkeysim.core.types import Float32Array


@kernel(loose=True)
def convolve(
    source: Float32Array, weight: Float32Array, bias: Float32Array, step_y: int, step_x: int, target: Float32Array
) -> None:
    """Write a convolution without padding.

    Args:
        source: Shape [height, width, channels].
        weight: Shape [rows, columns, channels, filters].
        bias: Shape [filters].
        step_y: Stride along the height [pixel].
        step_x: Stride along the width [pixel].
        target: Written, shape [(height - rows) // step_y + 1, (width - columns) // step_x + 1, filters].
    """
    for y in range(target.shape[0]):
        for x in range(target.shape[1]):
            out = target[y, x]
            for k in range(out.shape[0]):
                out[k] = bias[k]
            for i in range(weight.shape[0]):
                for j in range(weight.shape[1]):
                    for c in range(weight.shape[2]):
                        value, row = source[y * step_y + i, x * step_x + j, c], weight[i, j, c]
                        for k in range(out.shape[0]):
                            out[k] += value * row[k]


@kernel(loose=True)
def multiply(source: Float32Array, weight: Float32Array, bias: Float32Array, target: Float32Array) -> None:
    """Write source · weight + bias: of shapes [inputs], [inputs, outputs], [outputs] and [outputs]."""
    for k in range(target.shape[0]):
        target[k] = bias[k]
    for c in range(source.shape[0]):
        value, row = source[c], weight[c]
        for k in range(target.shape[0]):
            target[k] += value * row[k]
