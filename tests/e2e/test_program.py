"""`donkey_sim` starts, complains and ends as a program should."""

import os
import signal
import socket
import subprocess
import sys

import pytest

from donkeysim.cli import donkey_sim
from donkeysim.cli.options import read_options
from donkeysim.world.tracks.catalogue import find_tracks, list_scenes
from e2e.simulator_process import SimulatorProcess
from e2e.wire_client import WireClient
from waiting import wait_until

QUICK = "waveshare"
"""A scene that is built in a moment."""

posix = pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")


def run(*arguments):
    command = [sys.executable, "-m", "donkeysim.cli.donkey_sim", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--randomization", "mildd"], "did you mean 'mild'? These come along: mild, real, wide.\n"),
        (["--prot", "9091"], "did you mean '--port'?\n"),
        (["-port", "9091"], "'--port'"),
        (["9091"], "only takes options"),
        (["--port", "99999"], "0 (any free one) to 65535"),
        (["--cones", "5000"], "0 to 1000"),
        (["--ghost-cones"], "give both"),
        (["--tls", "--no-page"], "give one of them"),
        (["--road-turn", "0"], "0.1 to 20 degrees"),
        (["--port", "x"], "not a whole number"),
        (["--port"], "a value is missing"),
        (["--telemetry-hz", "7"], "480; it takes 20, 30, 60 or another divisor.\n"),
        (["--seed", "9" * 20], "it takes 0 to"),
        (["--time-scale", "-1"], "max"),
        (["--time-scale", "fast"], "'max'"),
        (["--pace-car", "quick"], "'steady', 'fast'"),
        (["--max-cars", "0"], "1 to 256"),
        (["--wire-control", "me"], "'local', 'scenes', 'all'"),
        (["--idle-timeout", "0"], "more than 0"),
        (["--scene", "generated_trak"], "did you mean 'generated_track'?"),
        (["--scene", "nowhere.toml"], "no track file"),
        (["--car", "original2021"], "did you mean 'original-2021'?"),
        (["--tracks", "no_such_folder"], "no folder"),
        (["--host", "no.such.host.invalid"], "--host"),
        (["-logFile"], "-logFile"),
    ],
)
def test_impossible_options_give_one_sentence_and_exit_code_2(arguments, text, capsys):
    """In this process; the tests below see that the program ends with what it says and returns here."""
    try:
        code = donkey_sim.run(read_options(["--no-page", *arguments]))
    except SystemExit as end:
        code = end.code
    told = capsys.readouterr().err
    assert code == 2
    assert text in told
    assert told.startswith("donkey_sim: ")
    assert told.count("\n") == 1


def test_a_broken_track_file_names_file_and_line(tmp_path):
    (tmp_path / "mine.toml").write_text("format = 1\nnonsense = 3\n")
    result = run("--no-page", "--port", "0", "--tracks", str(tmp_path), "--scene", "mine")
    assert result.returncode == 2
    assert "mine.toml, line 2" in result.stderr
    assert result.stderr.startswith("donkey_sim: ")
    assert "Traceback" not in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_broken_track_file_beside_good_ones_is_named_and_left_out(tmp_path):
    (tmp_path / "broken.toml").write_text("format = 1\nnonsense = 3\n")
    (tmp_path / "text.toml").write_bytes(b"\xff\xfe")
    good = find_tracks()["generated_track"].read_text()
    (tmp_path / "mine.toml").write_text(good.replace('"generated_track"', '"mine"'))
    with SimulatorProcess("--tracks", str(tmp_path)) as simulator, WireClient(simulator.address) as client:
        client.read_until("scene_selection_ready")
        client.send({"msg_type": "get_scene_names"})
        assert client.read_until("scene_names")["scene_names"] == list(list_scenes([str(tmp_path)]))
        assert "mine" in list_scenes([str(tmp_path)])
        simulator.interrupt()
    assert any("broken.toml, line 2" in line for line in simulator.lines), simulator.lines
    assert any("text.toml" in line for line in simulator.lines)
    assert not any("Traceback" in line for line in simulator.lines)


def test_a_port_in_use_is_one_line_that_names_it():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        result = run("--no-page", "--port", str(port))
    assert result.returncode == 1
    assert f"port {port}" in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stderr.count("\n") == 1


def test_switches_of_the_original_engine_are_ignored_and_logged(tmp_path):
    log = tmp_path / "unitylog.txt"
    switches = ["-batchmode", "-nographics", "-screen-width", "800", "-logFile", str(log), "--host", "127.0.0.1"]
    windowless = ["--remote", "--nogui", "--headless", "--time-scale", "2"]  # as programs start it that learn
    with SimulatorProcess(*switches, *windowless) as simulator:
        with WireClient(simulator.address) as client:
            client.read_until("scene_selection_ready")
            client.send({"msg_type": "warp"}, {"msg_type": "warp"})
            client.read_until("error")
        simulator.interrupt()
    text = log.read_text()
    assert "-screen-width 800" in text
    assert "ignored --nogui" in text
    assert text.count("unknown msg_type 'warp'") == 1


@posix
@pytest.mark.parametrize(
    ("number", "scene"), [(signal.SIGTERM, ()), (signal.SIGINT, ("--scene", QUICK))], ids=["menu", "scene"]
)
def test_signals_end_it_with_exit_code_0_and_free_the_port(number, scene):
    with SimulatorProcess(*scene) as simulator, WireClient(simulator.address) as client:
        client.read_until("scene_selection_ready", "telemetry", "scene_loaded")
        simulator.process.send_signal(number)
        assert simulator.wait() == 0
        assert client.is_closed()
        with socket.socket() as again:
            again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            again.bind(simulator.address)


@posix
@pytest.mark.soak
def test_after_a_kill_the_port_can_be_bound_at_once_and_no_child_lives_on():
    import psutil

    with SimulatorProcess("--scene", QUICK) as simulator, WireClient(simulator.address) as client:
        client.read_until("telemetry")
        assert psutil.Process(simulator.process.pid).children(recursive=True) == []
        simulator.process.kill()
        simulator.process.wait()
        port = simulator.address[1]
        with SimulatorProcess("--port", str(port)) as again:
            assert again.address[1] == port


def test_it_listens_before_anything_is_compiled_and_says_that_it_compiles(tmp_path):
    environment = {**os.environ, "DONKEYSIM_KERNEL_CACHE": str(tmp_path)}
    with SimulatorProcess(environment=environment) as simulator:
        assert not list(tmp_path.rglob("*.nbc"))
        with WireClient(simulator.address) as client, WireClient(simulator.address) as other:
            client.read_until("scene_selection_ready")
            client.send({"msg_type": "load_scene", "scene_name": QUICK})
            wait_until(lambda: any("First run: compiling kernels" in line for line in simulator.lines))
            other.read_until("scene_selection_ready")
            other.send({"msg_type": "get_scene_names"}, {"msg_type": "get_protocol_version"})
            assert "generated_track" in other.read_until("scene_names", seconds=5)["scene_names"]
            with WireClient(simulator.address) as late:  # by which a client knows that it need not give up
                late.send({"msg_type": "get_protocol_version"})
                assert late.read_until("protocol_version", seconds=5)["version"] == "2"
            other.send({"msg_type": "quit_app"})
            assert simulator.wait() == 0


def test_its_physics_rate_is_the_simulators():
    from donkeysim.cli.options import PHYSICS_RATE
    from donkeysim.core import types

    assert types.PHYSICS_RATE == PHYSICS_RATE
