"""Training a pilot from tubs: data in, pilot, .onnx, .tflite, loss plot and an entry in the database out.

And the `.tflite` files of a pilot that was trained before, perhaps by the original.
"""

from __future__ import annotations

import itertools
import logging
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from donkeysim.car.config import Config
from donkeysim.car.transform import make_steps
from donkeysim.core.errors import DonkeySimError, PilotError, TubError
from donkeysim.core.files import check_place
from donkeysim.core.types import Report
from donkeysim.learn.batches import Examples, make_augmentation
from donkeysim.learn.database import append_entry, choose_path, make_entry, name_beside
from donkeysim.learn.dataset import make_examples, make_targets, make_vectors, read_records, split_examples
from donkeysim.learn.files.header import make_header
from donkeysim.learn.files.model_file import FINISHED_ENDINGS, check_ending, read_layers, read_network, save_model
from donkeysim.learn.files.network import Network
from donkeysim.learn.files.places import read_cars, read_places
from donkeysim.learn.files.tflite_metadata import is_ours
from donkeysim.learn.finetune import FIXED, detect_policy, forget_commands, look_at, read_policy, transfer_weights
from donkeysim.learn.kinds import KINDS, PilotKind, PilotSpec, get_kind, name_users, read_spec
from donkeysim.learn.lite import ENDING, INTEGER_ENDING, write_lite
from donkeysim.learn.options import TrainingOptions, read_options
from donkeysim.learn.pictures import PictureStore, make_preparation
from donkeysim.learn.pilot import PACKAGE_LAYERS, detect_kind, find_layers, open_session
from donkeysim.learn.recovery import Recipe, Views, choose_recipe, find_camera, find_rate, plan_steps, smooth_commands
from donkeysim.tub.flaws import log_flaws
from donkeysim.tub.folder import split_tubs
from donkeysim.tub.histogram import make_figure, save_figure
from donkeysim.tub.manifest import read_manifest

if TYPE_CHECKING:
    from donkeysim.learn.fit import EpochResult, FitResult

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrainingResult:
    """What a training left.

    Attributes:
        model_path: The pilot with the lowest validation loss.
        onnx_path: The same as `.onnx`, for driving without PyTorch; None when not asked for.
        lite_paths: The same as `.tflite`, for cars, in float32 and in integers; none when not asked for.
        plot_path: The loss plot; None when not asked for.
        best_epoch: Its number.
        best_loss: Its validation loss.
        history: Losses per epoch, under Keras' names.
        record_counts: Examples learnt from and validated with.
        images_per_second: Of the fastest epoch, validation not counted.
        was_interrupted: Ctrl-C ended it early; the pilot is the best until then.
        places: Where it learnt, as far as its tubs say, and the pilot it began with.
        cars: What it learnt to drive, in the same form.
    """

    model_path: Path
    onnx_path: Path | None
    plot_path: Path | None
    best_epoch: int
    best_loss: float
    history: Mapping[str, Sequence[float]]
    record_counts: tuple[int, int]
    images_per_second: float
    was_interrupted: bool
    places: tuple[str, ...] = ()
    cars: tuple[str, ...] = ()
    lite_paths: tuple[Path, ...] = ()


def train(
    config: Config,
    tub_paths: Sequence[str | Path] | str | Path,
    model_path: str | Path | None = None,
    kind: str | None = None,
    transfer: str | Path | None = None,
    comment: str | None = None,
    report: Report = lambda _done, _total: None,
    on_epoch: Callable[[EpochResult], None] = lambda _: None,
) -> TrainingResult:
    """Train a pilot from recorded drives.

    Args:
        tub_paths: One tub or several; an item may hold several with commas between.
        model_path: `.h5`, `.keras`, `.onnx` or `.tflite` to write; None: the next name in MODELS_PATH.
        kind: One of `learn.kinds.KINDS`; None: DEFAULT_MODEL_TYPE, or that of a policy to begin with.
        transfer: A trained pilot to begin with, or the name of one in the package; a policy of `donkey rl` keeps its
            network, of others the weights of layers of the same name are taken.
        comment: Kept in the database.
        report: Called as report(done, total) in pictures while they are looked at, then in examples of each epoch.
        on_epoch: Called after each epoch; a KeyboardInterrupt that it raises ends training as Ctrl-C does.

    Raises:
        DonkeySimError: There is nothing to learn from, a file cannot be read or written, a `.tflite` beside it is
            somebody else's, or training was interrupted before its first epoch ended.
    """
    given = [tub_paths] if isinstance(tub_paths, str | Path) else tub_paths
    path, number = choose_path(Path(config.MODELS_PATH), model_path)
    config.require("training")
    options = read_options(config)
    check_place(path)
    if options.create_tf_lite:
        _check_foreign(path, (ENDING, INTEGER_ENDING))
    source = find_layers(str(transfer)) if transfer else None
    # Whatever is wrong with it is said before anything takes time.
    policy = read_policy(source, kind, read_spec(config)) if source else None
    named = get_kind(kind or (policy and detect_policy(policy)) or config.DEFAULT_MODEL_TYPE)
    config.require(*name_users(named.name), *(f"the augmentation {name}" for name in config.AUGMENTATIONS))
    tubs = split_tubs([str(path) for path in given])
    recipe = choose_recipe(config, named, transfer is not None)
    log_flaws(tubs)
    examples = load_examples(config, tubs, named, options, report, recipe)
    if recipe is not None:
        options = plan_steps(options, len(examples[0]))
        policy = _begin_with_package(examples[0], read_spec(config)) if recipe.start else policy
    origin = _collect_origin(tubs, source)
    job = _Job(config, options, named, path, number, tubs, source, policy, comment, *origin)
    with _seeded(options.train_seed):
        model = _make_model(job)
    from donkeysim.learn.fit import fit

    keeper = _BestKeeper(job, model)
    result = fit(model, job.kind, *examples, job.options, keeper.save, report, on_epoch)
    if keeper.is_behind or (result.epochs and result.was_interrupted):  # perhaps while it was being written
        job.save(model, job.path)
    return _finish(job, model, result, examples)


@dataclass(frozen=True)
class _Job:
    """What is to be trained."""

    config: Config
    options: TrainingOptions
    kind: PilotKind
    path: Path
    number: int
    tubs: Sequence[Path]
    transfer: Path | None
    policy: Network | None
    comment: str | None
    places: tuple[str, ...]
    cars: tuple[str, ...]

    def save(self, model: Any, path: Path) -> None:
        """Write a pilot of this training."""
        save_model(model, path, self.kind.name, self.config, self.places, self.cars)


class _BestKeeper:
    """Writes the best pilot so far. Once it is written, a disk that takes no other is no reason to end training.

    Attributes:
        is_behind: The file holds an earlier pilot than the best.
    """

    def __init__(self, job: _Job, model: Any) -> None:
        self._job, self._model = job, model
        self._has_written = self.is_behind = False

    def save(self) -> None:
        """Write the model as it is now."""
        try:
            self._job.save(self._model, self._job.path)
        except PilotError as error:
            if not self._has_written:
                raise
            self.is_behind = True
            _log.error("%s Training continues; the best pilot is written again later.", error)
        else:
            self._has_written, self.is_behind = True, False


def load_examples(
    config: Config,
    tubs: Sequence[Path],
    kind: PilotKind,
    options: TrainingOptions,
    report: Report,
    recipe: Recipe | None = None,
) -> tuple[Examples, Examples]:
    """Return the examples to learn from and those to validate with; `recipe`: None for those of the original.

    Raises:
        DonkeySimError: There are none, or they do not fit the kind.
    """
    spec = read_spec(config)
    table = read_records(tubs, kind, options.train_filter, config)
    augment = make_augmentation(config, ["BRIGHTNESS"] if recipe and recipe.light else [])
    if recipe and recipe.labels:
        angle, throttle = smooth_commands(table.angle, table.throttle, table.follows, find_rate(config))
        table = replace(table, angle=angle, throttle=throttle)
    views = Views(*find_camera(config), table.angle, options.train_seed) if recipe and recipe.views else None
    before, after = tuple(config.TRANSFORMATIONS), tuple(config.POST_TRANSFORMATIONS)
    if augment is None:  # all can be done once
        before, after = before + after, ()
    prepare = make_preparation(config, before, spec.image_shape)
    finish = make_steps(config, after) if after else None
    store = PictureStore(table.records, spec.image_shape, None if views else prepare, options.cache_policy)
    usable = store.load(report)
    rows = make_examples(table, usable, kind, spec)
    chosen = split_examples(len(rows), options.train_test_split, options.train_seed)
    _log.info("Records # Training %d", len(chosen[0]))
    _log.info("Records # Validation %d", len(chosen[1]))
    parts = [
        Examples(
            store,
            rows[part],
            kind.history == "pictures",
            make_vectors(table, rows[part], kind),
            make_targets(table, rows[part], kind, spec),
            views,
            prepare if views else None,
            augment if is_training else None,
            finish,
        )
        for part, is_training in zip(chosen, (True, False), strict=True)
    ]
    return parts[0], parts[1]


def _begin_with_package(examples: Examples, spec: PilotSpec) -> Network | None:
    """Return the network of the package's pilot, ready to learn what is in examples of the type linear.

    None: it cannot look at pictures of their size.
    """
    throttle = float(list(examples.targets.values())[1].mean())
    network = look_at(forget_commands(read_layers(PACKAGE_LAYERS["anywhere"]), throttle), spec.image_shape)
    if network is None:
        height, width, _ = spec.image_shape
        _log.info("for %dx%d a new network learns; the package's looks at 80x60 and multiples of it", width, height)
    return network


def _collect_origin(tubs: Sequence[Path], transfer: Path | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return where a pilot learns and in what: places, cars of the one it begins with, then of the tubs, each once."""
    places, cars = ([read_places(transfer)], [read_cars(transfer)]) if transfer else ([], [])
    for path in tubs:
        with suppress(TubError):  # of the format before 2, which knows neither
            manifest = read_manifest(path)
            places.append(manifest.places)
            cars.append(manifest.cars)
    return tuple(dict.fromkeys(itertools.chain(*places))), tuple(dict.fromkeys(itertools.chain(*cars)))


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Let Keras draw the first weights from a seed; it asks Python's own generator, which is put back after."""
    state = random.getstate()
    random.setstate(random.Random(seed).getstate())
    try:
        yield
    finally:
        random.setstate(state)


def _make_model(job: _Job) -> Any:
    """Return a new model, with the weights of another where there is a transfer; or a policy as it is."""
    from donkeysim.learn.architectures import build_model
    from donkeysim.learn.files.model_file import make_model

    model = build_model(job.kind.name, job.config) if job.policy is None else make_model(job.policy)
    if job.policy is not None:
        for layer in model.layers:
            layer.trainable = layer.name not in FIXED
    elif job.transfer is not None:
        transfer_weights(job.transfer, model)
        if job.options.freeze_layers and job.options.num_last_layers_to_train is not None:
            for layer in model.layers[: -job.options.num_last_layers_to_train]:
                layer.trainable = False
    if job.options.print_model_summary:
        model.summary(print_fn=_log.info)
    return model


def _finish(job: _Job, model: Any, result: FitResult, examples: tuple[Examples, Examples]) -> TrainingResult:
    """Write what belongs to a trained pilot beside it, and its entry in the database."""
    if not result.epochs:
        raise DonkeySimError("training was interrupted before its first epoch ended; no pilot was written.")
    best = min(result.epochs, key=lambda epoch: epoch.losses["val_loss"])
    plot_path = name_beside(job.path, ".png")
    onnx_path = job.path if job.path.suffix.lower() == ".onnx" else name_beside(job.path, ".onnx")
    lite_paths: tuple[Path, ...] = ()
    if job.options.create_tf_lite:
        if onnx_path != job.path:
            job.save(model, onnx_path)
        lite_paths = _write_lite(job, model, examples[1])
    if job.options.show_plot:
        plot_losses(result.history, plot_path, f"{job.path.stem} ({job.kind.name})")
    entry = make_entry(
        job.number, job.path, job.kind.name, job.tubs, result.history, job.config.to_dict(), job.transfer, job.comment
    )
    append_entry(job.path.parent, entry)
    return TrainingResult(
        model_path=job.path,
        onnx_path=onnx_path if job.options.create_tf_lite else None,
        plot_path=plot_path if job.options.show_plot else None,
        best_epoch=best.number,
        best_loss=best.losses["val_loss"],
        history=result.history,
        record_counts=(len(examples[0]), len(examples[1])),
        images_per_second=max(epoch.images_per_second for epoch in result.epochs),
        was_interrupted=result.was_interrupted,
        places=job.places,
        cars=job.cars,
        lite_paths=lite_paths,
    )


def _write_lite(job: _Job, model: Any, examples: Examples) -> tuple[Path, ...]:
    """Write the `.tflite` files beside a pilot, the one in integers for what it is validated with."""
    from donkeysim.learn.files.model_file import describe_model

    header = make_header(job.kind.name, job.config, job.places, job.cars)
    return write_lite(describe_model(model), header, job.path, replace(examples, views=None))


def plot_losses(history: Mapping[str, Sequence[float]], path: Path, title: str) -> None:
    """Draw the training and the validation loss of every epoch into a PNG file.

    Args:
        history: "loss" and "val_loss", one value per epoch.

    Raises:
        DonkeySimError: It cannot be written.
    """
    from matplotlib.ticker import MaxNLocator

    epochs = range(1, len(history["loss"]) + 1)
    figure = make_figure((7.0, 4.2))
    axes = figure.add_subplot()
    axes.plot(epochs, history["loss"], color="#8a94a6", marker="o", markersize=3, label="train")
    axes.plot(epochs, history["val_loss"], color="#d1495b", marker="o", markersize=3, label="validate")
    best = min(epochs, key=lambda epoch: history["val_loss"][epoch - 1])
    lowest = history["val_loss"][best - 1]
    axes.plot([best], [lowest], "o", markersize=10, markerfacecolor="none", markeredgecolor="#d1495b")
    axes.annotate(f"best {lowest:.4f}", (best, lowest), xytext=(0, 12), textcoords="offset points", ha="center")
    axes.set(xlabel="epoch", ylabel="loss", title=title, yscale="log")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.grid(which="both", color="#e6e8ec", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    save_figure(figure, path, dpi=120)


def _check_foreign(beside: Path, endings: Sequence[str]) -> None:
    for ending in endings:
        target = name_beside(beside, ending)
        if target != beside and target.is_file() and not is_ours(target.read_bytes()):
            raise PilotError(f"{target} is there already and not of donkeysim, so it is kept; rename one of the two.")


def convert_pilot(given: str, config: Config, tubs: Sequence[Path] = ()) -> tuple[Path, ...]:
    """Write the `.tflite` files of a pilot that was trained before, and return them.

    Args:
        given: `.h5` or `.keras`, ours or the original's; or the name of one in the package, whose files then lie in
            MODELS_PATH.
        tubs: Drives from which the file in integers is made; none: it is not written.

    Raises:
        DonkeySimError: The pilot or the tubs cannot be read, or the files not be written; one that lies there already
            and that somebody else wrote, the original for example, is kept.
    """
    path = find_layers(given)
    beside = Path(config.MODELS_PATH) / path.name if given in PACKAGE_LAYERS else path
    if check_ending(path) in FINISHED_ENDINGS:
        raise PilotError(f"{path} no longer holds the layers of Keras; give the .h5 or .keras file of the pilot.")
    _check_foreign(beside, (ENDING, INTEGER_ENDING) if tubs else (ENDING,))
    network, header = read_network(path)
    if not tubs:
        return write_lite(network, header, beside, None)
    kind = KINDS[header.kind] if header else detect_kind(open_session(path), path)
    _, examples = load_examples(config, tubs, kind, read_options(config), lambda _done, _total: None)
    return write_lite(network, header, beside, examples)
