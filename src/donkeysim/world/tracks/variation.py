"""What is asked of a scene beyond its track file: which of its generated roads, which light."""

from __future__ import annotations

import dataclasses

from donkeysim.core.errors import SceneError
from donkeysim.world.specs import RoadSpec, SceneSpec
from donkeysim.world.tracks.challenges import vary_light
from donkeysim.world.tracks.track_file import TrackFile


def vary_track(track: TrackFile, spec: SceneSpec) -> TrackFile:
    """Return a track as a scene's spec wants it.

    Raises:
        SceneError: A road is asked for where it is not a generated one.
    """
    road = spec.road or describe_road(track)
    track = track if road is None else _lay_road(track, road)
    if spec.challenges.light:
        return dataclasses.replace(track, light=vary_light(track.light, spec.challenges.seed))
    return track


def describe_road(track: TrackFile) -> RoadSpec | None:
    """Return which of its roads a track has; None: its road is not a generated one."""
    walk = track.path.walk
    return None if walk is None else RoadSpec(walk.style, walk.seed, walk.turn)


def _lay_road(track: TrackFile, road: RoadSpec) -> TrackFile:
    if track.path.walk is None:
        raise SceneError(f"the road of {track.name} is not a generated one; it cannot be regenerated.")
    styles = (track.road, *track.road_styles)
    style = road.style % len(styles)
    walk = dataclasses.replace(track.path.walk, seed=road.seed, turn=road.turn, style=style)
    return dataclasses.replace(track, path=dataclasses.replace(track.path, walk=walk), road=styles[style])
