"""A pilot's layers as PyTorch computes them fastest on a processor; imported by `fit` only, as Keras must be there.

Keras draws dropout one number after the other and walks over every activation three times more than needed; half of
the time of a training step goes there. Here a layer, its ReLU and the dropout behind it are one step, and the random
bits come eight to a word. `python -m benchmarks training` shows what it brings.
"""

from typing import Any

import torch
from torch.nn import functional

from donkeysim.learn.backend import import_keras
from donkeysim.learn.shares import PartGenerator

keras = import_keras()

Tensor = torch.Tensor


class _ReluDropout(torch.autograd.Function):
    """max(0, x), then each number is dropped with the likelihood level / 256; works in place."""

    @staticmethod
    def forward(context: Any, x: Tensor, level: int, generator: torch.Generator) -> Tensor:
        scale = 256.0 / (256 - level)
        x.relu_()
        in_memory = x.permute(0, 2, 3, 1) if x.dim() == 4 else x  # pictures lie channels last
        in_memory.view(-1).mul_(_draw_kept(x.numel(), level, generator)).mul_(scale)
        context.mark_dirty(x)
        context.save_for_backward(x)
        context.scale = scale
        return x

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (y,) = context.saved_tensors  # above 0 exactly where x was and was kept
        return torch.ops.aten.threshold_backward(gradient, y, 0).mul_(context.scale), None, None


def _drop(x: Tensor, level: int, generator: torch.Generator) -> Tensor:
    dropped: Tensor = _ReluDropout.apply(x, level, generator)  # type: ignore[no-untyped-call]
    return dropped


def _draw_kept(count: int, level: int, generator: torch.Generator) -> Tensor:
    words = torch.empty((count + 7) // 8, dtype=torch.int64)
    words.random_(-(1 << 63), None, generator=generator)
    return words.view(torch.uint8)[:count] >= level


class _Fused(keras.layers.Layer):  # type: ignore[misc,name-defined]
    """A convolution or dense layer with the weights of another, and the dropout behind it, if any.

    Where the other does the same to every picture of a sequence, all pictures of a batch go through at once.
    """

    def __init__(self, layer: Any, level: int, draws: PartGenerator) -> None:
        super().__init__(name=layer.name)
        self.layer = layer
        self._inner = _peel(layer)
        self._multiply = _convolve if isinstance(self._inner, keras.layers.Conv2D) else _multiply
        self._level = level
        self._draws = draws

    def compute_output_shape(self, input_shape: Any) -> Any:
        return self.layer.compute_output_shape(input_shape)

    def call(self, x: Tensor, training: bool = False, **_: object) -> Tensor:
        if self._inner is self.layer:
            return self._compute(x, training)
        y = self._compute(x.flatten(0, 1), training)
        return y.reshape(*x.shape[:2], *y.shape[1:])

    def _compute(self, x: Tensor, training: bool) -> Tensor:
        y = self._multiply(self._inner, x)
        if not (training and self._level):
            y = self._inner.activation(y)
        elif y.dim() == 4:
            y = _drop(y.contiguous(memory_format=torch.channels_last), self._level, self._draws.generator)
        else:
            y = _drop(y.contiguous(), self._level, self._draws.generator)
        return y.permute(0, 2, 3, 1) if y.dim() == 4 else y


def _peel(layer: Any) -> Any:
    """Return the layer that is done to every picture of a sequence, or the layer itself."""
    return layer.layer if isinstance(layer, keras.layers.TimeDistributed) else layer


def _convolve(layer: Any, x: Tensor) -> Tensor:
    """[n, h, w, c] seen as [n, c, h, w] is what PyTorch calls channels last: nothing is copied."""
    kernel = layer.kernel.value.permute(3, 2, 0, 1)
    return functional.conv2d(x.permute(0, 3, 1, 2), kernel, layer.bias.value, layer.strides)


def _multiply(layer: Any, x: Tensor) -> Tensor:
    return functional.linear(x, layer.kernel.value.t(), layer.bias.value)


class _Dropped(keras.layers.Layer):  # type: ignore[misc,name-defined]
    """A dropout behind a layer that is computed as Keras does it."""

    def __init__(self, name: str, level: int, draws: PartGenerator) -> None:
        super().__init__(name=name)
        self._level = level
        self._draws = draws

    def call(self, x: Tensor, training: bool = False, **_: object) -> Tensor:
        if not (training and self._level):
            return x
        kept = _draw_kept(x.numel(), self._level, self._draws.generator).view(x.shape)
        return x * kept * (256.0 / (256 - self._level))


class _Passed(keras.layers.Layer):  # type: ignore[misc,name-defined]
    """Stands where a dropout was that the layer before does already."""

    def call(self, x: Tensor, **_: object) -> Tensor:
        return x


def make_fast(model: Any, draws: PartGenerator) -> Any:
    """Return a clone of a model that shares its weights and trains faster; the model itself stays as it is.

    Args:
        model: A functional `keras.Model` on the processor.
        draws: Where random numbers of dropouts come from.
    """
    dropouts = _find_dropouts(model)
    passed = {dropout.name for dropout in dropouts.values()}

    def replace(layer: Any) -> Any:
        if layer.name in passed:
            return _Passed(name=layer.name)
        if isinstance(_peel(layer), keras.layers.Dropout):
            return _Dropped(layer.name, round(256 * _peel(layer).rate), draws)
        if not _is_plain(_peel(layer)):
            return layer
        rate = _peel(dropouts[layer.name]).rate if layer.name in dropouts else 0.0
        return _Fused(layer, round(256 * rate), draws)

    return keras.models.clone_model(model, clone_function=replace)


def _is_plain(layer: Any) -> bool:
    """Whether a layer is one that `_Fused` computes as it is."""
    if isinstance(layer, keras.layers.Dense):
        return bool(layer.use_bias)
    is_plain_picture = isinstance(layer, keras.layers.Conv2D) and layer.data_format == "channels_last"
    is_dense = is_plain_picture and layer.dilation_rate == (1, 1) and layer.groups == 1
    return is_dense and layer.padding == "valid" and layer.use_bias


def _find_dropouts(model: Any) -> dict[str, Any]:
    """Return the dropout behind each plain layer with a ReLU that nothing else reads, by the layer's name."""
    readers: dict[int, list[Any]] = {id(tensor): [None] for tensor in model.outputs}
    for layer in model.layers:
        for tensor in layer.input if isinstance(layer.input, list) else [layer.input]:
            readers.setdefault(id(tensor), []).append(layer)
    found = {}
    for layer in model.layers:
        inner = _peel(layer)
        if _is_plain(inner) and inner.activation is keras.activations.relu:
            behind = readers.get(id(layer.output), [])
            if len(behind) == 1 and isinstance(_peel(behind[0]), keras.layers.Dropout):
                found[layer.name] = behind[0]
    return found


def has_batch_statistics(model: Any) -> bool:
    """Whether what a layer computes of an example depends on the others of its batch."""
    return any(isinstance(_peel(layer), keras.layers.BatchNormalization) for layer in model.layers)
