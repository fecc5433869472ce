"""What is installed is pinned: pyproject.toml, constraints.txt and the hashed files in requirements/ agree."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, requires

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from supply.pins import (
    CONSTRAINTS,
    DEV,
    GPU,
    OF_RLLIB,
    RLLIB,
    ROOT,
    TORCH,
    TORCH_CPU,
    WITH_TORCH,
    complete_constraints,
    format_pins,
    parse_pins,
    read_pins,
)

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
HASHED = read_pins(DEV, TORCH, GPU)
MACHINES = {
    "linux": {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix", "platform_machine": "x86_64"},
    "mac": {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix", "platform_machine": "arm64"},
    "windows": {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt", "platform_machine": "AMD64"},
}


def list_direct():
    """Return what the package and all its extras ask for."""
    return [
        Requirement(line) for line in (*PROJECT["dependencies"], *(line for part in EXTRAS.values() for line in part))
    ]


def read_requirements(name):
    """Return what an installed package asks for; nothing of one that is not installed here."""
    try:
        return [Requirement(line) for line in requires(name) or []]
    except PackageNotFoundError:
        return []


def list_closure(environment):
    """Return (name, who asks) of all that an install with every extra needs in an environment, by metadata."""
    found, waiting = {}, [(one, "donkeysim", "") for one in list_direct()]
    while waiting:
        requirement, asker, extra = waiting.pop()
        name = canonicalize_name(requirement.name)
        if requirement.marker and not requirement.marker.evaluate({**environment, "extra": extra}):
            continue
        if name == "donkeysim" or (name, tuple(requirement.extras)) in found:
            continue
        found[name, tuple(requirement.extras)] = asker
        waiting += [(one, name, part) for one in read_requirements(name) for part in ("", *requirement.extras)]
    return {name: asker for (name, _), asker in found.items()}


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_everything_that_an_install_needs_is_pinned_with_hashes(machine, python):
    environment = {**default_environment(), **MACHINES[machine]}
    environment |= {"python_version": python, "python_full_version": f"{python}.7"}
    pinned = {one.name for one in HASHED if not one.requirement.marker or one.requirement.marker.evaluate(environment)}
    needed = list_closure(environment)
    assert len(needed) > 90
    assert {name: asker for name, asker in needed.items() if name not in pinned} == {}


def test_constraints_and_hashed_files_pin_the_same_versions():
    pinned = {one.name: one.version for one in read_pins(CONSTRAINTS)}
    assert pinned == {one.name: one.version for one in HASHED}, "run `make pins`"
    versions = {(one.name, one.version) for one in HASHED}
    assert len(versions) == len(pinned), "a package has two versions: constraints.txt can name only one"


def test_every_pin_is_exact_and_has_sha256_hashes():
    for pin in (*HASHED, *read_pins(TORCH_CPU, RLLIB)):
        assert re.fullmatch(r"==[^,*]+", str(pin.requirement.specifier)), pin.name
        assert pin.hashes, f"{pin.name} has no hash"
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", value) for value in pin.hashes), pin.name


def test_pins_lie_within_the_ranges_of_the_project():
    versions = {one.name: one.version for one in HASHED}
    for wanted in list_direct():
        name = canonicalize_name(wanted.name)
        assert name == "donkeysim" or wanted.specifier.contains(versions[name]), f"{wanted} leaves out {versions[name]}"


def test_the_cpu_build_of_torch_is_of_the_pinned_version():
    (build,) = read_pins(TORCH_CPU)
    version = next(pin.version for pin in read_pins(TORCH) if pin.name == "torch")
    assert (build.name, build.version) == ("torch", f"{version}+cpu")


def test_torch_and_what_only_it_needs_stand_apart():
    assert [pin.name for pin in read_pins(DEV) if WITH_TORCH.match(pin.name)] == []
    assert [pin.name for pin in read_pins(TORCH) if not WITH_TORCH.match(pin.name)] == []


def test_what_only_a_gpu_needs_is_in_no_other_file():
    others = {pin.name for pin in read_pins(DEV, TORCH)}
    assert "numba-cuda" in {pin.name for pin in read_pins(GPU)} - others
    assert [pin.name for pin in read_pins(GPU) if pin in read_pins(DEV)] == []


def test_the_environment_of_rllib_differs_in_gymnasium_alone_which_is_the_one_that_rllib_takes():
    others, own = ({pin.name: pin.version for pin in read_pins(*files)} for files in ([CONSTRAINTS], [RLLIB]))
    assert [name for name in own if others.get(name, own[name]) != own[name]] == [OF_RLLIB]
    asked = [one for one in read_requirements("ray") if one.marker and one.marker.evaluate({"extra": "rllib"})]
    assert str(next(one for one in asked if one.name == OF_RLLIB).specifier) == f"=={own[OF_RLLIB]}"
    base = [Requirement(line) for line in PROJECT["dependencies"]]
    assert {canonicalize_name(one.name) for one in (*asked, *base)} - set(own) == set()


def test_pins_are_read_as_they_are_written():
    text = 'six==1.17.0 ; sys_platform == "win32" \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n'
    (pin,) = parse_pins("# a word before\n" + text)
    assert (pin.name, pin.version, pin.hashes) == ("six", "1.17.0", ("sha256:aa", "sha256:bb"))
    assert parse_pins(format_pins([pin])) == [pin]


def test_constraints_keep_their_spelling_gain_what_is_new_and_lose_what_nothing_needs():
    before = "# Why.\nFlask==3.1.3\ngone==1.0\n"
    after = complete_constraints(before, parse_pins("zipp==4.1.2\nflask==3.1.4\n"))
    assert after == "# Why.\nFlask==3.1.4\nzipp==4.1.2\n"
