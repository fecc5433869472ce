"""A release: the same bytes twice, and a wheel whose first start compiles nothing and soon shows a picture."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from supply.build import build_ready, build_sources, build_wheel, read_moment, unpack
from websockets.sync.client import connect

from e2e.simulator_process import SimulatorProcess

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Return the archive of the sources."""
    return build_sources(tmp_path_factory.mktemp("sources"), read_moment())


def test_sources_and_wheel_are_the_same_bytes_when_built_again_elsewhere_with_other_times(
    tmp_path_factory, sources, monkeypatch
):
    moment = read_moment()
    folders = [tmp_path_factory.mktemp(name) for name in ("one", "two")]
    wheels = [build_wheel(unpack(sources, folder / "tree"), folder, moment) for folder in folders]
    assert wheels[0].read_bytes() == wheels[1].read_bytes()
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    again = build_sources(tmp_path_factory.mktemp("again"), moment)
    assert again.read_bytes() == sources.read_bytes()
    print(f"\n{sources.name}: {sources.stat().st_size} bytes; {wheels[0].name}: {wheels[0].stat().st_size} bytes")


@pytest.fixture(scope="module")
def installed(tmp_path_factory, sources):
    """Return a folder with the wheel of this system installed, without what it needs, which is here."""
    place = tmp_path_factory.mktemp("ready")
    tree = unpack(sources, place / "tree")
    wheel = build_ready(tree, place, read_moment())
    folder = place / "installed"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), str(wheel)]
    subprocess.run(install, check=True)
    return folder


@pytest.mark.parametrize("kind", ["first start", "second start"])
def test_the_wheel_of_this_system_compiles_nothing_and_shows_a_picture_soon(installed, kind):
    cache = installed.parent / "cache"
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment = {**inherited, "PYTHONPATH": str(installed), "DONKEYSIM_KERNEL_CACHE": str(cache)}
    options = ("--page-port", "0", "--scene", "generated_track", "--pace-car")
    with SimulatorProcess(*options, page=True, environment=environment) as program:
        page = time.perf_counter() - program.started
        wait_for_picture(program.page_address)
        picture = time.perf_counter() - program.started
        assert program.interrupt() == 0
    compiled = [path.name for path in cache.rglob("*.nbc")]
    print(f"\n{kind} without compiled kernels: page after {page:.1f} s, picture after {picture:.1f} s")
    assert compiled == []
    assert not any("First run" in line for line in program.lines)
    assert (
        installed
        in Path(
            subprocess.check_output(
                [sys.executable, "-c", "import donkeysim; print(donkeysim.__file__)"],
                env=environment,
                text=True,
                cwd=installed,
            ).strip()
        ).parents
    )


def wait_for_picture(address):
    """Return when a watcher has seen a car."""
    socket = address.replace("http", "ws")
    with connect(f"{socket}/state", origin=address) as state, connect(f"{socket}/picture", origin=address) as pictures:
        cars = []
        while not cars:
            state.send("{}")
            cars = json.loads(state.recv())["cars"]
        while True:
            pictures.send(json.dumps({"view": "chase", "car": cars[0]["id"], "width": 640, "height": 360}))
            if isinstance(pictures.recv(), bytes):
                return
