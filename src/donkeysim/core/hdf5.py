"""HDF5 files of others: what lies in one may be data of another file of the reader's, and is refused."""

from __future__ import annotations

from typing import Any


def find_outside_data(file: Any) -> str:
    """Return the name of the first thing in an open h5py file whose data lie in another file; "" for none.

    External links, datasets with external storage and virtual datasets are such things. Soft links lead to what is
    found by its own name.
    """
    import h5py

    waiting, seen = [file["/"]], set()
    while waiting:
        group = waiting.pop()
        place = h5py.h5o.get_info(group.id).addr
        if place in seen:
            continue
        seen.add(place)
        for name in group:
            link = group.get(name, getlink=True)
            path = f"{group.name.rstrip('/')}/{name}"
            if isinstance(link, h5py.ExternalLink):
                return path
            inner = group[name] if isinstance(link, h5py.HardLink) else None
            if isinstance(inner, h5py.Dataset) and (inner.external or inner.is_virtual):
                return path
            if isinstance(inner, h5py.Group):
                waiting.append(inner)
    return ""
