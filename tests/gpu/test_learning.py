"""A policy learns to drive with its cars, its pictures and its network on a GPU."""

import time

import pytest

from donkeysim.core.device import open_device
from donkeysim.core.errors import DonkeySimError
from donkeysim.learn.pilot import load_pilot
from donkeysim.rl.session import Limit, TrainingSession
from donkeysim.rl.task import TrainingTask

pytestmark = [pytest.mark.device, pytest.mark.gpu]

SECONDS = 240.0
"""For learning, the compiling of kernels included."""


@pytest.fixture(scope="module")
def gpu():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch finds no GPU; install one that does.")
    try:
        open_device("cuda").close()
    except DonkeySimError as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("options", [{"teacher": "expert"}, {"car_count": 1024}], ids=["expert", "rewards"])
def test_a_policy_learns_on_a_gpu(tmp_path, options):
    task = TrainingTask(device="cuda", laps=2, **options)
    session = TrainingSession(task, tmp_path, Limit(SECONDS), time.perf_counter())
    updates = []
    result = session.run([updates.append])
    print(f"{options}: {result.steps} steps in {result.seconds:.0f} s, last rate {updates[-1].rate:.0f} steps/s")
    assert result.is_passed
    assert load_pilot(result.pilot).kind == "memory"
