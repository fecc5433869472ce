"""Registers nothing: `gym` beside it makes the only environment."""
