"""One world's work, without a loop over worlds: what every device has to do for it."""

import numpy as np
import pytest
from tests.backends import interpret, on_every_back_end
from tests.scenes import Bench, make_colliders, make_props, make_room, make_scene, make_slope

from donkeysim.core.device import Cpu
from donkeysim.core.workers import Workers
from donkeysim.physics.contact import make_obstacles, make_prop_table, make_scratch
from donkeysim.physics.engine import make_terrain
from donkeysim.physics.kernels import contact, exchange, layout
from donkeysim.physics.kernels.world import step_one_world
from donkeysim.physics.progress import make_course
from donkeysim.physics.vehicle import make_orders
from donkeysim.world.state import HIT_NONE, make_control, make_state

WALL = (0, (0.5, 0.0, 0.25), (0.1, 2.0, 0.25), 0.1, 0.5, 1)
STEPS = 36
POST = (1, (0.21, 0.2, 0.25), (0.03, 0.03, 0.25), 0.0, 0.5, 1)


def make_crowd(ground=None):
    """Two cars that touch each other, a wall, a post, and a cone that leans on another."""
    props = make_props((0.2, 0.0, 0.0), (0.28, 0.03, 0.0), mass=0.2)
    bench = Bench(make_scene(ground, colliders=make_colliders(WALL, POST), props=props), cars_per_world=2)
    for car, (y, speed) in enumerate(((0.0, 2.0), (0.2, 3.0))):
        bench.place(car, 0.02, y, yaw=-0.5 * car, velocity=speed, z=0.09)
    bench.control.steer[:], bench.control.throttle[:] = (0.3, -0.8), (0.4, 1.0)
    return bench


def step(build, bench, step_count):
    """Advance the one world of a bench."""
    scenes = [bench.scene]
    tables = (make_terrain(scenes), make_course(scenes), make_obstacles(scenes), make_prop_table(scenes))
    slots, props = len(bench.control.steer), len(bench.scene.props.mass)
    scratch, param = make_scratch(slots, props, Cpu(Workers(1)), 1), bench.engine.car_params.packed
    build(step_one_world)(
        0, 0, step_count, 1.0 / 480.0, np.zeros(1, np.int32), slots, props, bench.state, bench.control, param,
        make_orders(slots, 1), tables, scratch, bench.engine.events, bench.engine.book,
    )  # fmt: skip


@pytest.mark.parametrize("ground", [None, make_slope(0.1)], ids=["level", "slope"])
def test_without_a_compiler_a_world_ends_with_the_engine_s_bytes(ground):
    engine, plain = make_crowd(ground), make_crowd(ground)
    engine.drive(STEPS / 480)
    step(interpret, plain, STEPS)
    assert HIT_NONE not in engine.state.hit
    assert (engine.state.prop_velocity != 0.0).any(axis=1).all()
    pairs = zip(engine.state._fields, engine.state, plain.state, strict=True)
    assert [name for name, ours, theirs in pairs if ours.tobytes() != theirs.tobytes()] == []


@on_every_back_end
def test_a_car_survives_the_way_into_a_row_and_back(build):
    state, control, param = make_state(1, 1, 0), make_control(1), Bench().engine.car_params.packed
    random = np.random.default_rng(8)
    for array in state:
        if array.dtype == np.float64:
            array[:] = random.normal(size=array.shape)
    state.orientation[0] /= np.linalg.norm(state.orientation[0])
    before = {name: array.copy() for name, array in state._asdict().items()}
    body = make_room(1, 0).body
    build(exchange.load_car)(body, 0, state, control, 0, param)
    build(exchange.store_car)(body, 0, state, 0, 1.0 / 480.0)
    for name, array in state._asdict().items():
        if name not in ("steer_angle", "acceleration_body"):
            assert array == pytest.approx(before[name], rel=1e-14, abs=1e-14), name


@on_every_back_end
@pytest.mark.parametrize(("asked", "done"), [(0.5, 0.5), (7.0, 1.0), (-7.0, -1.0), (np.nan, 0.0), (np.inf, 1.0)])
def test_a_request_is_kept_within_its_limits(build, asked, done):
    assert build(exchange.limit_request)(asked, -1.0, 1.0) == done


@on_every_back_end
def test_a_prop_that_is_nowhere_stays_where_it_was_and_sleeps(build):
    state, body = make_state(1, 1, 1), make_room(1, 1).body
    state.prop_position[0], state.prop_asleep[0] = (1.0, 2.0, 3.0), 0
    body[1, layout.VELOCITY] = np.nan
    build(exchange.store_prop)(body, 1, state, 0)
    assert state.prop_position[0].tolist() == [1.0, 2.0, 3.0]
    assert state.prop_asleep[0] == 1


@on_every_back_end
def test_the_list_of_colliders_is_sorted_holds_each_once_and_counts_what_finds_no_room(build):
    pair, missed, count = np.full((4, 3), -1), np.zeros(1, np.int64), 1
    for collider in (7, 3, 7, 5, 9, 3):
        count = build(contact.insert_pair)(pair, missed, 1, count, contact.CAR_COLLIDER, 2, collider)
    assert (count, missed[0]) == (4, 1)
    assert pair[0].tolist() == [-1, -1, -1]
    assert pair[1:].tolist() == [[contact.CAR_COLLIDER, 2, collider] for collider in (3, 5, 7)]


@on_every_back_end
def test_a_touch_begins_with_pressure_and_lasts_while_the_gap_is_small(build):
    scratch, present = make_room(1, 0), np.ones(1, np.uint8)
    state = make_state(1, 1, 0)
    scratch.link[0] = (0, -1, 4, -1)
    seen = []
    for depth in (-0.0005, 0.0001, -0.0005, -0.01, -0.0005):
        state.hit[0] = HIT_NONE
        scratch.contact[0, layout.C_DEPTH] = depth
        build(contact.note_touches)(scratch, 1, present, 0, 1, state.touching, state.hit)
        seen.append((int(state.touching[0, 0]), int(state.hit[0])))
    assert seen == [(HIT_NONE, HIT_NONE), (4, 4), (4, HIT_NONE), (HIT_NONE, HIT_NONE), (HIT_NONE, HIT_NONE)]
