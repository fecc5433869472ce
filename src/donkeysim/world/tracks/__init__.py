"""Tracks: one TOML file each, and the builder that turns them into scenes."""
