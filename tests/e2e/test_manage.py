"""A car folder as its owner uses it: drive, record, stop, train; with a part, a pilot and a joystick of one's own."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from car_process import CarProcess, make_car, say, wait_for_news

from donkeysim.cli import donkey
from donkeysim.drive.joystick.custom import format_layout
from donkeysim.drive.joystick.device import EVENT
from donkeysim.drive.joystick.layout import ControllerLayout
from donkeysim.learn.pilot import BUILT_IN_PILOT
from donkeysim.tub.reader import TubReader

DONKEY = ("-m", "donkeysim", "drive")
QUICK = 'DONKEY_GYM_ENV_NAME = "donkey-waveshare-v0"\n'
"""A place that is built in a moment."""


def read_session(folder):
    return json.loads((folder / "data" / "manifest.json").read_text().splitlines()[3]).get("sessions")


BY_MANAGE = pytest.param(signal.SIGTERM, ("manage.py", "drive"), marks=pytest.mark.soak)


@pytest.mark.parametrize(("number", "command"), [BY_MANAGE, (signal.SIGINT, DONKEY)])
def test_a_drive_through_the_page_is_recorded_and_ends_in_order(tmp_path, number, command):
    folder = make_car(tmp_path / "car", "SIM_RECORD_LOCATION = True\n" + QUICK)
    with CarProcess(folder, "--meta", "driver:me", command=command) as car, car.drive() as page:
        say(page, angle=0.25, throttle=0.3, recording=True)
        wait_for_news(page, "num_records", 20)
        assert car.end(number) == 0
        assert "Vehicle executed" in car.text
        assert "| TubRecorder" in car.text
        assert "Traceback" not in car.text
    tub = TubReader(folder / "data")
    records = list(tub)
    assert len(records) >= 20
    assert {record.values["user/angle"] for record in records} == {0.25}
    assert records[-1].load_image().shape == (120, 160, 3)
    assert records[-1].values["pos/speed"] > 0
    assert tub.metadata == {"driver": "me"}
    assert read_session(folder)["last_id"] == 0


def test_a_failing_part_stops_the_program_with_its_name(tmp_path):
    part = """
class Fragile:
    def run(self, count):
        if count:
            raise ValueError("the wheel came off")

car.add(Fragile(), inputs=["tub/num_records"])
"""
    folder = make_car(tmp_path / "car", QUICK, part)
    with CarProcess(folder) as car, car.drive() as page:
        say(page, throttle=0.3, recording=True)
        assert car.wait() == 1
        sentence = "the part Fragile failed, so the car was stopped: ValueError: the wheel came off"
        assert car.lines[-1] == f"manage.py: {sentence}"
        assert "Traceback" in car.text
        assert "closed the tub" in car.text
    assert len(TubReader(folder / "data")) == 1


@pytest.mark.soak
def test_a_misspelt_channel_fails_before_the_car_moves(tmp_path):
    part = """
class Bell:
    def run(self, angle):
        print("the bell rings")

car.add(Bell(), inputs=["user/angel"])
"""
    with CarProcess(make_car(tmp_path / "car", part=part)) as car:
        assert car.wait() == 1
        assert car.lines[-1].startswith("manage.py: Bell reads the channel 'user/angel', which no part writes; did you")
        assert "the bell rings" not in car.text
        assert "Traceback" not in car.text


@pytest.mark.skipif(sys.platform != "linux", reason="Linux's joystick devices")
def test_a_joystick_drives_records_and_stops_the_car_when_it_is_pulled_out(tmp_path):
    folder = make_car(tmp_path / "car", f"JOYSTICK_DEVICE_FILE = {str(tmp_path / 'js0')!r}\n" + QUICK)
    os.mkfifo(tmp_path / "js0")
    with CarProcess(folder, "--js") as car:
        car.wait_for("You can now move your controller to drive your car")
        stick = os.open(tmp_path / "js0", os.O_WRONLY)
        os.write(stick, EVENT.pack(0, 16384, 2, 0) + EVENT.pack(0, -32767, 2, 3))
        car.wait_for("recorded 20 records")
        os.close(stick)
        car.wait_for("was disconnected")
        car.wait_for("Setting Recording = False$")
        assert car.end() == 0
    record = list(TubReader(folder / "data"))[-1]
    assert record.values["user/angle"] == pytest.approx(0.5, abs=0.01)
    assert record.values["user/throttle"] == 0.5


@pytest.mark.soak
@pytest.mark.skipif(sys.platform != "linux", reason="Linux's joystick devices")
def test_the_buttons_of_a_joystick_of_ones_own_do_in_the_car_what_they_are_given(tmp_path):
    part = """
class Tell:
    told = None

    def run(self, mode, throttle):
        if (mode, throttle) != self.told:
            print("now", mode, round(throttle, 2))
        self.told = (mode, throttle)

car.add(Tell(), inputs=["user/mode", "throttle"])
"""
    settings = f"JOYSTICK_DEVICE_FILE = {str(tmp_path / 'js0')!r}\nCONTROLLER_TYPE = 'custom'\n"
    folder = make_car(tmp_path / "car", settings, part)
    actions = {
        "circle": "toggle_manual_recording",
        "mode": "toggle_mode",
        "erase": "erase_last_N_records",
        "stop": "emergency_stop",
        "more": "increase_max_throttle",
        "constant": "toggle_constant_throttle",
    }
    names = dict(enumerate(actions))
    text = format_layout(ControllerLayout({0: "x", 1: "y"}, names, "x", "y", actions), "")
    (folder / "my_joystick.py").write_text(text, encoding="utf-8")
    os.mkfifo(tmp_path / "js0")
    with CarProcess(folder, "--js") as car:
        car.wait_for(r"  circle    toggle_manual_recording\n")
        stick = os.open(tmp_path / "js0", os.O_WRONLY)

        def push(name, *awaited):
            number = next(code for code, known in names.items() if known == name)
            os.write(stick, EVENT.pack(0, 1, 1, number) + EVENT.pack(0, 0, 1, number))
            for pattern in awaited:
                car.wait_for(pattern)

        push("constant", "now user 0.5\n")
        push("more", "now user 0.51\n", "recorded 20 records")
        push("circle", r"recorded \d\d+ records so far")
        push("mode", "now local_angle 0.51\n")
        push("stop", "Emergency stop", "now user -0.51\n(.*\n)*now user 0.0\n", "Setting Recording = False\n")
        push("erase", "erased the last [2-9][0-9] records")
        os.close(stick)
        assert car.end() == 0
    assert len(TubReader(folder / "data")) == 0


@pytest.mark.soak
def test_a_pilot_drives_is_recorded_and_is_loaded_again_when_its_file_changes(tmp_path):
    folder = make_car(tmp_path / "car", "RECORD_DURING_AI = True\nAUTO_CREATE_NEW_TUB = True\n")
    model = folder / "models" / "mine.onnx"
    shutil.copy(BUILT_IN_PILOT, model)
    with CarProcess(folder, "--model", "models/mine.onnx") as car, car.drive() as page:
        car.wait_for("finished loading in")
        say(page, drive_mode="local", recording=True)
        wait_for_news(page, "num_records", 30)
        os.utime(model, (time.time(), time.time() + 5))
        car.wait_for("(?s)finished loading.*finished loading")
        model.write_bytes(b"half a pilot")
        car.wait_for("mine.onnx")
        number = len(car.lines)
        wait_for_news(page, "num_records", 70)
        assert car.process.poll() is None, car.lines[number:]
        assert car.end() == 0
    (tub,) = (folder / "data").iterdir()
    assert tub.name.startswith("tub_1_")
    records = list(TubReader(tub))
    assert all(record.values["user/mode"] == "local" for record in records)
    assert len({record.values["pilot/angle"] for record in records}) > 20
    assert all(record.values["pilot/throttle"] > 0 for record in records[1:])


def test_mistakes_are_told_in_a_sentence(tmp_path, monkeypatch, capsys):
    folder = make_car(tmp_path / "car")

    def run(*words):
        return subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, timeout=60)

    missing = run("manage.py", "drive", "--model=nix.h5")
    assert (missing.returncode, missing.stderr.splitlines()[-1][:39]) == (1, "manage.py: there is no pilot nix.h5; pi")
    train = run("manage.py", "train", "--model", "models/a.h5")
    assert train.returncode == 1
    assert train.stderr.startswith("donkey train: ")
    monkeypatch.chdir(tmp_path)
    assert donkey.run(["drive"]) == 1
    assert capsys.readouterr().err.startswith("donkey drive: there is no manage.py in")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_ctrl_c_before_anything_is_imported_ends_it_without_a_word(tmp_path):
    folder = make_car(tmp_path / "car")
    (folder / "donkeysim").mkdir()  # found before ours, and as slow as a cold disk
    (folder / "donkeysim" / "__init__.py").write_text("import time\nprint('importing')\ntime.sleep(60)\n")
    with CarProcess(folder) as car:
        car.wait_for("importing")
        assert car.end(signal.SIGINT) == -signal.SIGINT
        assert car.lines == ["importing"]


@pytest.mark.soak
@pytest.mark.parametrize("command", [("manage.py", "drive"), DONKEY])
def test_only_warnings_are_told_without_console_logging(tmp_path, command):
    folder = make_car(tmp_path / "car", "HAVE_CONSOLE_LOGGING = False\nMAX_LOOPS = 2\nDRIVE_LOOP_HERZ = 3\n" + QUICK)
    with CarProcess(folder, command=command) as car:
        assert car.wait() == 0
        assert "You can now go to" in car.text
        assert "the key DRIVE_LOOP_HERZ is not known" in car.text
        assert "Starting vehicle" not in car.text
