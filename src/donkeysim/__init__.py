"""Donkeysim: the Donkey Simulator in Python."""

__version__ = "0.1.0"
