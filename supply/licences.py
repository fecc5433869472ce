"""Judge the licences of what is installed and of what the package carries, by supply/licences.toml."""

import importlib.metadata
import sys
from collections.abc import Iterable
from email.message import Message
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

import msgspec
from license_expression import ExpressionError, ExpressionParseError, LicenseExpression, Licensing
from packaging.utils import canonicalize_name

from supply.pins import ROOT

POLICY = Path(__file__).with_name("licences.toml")
PACKAGE = ROOT / "src" / "donkeysim"
VAGUE = ("", "UNKNOWN", "OSI Approved", "DFSG approved", "Other/Proprietary License")
"""What metadata say that names no licence."""
LONGEST = 60
"""Characters of a licence's name; longer ones are its text."""
ASSETS = {".csv", ".glb", ".ico", ".jpg", ".npz", ".onnx", ".otf", ".png", ".svg", ".ttf", ".wav", ".webp", ".woff2"}
"""Endings of files that somebody has drawn, measured or trained."""
SPDX = Licensing()


class Accepted(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A package that was looked at: what its metadata state, what its licence is, why it may be used."""

    states: list[str]
    licence: str
    because: str


class Asset(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Files of the package that are no code: where they come from and under which licence."""

    files: str
    origin: str
    licence: str


class Policy(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What is allowed: licences with the reason, other words for them, single packages, assets."""

    licences: dict[str, str]
    spellings: dict[str, str]
    packages: dict[str, Accepted]
    assets: list[Asset]


class Verdict(NamedTuple):
    """The licence of one package and, if it may not be used, a sentence that says why."""

    name: str
    licence: str
    fault: str


def read_policy(path: Path = POLICY) -> Policy:
    """Return what is allowed."""
    return msgspec.toml.decode(path.read_bytes(), type=Policy)


def list_statements(metadata: Message | importlib.metadata.PackageMetadata) -> list[str]:
    """Return all that a package's metadata say about its licence: the SPDX expression, or else words of any kind."""
    exact = metadata["License-Expression"]
    if exact:
        return [exact]
    line = (metadata["License"] or "").strip()
    classes = [text for text in metadata.get_all("Classifier") or [] if text.startswith("License ::")]
    words = [line, *(text.split(" :: ")[-1] for text in classes)]
    return [word for word in words if word not in VAGUE and "\n" not in word and len(word) <= LONGEST]


def judge_package(name: str, statements: list[str], policy: Policy) -> Verdict:
    """Return whether a package may be used; of several statements each must be allowed."""
    accepted = policy.packages.get(name)
    if accepted and accepted.states == statements:
        return Verdict(name, accepted.licence, "")
    licences = [policy.spellings.get(words, words) for words in statements]
    faults = [licence for licence in licences if not is_allowed(licence, policy.licences)]
    if accepted or faults or not licences:
        return Verdict(name, " AND ".join(licences), describe_fault(name, faults or statements, accepted))
    return Verdict(name, licences[0], "")


def describe_fault(name: str, licences: list[str], accepted: Accepted | None) -> str:
    """Return the sentence about a package that may not be used."""
    stated = f"states the licence {' and '.join(map(repr, licences))}" if licences else "states no licence"
    if accepted:
        return (
            f"{name} {stated}, but supply/licences.toml accepts it as one that states {accepted.states}: "
            "read its licence again, and mend the entry or replace the package."
        )
    return (
        f"{name} {stated}, which supply/licences.toml does not allow: replace the package, or read its licence and "
        "enter it there with the reason."
    )


def is_allowed(licence: str, allowed: Iterable[str]) -> bool:
    """Return whether an SPDX expression can be met with allowed licences alone."""

    def meets(part: LicenseExpression) -> bool:
        if isinstance(part, SPDX.AND):
            return all(map(meets, part.args))
        return any(map(meets, part.args)) if isinstance(part, SPDX.OR) else str(part) in allowed

    try:
        return meets(SPDX.parse(licence))
    except (ExpressionError, ExpressionParseError):
        return False


def judge_installed(policy: Policy, folders: list[str] | None = None) -> list[Verdict]:
    """Return a verdict for each installed package, by name; of these folders, or of all that Python looks into."""
    found = importlib.metadata.distributions(path=folders) if folders else importlib.metadata.distributions()
    statements = {canonicalize_name(one.metadata["Name"]): list_statements(one.metadata) for one in found}
    return [judge_package(name, statements[name], policy) for name in sorted(statements)]


def list_asset_faults(policy: Policy, package: Path = PACKAGE) -> list[str]:
    """Return a sentence for each asset whose licence nobody has written down, and for each entry without files."""
    files = [path.relative_to(package) for path in sorted(package.rglob("*")) if path.suffix in ASSETS]
    faults: list[str] = []
    used: set[str] = set()
    for file in files:
        entries = [asset for asset in policy.assets if fnmatchcase(file.as_posix(), asset.files)]
        used.update(asset.files for asset in entries)
        allowed = [asset for asset in entries if is_allowed(asset.licence, policy.licences)]
        if len(allowed) != 1:
            faults.append(
                f"{file.as_posix()} has {len(allowed)} entries with an allowed licence under `assets` in "
                "supply/licences.toml: say in one where it comes from and what its licence is, or remove it."
            )
    lost = [asset.files for asset in policy.assets if asset.files not in used]
    return faults + [f"supply/licences.toml names assets {name}, of which there are none: remove it." for name in lost]


def report_licences() -> int:
    """Print what may not be used, or that all may; return 1 if there is anything."""
    policy = read_policy()
    verdicts = judge_installed(policy)
    faults = [verdict.fault for verdict in verdicts if verdict.fault] + list_asset_faults(policy)
    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults:
        print(f"The licences of {len(verdicts)} installed packages and of all assets are allowed.")
    return 1 if faults else 0
