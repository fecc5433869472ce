"""A car's configuration: config.py, and over it myconfig.py, as the original reads them; but mistakes are reported.

Both files are Python that is run, each in a namespace of its own; names in capitals are the keys. Keys that a
config.py of another version lacks take their defaults; those that mean nothing to a simulated car stand in
`unused_keys.toml`.
"""

import linecache
import logging
import os
import re
import sys
import traceback
import types
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from donkeysim.car.keys import USED_BY, adapt_value, describe_bad_value
from donkeysim.core.config import read_toml
from donkeysim.core.errors import SpecError, nearest_name, shorten

_log = logging.getLogger(__name__)

NEAR = 0.75
"""How much alike two names are of which one may be meant by the other, 1: the same; at 0.5 SERVO_I is VERBOSE_TRAIN."""

_SIZES = ("CAMERA_RESOLUTION", "CAMERA_WIDTH", "CAMERA_HEIGHT", "CAMERA_DEPTH")
"""What donkeycar 2 and other templates call the picture's size; people set it in config.py itself."""

_SLIPS = {
    "unexpected indent": "begin it where the line before it begins",
    "invalid character": "write quotes, commas and brackets as an English keyboard does",
    "unicodeescape": "put an r before the quotes of a path with backslashes",
    "codec can't decode": "save the file as UTF-8",
}
"""What to do about what Python says of the slips that people make most."""

TEMPLATE_FOLDER = Path(__file__).with_name("template")
"""The files that `donkey createcar` writes; its config.py holds the defaults."""


class Config:
    """The keys of a car as attributes, for example `config.IMAGE_W`; written like the original's, for its users' code.

    Further keys may be set at any time. A missing one fails with the nearest name, one with a value that it does not
    take with what it takes.
    """

    def __init__(self, values: Mapping[str, Any] | None = None, sources: Mapping[str, Path] | None = None) -> None:
        """Take the keys from a dictionary; `sources`: the file that set each key, for messages, as far as known."""
        self.__dict__.update(values or {})
        self.__dict__["_sources"] = dict(sources or {})
        self.__dict__["_spared"] = {}

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_spared", ()):
            raise SpecError(self.__dict__["_spared"][name])
        nearest = nearest_name(name, filter(str.isupper, vars(self)), NEAR)
        hint = f"; did you mean {nearest}?" if nearest else "; give it a value in myconfig.py."
        raise AttributeError(f"the configuration has no key {name}{hint}")

    def to_dict(self) -> dict[str, Any]:
        """Return all keys and their values, sorted by name."""
        return {name: self.__dict__[name] for name in sorted(self.__dict__) if name.isupper()}

    def locate(self, name: str) -> str:
        """Return "file, line N: name" of a key, for a sentence about its value; the name alone when unknown."""
        source = self.__dict__["_sources"].get(name)
        return f"{_locate(source, name)}: {name}" if source else name

    def spare(self, name: str, mistake: str) -> None:
        """Take a key away whose value it does not take, but which this run may do without.

        Args:
            mistake: One sentence, which whoever reads the key gets as a `SpecError`.
        """
        self.__dict__.pop(name)
        self.__dict__["_spared"][name] = mistake

    def require(self, *users: str) -> None:
        """Check the keys of what is about to be done, before it takes time.

        Raises:
            SpecError: One of the keys was spared.
        """
        for name, mistake in self.__dict__["_spared"].items():
            if USED_BY[name] in users:
                raise SpecError(mistake)

    def __str__(self) -> str:
        return str(list(self.to_dict().items()))


def load_config(
    config_path: str | os.PathLike[str] | None = None,
    myconfig: str = "myconfig.py",
    *,
    driving: bool = True,
    changes: Mapping[str, Any] | None = None,
) -> Config:
    """Read a car folder's configuration.

    Args:
        config_path: The config.py; without it the one in the working folder.
        myconfig: File next to it, or anywhere when absolute, whose keys win.
        driving: The car is to be driven, so that `DONKEY_GYM = False` is an error, and so is a wrong value of a key
            that only driving uses. Wrong ones that only training, a joystick or a pilot uses are only warned about.
        changes: Keys whose values win over those of the files; of the folder's own keys only.

    Raises:
        SpecError: A file is missing or is no Python, a key has a value that it does not take, or there is no such key.
    """
    path = Path("config.py" if config_path is None else config_path).expanduser()
    if not path.is_file():
        raise SpecError(f"there is no {path.resolve()}; make a car folder with `donkey createcar`, then work in it.")
    defaults = read_defaults(path.parent)
    given = _run_file(path)
    own_path = path.parent / Path(myconfig).expanduser()
    own = _run_own(own_path, is_asked_for=myconfig != "myconfig.py")
    if set(defaults) <= set(given):
        _report_unused(path, given, defaults)
    else:
        given = _adapt_foreign(path, given)
    _report_unused(own_path, own, defaults)
    given |= _read_as_before(path, own_path, own)
    sources = dict.fromkeys(given, path) | dict.fromkeys(own, own_path)
    changed = _check_names(changes or {}, defaults | given | own)
    config = Config(defaults | given | own | changed, {name: sources[name] for name in sources.keys() - changed.keys()})
    check_values(config, users=("driving",) if driving else ())
    _report_unused_masks(config, defaults)
    if driving and not config.DONKEY_GYM:
        raise SpecError(
            f"{config.locate('DONKEY_GYM')} is False, but real hardware is not driven by this project: set DONKEY_GYM "
            f"= True in {own_path}."
        )
    return config


def _check_names(changes: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """Return changes of a configuration.

    Raises:
        SpecError: It has no such key.
    """
    for name in changes:
        if name not in known:
            nearest = nearest_name(name, known, NEAR)
            hint = f"did you mean {nearest}?" if nearest else "docs/config.md lists them."
            raise SpecError(f"the configuration has no key {shorten(name)}; {hint}")
    return dict(changes)


def peek_config(config_path: Path) -> Config:
    """Return what a car folder says, unchecked and without a word, for a program that does not drive the car itself.

    Raises:
        SpecError: A file is missing or is no Python.
    """
    own = config_path.with_name("myconfig.py")
    values = read_defaults(config_path.parent) | _run_file(config_path)
    return Config(values | _run_file(own) if own.is_file() else values)


def make_default_config(folder: str | os.PathLike[str] = ".", changes: Mapping[str, Any] | None = None) -> Config:
    """Return what a car folder that nobody has changed says, for work outside of one.

    Args:
        folder: Stands for the car folder; need not exist.
        changes: Keys that differ.

    Raises:
        SpecError: A change has a value that its key does not take.
    """
    config = Config(read_defaults(Path(folder)) | dict(changes or {}))
    check_values(config)
    return config


def read_defaults(folder: Path) -> dict[str, Any]:
    """Return all keys of a car folder and their defaults."""
    return _run_file(folder / "config.py", TEMPLATE_FOLDER / "config.py")


def check_values(config: Config, users: Container[str] = frozenset(USED_BY.values())) -> None:
    """Check the value of every key; limit the numbers that donkeycar limits, and say so.

    Args:
        config: Changed where a number is limited or a key spared.
        users: Of `keys.USED_BY`: those whose keys must be right; keys of others are only warned about.

    Raises:
        SpecError: A key has a value that it does not take; the text says where it stands and what it takes.
    """
    for name, given in config.to_dict().items():
        value = adapt_value(name, given)
        setattr(config, name, value)
        if value != given and isinstance(given, int | float) and isinstance(value, int | float):
            _log.warning("%s is %r, taken as %r.", config.locate(name), given, value)
        wrong = describe_bad_value(name, value)
        if not wrong:
            continue
        mistake = config.locate(name).removesuffix(name) + wrong
        if name not in USED_BY or USED_BY[name] in users:
            raise SpecError(mistake)
        _log.warning("%s It is for %s only.", mistake, USED_BY[name])
        config.spare(name, mistake)


def describe_failure(path: Path, error: BaseException) -> str:
    """Return one sentence about a file of the user's that could not be run: file, line, what is wrong."""
    if isinstance(error, OSError) and error.filename == str(path):
        return f"cannot read {path}: {error.strerror or error}."
    if "null bytes" in str(error):
        return f"{path} has bytes that are 0, as `>>` of Windows' PowerShell writes; save it as UTF-8."
    if isinstance(error, SyntaxError) and error.filename == str(path):
        line = f", line {error.lineno}" if error.lineno else ""
        hint = next((f"; {hint}" for slip, hint in _SLIPS.items() if slip in error.msg), "")
        return f"{path}{line}: this is not Python: {error.msg}: {(error.text or '').strip()!r}{hint}."
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    place = f"{path}, line {lines[-1]}" if lines else str(path)
    text = f"{place}: {type(error).__name__}: {error}"
    if isinstance(error, NameError) and error.name and error.name.isupper():
        text += "; this file does not see the names of config.py; write the whole value here"
    if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] == "donkeycar":
        text += "; install donkeycar into the same environment, or leave out what needs it"
    if lines:
        text += _describe_environment(linecache.getline(str(path), lines[-1] or 0))
    text = " ".join(text.rstrip(".").split())
    return text if text.endswith("?") else f"{text}."


def _describe_environment(line: str) -> str:
    """Return what the environment variables are that a line of Python reads, as a further part of a sentence."""
    names = re.findall(r"os\.(?:getenv\(|environ\.get\(|environ\[)[\"'](\w+)", line)
    return "".join(f"; the environment variable {name} is {os.environ.get(name)!r}" for name in names)


@contextmanager
def search_first(folder: Path) -> Iterator[None]:
    """Let imports find what lies in a folder, as for a program there, and forget it: another folder has its own."""
    place, before, known = str(folder.resolve()), sys.path[:], set(sys.modules)
    sys.path.insert(0, place)
    try:
        yield
    finally:
        sys.path[:] = before
        for name in sys.modules.keys() - known:
            module, beside = sys.modules[name], os.path.join(place, name.partition(".")[0])
            where = (getattr(module, "__file__", None), *getattr(module, "__path__", ()))
            if any(str(path).startswith(beside) for path in where):  # not what an environment inside the folder has
                del sys.modules[name]


def _run_file(path: Path, source: Path | None = None) -> dict[str, Any]:
    """Run a configuration file, or `source` as if it lay there, and return its keys: the names in capitals.

    Raises:
        SpecError: It cannot be read, or fails; the text names file and line.
    """
    module = types.ModuleType("config")
    module.__file__ = str(path)
    try:
        with search_first(path.parent):
            exec(compile((source or path).read_bytes(), str(path), "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        raise SpecError(describe_failure(path, error)) from error
    return {name: value for name, value in vars(module).items() if name.isupper()}


def _run_own(path: Path, is_asked_for: bool) -> dict[str, Any]:
    if path.is_file():
        return _run_file(path)
    if is_asked_for:
        raise SpecError(f"there is no {path}; --myconfig takes a file in the car folder, or a whole path.")
    _log.warning("there is no %s: all settings are those of config.py", path)
    return {}


def _read_as_before(path: Path, own_path: Path, own: Mapping[str, Any]) -> dict[str, Any]:
    """Return what files that speak of training, but not yet of TRAIN_RECIPE, mean by that: as the original trains."""
    if "TRAIN_RECIPE" in own:
        return {}
    keys = re.compile(rf"\b({'|'.join(name for name, user in USED_BY.items() if user == 'training')})\b")
    texts = (file.read_text(encoding="utf-8", errors="replace") for file in (path, own_path) if file.is_file())
    is_older = any(keys.search(text) and "TRAIN_RECIPE" not in text for text in texts)
    return {"TRAIN_RECIPE": "original"} if is_older else {}


def _adapt_foreign(path: Path, given: dict[str, Any]) -> dict[str, Any]:
    """Return the keys of a config.py that another version wrote, without a joystick nobody asked for."""
    _log.warning("%s was written by another version; `donkey update` in its folder brings it up to this one", path)
    _report_unused(path, {name: value for name, value in given.items() if name in _SIZES}, ())
    if not given.get("USE_JOYSTICK_AS_DEFAULT"):
        return given
    _log.warning("USE_JOYSTICK_AS_DEFAULT is left off, so that the page can drive; myconfig.py can set it to True")
    return given | {"USE_JOYSTICK_AS_DEFAULT": False}


def _report_unused(path: Path, given: Mapping[str, Any], defaults: Iterable[str]) -> None:
    """Log each key that nothing will come of: the original's that a simulated car has no use for, and unknown ones."""
    known, unused = set(defaults), read_unused_keys()
    for name, value in given.items():
        if name in known or name.startswith("CUSTOM"):
            continue
        if name not in unused:
            nearest = nearest_name(name, known, NEAR)
            hint = f"did you mean {nearest}?" if nearest else "only your own parts can read it."
            _log.warning("%s: the key %s is not known; %s", _locate(path, name), name, hint)
        elif not is_untouched(name, value):
            _log.warning("%s: %s has no effect: %s.", _locate(path, name), name, unused[name].reason)


def _report_unused_masks(config: Config, defaults: Mapping[str, Any]) -> None:
    """Log borders that nothing blacks out; donkeycar 2 and 3 cut them off wherever they were set (`utils.py`)."""
    lists = ("TRANSFORMATIONS", "POST_TRANSFORMATIONS", "AUGMENTATIONS")
    values = config.to_dict()
    listed = " ".join(name for key in lists for name in values.get(key, ()))
    for mask in ("CROP", "TRAPEZE"):
        if mask in listed or "CUSTOM" in listed:  # one's own transformation may read them
            continue
        for name, value in values.items():
            if name.startswith(f"ROI_{mask}_") and value not in (0, defaults.get(name, value)):
                _log.warning("%s has no effect: %s is in none of %s.", config.locate(name), mask, ", ".join(lists))


def _locate(path: Path, name: str) -> str:
    """Return "file, line N" of the last line that sets a key, or the file alone."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return str(path)
    pattern = re.compile(rf"(?:\w+\s*=\s*)*{re.escape(name)}\s*(?::[^=]*)?=(?!=)")
    numbers = [number for number, line in enumerate(lines, start=1) if pattern.match(line.lstrip())]
    return f"{path}, line {numbers[-1]}" if numbers else str(path)


@dataclass(frozen=True)
class UnusedKey:
    """A key without effect."""

    reason: str
    """Why it has none; the rest of a sentence."""
    defaults: tuple[Any, ...]
    """What it is in one template of the original or another; lists in it are tuples."""


@cache
def read_unused_keys() -> Mapping[str, UnusedKey]:
    """Return every such key."""
    return {
        name: UnusedKey(group["reason"], tuple(None if value == "None" else _freeze(value) for value in defaults))
        for group in read_toml(Path(__file__).with_name("unused_keys.toml"))["group"]
        for name, defaults in group["defaults"].items()
    }


def is_untouched(name: str, value: object) -> bool:
    """Say whether a key without effect has a value that it has by default, so that nobody expects anything of it."""
    given = _freeze(value)
    return any(type(given) is type(default) and given == default for default in read_unused_keys()[name].defaults)


def _freeze(value: object) -> object:
    return tuple(map(_freeze, value)) if isinstance(value, list | tuple) else value
