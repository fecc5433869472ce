"""Compiled functions that only pages call."""
