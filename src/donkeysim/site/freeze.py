"""A place made ready for pages: a simulator as it stands on the start line, with every call that moves it on.

Pages get its textures as the pictures of its model, a tenth of the bytes of their texels. A texture with holes has a
picture of its own without alpha: browsers spoil the colours of texels that are hardly seen. Its alpha travels beside
it, as it decides what is there and what is not.
"""

import dataclasses
import io
import json
import struct
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from donkeysim.core.index_loops import make_loop
from donkeysim.core.types import ByteArray, WordArray
from donkeysim.drivers.lap_time import find_axles, make_powertrain
from donkeysim.drivers.path_follower import PathFollower
from donkeysim.physics.kernels.world import step_one_world
from donkeysim.render.camera import VIEW_FAR
from donkeysim.render.camera_group import CameraGroup
from donkeysim.render.kernels.layout import LENS
from donkeysim.render.kernels.picture import render_cameras
from donkeysim.render.kernels.poses import place_cameras
from donkeysim.render.moment import Moment
from donkeysim.render.scratch import ScratchRoom
from donkeysim.render.tables import PictureTables, PoseTables
from donkeysim.render.texture import SKY_AXES
from donkeysim.sim.commands import Retire
from donkeysim.sim.simulator import STEPS_PER_FRAME, Simulator
from donkeysim.site.kernels.layers import convolve, multiply
from donkeysim.site.memory import Call, MemoryImage
from donkeysim.site.place_file import Header, Texture, write_place_file
from donkeysim.watch.gltf import encode_webp
from donkeysim.watch.moments import describe_seat
from donkeysim.watch.place_model import write_place
from donkeysim.world.scene import Scene
from donkeysim.world.specs import BodySpec, CameraSpec, SceneSpec, WorldSpec
from donkeysim.world.tracks.catalogue import share_scene

KERNELS: dict[str, Any] = {
    "step": make_loop(step_one_world),
    "place": place_cameras,
    "render": render_cameras,
    "convolve": convolve,
    "multiply": multiply,
}
"""What pages call, by name."""

CAMERA = CameraSpec()
"""What pilots look through."""

VIEW = CameraSpec(width=640, height=480, fov=np.pi / 3)
"""What people look through where no graphics chip draws."""

PAINT, GHOST_PAINT = (220, 40, 30), (150, 165, 180)

SMALL = 64 * 64
"""A texture of so few texels travels as it is: WebP would spoil more than it saves."""

SKY = "picture sky"
"""The section of a panorama: it is in the model, too, but comes before it."""

WHITE = 1
"""Textures of a renderer that come before those of its first scene: a white texel."""


class Frozen(NamedTuple):
    """A simulator of one car and its ghost, and what a page needs to move it on.

    Attributes:
        simulator: It stands at the start.
        tables: What its pictures are made of.
        moment: Where everything is that people see: another moment than that of the simulator.
        groups: The cameras, "pilot" and "view".
        image: The memory.
        calls: By name.
    """

    simulator: Simulator
    tables: PictureTables
    moment: PoseTables
    groups: dict[str, CameraGroup]
    image: MemoryImage
    calls: dict[str, Call]


def freeze_simulator(spec: SceneSpec, scene: Scene) -> Frozen:
    """Return a simulator at the start and its calls.

    Args:
        spec: Which place it is.
        scene: The place, see `pack_scene`.
    """
    simulator = Simulator(WorldSpec(scene=spec, cars_per_world=2), scene=scene)
    simulator.add_car(body=BodySpec(colour=PAINT))
    ghost = simulator.add_car(body=BodySpec(colour=GHOST_PAINT))
    simulator.apply(Retire([ghost]))
    return _add_calls(simulator)


def _add_calls(simulator: Simulator) -> Frozen:
    renderer, state = simulator.renderer, simulator.state
    # Classes are drawn for learning only, and squares of texels for grey pictures.
    tables = renderer.tables._replace(class_cell=np.zeros(1, np.uint8), quad=np.zeros(1, np.uint32))
    poses = PoseTables._make(getattr(state, name) for name in PoseTables._fields)
    moment = poses._replace(**{name: getattr(poses, name).copy() for name in poses._fields if "prop" not in name})
    groups = {"pilot": renderer.make_group([0], [CAMERA]), "view": renderer.make_group([0], [VIEW])}
    groups["view"].cameras.lens[0, LENS.far] = VIEW_FAR
    room, image, row = ScratchRoom(), MemoryImage(), np.zeros(1, np.int64)
    for group in groups.values():
        group.frame.colour.fill(0)  # what nobody has drawn yet would travel otherwise
        renderer.list_arguments(group, Moment(tables, poses), room)  # the memory is as large as the largest needs
    stepped = simulator.physics.list_arguments(state, simulator.control, STEPS_PER_FRAME)
    calls = {"step": image.add_call("step", (row, 1, 1, 0, stepped), row)}
    for name, shown in (("pilot", poses), ("view", moment)):
        rows = groups[name].cameras
        placed = (0, 1, shown.position, shown.orientation, rows.car, rows.mount, rows.eye, rows.axes)
        drawn = row, 1, *renderer.list_arguments(groups[name], Moment(tables, shown), room)
        calls[f"place {name}"] = image.add_call("place", placed)
        calls[f"render {name}"] = image.add_call("render", drawn, row)
    return Frozen(simulator, tables, moment, groups, image, calls)


def list_calls() -> dict[str, tuple[Any, ...]]:
    """Return arguments of all kernels, by name, their types the same in all places; no kernel is run for that."""
    simulator = Simulator(WorldSpec(scene=SceneSpec("generated_road"), cars_per_world=2))
    calls = {call.kernel: call.arguments for call in _add_calls(simulator).calls.values()}
    cube, table, row = (np.zeros((1,) * count, np.float32) for count in (3, 2, 1))
    calls["convolve"] = cube, np.zeros((1,) * 4, np.float32), row, 1, 1, cube
    calls["multiply"] = row, table, row, row
    return calls


def freeze(spec: SceneSpec, kernels: str) -> bytes:
    """Return the file of a place for pages.

    Args:
        kernels: The module that it is for, see `modules.name_module`.

    Raises:
        SceneError: There is no such place.
    """
    original = share_scene(spec)
    packed = pack_scene(original)
    frozen = freeze_simulator(spec, packed.scene)
    tables, image, car = frozen.tables, frozen.image, frozen.simulator.car_spec
    texel_at = image.find(tables.texel)
    textures = list_textures(packed, tables, texel_at)
    sections, model = {"memory": b""}, write_place(original, car)
    if original.light.sky_texture >= 0:
        sections[SKY] = encode_webp(original.textures[original.light.sky_texture])
    for index, file in packed.colours.items():
        alpha = np.concatenate(list_levels(tables, WHITE + index)) >> 24  # of all levels, from the largest on
        sections |= {f"picture {index}": file, f"alpha {index}": alpha.astype(np.uint8).tobytes()}
    for name in sorted({texture.picture for texture in textures} - list_model_pictures(model) - sections.keys()):
        sections[name] = encode_webp(original.textures[int(name.split()[1])])
    sections["model"] = model
    arrays, changing = _describe_arrays(frozen), _list_changing(frozen)
    travelling = {level for texture in textures for level in texture.levels}
    parts = [part for part in image.list_parts() if part[0] != texel_at]
    levels = [level for row in range(len(tables.size_log)) for level in list_levels(tables, row)]
    parts += [(image.find(level), level.tobytes()) for level in levels if image.find(level) not in travelling]
    sections["memory"] = b"".join(content for _, content in parts)
    plan = PathFollower(packed.scene, car, "steady").plan
    header = Header(
        name=original.name,
        kernels=kernels,
        size=image.size,
        parts=[(address, len(content)) for address, content in parts],
        textures=textures,
        calls={name: (call.kernel, call.block, call.next_row) for name, call in frozen.calls.items()},
        arrays=arrays,
        changing=changing,
        fields={"chase": VIEW.fov, "seat": CAMERA.fov},
        seat=describe_seat(CAMERA),
        car=_describe_car(frozen.simulator),
        line=np.column_stack([plan.point, plan.heading, plan.speed, plan.acceleration]).round(4).tolist(),
        is_closed=plan.closed,
    )
    return write_place_file(header, sections)


def _describe_arrays(frozen: Frozen) -> dict[str, dict[str, Any]]:
    """Return where everything is that pages read or write."""
    simulator, image = frozen.simulator, frozen.image
    named: dict[str, NDArray[Any]] = simulator.state._asdict() | simulator.control._asdict()
    named |= simulator.physics.book.derived._asdict()
    events = simulator.physics.events
    named |= {"events.noted": events.noted, "events.row": events.row}
    named |= {f"moment.{name}": array for name, array in frozen.moment._asdict().items()}
    for name, group in frozen.groups.items():
        rows = group.cameras
        named |= {f"{name}.eye": rows.eye, f"{name}.axes": rows.axes, f"{name}.lens": rows.lens}
        named[f"{name}.picture"] = group.frame.colour
    named["car_paint"] = frozen.tables.car_paint
    return {name: image.describe(array) for name, array in named.items() if array.size}


def _list_changing(frozen: Frozen) -> list[tuple[int, int]]:
    """Return address and length of all that time changes."""
    simulator, image = frozen.simulator, frozen.image
    changing = (*simulator.state, *simulator.control, *simulator.physics.book.derived, *simulator.physics.events)
    return sorted({(image.find(array), array.nbytes) for array in changing if array.size})


def _describe_car(simulator: Simulator) -> dict[str, Any]:
    """Return a car's body and what its driver should know, in m, kg, N and rad."""
    car, train = simulator.car_spec, make_powertrain(simulator.car_spec)
    front, rear = find_axles(car)
    return {
        "style": simulator.get_body(0).style,
        "colour": PAINT,
        "axles": (front, -rear),
        "steer_gain": car.steer_gain,
        "steer_limit": min(car.steer_gain, car.steer_limit),
        "mass": train.mass + train.spin_mass,
        "loss": train.loss,
        "force": train.force_most,
        "brake": train.brake_most,
        "curve": [list(row) for row in train.curve],
        "path_length": float(simulator.scene.path.frame.length),
        "picture": (CAMERA.width, CAMERA.height),
        "view": (VIEW.width, VIEW.height),
        "steps": STEPS_PER_FRAME,
    }


class PackedScene(NamedTuple):
    """A place with the textures that pages have.

    Attributes:
        colours: Pictures of textures with holes, by the textures' numbers.
    """

    scene: Scene
    colours: dict[int, bytes]


def pack_scene(scene: Scene) -> PackedScene:
    """Return a place with its textures as pages unpack them."""
    textures, colours = list(scene.textures), {}
    for index, texture in enumerate(textures):
        if texture.shape[0] * texture.shape[1] <= SMALL:
            continue
        alpha = texture[..., 3:]
        if alpha.min() == 255:
            textures[index] = _decode(encode_webp(texture))
        else:
            colours[index] = encode_webp(_fill_holes(texture))
            textures[index] = np.concatenate((_decode(colours[index])[..., :3], alpha), axis=2)
    return PackedScene(dataclasses.replace(scene, textures=tuple(textures)), colours)


def list_textures(packed: PackedScene, tables: PictureTables, texel_at: int) -> list[Texture]:
    """Return all textures of a place's tables that do not travel as they are.

    Args:
        tables: Of a renderer of that place only, whose cars wear no names.
        texel_at: Address of its texels.
    """
    scene, listed = packed.scene, []
    count, sky = len(scene.textures), scene.light.sky_texture
    for index, (wide, high, last) in enumerate(tables.size_log.tolist()[WHITE:]):
        face = index - count if sky >= 0 and count <= index < count + len(SKY_AXES) else None
        if (1 << wide + high) <= SMALL and face is None:
            continue
        source = index if face is None else sky
        levels = (texel_at + 4 * tables.level_base[WHITE + index, : last + 1].astype(np.int64)).tolist()
        holed = face is None and source in packed.colours
        picture = SKY if face is not None else f"picture {source}" if holed else f"texture {source}"
        listed.append(Texture(levels, 1 << wide, 1 << high, picture, f"alpha {source}" if holed else None, face))
    return listed


def list_levels(tables: PictureTables, row: int) -> list[WordArray]:
    """Return the texels of all mip levels of a texture, from the largest to the smallest, each of shape [count]."""
    wide, high, last = tables.size_log[row].tolist()
    sizes = [(1 << max(wide - level, 0)) * (1 << max(high - level, 0)) for level in range(last + 1)]
    return [tables.texel[base : base + size] for base, size in zip(tables.level_base[row], sizes, strict=False)]


def list_model_pictures(model: bytes) -> set[str]:
    """Return the names of the pictures in a GLB file."""
    (length,) = struct.unpack_from("<I", model, 12)
    return {image["name"] for image in json.loads(model[20 : 20 + length])["images"]}


def _fill_holes(texture: ByteArray) -> ByteArray:
    """Return a texture without alpha, its holes of the mean colour of what is around them."""
    filled, holes = texture.copy(), texture[..., 3] < 128
    if not holes.all():
        filled[holes, :3] = texture[~holes][:, :3].mean(axis=0)
    filled[..., 3] = 255
    return filled


def _decode(file: bytes) -> ByteArray:
    picture: ByteArray = np.array(Image.open(io.BytesIO(file)).convert("RGBA"))
    return picture
