"""A small oval whose start line is a gate; with or without word of it to clients."""

TRACK = """
format = 1
name = "gated"
[path]
start = [0.0, 0.0]
segments = [
    {{ straight = 2.0 }}, {{ turn = 180.0, radius = 1.5 }}, {{ straight = 2.0 }}, {{ turn = 180.0, radius = 1.5 }}
]
[road]
width_left = 0.6
width_right = 0.6
[start]
pose = [0.0, 0.1, 0.0]
columns = [0.1]
slots = 2
{start}
"""

GATE = "gates = [[0.5, 0.7, 0.52, -0.8]]"


def write_track(folder, start=GATE):
    """Write the track with these further lines in [start], and return its path."""
    path = folder / "gated.toml"
    path.write_text(TRACK.format(start=start), encoding="utf-8")
    return str(path)
