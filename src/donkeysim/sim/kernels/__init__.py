"""Compiled loops over cars that only read."""
