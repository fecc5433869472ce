"""A simulation that cannot be made: one sentence, and the program ends."""

import asyncio
import time

import pytest

from donkeysim.cli import donkey_sim
from donkeysim.cli.options import read_options
from donkeysim.core.errors import DonkeySimError, SpecError
from donkeysim.serve.simulation_thread import SimulationThread


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ImportError("No module named 'numba'"), "No module named 'numba'); reinstall donkeysim."),
        (SpecError("this machine cannot be used."), "this machine cannot be used."),
    ],
)
def test_a_stage_that_cannot_be_made_is_given_up_with_one_sentence(error, text):
    def fail():
        raise error

    async def run():
        told = asyncio.get_running_loop().create_future()
        simulation_thread = SimulationThread(fail, lambda outputs: None, time.perf_counter, told.set_result)
        simulation_thread.start()
        answer = await asyncio.wait_for(told, 10)
        simulation_thread.stop()
        return answer

    answer = asyncio.run(run())
    assert isinstance(answer, DonkeySimError)
    assert str(answer).endswith(text)


def test_the_program_ends_with_one_sentence_when_the_stage_cannot_be_made(monkeypatch, capsys):
    def fail(options, read_clock):
        raise ImportError("No module named 'numba'")

    monkeypatch.setattr(donkey_sim, "_make_simulation", fail)
    assert donkey_sim.run(read_options(["--port", "0", "--no-page", "--scene", "generated_track"])) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith("donkey_sim: the simulator did not start (ImportError: No module named 'numba')")
