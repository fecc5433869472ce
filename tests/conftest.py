"""How the tests are run: on how many workers, in which order, with kernels compiled before, within which budgets."""

import gc
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from budgets import BUDGETS, BudgetReport, ProcessorClock, find_folder
from kept_scenes import keep_scenes
from lanes import find_lane

TESTS = Path(__file__).parent

WORKERS = (os.cpu_count() or 1) + 1
"""One more than there are cores, as many tests wait for programs and browsers."""

SCENES = pytest.StashKey[Path]()
"""Where the scenes of a run are kept: in pytest's temporary folder, of which it clears what killed runs have left."""

CHOSEN = "not soak and not gpu and not device and not visit"
"""What is run when nobody chooses, see pyproject.toml."""

# The first example may be the one that imports SciPy, on a machine that has other things to do.
settings.register_profile("suite", deadline=None)
settings.load_profile("suite")


def is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def runs_everything(config: pytest.Config) -> bool:
    """Return whether nobody has chosen tests."""
    options = config.option
    is_repeated = getattr(options, "lf", False) or getattr(options, "failedfirst", False)  # gone without a cache
    is_chosen = options.keyword or is_repeated or options.markexpr != CHOSEN
    return config.args_source == pytest.Config.ArgsSource.TESTPATHS and not is_chosen


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ProcessorClock(), "processor-clock")
    gc.disable()  # a quarter of the time that reading the tests takes; see pytest_collection_finish
    if is_worker(config):
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # training would wait for threads that other workers hold up
        if config.workerinput["runs_everything"]:
            config.args = list_folders(int(config.workerinput["workerid"].removeprefix("gw")))
    elif runs_everything(config) and not config.option.collectonly:
        config.pluginmanager.register(BudgetReport(), "budget-report")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker whether all tests are run, and where scenes are kept."""
    node.workerinput["runs_everything"] = runs_everything(node.config)
    node.workerinput["scenes"] = str(node.config.stash[SCENES])


def pytest_unconfigure(config: pytest.Config) -> None:
    if SCENES in config.stash:
        shutil.rmtree(config.stash[SCENES], ignore_errors=True)


def list_folders(worker: int) -> list[str]:
    """Return the folders of tests that are run, beginning elsewhere for each worker.

    All workers read all tests, and so each of them compiles some for the others, who find them in `__pycache__`.
    """
    folders = sorted({file.relative_to(TESTS).parts[0] for file in TESTS.glob("*/**/test_*.py")} - {"soak"})
    first = worker * len(folders) // WORKERS % len(folders)
    return [str(TESTS / folder) for folder in folders[first:] + folders[:first]]


def pytest_collection_finish() -> None:
    """Spare the garbage collector the tests themselves."""
    gc.freeze()
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let tests that want the same track with the same challenges share its scene.

    And let no scene that is loaded make the collector go through all the tests; it takes longer than most of them.
    """
    builder = sys.modules.get("donkeysim.world.tracks.builder")
    if builder is not None and not hasattr(builder.build_scene, "cache_info"):
        config = item.config
        folder = Path(config.workerinput["scenes"]) if is_worker(config) else config.stash[SCENES]
        builder.build_scene = keep_scenes(builder.build_scene, folder)
    loader = sys.modules.get("donkeysim.serve.scene_loader")
    if loader is not None:
        loader._settle_memory = lambda: None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """0: here, with its output live."""
    paths = [Path(argument.partition("::")[0]) for argument in config.args]
    is_one_file = len(paths) == 1 and paths[0].is_file()
    if is_one_file or config.option.capture == "no":
        return 0
    return WORKERS


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """Keep the tests of a file together, as they share simulators and browsers, and those of a lane."""
    from xdist.scheduler import LoadScopeScheduling

    class LaneScheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return find_lane(nodeid.partition("::")[0])

    config.option.loadscopereorder = False
    return LaneScheduling(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes longest, so that no worker is left alone with it at the end."""
    if is_worker(config):
        items.sort(key=lambda item: (-BUDGETS.get(find_folder(item.nodeid), 0.0), item.nodeid.partition("::")[0]))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Make room for scenes, and compile kernels once before there are workers, each of which would compile them."""
    if is_worker(session.config):
        return
    session.config.stash[SCENES] = session.config._tmp_path_factory.mktemp("scenes", numbered=False)
    if not getattr(session.config.option, "numprocesses", None):
        return
    from donkeysim.sim.compile_processes import PARTS, CompileProcesses, is_compiled

    missing = [stage for stages in PARTS for stage in stages if not is_compiled(stage)]
    if missing:
        print("First run with these kernels: compiling them, a minute or two.", flush=True)
    with CompileProcesses() as processes:
        for stage in missing:
            processes.wait_for(stage)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The browser of page tests."""
    from playwright.sync_api import sync_playwright

    from e2e import chromium

    with sync_playwright() as playwright:
        opened = chromium.launch(playwright)
        yield opened
        opened.close()
