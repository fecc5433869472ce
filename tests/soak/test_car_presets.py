"""The car presets drive as the published single-track model does, within 5 %."""

import importlib
import subprocess
import sys

import pytest
from benchmarks.car_presets import CIRCLES, measure

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]

PACKAGE = "commonroad-vehicle-models==3.0.2"


@pytest.fixture(scope="module", autouse=True)
def judge(tmp_path_factory):
    """The judge, fetched where it is not installed; the little that is asked of it needs nothing else."""
    folder = tmp_path_factory.mktemp("judge")
    command = [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, PACKAGE]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"{PACKAGE} cannot be fetched here: {done.stderr.strip().splitlines()[-1]}")
    sys.path.append(str(folder))
    importlib.invalidate_caches()
    yield
    sys.path.remove(str(folder))


@pytest.mark.parametrize("name", CIRCLES)
def test_presets_drive_as_the_published_model_does(name):
    for law in measure(name):
        print(f"{law.name}: {law.closed:.4g} and {law.measured:.4g} {law.unit}, {100.0 * law.deviation:+.1f} %")
        assert abs(law.deviation) < 0.05, law
