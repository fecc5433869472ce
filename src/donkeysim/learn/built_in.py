"""The small pilot that lies in the package: what it is taught from, its layers, and how it is trained.

Its teacher is `drivers.human_driver`, on several drives that begin anywhere on the road, half of them with another car
about, in every look of the place. Pictures vary in brightness and contrast while it learns.
`python -m supply.pilot` makes it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from donkeysim.core import frames
from donkeysim.core.types import ByteArray, Float32Array, Report
from donkeysim.drivers.human_driver import HumanDriver
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.learn.backend import import_keras
from donkeysim.learn.files.model_file import save_model
from donkeysim.sim import commands
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec, WorldSpec

SCENE = "generated_track"

LOOKS = ("", "2020", "meadow")
"""Of the scene; the pilot is taught in each in equal parts."""

# Drives of 15 s from anywhere show all of the road evenly, and beginnings, where a car stands and has to get going, are
# one record in 300.
DRIVE_RECORDS = 300
"""Length of a drive, 15 s; the next begins elsewhere."""

# 14° askew and 15 cm aside, on a road of 1.25 m: as far off as errors of a pilot's own bring it.
START_OFFSET, START_TURN = 0.15, 0.25
"""Of a drive's beginning: greatest distance from the path [m] and angle to it [rad]."""

LEARNING_RATE, BATCH_SIZE = 1e-3, 128

THROTTLE_WEIGHT = 4.0
"""Weight of the throttle's error; it varies less than the angle."""

BRIGHTNESS, CONTRAST = 0.2, 0.25
"""Greatest change of pictures while learning, as shares."""


@dataclass(frozen=True)
class Lesson:
    """What there is to learn from.

    Attributes:
        image: uint8, shape [record_count, 120, 160, 3].
        target: Angle (+ = right) and throttle, shape [record_count, 2].
    """

    image: ByteArray
    target: Float32Array


def train_built_in(
    path: Path | str,
    record_count: int = 24_000,
    epoch_count: int = 16,
    seed: int = 0,
    report: Callable[[str, int, int], None] = lambda _stage, _done, _total: None,
) -> float:
    """Train the small pilot, write it, and return its error in angle (root mean square) on unseen drives.

    Args:
        path: An `.onnx` file.
        seed: Of drives, weights and batches.
        report: Called as report(stage, done, total).

    Raises:
        DonkeySimError: The extra `learn` is missing, or the file cannot be written.
    """
    import_keras()
    lesson = collect_lesson(record_count, seed, lambda done, total: report("driving", done, total))
    test = collect_lesson(record_count // 10, seed + 1, lambda done, total: report("driving", done, total))
    model = _fit(lesson, epoch_count, seed, lambda done, total: report("learning", done, total))
    size = SimpleNamespace(IMAGE_H=120, IMAGE_W=160, IMAGE_DEPTH=3)
    save_model(model, path, "linear", size, [SCENE])
    return _measure_error(model, test)


def collect_lesson(record_count: int, seed: int, report: Report) -> Lesson:
    """Drive in every look, and note pictures and what the driver means to do."""
    image = np.zeros((record_count, 120, 160, 3), np.uint8)
    target = np.zeros((record_count, 2), np.float32)
    ends = np.linspace(0, record_count, len(LOOKS) + 1).astype(int).tolist()
    for number, look in enumerate(LOOKS):
        rows = slice(ends[number], ends[number + 1])

        def report_row(done: int, _total: int, before: int = rows.start) -> None:
            report(before + done, record_count)

        _drive(look, len(LOOKS) * seed + number, Lesson(image[rows], target[rows]), report_row)
    return Lesson(image, target)


def _drive(look: str, seed: int, lesson: Lesson, report: Report) -> None:
    """Fill a lesson in one look of the scene."""
    simulator = Simulator(WorldSpec(scene=SceneSpec(SCENE, look=look), cars_per_world=2, seed=seed))
    simulator.compile()
    own, other = simulator.add_car(), simulator.add_car()
    pace_car = PathFollower(simulator.scene, simulator.car_spec, "steady")
    random, record_count = np.random.default_rng(seed), len(lesson.image)
    for index in range(record_count):
        if index % DRIVE_RECORDS == 0:
            driver = HumanDriver(simulator.scene, simulator.car_spec, int(random.integers(1 << 31)))
            _begin_anywhere(simulator, own, other, random)
            report(index, record_count)
        simulator.render((own,))
        lesson.image[index] = simulator.get_picture(own)
        action, intent = driver.drive(simulator.ledger, own)
        simulator.drive_car(own, *action)
        simulator.drive_car(other, *pace_car.drive(simulator.ledger, other))
        lesson.target[index] = frames.steer_to_wire(intent.steer), intent.throttle
        simulator.step()
    simulator.close()
    report(record_count, record_count)


def _begin_anywhere(simulator: Simulator, own: int, other: int, random: np.random.Generator) -> None:
    """Put the car anywhere on the road, moving, and the other behind it, ahead of it or far away."""
    frame = simulator.scene.path.frame
    node = int(random.integers(len(frame.position)))
    aside, turn = random.uniform(-1.0, 1.0, 2) * (START_OFFSET, START_TURN)
    speed = float(random.uniform(0.0, 1.2))
    gap = int(random.choice((-8, -5, 6, 10, len(frame.position) // 2)))
    along = frame.node_length[[node, (node + gap) % len(frame.position)]].tolist()
    rows = [own, other]
    simulator.apply(commands.Reset(rows))
    simulator.apply(commands.PutOnPath(rows, along, [aside, 0.0], [turn, 0.0], [speed, 1.2]))


def build_small_model() -> Any:
    """Return the untrained network, a `keras.Model` of the kind linear with 125,000 weights."""
    layers = import_keras().layers
    picture = layers.Input(shape=(120, 160, 3), name="img_in")
    x = picture
    for index, (filters, size, stride) in enumerate(((16, 8, 4), (24, 5, 2), (32, 3, 2), (32, 3, 1)), start=1):
        x = layers.Conv2D(filters, size, strides=stride, activation="relu", name=f"conv2d_{index}")(x)
    x = layers.Flatten(name="flattened")(x)
    x = layers.Dense(64, activation="relu", name="dense_1")(x)
    x = layers.Dropout(0.1, name="dropout")(x)
    outputs = [layers.Dense(1, name=f"n_outputs{index}")(x) for index in range(2)]
    return import_keras().Model(inputs=[picture], outputs=outputs, name="linear")


def _fit(lesson: Lesson, epoch_count: int, seed: int, report: Report) -> Any:
    """Return the trained network."""
    import torch

    import_keras().utils.set_random_seed(seed)
    model = build_small_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
    image, target = torch.from_numpy(lesson.image), torch.from_numpy(lesson.target)
    weight = torch.tensor([1.0, THROTTLE_WEIGHT])
    step_count = epoch_count * -(-len(image) // BATCH_SIZE)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2.0 * LEARNING_RATE, total_steps=step_count)
    done = 0
    for _ in range(epoch_count):
        for rows in torch.split(torch.randperm(len(image)), BATCH_SIZE):
            picture = _vary(image[rows].float() / 255.0)
            answer = torch.cat(model(picture, training=True), dim=1)
            loss = (weight * (answer - target[rows]) ** 2).mean()
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
            schedule.step()
            done += 1
            report(done, step_count)
    return model


def _vary(picture: Any) -> Any:
    """Return pictures [batch, height, width, 3] in [0, 1], each a little brighter or darker, flatter or harder."""
    import torch

    gain = 1.0 + CONTRAST * (2.0 * torch.rand(len(picture), 1, 1, 3) - 1.0)
    shift = BRIGHTNESS * (2.0 * torch.rand(len(picture), 1, 1, 1) - 1.0)
    return ((picture - 0.5) * gain + 0.5 + shift).clamp_(0.0, 1.0)


def _measure_error(model: Any, lesson: Lesson) -> float:
    import torch

    image, errors = torch.from_numpy(lesson.image), []
    with torch.no_grad():
        for rows in torch.split(torch.arange(len(image)), BATCH_SIZE):
            angle = model(image[rows].float() / 255.0, training=False)[0][:, 0]
            errors.append((angle.cpu().numpy() - lesson.target[rows.numpy(), 0]) ** 2)
    return float(np.sqrt(np.concatenate(errors).mean()))
