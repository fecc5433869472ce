"""Where a car is on its path: node, distance, surface, length along the shortest line; and the original's active node.

The original measures cte on the endless line through its active node and the next one, and then advances by one node if
that is the nearer one: a fast car, one driving backwards and one that was put elsewhere leave the active node behind,
and their cte grows. Its clients get these figures; everything of ours goes by the node that is really there.
"""

import math

from donkeysim.core.kernel import inner_kernel
from donkeysim.core.types import PHYSICS_RATE
from donkeysim.physics.kernels.ground import find_surface
from donkeysim.physics.kernels.layout import N_CLOSED, N_NODE, N_NODE_COUNT, N_SHORTEST, N_SHORTEST_COUNT
from donkeysim.world.state import NODE_UNKNOWN

# 16 m at 0.25 m a node: a car that has gone farther since the last search was put elsewhere.
SEARCH_LIMIT = 64
"""Segments that one local search passes at most."""
ACTIVE_STEPS = PHYSICS_RATE // 20
"""Physics steps in which the active node advances by one at most; counted on the world's clock: frames may differ."""
STRAY_LENGTH = 0.2
"""Length [m] over which a search continues although it comes no nearer: recorded paths step back in places."""
# Nearer than that most roads' edges lie: a car on the road is never lost, and who is farther pays for the long search
# now and then only.
LOST_DISTANCE = 1.5
"""Distance from the path [m] beyond which the whole path is searched now and then."""


@inner_kernel
def measure_segment(points, begin, count, closed, segment, x, y):
    """Return (squared distance [m²], share of the segment's length) of the nearest point of one segment.

    The first and the last segment of an open line continue for ever.
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
def measure_length(points, begin, count, segment):
    """Return the length of a segment [m]."""
    following = segment + 1 if segment + 1 < count else 0
    dx = points[begin + following, 0] - points[begin + segment, 0]
    return math.hypot(dx, points[begin + following, 1] - points[begin + segment, 1])


@inner_kernel
def find_segment_near(points, begin, count, closed, segment, x, y):
    """Return the nearest segment reached by descending from `segment` along the line."""
    last = count if closed != 0 else count - 1
    best, _ = measure_segment(points, begin, count, closed, segment, x, y)
    for direction in (1, -1):
        candidate, passed = segment, 0.0
        for _ in range(SEARCH_LIMIT):
            candidate += direction
            if closed != 0:
                candidate = (
                    candidate - last if candidate >= last else (candidate + last if candidate < 0 else candidate)
                )
            elif candidate < 0 or candidate >= last:
                break
            distance, _ = measure_segment(points, begin, count, closed, candidate, x, y)
            if distance < best:
                best, segment, passed = distance, candidate, 0.0
            else:
                passed += measure_length(points, begin, count, candidate)
                if passed > STRAY_LENGTH:
                    break
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


@inner_kernel(merged=True)
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
def find_nearest_node(course, scene, x, y, z):
    """Return the node nearest to a point, of equals the first."""
    begin = course.entry[scene, N_NODE]
    best, nearest = math.inf, 0
    for node in range(course.entry[scene, N_NODE_COUNT]):
        dx, dy = course.node[begin + node, 0] - x, course.node[begin + node, 1] - y
        dz = course.node[begin + node, 2] - z
        distance = dx * dx + dy * dy + dz * dz
        if distance < best:
            best, nearest = distance, node
    return nearest


@inner_kernel
def measure_active(course, scene, node, x, y):
    """Return the distance from the endless line through a node and the next one, + = left, and if the next is nearer.

    The point counts as being as high as the node.
    """
    begin, count = course.entry[scene, N_NODE], course.entry[scene, N_NODE_COUNT]
    following = node + 1 if node + 1 < count else 0
    px, py = x - course.node[begin + node, 0], y - course.node[begin + node, 1]
    dx = course.node[begin + following, 0] - course.node[begin + node, 0]
    dy = course.node[begin + following, 1] - course.node[begin + node, 1]
    dz = course.node[begin + following, 2] - course.node[begin + node, 2]
    share = (px * dx + py * dy) / max(dx * dx + dy * dy + dz * dz, 1e-18)
    ex, ey, ez = px - share * dx, py - share * dy, share * dz
    distance = math.sqrt(ex * ex + ey * ey + ez * ez)
    ax, ay = px - dx, py - dy
    is_past = ax * ax + ay * ay + dz * dz < px * px + py * py
    return distance if dx * py - dy * px >= 0.0 else -distance, is_past


@inner_kernel
def follow_active(state, car, course, scene, clock, step_count):
    """Write a car's active node and cte after a frame that ended at `clock`; step_count 0: it was put somewhere."""
    x, y = state.position[car, 0], state.position[car, 1]
    node = int(state.active_node[car])
    if node == NODE_UNKNOWN:
        node = find_nearest_node(course, scene, x, y, state.position[car, 2])
    offset, is_past = measure_active(course, scene, node, x, y)
    for _ in range(clock // ACTIVE_STEPS - (clock - step_count) // ACTIVE_STEPS):
        offset, is_past = measure_active(course, scene, node, x, y)
        if not is_past:
            break
        node = node + 1 if node + 1 < course.entry[scene, N_NODE_COUNT] else 0
    state.active_node[car], state.active_offset[car] = node, offset


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
