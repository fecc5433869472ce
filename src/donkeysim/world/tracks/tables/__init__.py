"""The tables of a track file as frozen dataclasses, one module each; `core.config` fills them from TOML."""
