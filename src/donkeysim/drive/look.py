"""How the car looks: as GYM_CONF says, or as somebody has chosen on the control page since."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from donkeysim.car.config import Config
from donkeysim.core.errors import SpecError
from donkeysim.core.files import write_whole
from donkeysim.envs.conf import EnvConf
from donkeysim.envs.conf_messages import Message, make_car_message

if TYPE_CHECKING:
    from donkeysim.car.config import Config

LOOK_FILE = Path(".web", "look.json")
"""In the car's folder: what was chosen, and what GYM_CONF said then."""

_KEYS = ("car_name", "body_style", "body_rgb")

_log = logging.getLogger(__name__)

Shade = Annotated[int, msgspec.Meta(ge=0, le=255)]


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
    """Keep what was chosen for the next drives; a disk that takes no more is only told."""
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
