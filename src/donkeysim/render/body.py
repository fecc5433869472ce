"""Bodies and wheels as they fit a car: all are drawn for the chassis of the preset `original`."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from donkeysim.core.types import FloatArray
from donkeysim.world.scene import Mesh, Scene
from donkeysim.world.specs import CarSpec, load_car

DRAWN_FOR = "original"
"""The preset whose wheels the meshes of bodies stand on."""


class Stance(NamedTuple):
    """How the wheels of a resting car stand, seen from its body.

    Attributes:
        centre: Amid the four wheels' centres, body frame [m], shape [3].
        size: Wheelbase, track width and radius of the wheels [m], shape [3].
    """

    centre: FloatArray
    size: FloatArray


def fit_models(scene: Scene, car: CarSpec) -> tuple[Mesh, ...]:
    """Return the models of a scene with bodies and wheels that fit a car; those of the others as they are.

    A body is made longer as the wheelbase is, wider as the track and higher as the wheels, so that wheels stay where
    its fenders are; a wheel is made larger all around.
    """
    drawn, worn = _measure_drawn(), measure_stance(car)
    factor = worn.size / drawn.size
    if np.allclose(worn.centre, drawn.centre, atol=1e-9) and np.allclose(worn.size, drawn.size, atol=1e-9):
        return scene.models
    models = list(scene.models)
    for body in {model.body for model in scene.car_models.values()}:
        models[body] = _move(models[body], (models[body].vertex - drawn.centre) * factor + worn.centre)
    for wheel in {model.wheel for model in scene.car_models.values()}:
        models[wheel] = _move(models[wheel], models[wheel].vertex * factor[2])
    return tuple(models)


def measure_stance(car: CarSpec) -> Stance:
    """Return how a car stands on its wheels when it rests on level ground."""
    wheel = np.array(car.wheel_position)
    wheel[:, 2] -= car.suspension_target * car.suspension_travel
    front, rear = wheel[:2].mean(axis=0), wheel[2:].mean(axis=0)
    track = np.abs(wheel[[0, 2], 1] - wheel[[1, 3], 1]).mean()
    return Stance(0.5 * (front + rear), np.array((front[0] - rear[0], track, car.wheel_radius)))


@lru_cache(maxsize=1)
def _measure_drawn() -> Stance:
    return measure_stance(load_car(DRAWN_FOR))


def _move(mesh: Mesh, vertex: FloatArray) -> Mesh:
    return replace(mesh, vertex=vertex.astype(np.float32))
