"""Compiled loops over the cars of a batch."""
