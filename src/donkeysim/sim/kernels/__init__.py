"""Whole worlds put back to how they began."""
