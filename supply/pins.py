"""Which exact versions are installed: constraints.txt says them, requirements/ adds the hashes of all their files."""

import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ROOT / "constraints.txt"
DEV, TORCH, TORCH_CPU, GPU, RLLIB = (
    ROOT / "requirements" / f"{name}.txt" for name in ("dev", "torch", "torch-cpu", "gpu", "rllib")
)
WITH_TORCH = re.compile(r"(torch|triton|cuda-[a-z-]+|nvidia-[a-z0-9-]+)$")
"""What only torch of the package index needs; a CPU build of torch comes without."""
HEADS = {
    DEV: "# Written by `make pins` from pyproject.toml and constraints.txt: all but torch and `gpu`, with hashes.\n",
    TORCH: "# Written by `make pins`: torch of the package index, and on Linux the CUDA libraries that it loads.\n",
    RLLIB: "# Written by `make pins`: the base and RLlib with the one Gymnasium that RLlib takes; all but torch.\n",
    GPU: "# Written by `make pins`: what the extra `gpu` brings; some of it torch of the package index brings too.\n",
}


BESIDE_RLLIB = "ray[rllib]\ntorch\nsetuptools\n"
"""What the environment of `make rllib` has beside the package."""
OF_RLLIB = "gymnasium"
"""What RLlib takes at another version than constraints.txt holds."""


class Pin(NamedTuple):
    """A package at one version, and which files of it may be installed."""

    requirement: Requirement
    hashes: tuple[str, ...]

    @property
    def name(self) -> str:
        """The package's name in its normal form."""
        return canonicalize_name(self.requirement.name)

    @property
    def version(self) -> str:
        """The one version."""
        return str(self.requirement.specifier).removeprefix("==")


def parse_pins(text: str) -> list[Pin]:
    """Return the pins of a requirements file's text."""
    pins = []
    for line in text.replace("\\\n", " ").splitlines():
        requirement, *hashes = line.partition("#")[0].split("--hash=")
        if requirement.strip():
            pins.append(Pin(Requirement(requirement), tuple(value.strip() for value in hashes)))
    return pins


def read_pins(*paths: Path) -> list[Pin]:
    """Return the pins of requirements files."""
    return [pin for path in paths for pin in parse_pins(path.read_text(encoding="utf-8"))]


def write_pins() -> int:
    """Resolve all extras for every platform within constraints.txt; write its hashes, and complete constraints.txt."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    try:
        text = CONSTRAINTS.read_text(encoding="utf-8")
        CONSTRAINTS.write_text(complete_constraints(text, resolve_pins(extras)), encoding="utf-8")
        pins, brought = resolve_pins(set(extras) - {"gpu"}), resolve_pins(["gpu"])
        of_rllib = resolve_rllib_pins()
    except subprocess.CalledProcessError as error:
        return error.returncode
    files: dict[Path, list[Pin]] = {DEV: [], TORCH: [], GPU: [], RLLIB: []}
    for pin in pins:
        files[TORCH if WITH_TORCH.match(pin.name) else DEV].append(pin)
    known = {pin.name for pin in files[DEV]}
    files[GPU] = [pin for pin in brought if pin.name not in known]
    files[RLLIB] = [pin for pin in of_rllib if not WITH_TORCH.match(pin.name)]
    for file, own in files.items():
        file.write_text(HEADS[file] + format_pins(own), encoding="utf-8")
    return 0


def resolve_pins(extras: Iterable[str]) -> list[Pin]:
    """Return what the package with some extras needs on any platform, within constraints.txt."""
    chosen = [part for extra in sorted(extras) for part in ("--extra", extra)]
    return _resolve(*chosen, "--constraint", CONSTRAINTS.name, "pyproject.toml")


def resolve_rllib_pins() -> list[Pin]:
    """Return what the package and RLlib need, within constraints.txt and, for what only RLlib needs, the last pins."""
    held = {pin.name: pin for pin in read_pins(RLLIB, CONSTRAINTS) if pin.name != OF_RLLIB}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, CONSTRAINTS.name)
        path.write_text("".join(f"{pin.name}=={pin.version}\n" for pin in held.values()), encoding="utf-8")
        return _resolve("--constraint", str(path), "pyproject.toml", "-", given=BESIDE_RLLIB)


def _resolve(*words: str, given: str = "") -> list[Pin]:
    options = "--universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header"
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", *options.split(), *words]
    return parse_pins(
        subprocess.run(command, cwd=ROOT, input=given, stdout=subprocess.PIPE, text=True, check=True).stdout
    )


def format_pins(pins: Iterable[Pin]) -> str:
    """Return the lines of a requirements file."""
    return "".join(" \\\n    --hash=".join([str(pin.requirement), *pin.hashes]) + "\n" for pin in pins)


def complete_constraints(text: str, pins: Iterable[Pin]) -> str:
    """Return the text of constraints.txt with a line for each pin, in their order, and for nothing else."""
    head = "".join(line + "\n" for line in text.splitlines() if line.startswith("#"))
    spelled = {pin.name: pin.requirement.name for pin in parse_pins(text)}
    lines = {pin.name: f"{spelled.get(pin.name, pin.requirement.name)}=={pin.version}\n" for pin in pins}
    return head + "".join(lines[name] for name in sorted(lines))
