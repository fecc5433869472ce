"""Use the installed package outside the source tree, as its base install is used: `try_installed.py VENV`.

The simulator on the wire and its page; a car folder that is driven by the built-in pilot; a recorded tub; a pilot's
laps in a report. No extra is installed: none of it may need one.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

PATIENCE = 180.0
"""How long anything may take, compiling included [s]."""

IS_WINDOWS = sys.platform == "win32"


def main() -> None:
    """Try each in turn; anything that is not as it should be ends this program."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
    programs = Path(sys.argv[1]).resolve() / ("Scripts" if IS_WINDOWS else "bin")
    try_simulator(programs)
    try_car_folder(programs)
    print("The installed package drives, draws, shows its pages, records and evaluates.")


def try_simulator(programs: Path) -> None:
    """Start `donkey_sim`, load a scene, read one telemetry and the page, stop with SIGINT."""
    command = [
        str(programs / "donkey_sim"),
        "--port",
        "0",
        "--scene",
        "generated_track",
        "--pace-car",
        "--page-port",
        "0",
    ]
    with start(command) as (process, lines):
        addresses: dict[str, int] = {}
        for line in lines:
            for kind, port in re.findall(r"(http://)?127\.0\.0\.1:(\d+)", line):
                addresses["page" if kind else "wire"] = int(port)
            if len(addresses) == 2:
                break
        with socket.create_connection(("127.0.0.1", addresses["wire"]), timeout=PATIENCE) as client:
            for line in client.makefile("r", encoding="ascii"):
                message = json.loads(line)
                if message["msg_type"] == "telemetry":
                    assert len(message["image"]) > 1000, "the picture is too small to be one"
                    break
        assert "<title>" in read_page(f"http://127.0.0.1:{addresses['page']}/"), "the watching page is not there"
        stop(process, lines)


def try_car_folder(programs: Path) -> None:
    """Make a car folder, drive it with the built-in pilot while it records, sample a tub, evaluate a lap."""
    run(str(programs / "donkey"), "createcar", "--path", "mysim")
    folder = Path("mysim")
    with (folder / "myconfig.py").open("a", encoding="utf-8") as settings:
        settings.write("RECORD_DURING_AI = True\n")
    command = [str(programs / "python"), "manage.py", "drive"]
    environment = {"WEB_CONTROL_PORT": "0", "WATCH_PAGE_PORT": "0"}
    with start(command, folder, environment) as (process, lines):
        url = next(found[1] + "/drive" for line in lines if (found := re.search(r"go to (http://\S+) to drive", line)))
        assert "<title>" in read_page(url), "the control page is not there"
        wishes = {"angle": 0, "throttle": 0, "drive_mode": "local", "recording": True}
        request = urllib.request.Request(url, json.dumps(wishes).encode(), {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=30).close()
        wait_until_recorded(folder / "data", 20)
        stop(process, lines)
    run(str(programs / "donkey"), "sample", "--records", "100", "--out", "tub", folder=folder)
    run(str(programs / "donkey"), "evaluate", "--laps", "1", "--out", "report.html", folder=folder)
    assert "<svg" in (folder / "report.html").read_text(encoding="utf-8"), "the report has no map"


def wait_until_recorded(tub: Path, count: int) -> None:
    """Wait until a tub holds so many pictures."""
    soon = threading.Event()
    for _ in range(int(PATIENCE / 0.2)):
        if len(list((tub / "images").glob("*.jpg"))) >= count:
            return
        soon.wait(0.2)
    raise AssertionError(f"the drive has recorded fewer than {count} pictures in {PATIENCE:g} s")


@contextlib.contextmanager
def start(
    command: list[str], folder: Path = Path(), environment: dict[str, str] | None = None
) -> Iterator[tuple[subprocess.Popen[str], Iterator[str]]]:
    """Start a program and pass on its lines as they come; it ends with the block."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONUTF8": "1", **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        creationflags=subprocess.CREATE_NEW_PROCESS_GROUP if sys.platform == "win32" else 0,
    )
    assert process.stdout is not None
    try:
        yield process, (show(Path(command[0]).name, line) for line in process.stdout)
    finally:
        process.kill()


def stop(process: subprocess.Popen[str], lines: Iterator[str]) -> None:
    """End a program as Ctrl-C does; its last words are shown."""
    process.send_signal(signal.CTRL_BREAK_EVENT if sys.platform == "win32" else signal.SIGINT)
    for _ in lines:
        pass
    assert process.wait(20) == 0, f"exit code {process.returncode} after SIGINT"


def run(*command: str, folder: Path = Path()) -> None:
    """Run a program to its end, which must be a good one."""
    print("$", Path(command[0]).name, *command[1:], flush=True)
    subprocess.run(command, cwd=folder, check=True, timeout=PATIENCE)


def read_page(url: str) -> str:
    """Return a page's text."""
    with urllib.request.urlopen(url, timeout=30) as answer:
        return str(answer.read().decode())


def show(name: str, line: str) -> str:
    """Print a program's line and return it."""
    print(f"{name}: {line.rstrip()}", flush=True)
    return line


if __name__ == "__main__":
    main()
