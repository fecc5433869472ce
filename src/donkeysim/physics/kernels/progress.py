"""Where a car is on its path: node, cte, surface, length along the shortest line."""

from __future__ import annotations

import math

from donkeysim.core.kernel import inner_kernel, merged_kernel
from donkeysim.physics.kernels.ground import find_surface
from donkeysim.physics.kernels.layout import (
    N_CLOSED,
    N_NODE,
    N_NODE_COUNT,
    N_SHORTEST,
    N_SHORTEST_COUNT,
)

SEARCH_LIMIT = 64
"""Segments that one local search passes at most."""
LOST_DISTANCE = 1.5
"""Distance from the path [m] beyond which the whole path is searched now and then."""


@inner_kernel
def measure_segment(points, begin, count, closed, segment, x, y):
    """Return (squared distance [m²], share of the segment's length) of the nearest point of one segment.

    The first and the last segment of an open line go on for ever.
    """
    following = segment + 1 if segment + 1 < count else 0
    px, py = points[begin + segment, 0], points[begin + segment, 1]
    dx, dy = points[begin + following, 0] - px, points[begin + following, 1] - py
    share = ((x - px) * dx + (y - py) * dy) / max(dx * dx + dy * dy, 1e-18)
    if share < 0.0 and (closed != 0 or segment > 0):
        share = 0.0
    if share > 1.0 and (closed != 0 or segment < count - 2):
        # Measured from the next node, so that both of its segments give the very same distance.
        ex, ey = x - points[begin + following, 0], y - points[begin + following, 1]
        return ex * ex + ey * ey, 1.0
    ex, ey = x - px - share * dx, y - py - share * dy
    return ex * ex + ey * ey, share


@inner_kernel
def find_segment_near(points, begin, count, closed, segment, x, y):
    """Return the nearest segment reached by descending from `segment` along the line."""
    last = count if closed != 0 else count - 1
    best, _ = measure_segment(points, begin, count, closed, segment, x, y)
    for direction in (1, -1):
        for _ in range(SEARCH_LIMIT):
            candidate = segment + direction
            if closed != 0:
                candidate = (
                    candidate - last if candidate >= last else (candidate + last if candidate < 0 else candidate)
                )
            elif candidate < 0 or candidate >= last:
                break
            distance, _ = measure_segment(points, begin, count, closed, candidate, x, y)
            if not distance < best:
                break
            best = distance
            segment = candidate
    return segment


@inner_kernel
def find_segment(points, begin, count, closed, x, y):
    """Return the nearest segment of a whole line."""
    best, nearest = math.inf, 0
    for segment in range(count if closed != 0 else count - 1):
        distance, _ = measure_segment(points, begin, count, closed, segment, x, y)
        if distance < best:
            best = distance
            nearest = segment
    return nearest


@inner_kernel
def follow_node(course, scene, node, x, y, everywhere):
    """Return the path node behind a car that was at `node`; `everywhere` also looks for it far away once it is lost."""
    begin, count = course.entry[scene, N_NODE], course.entry[scene, N_NODE_COUNT]
    closed = course.entry[scene, N_CLOSED]
    node = find_segment_near(course.node, begin, count, closed, node, x, y)
    if everywhere:
        distance, _ = measure_segment(course.node, begin, count, closed, node, x, y)
        if distance > LOST_DISTANCE * LOST_DISTANCE:
            other = find_segment(course.node, begin, count, closed, x, y)
            nearest, _ = measure_segment(course.node, begin, count, closed, other, x, y)
            if nearest < 0.5 * distance:
                node = other
    return node


@merged_kernel
def count_nodes(course, scene, old, new):
    """Return the signed number of nodes from `old` to `new`, the short way round."""
    passed = new - old
    if course.entry[scene, N_CLOSED] != 0:
        count = course.entry[scene, N_NODE_COUNT]
        if 2 * passed > count:
            passed -= count
        elif 2 * passed < -count:
            passed += count
    return passed


@inner_kernel
def observe_progress(state, car, course, terrain, scene):
    """Write a car's cte, `on_road` and progress from its position and node."""
    x, y = state.position[car, 0], state.position[car, 1]
    begin, count = course.entry[scene, N_NODE], course.entry[scene, N_NODE_COUNT]
    closed = course.entry[scene, N_CLOSED]
    node = int(state.node_index[car])
    following = node + 1 if node + 1 < count else 0
    distance, _ = measure_segment(course.node, begin, count, closed, node, x, y)
    px, py = course.node[begin + node, 0], course.node[begin + node, 1]
    dx, dy = course.node[begin + following, 0] - px, course.node[begin + following, 1] - py
    side = dx * (y - py) - dy * (x - px)
    state.cte[car] = math.sqrt(distance) if side >= 0.0 else -math.sqrt(distance)
    state.on_road[car] = terrain.drivable[find_surface(terrain, scene, x, y)]
    begin, count = course.entry[scene, N_SHORTEST], course.entry[scene, N_SHORTEST_COUNT]
    if count < 2:
        state.shortest_along[car] = 0.0
        return
    start = int(course.node_shortest[course.entry[scene, N_NODE] + node])
    segment = find_segment_near(course.shortest, begin, count, closed, start, x, y)
    _, share = measure_segment(course.shortest, begin, count, closed, segment, x, y)
    following = segment + 1 if segment + 1 < count else 0
    dx = course.shortest[begin + following, 0] - course.shortest[begin + segment, 0]
    dy = course.shortest[begin + following, 1] - course.shortest[begin + segment, 1]
    state.shortest_along[car] = course.shortest[begin + segment, 2] + share * math.sqrt(dx * dx + dy * dy)
