"""Laps of generated_track driven in a browser: by the keys of the control page alone, in real time."""

import threading
import time
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect, sync_playwright

from donkeysim.drive.control_page import ControlPage
from donkeysim.drive.simulated_car import make_simulated_car
from donkeysim.drive.vehicle import Vehicle
from e2e import chromium

pytestmark = [pytest.mark.soak, pytest.mark.skipif(chromium.PATH is None, reason="no Chromium on this machine")]
