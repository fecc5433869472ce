"""Small scenes for the renderer's tests."""

import numpy as np

from donkeysim.world.scene import (
    CLASS_CAR,
    CLASS_GROUND,
    CLASS_PROP,
    SHADE_PAINT,
    SHADE_TEXTURE,
    CarModel,
    Colliders,
    Ground,
    Light,
    Material,
    Mesh,
    Path,
    Props,
    Scene,
    StartGrid,
)
from donkeysim.world.specs import BODY_STYLES

BOX_FACES = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))


def make_box(low, high, material):
    corners = np.array([[x, y, z] for z in (low[2], high[2]) for y in (low[1], high[1]) for x in (low[0], high[0])])
    vertex, uv, triangle = [], [], []
    for face in BOX_FACES:
        base = len(vertex)
        vertex += [corners[index] for index in face]
        uv += [(0, 0), (0, 1), (1, 1), (1, 0)]
        triangle += [(base, base + 1, base + 2), (base, base + 2, base + 3)]
    return make_mesh(vertex, uv, triangle, [material] * 12)


def make_mesh(vertex, uv, triangle, material):
    return Mesh(
        vertex=np.array(vertex, np.float32).reshape(-1, 3),
        uv=np.array(uv, np.float32).reshape(-1, 2),
        triangle=np.array(triangle, np.int32).reshape(-1, 3),
        material=np.array(material, np.int32),
    )


def join_meshes(meshes):
    base, triangle = 0, []
    for mesh in meshes:
        triangle.append(mesh.triangle + base)
        base += len(mesh.vertex)
    return Mesh(
        vertex=np.concatenate([mesh.vertex for mesh in meshes]),
        uv=np.concatenate([mesh.uv for mesh in meshes]),
        triangle=np.concatenate(triangle).astype(np.int32),
        material=np.concatenate([mesh.material for mesh in meshes]),
    )


def make_ground(size, cells, repeat, material):
    step = np.linspace(-size, size, cells + 1)
    x, y = np.meshgrid(step, step)
    vertex = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    uv = np.stack([x.ravel(), -y.ravel()], axis=1) * repeat
    triangle = []
    for row in range(cells):
        for column in range(cells):
            a = row * (cells + 1) + column
            triangle += [(a, a + 1, a + cells + 2), (a, a + cells + 2, a + cells + 1)]
    return make_mesh(vertex, uv, triangle, [material] * len(triangle))


def make_checker(size, first, second, fields=8):
    row, column = np.indices((size, size)) * fields // size
    picture = np.full((size, size, 4), 255, np.uint8)
    picture[..., :3] = np.where(((row + column) % 2 == 0)[..., None], np.uint8(first), np.uint8(second))
    return picture


def make_panorama(width=256):
    row = np.linspace(0.0, 1.0, width // 2)[:, None, None]
    picture = np.full((width // 2, width, 4), 255, np.uint8)
    picture[..., :3] = np.array([70, 120, 200]) * (1 - row) + np.array([190, 210, 230]) * row
    return picture


def make_wheel(radius, half_width, material, segments=12):
    angle = np.arange(segments) * 2 * np.pi / segments
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    vertex = [(x, -half_width, z) for x, z in ring] + [(x, half_width, z) for x, z in ring]
    vertex += [(0, -half_width, 0), (0, half_width, 0)]
    triangle = []
    for index in range(segments):
        after = (index + 1) % segments
        triangle += [(index, segments + index, segments + after), (index, segments + after, after)]
        triangle += [(2 * segments, index, after), (2 * segments + 1, segments + after, segments + index)]
    return make_mesh(vertex, np.zeros((len(vertex), 2)), triangle, [material] * len(triangle))


def make_cone(radius, height, material, segments=10):
    angle = np.arange(segments) * 2 * np.pi / segments
    vertex = [(radius * np.cos(a), radius * np.sin(a), 0) for a in angle] + [(0, 0, height)]
    triangle = [(index, (index + 1) % segments, segments) for index in range(segments)]
    return make_mesh(vertex, np.zeros((len(vertex), 2)), triangle, [material] * len(triangle))


def make_scene(
    static=None, *, fog=0.02, sky=True, props=((1.5, 0.3), (2.5, -0.4)), textures=None, sun=(0.4, 0.3, 0.866)
):
    materials = (
        Material(SHADE_TEXTURE, (1.0, 1.0, 1.0), 0, CLASS_GROUND),
        Material(SHADE_TEXTURE, (1.0, 1.0, 1.0), 1, CLASS_PROP),
        Material(SHADE_PAINT, (1.0, 1.0, 1.0), 0, CLASS_CAR),
        Material(0, (0.15, 0.15, 0.17), 0, CLASS_CAR),
        Material(0, (0.95, 0.4, 0.05), 0, CLASS_PROP),
    )
    if textures is None:
        textures = (
            make_checker(256, (110, 150, 90), (90, 120, 70)),
            make_checker(64, (200, 80, 60), (230, 220, 200)),
            make_panorama(),
        )
    if static is None:
        static = join_meshes(
            [
                make_ground(20.0, 20, 1.0, 0),
                make_box((3, 0.5, 0), (3.5, 1.0, 0.6), 1),
                make_box((4, -1.5, 0), (4.2, 0, 1), 1),
            ]
        )
    count = len(props)
    models = (
        make_box((-0.12, -0.07, -0.02), (0.12, 0.07, 0.06), 2),
        make_wheel(0.04, 0.02, 3),
        make_cone(0.05, 0.15, 4),
    )
    return Scene(
        name="small",
        path=Path(np.zeros((1, 3)), np.ones(1), np.ones(1), False, np.zeros((1, 2)), np.zeros((1, 2))),
        ground=Ground(
            (0, 0), 1.0, np.zeros((1, 1)), (0, 0), 1.0, np.zeros((1, 1), np.uint8), np.ones(1), np.ones(1, np.uint8)
        ),
        colliders=Colliders(
            np.zeros(0, np.uint8), np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), np.zeros(0), np.zeros(0, np.int32)
        ),
        props=Props(
            position=np.array([(*place, 0.0) for place in props]).reshape(-1, 3),
            yaw=np.zeros(count),
            mass=np.ones(count),
            radius_base=np.full(count, 0.05),
            radius_top=np.full(count, 0.01),
            height=np.full(count, 0.15),
            centre_of_mass=np.full(count, 0.05),
            friction=np.ones(count),
            model=np.full(count, 2, np.int32),
            name=np.zeros(count, np.int32),
        ),
        start=StartGrid(np.zeros((1, 3)), np.zeros(1), np.zeros((0, 2, 2))),
        light=Light(sun, (0.7, 0.68, 0.6), (0.4, 0.42, 0.45), (0.75, 0.82, 0.9), fog, 1.5 * fog, 2 if sky else -1),
        static=static,
        models=models,
        car_models={style: CarModel(0, 1) for style in BODY_STYLES},
        materials=materials,
        textures=textures,
        hit_names=("terrain",),
        labels=("terrain",),
    )
