"""Tracks with one of everything that stands, for tests; and rays against what is seen."""

import numpy as np

from donkeysim.world.tracks.props import PROP_KINDS
from donkeysim.world.tracks.structures.wall_kinds import WALL_KINDS

STRAIGHT = 6.0
RADIUS = 1.5
LENGTH = 2.0 * STRAIGHT + 2.0 * np.pi * RADIUS
GAP = 0.1

OVAL = f"""format = 1
name = "{{name}}"
[path]
node_count = 60
segments = [{{{{ straight = {STRAIGHT} }}}}, {{{{ turn = 180.0, radius = {RADIUS} }}}},
    {{{{ straight = {STRAIGHT} }}}}, {{{{ turn = 180.0, radius = {RADIUS} }}}}]
[road]
width_left = 0.4
width_right = 0.4
[ground]
texture = "plain"
[start]
rows = 0.35
slots = 56
"""

SPAN = LENGTH / len(WALL_KINDS)


def write_track(folder, text, name="place"):
    """Write an oval with further tables; return the path as text."""
    path = folder / f"{name}.toml"
    path.write_text(OVAL.format(name=name) + text)
    return str(path)


def list_walls():
    """Tables of a wall of every kind, one after another around the oval, left of the road."""
    tables = []
    for index, kind in enumerate(WALL_KINDS):
        span = [index * SPAN, (index + 1) * SPAN - 0.1]
        tables.append(f'[[walls]]\nkind = "{kind}"\nside = "left"\ngap = {GAP}\nspans = [{span}]\n')
    return "".join(tables)


def list_props():
    """Tables of a prop of every kind, 6 m apart south of the oval, and their places."""
    places = {kind: (6.0 * index, -8.0) for index, kind in enumerate(PROP_KINDS)}
    tables = [f'[[props]]\nkind = "{kind}"\nplaces = [[{x}, {y}]]\n' for kind, (x, y) in places.items()]
    return "".join(tables), places


def cast_ray(mesh, origin, direction, two_sided):
    """Return the distance to the first triangle met, inf for none, and whether it shows its front.

    Args:
        mesh: Triangles.
        origin: [m], shape [3].
        direction: Unit vector, shape [3].
        two_sided: Of each triangle: its back counts as front.
    """
    corner = mesh.vertex[mesh.triangle].astype(float)
    one, two = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    across = np.cross(direction, two)
    scale = np.einsum("ij,ij->i", one, across)
    with np.errstate(divide="ignore", invalid="ignore"):
        away = origin - corner[:, 0]
        u = np.einsum("ij,ij->i", away, across) / scale
        other = np.cross(away, one)
        v = other @ direction / scale
        distance = np.einsum("ij,ij->i", two, other) / scale
        met = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (distance > 1e-6)
    distance = np.where(met, distance, np.inf)
    first = int(np.argmin(distance))
    return float(distance[first]), bool(scale[first] > 0.0 or two_sided[first])
