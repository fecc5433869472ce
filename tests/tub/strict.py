"""What the original's reader insists on, as a reader of its own: mapped files, whole tables, positions of lines."""

import contextlib
import json
import mmap


def read_strictly(path):
    """Return the living records as the original would; raises where it would."""
    lines = _map(path / "manifest.json").split(b"\n")
    _inputs, _types, _metadata, _own, catalogs = map(json.loads, lines[:5])
    if not catalogs["paths"]:
        raise ValueError("no catalog")
    records, position = [], 0
    for name in catalogs["paths"]:
        table = json.loads(_map((path / name).with_suffix(".catalog_manifest")).split(b"\n")[0])
        assert table["line_lengths"]
        for line in _map(path / name).splitlines():
            if position not in catalogs["deleted_indexes"]:
                with contextlib.suppress(ValueError):
                    records.append(json.loads(line))
            position += 1
    return records


def _map(path):
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        return mapped[:]
