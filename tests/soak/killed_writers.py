"""Writers that write as fast as they can in a forked process until they are killed, and what must be found then.

A writer tells of each thing before it begins it, when it is done, and when the disk did not take it. What was done must
be there; of what was begun and not done nothing may be there but all of it.
"""

import os
from pathlib import Path

import numpy as np

from donkeysim.core.errors import DonkeySimError
from donkeysim.learn.backend import import_keras
from donkeysim.learn.database import append_entry, read_entries
from donkeysim.learn.files.model_file import load_model, read_network, save_model
from donkeysim.record import action_log
from donkeysim.record.action_log import LogReader, Stepped
from donkeysim.record.recorder import Recorder
from donkeysim.record.replay import Replay
from donkeysim.record.snapshot_file import load_snapshot, save_snapshot
from donkeysim.sim.simulator import Simulator
from donkeysim.tub.reader import TubReader
from donkeysim.tub.writer import TubWriter
from donkeysim.world.specs import SceneSpec, WorldSpec
from stand_ins.untrained_models import DefaultConfig
from tub.drives import INPUTS, TYPES, make_record
from tub.strict import read_strictly

BEGUN, DONE, FULL = b"b", b"d", b"f"
SAME_NAME = 10
"""So many snapshots and checkpoints replace each other before another name is taken."""


class Pipe:
    """What a writer tells: a letter and a number each."""

    def __init__(self):
        self.reader, self._writer = os.pipe()

    def tell(self, letter, number):
        os.write(self._writer, letter + number.to_bytes(8, "little", signed=True))

    def listen(self):
        """Wait until something was done, or the disk was full; return what was told until then."""
        told = b""
        while told[-9:-8] not in (DONE, FULL):
            part = os.read(self.reader, 9)
            if not part:
                return told
            told += part
        return told

    def close_writer(self):
        os.close(self._writer)

    def read_rest(self, told=b""):
        """Return the last number told by each letter."""
        while part := os.read(self.reader, 1 << 16):
            told += part
        os.close(self.reader)
        whole = [told[place : place + 9] for place in range(0, len(told) // 9 * 9, 9)]
        return {each[:1]: int.from_bytes(each[1:], "little", signed=True) for each in whole}


class Kind:
    """One kind of file; `number` counts what was written into a folder, from 0."""

    def write(self, folder, number, tell):
        """Write for ever."""
        step = None
        while True:
            tell(BEGUN, number)
            try:
                step = step or self.prepare(folder, number)
                step(number)
            except DonkeySimError as error:
                expect("make room", error)
                tell(FULL, number)
                following = self.find_next(number)
            else:
                following = number + 1
            if following > number:
                tell(DONE, number)
            number = following

    def warm_up(self, folder):
        """Load and compile what writing needs; a forked process has it then."""
        folder.mkdir()
        step = self.prepare(folder, 0)
        for number in range(2 * SAME_NAME):
            step(number)
        self.count(folder, is_thorough=True)

    def find_next(self, number):
        """Return the number of what comes after a write of `number` that the disk did not take whole."""
        return number


def expect(clause, error):
    """Let an error pass that says a clause."""
    if clause not in str(error):
        raise error


class Tubs(Kind):
    """Records of a drive."""

    def __init__(self, judge):
        self._judge, self._writer = judge, None

    def warm_up(self, folder):
        super().warm_up(folder)
        self._writer.close()
        self._writer = None

    def prepare(self, folder, number):
        self._writer = TubWriter(folder / "data", INPUTS, TYPES, max_catalog_len=7)
        assert self._writer.current_index == number, "what was found is lost to the next writer"
        return lambda number: self._writer.write_record(make_record(number))

    def find_next(self, number):
        """Return the next record's index: a record may be there though its manifest is behind."""
        return self._writer.current_index if self._writer else number

    def count(self, folder, is_thorough):
        """Return how many there are, all of them whole, for both readers."""
        path = folder / "data"
        if not (path / "manifest.json").exists():
            return 0
        records = list(TubReader(path))
        assert [record.index for record in records] == list(range(len(records)))
        assert all(record.load_image().shape == (12, 16, 3) for record in records)
        if records:
            assert self._judge(path) in (len(records), len(records) - 1)
        return len(records)


class Logs(Kind):
    """Steps of a simulator; each writer begins a log of its own."""

    def __init__(self):
        self._simulator = Simulator(WorldSpec(SceneSpec("flat")))

    def warm_up(self, folder):
        super().warm_up(folder)
        self._recorder.close()
        self.__init__()  # a log begins with a new simulator

    def prepare(self, folder, number):
        action_log.BLOCK_SECONDS = 0.0  # whatever happens is written at once
        self._recorder = Recorder(self._simulator, folder / "logs" / "run.dlog")
        self._simulator.listen(self._recorder)
        row = self._simulator.add_car()
        return lambda number: self._step(row, number)

    def _step(self, row, number):
        self._simulator.drive_car(row, steer=np.sin(number), throttle=0.5)
        self._simulator.step()
        if self._recorder._writer._file.closed:
            raise DonkeySimError("the log has ended; make room")

    def count(self, folder, is_thorough):
        """Return how many steps are in all logs; of each the head must be readable, unless it was being written."""
        paths = sorted((folder / "logs").glob("*.dlog"))
        return sum(self._count_steps(path, is_thorough) for path in paths)

    def _count_steps(self, path, is_thorough):
        try:
            reader = LogReader(path)
        except DonkeySimError as error:
            expect("holds nothing to replay", error)
            return 0
        steps = sum(isinstance(event, Stepped) for event in reader.read_events())
        assert not reader.is_damaged
        if is_thorough:
            replay = Replay(path)
            assert sum(1 for _ in replay.play()) == steps
            assert replay.deviation is None
            assert not replay.is_damaged
        return steps


class Snapshots(Kind):
    """Snapshots of a simulator, told apart by the key of its world."""

    def __init__(self):
        self._simulator = Simulator(WorldSpec(SceneSpec("flat")))

    def prepare(self, folder, number):
        return lambda number: self._save(folder / "moments", number)

    def _save(self, folder, number):
        self._simulator.seed_world(0, number)
        moment = self._simulator.snapshot()
        moment.world_key[0] = number
        save_snapshot(folder / f"moment-{number // SAME_NAME}.npz", self._simulator, moment)

    def count(self, folder, is_thorough):
        """Return the number behind the newest."""
        numbers = [int(load_snapshot(path).snapshot.world_key[0]) for path in (folder / "moments").glob("[!.]*")]
        return count_rounds(numbers)


class Checkpoints(Kind):
    """Pilots as training writes them, told apart by a bias, with entries in the database of pilots."""

    ENDINGS = (".h5", ".keras", ".onnx")

    def __init__(self):
        keras = import_keras()
        picture = keras.Input((8, 8, 3), name="img_in")
        inner = keras.layers.Dense(8, name="inner")(keras.layers.Flatten(name="flattened")(picture))
        outputs = [keras.layers.Dense(1, name=f"n_outputs{number}")(inner) for number in range(2)]
        self._model = keras.Model(picture, outputs)

    def prepare(self, folder, number):
        return lambda number: self._save(folder / "models", number)

    def _save(self, folder, number):
        layer = self._model.get_layer("inner")
        layer.set_weights([layer.get_weights()[0], np.full(8, number, np.float32)])
        name = number // SAME_NAME
        save_model(self._model, folder / f"pilot-{name}{self.ENDINGS[name % 2]}", "linear", DefaultConfig)
        if number % SAME_NAME == SAME_NAME - 1:
            save_model(self._model, folder / f"pilot-{name}.onnx", "linear", DefaultConfig)
            append_entry(folder, {"Number": name})

    def count(self, folder, is_thorough):
        """Return the number behind the newest."""
        numbers = []
        for path in (folder / "models").glob("[!.]*"):
            if path.suffix in (".h5", ".keras"):
                network, header = read_network(path)
                assert header is not None
                numbers.append(int(next(layer.weights[1][0] for layer in network.layers if layer.name == "inner")))
                if is_thorough:
                    load_model(path)
            elif path.suffix == ".onnx":
                read_onnx(path)
        entries = [entry["Number"] for entry in read_entries(folder / "models")]
        assert entries == sorted(set(entries))
        return count_rounds(numbers)


def read_onnx(path):
    """Let the runtime open a pilot."""
    import onnxruntime

    onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])


def count_rounds(numbers):
    """Return the number behind the newest; each file before it holds the last of its name."""
    numbers = sorted(numbers)
    assert all(number % SAME_NAME == SAME_NAME - 1 for number in numbers[:-1]), numbers
    return numbers[-1] + 1 if numbers else 0


def list_hidden(folder: Path):
    """Return the hidden files that killed writers left."""
    return [path for path in folder.rglob(".*") if path.name != ".lock"]


def read_as_strictly_as_the_original(path):
    """Return how many records the original would find."""
    try:
        return len(read_strictly(path))
    except ValueError:  # nothing can be mapped, as it has no catalog yet
        return 0
