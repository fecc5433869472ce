"""Where the control page of a car is, from its config alone: other programs of this machine link to it."""

from __future__ import annotations

from donkeysim.car.config import Config
from donkeysim.drive.look import read_gym_conf


def find_control_address(config: Config) -> str:
    """Return the address of the control page for this machine's browsers; "" when its port is not known before."""
    scheme = "https" if getattr(config, "WEB_CONTROL_TLS", False) else "http"
    return f"{scheme}://localhost:{config.WEB_CONTROL_PORT}/drive" if config.WEB_CONTROL_PORT else ""


def find_car_name(config: Config) -> str:
    """Return the name that a car has in its simulator, "" for none."""
    conf = read_gym_conf(config)
    own = conf.get("car_config") or {}
    return str(own.get("car_name", conf.get("car_name", "")))
