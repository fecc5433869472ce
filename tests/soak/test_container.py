"""What the container is made of, without one: its build steps run in a bare folder, its server is driven and asked.

No image is built, so the base image's own share of the size is added as its publisher states it.
"""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from e2e.wire_client import WireClient

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]

ROOT = Path(__file__).resolve().parents[2]
BASE_PACKED, BASE_UNPACKED = 45, 125
"""Of python:3.11-slim for x86-64 [MB]."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Run the steps of the first stage with `/opt` and `/source` in a folder of this machine; return that folder."""
    folder = tmp_path_factory.mktemp("container")
    source = folder / "source"
    source.mkdir()
    for name in re.findall(r"^!(\S+)", (ROOT / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        extra = {"ignore": shutil.ignore_patterns(".kernels", "__pycache__", "ready_kernels", "*.egg-info")}
        copy(ROOT / name, source / name, **(extra if copy is shutil.copytree else {}))
    (steps,) = re.findall(r"^RUN (python -m venv .*?[^\\])$", read_recipe(), re.MULTILINE | re.DOTALL)
    words = steps.replace("python -m venv", f"{shlex.quote(sys.executable)} -m venv", 1)
    words = words.replace("/opt/donkeysim", str(folder / "opt" / "donkeysim"))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "DONKEYSIM_"))}
    subprocess.run(["bash", "-ec", words.replace("\\\n", " ")], cwd=source, env=environment, check=True)
    return folder


def read_recipe():
    """Return the Dockerfile."""
    return (ROOT / "Dockerfile").read_text(encoding="utf-8")


def test_it_weighs_less_than_400_megabytes_in_a_registry(place):
    folder, archive = place / "opt", place / "layer.tar.gz"
    with tarfile.open(archive, "w:gz", compresslevel=6) as layer:
        layer.add(folder, "opt")
    packed, unpacked = archive.stat().st_size / 1e6, measure(folder)
    print(f"\nits own layer: {packed:.0f} MB packed, {unpacked:.0f} MB unpacked", end="; ")
    print(f"with python:3.11-slim: {packed + BASE_PACKED:.0f} MB packed, {unpacked + BASE_UNPACKED:.0f} MB unpacked")
    assert packed + BASE_PACKED < 400


def measure(folder):
    """Return the size of all files of a folder [MB]."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir()) / 1e6


def test_its_server_is_driven_by_a_client_and_is_healthy_over_tls(place, tmp_path):
    python = place / "opt" / "donkeysim" / "bin" / "python"
    environment = {"PATH": "/usr/bin", "HOME": str(tmp_path), "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(python.with_name("donkey_sim")), "--host", "0.0.0.0", "--scene", "generated_track", "--pace-car"]
    with socket.create_server(("127.0.0.1", 0)) as free:
        page = free.getsockname()[1]
    words = [*command, "--port", "0", "--tls", "--page-port", str(page)]
    process = subprocess.Popen(
        words, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        said = iter(process.stdout.readline, "")
        port = next(int(found[1]) for line in said if (found := re.search(r"listens on [\d.]+:(\d+)", line)))
        next(line for line in said if "Watch it at https://" in line)
        assert ask_health(python, page) == 0
        assert drive(("127.0.0.1", port)) > 1.0
        assert not list(tmp_path.rglob("*.nbc")), "nothing is compiled where kernels are ready"
    finally:
        process.kill()
        process.wait(30)
        process.stdout.close()
    assert ask_health(python, page) == 1


def drive(address):
    """Give a car of the running scene full throttle until it is quicker than 1 m/s, or for 20 s; return its speed."""
    client = WireClient(address)
    with client.socket:
        for _ in range(400):
            telemetry = client.read_until("telemetry")
            if telemetry["speed"] > 1.0:
                break
            client.send({"msg_type": "control", "steering": "0.0", "throttle": "1.0", "brake": "0.0"})
    return telemetry["speed"]


def ask_health(python, page):
    """Return what the health check says."""
    return subprocess.run([str(python), str(ROOT / "container" / "health.py"), str(page)], check=False).returncode


def test_the_image_belongs_to_nobody_special():
    assert re.search(r"^USER donkey$", read_recipe(), re.MULTILINE)
    assert read_recipe().index("USER donkey") < read_recipe().index('CMD ["donkey_sim"')
