"""Ask for known faults of every pinned version, of all platforms: pip-audit asks, this module reads its answer."""

import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from supply.pins import DEV, GPU, RLLIB, TORCH, Pin, read_pins


class Fault(msgspec.Struct, frozen=True):
    """A known fault: its name and the versions that are free of it."""

    id: str
    fix_versions: list[str] = []


class Answer(msgspec.Struct, frozen=True):
    """What is known about one package: its faults, or why nobody could say."""

    name: str
    version: str = ""
    skip_reason: str = ""
    vulns: list[Fault] = []


class Report(msgspec.Struct, frozen=True):
    """Answers about all packages."""

    dependencies: list[Answer] = []


def report_faults() -> int:
    """Print the known faults, or that nobody could be asked, or that there are none; only then return 0."""
    pins = list({pin.name: pin for pin in read_pins(RLLIB, DEV, GPU, TORCH)}.values())
    said = ask_for_faults(pins)
    report = msgspec.json.decode(said.stdout, type=Report) if said.stdout.strip() else Report()
    lines = describe_report(report, {pin.name for pin in pins}, said.stderr)
    print("\n".join(lines) or f"No faults are known of the {len(pins)} pinned versions.")
    return 1 if lines else 0


def ask_for_faults(pins: list[Pin]) -> subprocess.CompletedProcess[str]:
    """Run pip-audit on the versions alone: with their markers it would pass over those of other platforms."""
    options = "--disable-pip --no-deps --format json --progress-spinner off --requirement"
    with tempfile.TemporaryDirectory() as folder:
        listing = Path(folder, "pins.txt")
        listing.write_text("".join(f"{pin.name}=={pin.version}\n" for pin in pins), encoding="utf-8")
        command = [sys.executable, "-m", "pip_audit", *options.split(), str(listing)]
        return subprocess.run(command, capture_output=True, text=True)


def describe_report(report: Report, names: set[str], complaint: str = "") -> list[str]:
    """Return a sentence for each fault, and one about the packages of which nothing could be learnt."""
    lines = [
        f"{answer.name} {answer.version} has the known fault {fault.id}: {advise(fault)}."
        for answer in report.dependencies
        for fault in answer.vulns
    ]
    unknown = names - {answer.name for answer in report.dependencies if not answer.skip_reason}
    if unknown:
        reasons = [answer.skip_reason for answer in report.dependencies if answer.skip_reason]
        last = (reasons or complaint.strip().splitlines() or ["it gave no reason"])[-1]
        lines.append(
            f"The service of known faults said nothing about {len(unknown)} of {len(names)} packages, so these were "
            f"not judged (its last words: {last}): run `make audit` where it can be reached."
        )
    return lines


def advise(fault: Fault) -> str:
    """Return what to do about a fault."""
    if not fault.fix_versions:
        return "no version is free of it yet, so judge whether we are hit, and replace the package if so"
    return f"enter {' or '.join(fault.fix_versions)} in constraints.txt and run `make pins`"
