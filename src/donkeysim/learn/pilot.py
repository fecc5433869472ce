"""A trained pilot behind one call: a picture in, angle and throttle out, whatever file it comes from.

Networks run on one core, in onnxruntime; an `.onnx` file needs nothing else, so that a base install can drive. A
`.tflite` file runs in LiteRT, as on a car.
"""

import logging
import math
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from donkeysim.core.errors import PilotError
from donkeysim.core.pilot import check_answer
from donkeysim.core.types import ByteArray, Float32Array
from donkeysim.learn.files.model_file import check_ending, check_exists, read_onnx
from donkeysim.learn.files.session import OnnxSession, PilotSession, Port, TfliteSession
from donkeysim.learn.kinds import KINDS, PilotKind, PilotSpec, decode_outputs, get_kind, read_spec
from donkeysim.tub.reader import SIMULATED_IMU_CHANNELS

_log = logging.getLogger(__name__)

BUILT_IN_PILOT = Path(__file__).parent / "pilots" / "generated_track.onnx"
"""The small pilot in the package that knows generated_track."""

ANYWHERE_PILOT = BUILT_IN_PILOT.with_name("anywhere.onnx")
"""The one for places that it has not seen; docs/guide/rl.md says how it was made."""

PACKAGE_PILOTS = {"built-in": BUILT_IN_PILOT, "anywhere": ANYWHERE_PILOT}
"""Both, by what commands call them."""

PACKAGE_LAYERS = {"anywhere": ANYWHERE_PILOT.with_suffix(".h5")}
"""Those that can be trained further, with their layers; see `learn.train`."""


def find_layers(given: str) -> Path:
    """Return the file of a pilot that is to be trained further, given by path or by its name in the package.

    Raises:
        PilotError: It is in the package without its layers.
    """
    if given in PACKAGE_PILOTS and given not in PACKAGE_LAYERS:
        raise PilotError(
            f"the pilot {given!r} in the package holds a finished graph; those that can be trained further are: "
            f"{', '.join(PACKAGE_LAYERS)}."
        )
    return PACKAGE_LAYERS.get(given, Path(given).expanduser())


class NetworkPilot:
    """A loaded network with what its kind knows of inputs, memory and outputs; meets `core.pilot.Pilot`."""

    def __init__(self, session: PilotSession, kind: PilotKind, spec: PilotSpec) -> None:
        self.kind = kind.name
        self.input_names = kind.channels
        self.image_shape: tuple[int, ...] = spec.image_shape
        """Height, width and channels of the pictures it takes."""
        header = session.header
        self.transformations = (*header.transformations, *header.post_transformations) if header else None
        """What pictures went through in its training; None: its file does not say, as those of donkeycar."""
        self._session = session
        self._kind = kind
        self._spec = spec
        self._pictures: deque[ByteArray] = deque(maxlen=spec.sequence_length)
        self._commands: deque[tuple[float, float]] = deque(maxlen=spec.sequence_length)
        self.reset()

    def compare_transformations(self, config: object | None, name: str) -> list[str]:
        """Return a sentence where pictures are prepared otherwise than in the pilot's training, or nothing."""
        shown = (*getattr(config, "TRANSFORMATIONS", ()), *getattr(config, "POST_TRANSFORMATIONS", ()))
        if config is None or self.transformations in (None, shown):
            return []
        trained, now = (", ".join(names) or "no transformations" for names in (self.transformations or (), shown))
        return [f"{name} was trained with {trained}, but is shown pictures with {now}: give its car's configuration."]

    def reset(self) -> None:
        """Forget earlier pictures and commands."""
        self._pictures.clear()
        self._commands.extend([(0.0, 0.0)] * self._spec.sequence_length)

    def run(self, image: ByteArray, *others: Any) -> tuple[float, ...]:
        """Return angle [-1, 1, + = right], throttle [-1, 1] and, for localizer, the location.

        The outputs of linear, imu, localizer, rnn and 3d are not bounded; the car clips them.

        Args:
            image: uint8, shape [height, width, channels]; a colour picture becomes grey for a grey pilot.
            *others: What the channels `input_names` hold: numbers, or one array.

        Raises:
            PilotError: The picture, or what came beside it, has another size than the pilot was made for.
        """
        picture = self._fit_picture(image)
        if self._kind.history == "pictures":
            self._pictures.extend([picture.copy()] * (1 if self._pictures else self._spec.sequence_length))
            picture = np.stack(self._pictures)
        outputs = self._session.run(picture, self._gather_others(others))
        command = decode_outputs(self._kind, outputs, self._spec)
        if self._kind.history == "commands":
            self._commands.append((command[0], command[1]))
        return command

    def _gather_others(self, others: tuple[Any, ...]) -> list[Float32Array]:
        if self._kind.history == "commands":
            return [np.array(self._commands, dtype=np.float32).ravel()]
        if not self.input_names:
            return []
        try:
            vector = np.concatenate([np.asarray(value, dtype=np.float32).ravel() for value in others])
        except (ValueError, TypeError) as error:
            raise PilotError(self._describe_others("something else")) from error
        if vector.shape != self._session.inputs[1].shape:
            raise PilotError(self._describe_others(f"{vector.size} numbers"))
        return [vector]

    def _describe_others(self, given: str) -> str:
        size = self._session.inputs[1].shape[0]
        return (
            f"this {self.kind} pilot reads {size} numbers beside the picture ({', '.join(self.input_names)}), "
            f"but got {given}; give all of these channels."
        )

    def _fit_picture(self, image: ByteArray) -> ByteArray:
        if image.ndim == 2:
            image = image[..., None]
        if image.shape[-1] == 3 and self.image_shape[-1] == 1:
            image = convert_to_grey(image)
        if image.shape != self.image_shape:
            height, width, depth = self.image_shape
            way = "set IMAGE_W, IMAGE_H and IMAGE_DEPTH to the pilot's, or train one for this size."
            if depth not in (1, 3):
                way = "cameras here have 1 or 3: a pilot looks at one picture at a time, export it for one."
            raise PilotError(
                f"this pilot was made for pictures of {width}x{height} with {depth} channels, but got "
                f"{image.shape[1]}x{image.shape[0]} with {image.shape[-1]}; {way}"
            )
        return image


def convert_to_grey(image: ByteArray) -> ByteArray:
    """Return the brightness of a colour picture, uint8, shape [height, width, 1] (ITU-R BT.601, as Pillow's "L")."""
    weights = np.array([19595, 38470, 7471], dtype=np.uint32)
    return ((image.astype(np.uint32) @ weights + 0x8000) >> 16).astype(np.uint8)[..., None]


def load_pilot(path: Path | str, kind: str | None = None, config: object | None = None) -> NetworkPilot:
    """Return the pilot in a file of ours, of the original (`.h5`, `.keras`, `.tflite`), or of another tool (`.onnx`).

    Args:
        path: The file. `.h5` and `.keras` need the extra `learn`, `.tflite` the extra `tflite`, `.onnx` neither.
        kind: One of `learn.kinds.KINDS`; None: the file says, or its inputs and outputs show.
        config: The car's configuration: MODEL_CATEGORICAL_MAX_THROTTLE_RANGE for files that do not say it themselves;
            and where its transformations are others than in the pilot's training, that is logged.

    Raises:
        PilotError: No such file, not a pilot, or not of the kind that was asked for.
    """
    path = Path(path)
    session = open_session(path)
    if kind is not None:
        named = get_kind(kind)
        check_kind(session, named, path)
    elif session.header is not None:
        named = KINDS[session.header.kind]
        check_kind(session, named, path)
    else:
        named = detect_kind(session, path)
    pilot = NetworkPilot(session, named, _read_sizes(session, named, config))
    for sentence in pilot.compare_transformations(config, path.name):
        _log.warning(sentence)
    return pilot


def try_pilot(pilot: NetworkPilot, path: Path) -> None:
    """Let a pilot answer to a black picture, if an evaluation has all that it wants to know.

    Raises:
        PilotError: It does not answer with numbers, or wants another number of them than it says.
    """
    if set(pilot.input_names) <= set(SIMULATED_IMU_CHANNELS):
        check_answer(pilot.run(np.zeros(pilot.image_shape, np.uint8), *[0.0] * len(pilot.input_names)), path)
        pilot.reset()


def open_session(path: Path) -> PilotSession:
    """Return the network in a pilot's file, ready to run.

    Raises:
        PilotError: No such file, or not a pilot.
    """
    ending = check_ending(path)
    if ending != ".tflite":
        return OnnxSession(read_onnx(path), path)
    check_exists(path)
    return TfliteSession(path.read_bytes(), path)


def _read_sizes(session: PilotSession, kind: PilotKind, config: object | None) -> PilotSpec:
    """Return the sizes that the network shows; the throttle of its bins from its header, else the configuration."""
    spec = read_spec(config)
    throttle_range = session.header.throttle_range if session.header else spec.throttle_range
    length = spec.sequence_length
    if kind.history == "pictures":
        length = session.image_shape[0]
    elif kind.history == "commands":
        length = session.inputs[1].shape[0] // 2
    height, width, depth = session.image_shape[-3:]
    return replace(spec, image_shape=(height, width, depth), sequence_length=length, throttle_range=throttle_range)


def detect_kind(session: PilotSession, path: Path) -> PilotKind:
    """Return the kind of a network that does not say it.

    Raises:
        PilotError: Its inputs and outputs fit no kind.
    """
    fitting = [kind for kind in KINDS.values() if _fits(session, kind)]
    if not fitting:
        raise PilotError(
            f"{path} is not like any type of pilot: {describe_ports(session)}; see docs/pilots.md for what each has."
        )
    names = [port.name for port in session.outputs]
    return next((kind for kind in fitting if list(kind.output_names) == names), fitting[0])


def check_kind(session: PilotSession, kind: PilotKind, path: Path) -> None:
    """Make sure that a network can be run as a kind.

    Raises:
        PilotError: It cannot; the sentence says what it looks like.
    """
    if _fits(session, kind):
        return
    others = [other.name for other in KINDS.values() if _fits(session, other)]
    found = f"it looks like {' or '.join(others)}" if others else "nor is it like any other type"
    raise PilotError(
        f"{path} is not a pilot of the type {kind.name}, {found}: {describe_ports(session)}; "
        "leave --type out, or give the type that it was trained as."
    )


def describe_ports(session: PilotSession) -> str:
    """Return the inputs and outputs of a network in words."""
    takes, gives = (", ".join(map(_describe_port, ports)) for ports in (session.inputs, session.outputs))
    return f"it takes {takes} and gives {gives}"


def _describe_port(port: Port) -> str:
    return f"{port.name}[{'x'.join(map(str, port.shape)) or '1'}]"


def _fits(session: PilotSession, kind: PilotKind) -> bool:
    rank = 4 if kind.history == "pictures" else 3
    if len(session.image_shape) != rank:
        return False
    return _fits_inputs(session.inputs[1:], kind) and _fits_outputs(session.outputs, kind)


def _fits_inputs(further: tuple[Port, ...], kind: PilotKind) -> bool:
    if kind.history == "commands":
        return len(further) == 1 and "mem" in further[0].name and further[0].shape[0] % 2 == 0
    if not kind.channels:
        return not further
    if len(further) != 1 or len(further[0].shape) != 1 or "mem" in further[0].name:
        return False
    return len(kind.channels) == 1 or further[0].shape[0] == len(kind.channels)


def _fits_outputs(outputs: tuple[Port, ...], kind: PilotKind) -> bool:
    sizes = [math.prod(port.shape) for port in outputs]
    if kind.form == "bins":
        return len(sizes) == 2 and sizes[0] > 1  # donkeycar 2 gives the throttle as one number
    if kind.form == "place":
        return len(sizes) == 3 and sizes[:2] == [1, 1]
    if kind.form == "angle":
        return sizes == [1]
    return sizes in ([1, 1], [2])
