"""The package with the least version of everything that pyproject.toml allows, in an environment of its own.

It needs a package index. Tools of the tests are the newest there are; ROOMS chooses folders of tests.
"""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = ("learn", "tflite", "race", "export", "datasets", "agents", "rl", "cluster")
TOOLS = ("pytest", "pytest-timeout", "pytest-xdist", "hypothesis", "httpx", "packaging", "open3d", "embreex", "ziglang")
OF_THE_CHECKOUT = {"art", "conventions", "e2e", "examples", "gpu", "soak", "supply"}
NEEDS_OPENCV_5 = "tests/laws/test_projection.py::test_depth_agrees_with_rays_on_999_of_1000_pixels[lens]"


def uv(*words):
    done = subprocess.run([sys.executable, "-m", "uv", *words], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def find_rooms():
    folders = [path for path in (ROOT / "tests").iterdir() if any(path.rglob("test_*.py"))]
    return sorted(path.name for path in folders if path.name not in OF_THE_CHECKOUT)


@pytest.fixture
def python(tmp_path):
    """The interpreter of an environment with the least versions, and without the package itself."""
    torch = [
        line for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").split("\n") if line[:7] == "torch=="
    ]
    (tmp_path / "torch.txt").write_text(*torch, encoding="utf-8")
    uv("venv", "--python", sys.executable, str(tmp_path / "venv"))
    python = tmp_path / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    extras = [word for extra in EXTRAS for word in ("--extra", extra)]
    least = ("--resolution", "lowest-direct", "--constraint", str(tmp_path / "torch.txt"))
    uv("pip", "install", "--python", str(python), *least, "--requirement", "pyproject.toml", *extras)
    uv("pip", "install", "--python", str(python), *TOOLS)
    return python


def test_every_room_works(python):
    has = dict(
        line.replace("-", ".", line.startswith("svg")).split("==")
        for line in uv("pip", "freeze", "--python", str(python))
    )
    asked = [*PROJECT["dependencies"], *(word for extra in EXTRAS for word in PROJECT["optional-dependencies"][extra])]
    for name in (word.split(">=")[0] for word in PROJECT["dependencies"]):
        assert any(
            f"{has[name]}.0.0".startswith(f"{word.split('>=')[1]}.") for word in asked if word.startswith(f"{name}>")
        ), f"{name} {has[name]} is what others need: pyproject.toml allows an older one"
    words = ["-m", "pytest", "-n", "auto", "-W", "default", "-m", "not soak and not gpu and not device and not visit"]
    words += ["--deselect", NEEDS_OPENCV_5]
    words += [f"tests/{room}" for room in os.environ.get("ROOMS", "").split() or find_rooms()]
    paths = os.pathsep.join(str(ROOT / name) for name in ("src", ".", "tests"))
    done = subprocess.run(
        [python, *words], cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True
    )
    print(done.stdout.splitlines()[-1])
    assert done.returncode == 0, done.stdout[-5000:]
