"""Pilots on the shelf: choosing, loading beside the loop, reloading what changed, keeping what works."""

import os
import threading

import numpy as np
import pytest

from donkeysim.core.errors import DonkeySimError, PilotError
from donkeysim.drive.parts.pilots import PilotDriver, PilotForPlace, PilotShelf
from waiting import wait_until

BLANK = np.zeros((12, 16, 3), np.uint8)


class FilePilot:
    """Steers as the number in its file says."""

    kind = "linear"
    input_names = ()

    def __init__(self, path):
        text = path.read_text()
        if text.startswith("broken"):
            raise PilotError(f"{path} is broken.")
        if text.startswith("odd"):
            raise RuntimeError("no such tensor")
        if text.startswith("imu"):
            self.kind, self.input_names, text = "imu", ("imu/acl_x",), "0.7"
        self.angle = float(text)
        self.resets = 0
        self.seen = []

    def run(self, image, *others):
        self.seen.append((image.shape, *others))
        return np.float32(self.angle), np.float32(0.5)

    def reset(self):
        self.resets += 1


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "a.onnx").write_text("0.1")
    (folder / "b.h5").write_text("0.2")
    (folder / "notes.txt").write_text("0.3")
    return folder


class Shelf(PilotShelf):
    """A shelf whose thread runs in a `with` block, and which counts what it loads."""

    def __init__(self, folder, **options):
        self.loaded = []
        super().__init__(self._load_file, folder, BLANK, **options)

    def _load_file(self, path, kind):
        self.loaded.append((path.name, kind))
        return FilePilot(path)

    def __enter__(self):
        self.thread = threading.Thread(target=self.update)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.thread.join(20)

    def look(self, count=1):
        """Look at the folder, as the thread does twice a second."""
        for _ in range(count):
            self._list_files()
            self._follow_choice()


def steer(shelf):
    return PilotDriver(shelf).run(BLANK)[0]


def test_the_choices_are_the_cars_pilots_and_those_from_elsewhere(folder, tmp_path):
    elsewhere = tmp_path / "built_in.onnx"
    elsewhere.write_text("0.9")
    shelf = Shelf(folder, extra_files=[elsewhere, tmp_path / "missing.onnx"])
    assert shelf.choices == ("a.onnx", "b.h5", "built_in.onnx")
    assert Shelf(tmp_path / "no_folder").choices == ()


def test_without_a_choice_the_pilot_gives_zero(folder):
    assert PilotDriver(Shelf(folder)).run(BLANK) == (0.0, 0.0, None)


def test_the_command_lines_pilot_is_loaded_at_once_with_its_type(folder, caplog):
    caplog.set_level("INFO")
    shelf = Shelf(folder)
    assert shelf.choose(folder / "b.h5", "categorical") == "b.h5"
    assert shelf.loaded == [("b.h5", "categorical")]
    assert PilotDriver(shelf).run(BLANK) == (pytest.approx(0.2), 0.5, None)
    assert f"loading model {folder / 'b.h5'}" in caplog.messages
    assert "finished loading in" in caplog.text


def test_a_pilot_that_is_not_there_is_told_with_those_that_are(folder):
    with pytest.raises(DonkeySimError, match=r"there is no pilot .*nix.h5; pilots here: a.onnx, b.h5"):
        Shelf(folder).choose(folder / "nix.h5")


@pytest.mark.parametrize(("text", "sentence"), [("broken", "is broken"), ("odd", "RuntimeError: no such tensor")])
def test_a_first_pilot_that_cannot_be_loaded_is_an_error(folder, text, sentence):
    (folder / "a.onnx").write_text(text)
    with pytest.raises(PilotError, match=sentence):
        Shelf(folder).choose(folder / "a.onnx")


def test_a_pilot_is_tried_before_it_may_drive(folder):
    (folder / "a.onnx").write_text("imu")
    with pytest.raises(DonkeySimError, match="needs imu/acl_x, which this car does not have"):
        Shelf(folder).choose(folder / "a.onnx")
    shelf = Shelf(folder, channels={"imu/acl_y": 0.0, "imu/acl_x": 0.0})
    shelf.choose(folder / "a.onnx")
    assert shelf.pilot.seen == [((12, 16, 3), 0.0)]
    PilotDriver(shelf).run(BLANK, 8.0, 9.0)
    assert shelf.pilot.seen[-1] == ((12, 16, 3), 9.0)


def test_a_choice_is_loaded_beside_the_loop(folder):
    with Shelf(folder) as shelf:
        assert shelf.run_threaded("a.onnx", False, False) == ("a.onnx", "b.h5")
        wait_until(lambda: steer(shelf) == pytest.approx(0.1))
        shelf.run_threaded("b.h5", True, False)
        wait_until(lambda: steer(shelf) == pytest.approx(0.2))
        shelf.run_threaded("", True, False)
        wait_until(lambda: steer(shelf) == 0.0)


def test_a_changed_file_is_loaded_again_once_and_only_when_it_is_whole(folder):
    shelf = Shelf(folder)
    shelf.run_threaded("a.onnx", True, False)
    shelf.look()
    with (folder / "a.onnx").open("w") as file:
        for digit in "0.87":
            file.write(digit)
            file.flush()
            shelf.look()
            assert steer(shelf) == pytest.approx(0.1)
    shelf.look(3)
    assert steer(shelf) == pytest.approx(0.87)
    assert shelf.loaded == [("a.onnx", None)] * 2


def test_a_broken_new_file_leaves_the_old_pilot_driving(folder, caplog):
    shelf = Shelf(folder)
    shelf.run_threaded("a.onnx", True, False)
    shelf.look()
    (folder / "a.onnx").write_text("broken!")
    shelf.look(3)
    assert steer(shelf) == pytest.approx(0.1)
    (folder / "a.onnx").unlink()
    shelf.look(2)
    assert steer(shelf) == pytest.approx(0.1)
    (folder / "a.onnx").write_text("0.55")
    shelf.look(2)
    assert steer(shelf) == pytest.approx(0.55)
    assert caplog.text.count("is broken") == 1


def test_a_choice_that_cannot_be_loaded_does_not_drive(folder, caplog):
    (folder / "b.h5").write_text("odd")
    with Shelf(folder) as shelf:
        shelf.run_threaded("a.onnx", True, False)
        wait_until(lambda: shelf.pilot)
        shelf.run_threaded("b.h5", True, False)
        wait_until(lambda: shelf.pilot is None)
        assert "b.h5 cannot drive this car: RuntimeError" in caplog.text


def test_new_files_become_choices_while_driving(folder):
    with Shelf(folder) as shelf:
        (folder / "c.keras").write_text("0.3")
        wait_until(lambda: "c.keras" in shelf.run_threaded(None, False, False))


def test_the_pilot_forgets_when_its_drive_begins_anew(folder):
    shelf = Shelf(folder)
    shelf.choose(folder / "a.onnx")
    begun = shelf.pilot.resets
    for run_pilot, was_reset in ((False, False), (True, False), (True, False), (True, True), (False, False)):
        shelf.run_threaded(None, run_pilot, was_reset)
    assert shelf.pilot.resets - begun == 2
    shelf.run_threaded(None, True, None)
    assert shelf.pilot.resets - begun == 3


def test_the_pilot_forgets_the_picture_from_before_the_car_was_reset(folder):
    shelf = Shelf(folder)
    shelf.choose(folder / "a.onnx")
    shelf.run_threaded(None, True, False)
    begun = shelf.pilot.resets
    for was_reset in (True, False, False):  # in the first of these loops the picture is still the old one
        shelf.run_threaded(None, True, was_reset)
    assert shelf.pilot.resets - begun == 2


def test_a_pilot_that_answers_no_numbers_may_not_drive(folder):
    (folder / "a.onnx").write_text("nan")
    with pytest.raises(PilotError, match=r"answers nan, 0.5 to a black picture: its training has diverged"):
        Shelf(folder).choose(folder / "a.onnx")


# ---- pilots that are no files, and which of them knows the place ---------------------------------------------------


class BuiltIn:
    kind, input_names = "expert", ("sim/telemetry",)

    def __init__(self):
        self.resets = 0

    def run(self, image, telemetry):
        return telemetry, 0.25

    def reset(self):
        self.resets += 1


def test_a_built_in_pilot_is_chosen_like_a_file_and_given_up_like_one(folder):
    with Shelf(folder, channels={"sim/telemetry": None}, built_in={"Expert": BuiltIn()}) as shelf:
        assert shelf.choices == ("Expert", "a.onnx", "b.h5")
        driver = PilotDriver(shelf)
        shelf.run_threaded("Expert", True, False)
        wait_until(lambda: driver.run(BLANK, 0.5)[:2] == (0.5, 0.25))
        shelf.run_threaded("a.onnx", True, False)
        wait_until(lambda: driver.run(BLANK, 0.5)[0] == pytest.approx(0.1))
        shelf.run_threaded("Expert", True, False)
        wait_until(lambda: driver.run(BLANK, 0.5)[0] == 0.5)
        shelf.run_threaded("", True, False)
        wait_until(lambda: driver.run(BLANK, 0.5)[:2] == (0.0, 0.0))


def test_a_pilot_in_ones_home_may_be_named_with_a_tilde(folder, monkeypatch):
    """Shells leave it as it is in `--model=~/a.h5`, and Windows' cmd everywhere."""
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(folder.parent))
    shelf = Shelf(folder.parent / "none")
    shelf.choose("~/models/b.h5")
    assert steer(shelf) == pytest.approx(0.2)


def test_who_knows_the_place_is_chosen_until_somebody_chooses(folder):
    place = ["ring"]
    known = {"a.onnx": ("ring",)}
    shelf = Shelf(folder, built_in={"Expert": BuiltIn()}, read_places=lambda path: known.get(path.name, ()))
    chooser = PilotForPlace(shelf, lambda: place[0], "Expert")
    assert chooser.run(None) == ("a.onnx", ("ring",))
    assert chooser.run("a.onnx") == ("a.onnx", ("ring",))
    place[0] = ""
    assert chooser.run("a.onnx")[0] == "a.onnx", "in the menu nothing changes"
    place[0] = "oval"
    assert chooser.run("a.onnx") == ("Expert", ()), "nobody else knows it"
    assert chooser.run("b.h5") == ("b.h5", ())
    place[0] = "ring"
    assert chooser.run("b.h5") == ("b.h5", ()), "somebody's own choice stays"
    place[0] = "oval"
    assert chooser.run("a.onnx") == ("a.onnx", ("ring",)), "also of a pilot that does not know the place"


def test_nobody_is_chosen_before_the_car_sees(folder):
    shelf = Shelf(folder, built_in={"Expert": BuiltIn()}, read_places=lambda _: ("ring",))
    chooser = PilotForPlace(shelf, lambda: "ring", "Expert")
    assert chooser.run(None, None) == ("", ())
    assert chooser.run("", BLANK)[1] == ("ring",)


def test_of_several_who_know_the_place_the_cars_newest_is_chosen_and_a_tracks_file_is_its_name(folder, tmp_path):
    shipped = tmp_path / "shipped.onnx"
    shipped.write_text("0.3")
    os.utime(folder / "a.onnx", (1e9, 1e9))
    os.utime(folder / "b.h5", (1.1e9, 1.1e9))
    asked = []

    def read_places(path):
        asked.append(path.name)
        return {"shipped.onnx": ("ring", "hall")}.get(path.name, ("ring",))

    shelf = Shelf(folder, extra_files=[shipped], read_places=read_places)
    place = ["ring"]
    chooser = PilotForPlace(shelf, lambda: place[0], "Expert")
    assert chooser.run(None)[0] == "b.h5"
    place[0] = str(tmp_path / "hall.toml")
    assert chooser.run("b.h5") == ("shipped.onnx", ("ring", "hall"))
    os.utime(folder / "a.onnx", (1.2e9, 1.2e9))
    with shelf:
        wait_until(lambda: next(iter(shelf.places)) == "a.onnx")
    assert sorted(asked) == ["a.onnx", "a.onnx", "b.h5", "shipped.onnx"], "read again only when a file has changed"
