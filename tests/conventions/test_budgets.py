"""The tests' own rules: what folders may cost, and which files share a worker."""

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from budgets import BUDGETS, CONSIDERABLE, ProcessorClock, find_folder, list_excesses
from lanes import CASTING, LEARNING, find_lane

TESTS = Path(__file__).parents[1]
CORES, SECONDS = 2, 300.0
START = 80.0
"""What reading the tests takes three workers, and compiling kernels two processes [s]."""


def test_every_folder_of_tests_has_a_budget_and_together_they_fit_into_five_minutes():
    folders = {path.relative_to(TESTS).parts[0] for path in TESTS.rglob("test_*.py")} - {"soak"}
    assert folders - set(BUDGETS) == set()
    assert sum(BUDGETS.values()) < CORES * SECONDS - START


def test_who_takes_longer_than_its_budget_or_has_none_is_named():
    most = {name: CONSIDERABLE * BUDGETS[name] for name in ("wire", "web")}
    spent = Counter({"wire": most["wire"] + 1.0, "web": most["web"], "unheard": 2.0, "soak": 0.0})
    first, second = list_excesses(spent)
    assert first.startswith("tests/unheard took 2 s and has no budget")
    assert second.startswith(f"tests/wire took {most['wire'] + 1.0:.0f} s, its budget is {BUDGETS['wire']} s")


def test_what_a_test_takes_is_the_time_of_processors_and_that_of_programs_it_waits_for():
    clock, taken = ProcessorClock(), []

    def run(work):
        clock.pytest_runtest_logstart()
        making = clock.pytest_runtest_makereport()
        next(making)
        work()
        with pytest.raises(StopIteration) as made:
            making.send(SimpleNamespace())
        taken.append(made.value.value.processor)

    run(lambda: time.sleep(0.3))
    run(
        lambda: subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 0.3: pass"], check=True)
    )
    assert taken[0] < 0.1
    assert taken[1] > 0.25 or sys.platform == "win32"


def test_a_test_belongs_to_the_folder_right_below_tests():
    assert find_folder("tests/learn/files/test_x.py::test_y[a/b]") == "learn"


def test_all_files_that_train_share_a_worker_and_exist():
    assert {find_lane(file) for file in (*LEARNING, "tests/learn/test_train.py", "tests/rl/test_curve.py")} == {"learn"}
    assert all((TESTS.parent / file).exists() for file in (*LEARNING, *CASTING))


def test_files_that_look_through_the_sources_share_a_worker_and_those_that_cast_rays_another():
    assert {find_lane(f"tests/conventions/{path.name}") for path in Path(__file__).parent.glob("test_*.py")} == {
        "conventions"
    }
    assert {find_lane(file) for file in CASTING} == {"rays"}


def test_browsers_share_one_worker_and_programs_another():
    pages = {find_lane(f"tests/e2e/{name}.py") for name in ("test_control_in_browser", "visit/test_watching_page")}
    programs = {find_lane(f"tests/e2e/{name}.py") for name in ("test_manage", "test_program")}
    assert (pages, programs) == ({"browsers"}, {"programs"})
    assert find_lane("tests/wire/test_replies.py") == "tests/wire/test_replies.py"
