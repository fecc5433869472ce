"""Whether a driven car gets a watching page of its own, which only one whose simulator runs in this process needs."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from donkeysim.core.errors import SpecError
from donkeysim.drive.look import find_control_address
from donkeysim.drive.simulated_car import is_built_in
from donkeysim.web.serving import bind_port

if TYPE_CHECKING:
    from donkeysim.car.config import Config
    from donkeysim.drive.watching_page import WatchingPage

_log = logging.getLogger("donkeysim.car")


def open_watching_page(car: object, config: Config) -> WatchingPage | None:
    """Return a page that shows the car, on WATCH_PAGE_PORT or the next free one.

    None when the car's simulator is another program, which has its own page; when the config wants none; and, with a
    warning, when no port is free: one can drive without.
    """
    if config.WATCH_PAGE_PORT is None or not is_built_in(car):
        return None
    from donkeysim.drive.watching_page import WatchingPage

    try:
        return WatchingPage(car, bind_port(config.WATCH_PAGE_PORT), find_control_address(config))
    except SpecError as error:
        _log.warning("no watching page: %s", error)
        return None
