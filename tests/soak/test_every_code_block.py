"""Every command and code block of README and guide, typed and run in an empty environment: `-k every_code_block`.

The environment is made by the install lines of README and guide themselves, from a copy of what git has, with a home of
its own. What a document is about is at hand, as it is for who reads it: a car with a drive and a pilot, and whatever
`AT_HAND` says. Ports are those of the documents, so nothing else may hold them. What is not run, and why, stands in
`code_blocks.NOT_RUN`. BLOCKS=docs/tubs.md runs one document (after the guide, which makes the car).
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from code_blocks import NOT_RUN, ROOT, list_blocks, list_documents
from soak.terminal import Terminal

pytestmark = pytest.mark.soak

GUIDE = "docs/guide/README.md"
IN_THE_CHECKOUT = ("docs/envs/learning.md", "docs/guide/tracks.md")
EVENING = next(line for line in list_blocks("docs/guide/race.md")[0].list_commands() if " host " in line)
MANY_STARTS, STRESS = (
    next(line for block in list_blocks("docs/guide/evaluate.md") for line in block.list_commands() if option in line)
    for option in ("--seeds", "--stress")
)
LEARN, LEARN_RANDOMISED = (
    next(
        line for block in list_blocks("docs/guide/evaluate.md") for line in block.list_commands() if line.endswith(name)
    )
    for name in ("--out without", "--out randomised")
)
DRIVE_A_LITTLE = "donkey sample --out data --laps 2"
TRAIN_BRIEFLY = "printf 'MAX_EPOCHS = 2\\n' >> myconfig.py"
BEFORE = {
    ("README.md", "donkey train --tub ./data --model models/mypilot.h5"): (DRIVE_A_LITTLE, TRAIN_BRIEFLY),
    (GUIDE, "donkey train --tub ./data --model models/mypilot.h5"): (DRIVE_A_LITTLE, TRAIN_BRIEFLY),
    ("docs/guide/coming-from-the-original.md", "cd ~/mycar && donkey update"): ("donkey createcar --path ~/mycar",),
    ("docs/guide/cnnactivations.md", ""): ("cp data/images/20_cam_image_array_.jpg curve.jpg",),
    ("docs/guide/createcar.md", ""): ("cd ~ && rm -rf mysim",),
    ("docs/guide/tracks.md", ""): ("cp examples/tracks/larkmoor.csv .", "mkdir tracks"),
    ("docs/guide/train.md", ""): (TRAIN_BRIEFLY,),
    ("docs/guide/evaluate.md", ""): ("cp models/mypilot.h5 models/p.h5",),
    ("docs/guide/evaluate.md", MANY_STARTS): ("cp models/mypilot.h5 first.h5", "cp models/mypilot.onnx second.onnx"),
    ("docs/guide/evaluate.md", STRESS): (
        "mkdir without randomised",
        "cp second.onnx without/pilot.onnx",
        "cp second.onnx randomised/pilot.onnx",
    ),
    ("docs/guide/evaluate.md", LEARN): ("rm -r without randomised",),
    ("docs/guide/sweep.md", ""): (
        "sed -n '/^# rates.toml/,/^```/p' ~/donkeysim/docs/guide/sweep.md"
        " | sed '/^```/d; s/^trials = .*/trials = 3/; s/^budget = .*/budget = 3/' > rates.toml",
    ),
}
"""What people do before a line: drive, for example; "" stands for a document's first line."""
BRIEFLY = " --steps 4096"
TYPED_AS = {
    EVENING: EVENING + " --laps 1",
    MANY_STARTS: MANY_STARTS.replace("--seeds 20", "--seeds 2"),
    STRESS: STRESS + " --seeds 1",
    LEARN: LEARN + BRIEFLY,
    LEARN_RANDOMISED: LEARN_RANDOMISED + BRIEFLY,
    "donkey demo": "donkey demo --quick --records 500",
    "python examples/sb3_ppo.py": "python examples/sb3_ppo.py --steps 12288 --laps 1",
    "python examples/cleanrl_ppo_pixels.py --seed 0": "python examples/cleanrl_ppo_pixels.py --seed 0 --steps 8192",
}
"""What would take minutes, with less to do."""
CODES = {
    "make run": (0, 2, 130),
    "donkey demo --quick --records 500": (0, 1),
    "python examples/sb3_ppo.py --steps 12288 --laps 1": (0, 1),
    "python examples/cleanrl_ppo_pixels.py --seed 0 --steps 8192": (0, 1),
    "donkey evaluate --model models/mypilot.h5 --tracks generated_track --laps 3": (0, 1),
    "donkey evaluate --model models/p.h5 --laps 10": (0, 1),
    MANY_STARTS.replace("--seeds 20", "--seeds 2"): (0, 1),
    LEARN + BRIEFLY: (0, 1),
    LEARN_RANDOMISED + BRIEFLY: (0, 1),
    "donkey tubhist --tub ./data --record user/angel": (1,),
    "donkey doctor": (0, 1),
}
"""Exit codes other than 0 alone: make's own after Ctrl-C; 1 where a pilot that learned so little may leave the road."""
SHORTER = (".learn(100_000)", ".learn(2_000)")
"""In programs, for the same reason."""
PICTURE = "import numpy as np\npicture = np.zeros((120, 160, 3), np.uint8)\n"
AT_HAND = {
    "docs/pilots.md": PICTURE,
    "docs/tubs.md": PICTURE + "import os; os.mkdir('lesson'); os.chdir('lesson')\n",
    "docs/guide/tracks.md": (
        "import donkeysim, gymnasium, shutil\nshutil.copy('my_track.toml', 'tracks/my_track.toml')\n"
    ),
    "docs/guide/replay.md": (
        "from donkeysim.sim.simulator import Simulator\nfrom donkeysim.world.specs import SceneSpec, WorldSpec\n"
        "simulator = Simulator(WorldSpec(SceneSpec('generated_track')))\n"
    ),
}
"""What the programs of a document take as given."""
BESIDE = {"docs/guide/control-page.md": ("python manage.py drive", "Starting vehicle")}
"""What runs while a document's programs do."""


class Reader:
    """Works through documents on an empty machine: a home, a checkout, the system's Python."""

    def __init__(self, folder):
        self.home, self.checkout = folder / "home", folder / "home" / "donkeysim"
        self.home.mkdir()
        copy_checkout(self.checkout)
        self.spare = folder / "spare"
        (folder / "notes").mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL", "MAKE"))}
        path = os.pathsep.join([str(Path(sys.base_prefix) / "bin"), "/usr/local/bin", "/usr/bin", "/bin"])
        self.variables = kept | {
            "HOME": str(self.home),
            "PATH": path,
            "PYTHONUNBUFFERED": "1",
            "PIP_CONSTRAINT": str(self.checkout / "constraints.txt"),
            "DONKEYSIM_KERNEL_CACHE": str(folder / "kernels"),
        }
        self.terminal = Terminal(self.checkout, dict(self.variables), folder / "notes")
        self.failures = []
        self.installed = set()

    def work_through(self, document):
        """Type and run all blocks of a document in their order and return what failed."""
        self.failures = []
        self._prepare(document)
        programs = AT_HAND.get(document, "")
        beside = BESIDE.get(document)
        server = self.terminal.start(*beside) if beside else None
        for line in BEFORE.get((document, ""), ()):
            self._type(document, line)
        for block in list_blocks(document):
            for command in block.list_commands():
                self._type_with_what_comes_before(document, command)
            if block.language == "python" and not block.is_settings and not block.is_listed:
                programs = self._run(block, programs)
        if server is not None:
            with server:
                server.interrupt()
                self._judge(document, " ".join(beside), server.wait(60.0), server.text)
        return self.failures

    def _prepare(self, document):
        self.terminal.folder, self.terminal.variables = self.checkout, dict(self.variables)
        if document == GUIDE:
            return
        folder = self.home / "mysim"
        if not self.spare.exists():
            shutil.copytree(folder, self.spare, ignore=shutil.ignore_patterns("demo"))
        shutil.rmtree(folder, ignore_errors=True)
        if document == "README.md":
            return
        shutil.copytree(self.spare, folder)
        self.terminal.folder = self.checkout if document in IN_THE_CHECKOUT else folder
        self.terminal.type(". ~/donkey-env/bin/activate")
        self._install(document)

    def _install(self, document):
        """Type the install lines between a document's blocks, each once."""
        text = (ROOT / document).read_text(encoding="utf-8")
        for line in sorted({*re.findall(r"`(pip install [^`]+)`", text)} - self.installed):
            self._type(document, f"(cd ~/donkeysim && {line})")
            self.installed.add(line)

    def _type_with_what_comes_before(self, document, command):
        if (document, command) in NOT_RUN:
            return
        for line in BEFORE.get((document, command), ()):
            self._type(document, line)
        self._type(document, TYPED_AS.get(command, command))

    def _type(self, document, command):
        answer = self.terminal.type(command)
        self._judge(document, command, answer.code, answer.text, answer.seconds)
        if answer.page and "<" not in answer.page:
            self.failures.append(f"{command}: its page begins with {answer.page!r}")

    def _run(self, block, programs):
        """Run a program with what those before it in the document have imported; return that and what it imports."""
        (self.terminal.folder / "program.py").write_text(programs + block.text.replace(*SHORTER), encoding="utf-8")
        answer = self.terminal.type("python program.py")
        self._judge(block.place, block.first_line, answer.code, answer.text, answer.seconds)
        first = [line for line in block.text.splitlines() if re.match(r"import |from |os\.environ", line)]
        return programs + "\n".join(first) + "\n"

    def _judge(self, place, command, code, text, seconds=None):
        line = {"case": "every_code_block", "place": place, "command": command, "code": code, "seconds": seconds}
        print(json.dumps(line), flush=True)
        if "SHOW" in os.environ:
            print(text, flush=True)
        if code not in CODES.get(command, (0,)) or "Traceback" in text:
            self.failures.append(f"{place}: {command} ended with {code}:\n{text[-3000:]}")


def copy_checkout(folder):
    """Copy what git has, as a fresh clone would."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    """Somebody who has worked through the guide, and so has an environment and a car with a drive and a pilot."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # reaches programs also from the background
    reader = Reader(tmp_path_factory.mktemp("reader"))
    reader.guide_failures = reader.work_through(GUIDE)
    yield reader
    signal.signal(signal.SIGINT, before)


def list_chosen():
    """Return the documents with something to run, the guide first; BLOCKS names some of them."""
    busy = [name for name in list_documents() if name != GUIDE and any(has_something_to_run(name))]
    chosen = os.environ.get("BLOCKS", "").split()
    return [name for name in (GUIDE, *busy) if not chosen or name in chosen]


def has_something_to_run(document):
    for block in list_blocks(document):
        yield any((document, command) not in NOT_RUN for command in block.list_commands())
        yield block.language == "python" and not block.is_settings and not block.is_listed


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("document", list_chosen())
def test_every_code_block_of_a_document_works(reader, document):
    failures = reader.guide_failures if document == GUIDE else reader.work_through(document)
    assert not failures, "\n\n".join(failures)
