"""How the car looks: as GYM_CONF says, or as somebody has chosen on the control page since; and where it drives."""

import contextlib
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol

import msgspec

from donkeysim.car.config import Config
from donkeysim.core.errors import DonkeySimError, SpecError, WireError, describe_unknown
from donkeysim.core.files import write_whole
from donkeysim.envs.conf import EnvConf
from donkeysim.envs.conf_messages import Message, make_car_message

LOOK_FILE = Path(".web", "look.json")
"""In the car's folder: what was chosen, and what GYM_CONF said then."""

_KEYS = ("car_name", "body_style", "body_rgb")

_log = logging.getLogger(__name__)

Shade = Annotated[int, msgspec.Meta(ge=0, le=255)]

_NO_CAR = "its manage.py gives the page no car; run `donkey update`."


class Look(msgspec.Struct, frozen=True):
    """The keys of GYM_CONF that say it.

    Attributes:
        car_name: What the name plate says, at most 40 characters.
        body_style: One of `world.specs.BODY_STYLES`.
        body_rgb: Paint.
    """

    car_name: Annotated[str, msgspec.Meta(max_length=40)] = "car"
    body_style: Literal["donkey", "bare", "car01", "cybertruck", "f1"] = "donkey"
    body_rgb: tuple[Shade, Shade, Shade] = (128, 128, 128)


class _KeptLook(msgspec.Struct):
    look: Look
    instead_of: dict[str, Any]


def read_gym_conf(config: Config) -> dict[str, Any]:
    """Return GYM_CONF, with the look that was chosen on the page as long as GYM_CONF's own is still the same."""
    given = dict(getattr(config, "GYM_CONF", None) or {})
    with contextlib.suppress(OSError, msgspec.MsgspecError):  # nothing was chosen
        kept = msgspec.json.decode(_find_file(config).read_bytes(), type=_KeptLook)
        if kept.instead_of == _list_own(given):
            own = given.pop("car_config", None) or {}
            given |= {**own, **msgspec.structs.asdict(kept.look)}
    return given


def keep_look(config: Config, look: Look) -> None:
    """Keep what was chosen for the next drives; a full disk is only logged."""
    kept = _KeptLook(look, _list_own(getattr(config, "GYM_CONF", None) or {}))
    try:
        _find_file(config).parent.mkdir(exist_ok=True)
        write_whole(_find_file(config), msgspec.json.encode(kept), SpecError)
    except (OSError, SpecError) as error:
        _log.warning("the car's look is not kept for the next drive: %s", error)


def _find_file(config: Config) -> Path:
    return Path(config.CAR_PATH) / LOOK_FILE


def _list_own(conf: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a GYM_CONF itself says about the look, as JSON has it."""
    own = {**conf, **(conf.get("car_config") or {})}
    listed: dict[str, Any] = msgspec.to_builtins({key: own[key] for key in _KEYS if key in own})
    return {key: list(value) if isinstance(value, tuple) else value for key, value in listed.items()}


def find_look(conf: EnvConf) -> Look:
    """Return how a car looks."""
    message = _find_message(conf)
    rgb = [int(float(message.get(f"body_{shade}", 128))) for shade in "rgb"]
    with contextlib.suppress(msgspec.ValidationError):
        return msgspec.convert({**message, "body_rgb": rgb}, Look)
    return Look()


def change_look(conf: EnvConf, look: Look) -> EnvConf:
    """Return what is said to a simulator about a car that looks otherwise."""
    font_size = _find_message(conf).get("font_size", "100")
    others = [message for message in conf.messages if message["msg_type"] != "car_config"]
    message = make_car_message({**msgspec.structs.asdict(look), "font_size": font_size})
    return replace(conf, messages=(message, *others))


def _find_message(conf: EnvConf) -> Message:
    """Return the last message that dresses the car; empty for none."""
    return next((one for one in reversed(conf.messages) if one["msg_type"] == "car_config"), {})


def find_control_address(config: Config) -> str:
    """Return the address of the control page for this machine's browsers; "" when its port is not known before."""
    scheme = "https" if getattr(config, "WEB_CONTROL_TLS", False) else "http"
    return f"{scheme}://localhost:{config.WEB_CONTROL_PORT}/drive" if config.WEB_CONTROL_PORT else ""


def find_car_name(config: Config) -> str:
    """Return the name that a car has in its simulator, "" for none."""
    conf = read_gym_conf(config)
    own = conf.get("car_config") or {}
    return str(own.get("car_name", conf.get("car_name", "")))


class Traveller(Protocol):
    """A car that can be sent elsewhere; its methods may be called from any thread.

    Attributes:
        is_braking: Whether it brakes until it gets a throttle; the page sets it.
    """

    is_braking: bool

    @property
    def place(self) -> str:
        """Name of the place where it drives; "" in a simulator's menu."""

    @property
    def places(self) -> tuple[str, ...]:
        """Where it could drive; () where it is not known."""

    @property
    def look(self) -> Look:
        """How it looks."""

    def dress(self, look: Look) -> None:
        """Let it look otherwise soon.

        Raises:
            DonkeySimError: That is not possible now.
        """

    def go_to(self, place: str) -> None:
        """Begin to go there.

        Raises:
            DonkeySimError: That is not possible now.
        """

    def take_trouble(self) -> str:
        """Return why it could not go where it was sent, once; "" for nothing."""


def send_car(car: Traveller | None, place: str) -> None:
    """Send a car to a place.

    Raises:
        WireError: It cannot go there; a sentence for who asked.
    """
    if car is None:
        raise WireError(f"this car cannot go to {place!r}: {_NO_CAR}")
    if place not in car.places:
        raise WireError(describe_unknown("place", place, car.places))
    try:
        car.go_to(place)
    except DonkeySimError as error:
        raise WireError(str(error)) from error


def dress_car(car: Traveller | None, look: Look) -> None:
    """Let a car look otherwise.

    Raises:
        WireError: That is not possible now; a sentence for who asked.
    """
    if car is None:
        raise WireError(f"this car cannot look otherwise: {_NO_CAR}")
    try:
        car.dress(look)
    except DonkeySimError as error:
        raise WireError(str(error)) from error
