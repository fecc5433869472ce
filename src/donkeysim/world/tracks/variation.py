"""What is asked of a scene beyond its track file: which of its generated roads."""

from __future__ import annotations

import dataclasses

from donkeysim.core.errors import SceneError
from donkeysim.world.specs import RoadSpec, SceneSpec
from donkeysim.world.tracks.track_file import TrackFile


def vary_track(track: TrackFile, spec: SceneSpec) -> TrackFile:
    """Return a track as a scene's spec wants it.

    Raises:
        SceneError: A road is asked for where it is not a generated one.
    """
    return track if spec.road is None else _lay_road(track, spec.road)


def _lay_road(track: TrackFile, road: RoadSpec) -> TrackFile:
    if track.path.walk is None:
        raise SceneError(f"the road of {track.name} is not a generated one; it cannot be made anew.")
    styles = (track.road, *track.road_styles)
    walk = dataclasses.replace(track.path.walk, seed=road.seed, turn=road.turn)
    path = dataclasses.replace(track.path, walk=walk)
    return dataclasses.replace(track, path=path, road=styles[road.style % len(styles)])
