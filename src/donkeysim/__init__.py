"""Donkeysim: the Donkey Simulator in Python."""

from donkeysim.envs.registration import register_when_loaded

__version__ = "0.1.0"

register_when_loaded()
