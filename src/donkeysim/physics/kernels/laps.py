"""The rule of a lap, the only one: servers, environments, races and evaluations all count by it.

A lap begins where a car crosses start line 0 in driving direction, first after a reset. It ends, and the next begins,
at the next such crossing, if by then

* the car has passed all checkpoints of the scene, in their order and in driving direction, and
* it has made at least half of the path's nodes since, those driven backwards taken off.

An open path ends at its finish; there the one lap is over and no other begins. Further start lines are for whoever
wants to time parts of a lap, once in each lap; they count nothing. The moment of a crossing lies within a step, where
the straight line from one place of the car's origin to the next meets the gate.
"""

from donkeysim.core.kernel import inner_kernel
from donkeysim.physics.kernels.layout import (
    EVENT_RESERVE,
    N_CHECKPOINT_COUNT,
    N_CLOSED,
    N_GATE,
    N_GATE_COUNT,
    N_LINE_COUNT,
    N_NODE_COUNT,
)
from donkeysim.world.ledger import EVENT_CHECKPOINT, EVENT_CROSSING, EVENT_HIT, EVENT_LAP, EVENT_MISSED_CHECKPOINT


@inner_kernel
def note_event(events, world, car, time, kind, value):
    """Note what happened to a car, if there is room left."""
    place = events.noted[world]
    room = events.row.shape[1]
    if kind == EVENT_HIT:
        room -= EVENT_RESERVE
    if place < room:
        row = events.row[world, place]
        row[0], row[1], row[2], row[3] = time, car, kind, value
        events.noted[world] = place + 1


@inner_kernel(merged=True)
def cross_gate(course, gate, old_x, old_y, x, y):
    """Return at which share of a move it crossed a gate in driving direction, -1.0 if it did not."""
    left_x, left_y = course.gate[gate, 0], course.gate[gate, 1]
    ex, ey = course.gate[gate, 2] - left_x, course.gate[gate, 3] - left_y
    # Left to right turned to the left by a quarter is the driving direction.
    after = (y - left_y) * ex - (x - left_x) * ey
    share = -1.0
    if after >= 0.0:
        before = (old_y - left_y) * ex - (old_x - left_x) * ey
        if before < 0.0:
            part = before / (before - after)
            cx, cy = old_x + part * (x - old_x) - left_x, old_y + part * (y - old_y) - left_y
            across = cx * ex + cy * ey
            if across >= 0.0 and across <= ex * ex + ey * ey:
                share = part
    return share


@inner_kernel
def begin_lap(state, car, time):
    """Let a car's next lap begin."""
    state.lap[car] += 1
    state.lap_begun[car] = time
    state.lap_nodes[car] = 0
    state.checkpoint[car] = 0
    state.lines_passed[car] = 0


@inner_kernel
def reach_line(state, car, course, scene, world, time, events):
    """Let a car that crosses the start line (or an open path's finish) finish its lap, if it has driven all of it."""
    if state.lap_begun[car] >= 0.0:
        if 2 * state.lap_nodes[car] < course.entry[scene, N_NODE_COUNT]:
            return
        if state.checkpoint[car] < course.entry[scene, N_CHECKPOINT_COUNT]:
            note_event(events, world, car, time, EVENT_MISSED_CHECKPOINT, state.checkpoint[car])
            return
        state.lap_time[car] = time - state.lap_begun[car]
        note_event(events, world, car, time, EVENT_LAP, state.lap_time[car])
    begin_lap(state, car, time)


@inner_kernel
def pass_gate(state, car, course, scene, world, gate, time, events):
    """Judge a car that drives through a gate of its scene in driving direction; gates as `ScenePaths.gate` has them."""
    line_count, checkpoint_count = course.entry[scene, N_LINE_COUNT], course.entry[scene, N_CHECKPOINT_COUNT]
    is_closed, checkpoint = course.entry[scene, N_CLOSED] != 0, gate - line_count
    if 0 < gate < line_count:
        if state.lines_passed[car] & (1 << gate) == 0:
            state.lines_passed[car] |= 1 << gate
            note_event(events, world, car, time, EVENT_CROSSING, gate)
    elif 0 <= checkpoint < checkpoint_count:
        if state.lap_begun[car] >= 0.0 and checkpoint == state.checkpoint[car]:
            state.checkpoint[car] += 1
            note_event(events, world, car, time, EVENT_CHECKPOINT, checkpoint)
    elif gate == 0 and (is_closed or state.lap[car] == 0):
        lap = state.lap[car]
        reach_line(state, car, course, scene, world, time, events)
        if state.lap[car] > lap:
            note_event(events, world, car, time, EVENT_CROSSING, 0)
    elif gate > 0 and state.lap[car] == 1:
        reach_line(state, car, course, scene, world, time, events)


@inner_kernel(merged=True)
def follow_lap(state, car, course, scene, world, old_x, old_y, x, y, step, dt, events):
    """Judge one step of a car, after which the world's clock shows `step`."""
    first = course.entry[scene, N_GATE]
    # Only the test for gates is taken into the loop over steps: a call hands on all arrays of the state.
    for gate in range(course.entry[scene, N_GATE_COUNT]):
        share = cross_gate(course, first + gate, old_x, old_y, x, y)
        if share >= 0.0:
            pass_gate(state, car, course, scene, world, gate, (step - 1 + share) * dt, events)
