"""What a car's configuration says about training."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import psutil


@dataclass(frozen=True)
class TrainingOptions:
    """The keys of a configuration that training reads, under their names in lower case; the original's defaults."""

    batch_size: int = 128
    train_test_split: float = 0.8
    """Share of the examples that is learnt from; the rest shows how good the pilot is."""
    max_epochs: int = 100
    use_early_stop: bool = True
    early_stop_patience: int = 5
    """Epochs without progress after which training ends."""
    min_delta: float = 0.0005
    """Fall of the validation loss that counts as progress."""
    optimizer: str | None = None
    """None: the one of the pilot's kind."""
    learning_rate: float = 0.001
    learning_rate_decay: float = 0.0
    """After n steps the rate is learning_rate / (1 + decay n)."""
    fall_steps: int | None = None
    """Steps over which the rate falls to a tenth; None: only as `learning_rate_decay` says. No key sets it."""
    train_seed: int = 0
    """Of the split, the first weights, the order of examples, dropout and augmentations."""
    train_precision: str = "auto"
    """Arithmetic of the layers; auto: bfloat16 where the processor has it."""
    cache_policy: str = "ARRAY"
    """What of the pictures stays in memory: decoded (ARRAY), as files (BINARY), nothing (NOCACHE)."""
    freeze_layers: bool = False
    """After a transfer only the last layers learn."""
    num_last_layers_to_train: int | None = 7
    show_plot: bool = True
    print_model_summary: bool = True
    create_tf_lite: bool = True
    """Whether .tflite files are written beside the pilot, and an .onnx."""
    train_filter: Callable[[Any], bool] | None = field(default=None, compare=False)
    """Called with each record (its fields are in `underlying`); False leaves it out."""


def read_options(config: object) -> TrainingOptions:
    """Return the options of a configuration, whose values `car.config` has checked; keys it lacks take the defaults."""
    names = TrainingOptions.__dataclass_fields__
    return TrainingOptions(**{name: getattr(config, name.upper()) for name in names if hasattr(config, name.upper())})


def find_available_memory() -> int:
    """Return how many bytes of memory a program may still take."""
    return int(psutil.virtual_memory().available)
