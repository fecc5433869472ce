"""A slow, plain renderer to compare with: rays through an 8x8 grid in each pixel, every mesh straight from the `Scene`.

It shares with the fast renderer what a surface looks like (light factor, fog, contact shadow); what is seen and how
textures are sampled is its own: rays of Open3D, textures read bilinearly at the mip level of a sample's own footprint.
"""

import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from tests.render.ray_judge import find_open3d

from donkeysim.render.kernels.shadow import compute_darkness
from donkeysim.world.scene import CLASS_GROUND, SHADE_CUTOUT, SHADE_PAINT, SHADE_TEXTURE, SHADE_TWO_SIDED, SHADE_UNLIT

GRID = 8

NEAR = 0.3 / 8.0
"""Near plane [m]."""


def rotate(quaternion):
    """Return the rotation matrix of (w, x, y, z)."""
    w, x, y, z = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def turn(roll, pitch, yaw):
    """Return the matrix of roll about x, then pitch about y, then yaw about z."""
    cr, sr, cp, sp, cy, sy = (f(a) for a in (roll, pitch, yaw) for f in (math.cos, math.sin))
    about_x = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    about_y = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    about_z = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    return about_z @ about_y @ about_x


@dataclass
class Soup:
    """All triangles of a moment, world frame, as one soup.

    Attributes:
        corner: [m], shape [triangle_count, 3, 3].
        uv: Texture coordinates, shape [triangle_count, 3, 2].
        material: Shape [triangle_count].
        paint: sRGB 0 to 1, shape [triangle_count, 3].
        moves: Whether the triangle belongs to a car or a prop, shape [triangle_count].
    """

    corner: np.ndarray
    uv: np.ndarray
    material: np.ndarray
    paint: np.ndarray
    moves: np.ndarray

    def select(self, kept):
        """Return some of the triangles."""
        return Soup(self.corner[kept], self.uv[kept], self.material[kept], self.paint[kept], self.moves[kept])


def place_meshes(simulator):
    """Return every triangle that is there: what never moves, props, bodies and wheels of all cars."""
    scene, state, spec = simulator.scene, simulator.state, simulator.car_spec
    parts = [(scene.static, np.eye(3), np.zeros(3), (1.0, 1.0, 1.0), False)]
    for prop, model in enumerate(scene.props.model):
        turned = rotate(state.prop_orientation[prop])
        parts.append((scene.models[model], turned, state.prop_position[prop], (1.0, 1.0, 1.0), True))
    for car in simulator.list_cars():
        body = simulator.get_body(car)
        model = scene.car_models[body.style]
        paint = tuple(channel / 255.0 for channel in body.colour)
        turned, at = rotate(state.orientation[car]), state.position[car]
        parts.append((scene.models[model.body], turned, at, paint, True))
        for wheel, anchor in enumerate(spec.wheel_position):
            steer = state.steer_angle[car] if spec.wheel_steered[wheel] else 0.0
            down = (anchor[0], anchor[1], anchor[2] - state.wheel_extension[car, wheel])
            spin = turned @ turn(0.0, 0.0, steer) @ turn(0.0, state.wheel_angle[car, wheel], 0.0)
            parts.append((scene.models[model.wheel], spin, at + turned @ down, paint, True))
    corner, uv, material, paint, moves = [], [], [], [], []
    for mesh, turned, at, colour, is_moving in parts:
        vertex = mesh.vertex.astype(float) @ turned.T + at
        corner.append(vertex[mesh.triangle])
        uv.append(mesh.uv.astype(float)[mesh.triangle])
        material.append(mesh.material)
        paint.append(np.tile(colour, (len(mesh.triangle), 1)))
        moves.append(np.full(len(mesh.triangle), is_moving))
    return Soup(*(np.concatenate(rows) for rows in (corner, uv, material, paint, moves)))


@dataclass
class View:
    """A pinhole camera: where it is, where it looks (columns: forward, left, up), and its size."""

    eye: np.ndarray
    axes: np.ndarray
    width: int
    height: int
    fov: float
    lens: object = None

    @classmethod
    def of_car(cls, simulator, car, camera):
        """Return the camera of a car."""
        turned = rotate(simulator.state.orientation[car])
        eye = simulator.state.position[car] + turned @ camera.position
        return cls(eye, turned @ turn(*camera.rotation), camera.width, camera.height, camera.fov, camera.lens)

    def make_rays(self, grid):
        """Return ray directions of grid x grid samples per pixel, distance along the optical axis 1.

        Shape [height * grid, width * grid, 3]. Those of a lens are OpenCV's.
        """
        forward, left, up = self.axes.T
        if self.lens is not None:
            x, y = self._unbend(grid)
            return forward - x[..., None] * left - y[..., None] * up
        focal = 0.5 * self.height / math.tan(0.5 * self.fov)
        x = ((np.arange(self.width * grid) + 0.5) / grid - 0.5 * self.width) / focal
        y = ((np.arange(self.height * grid) + 0.5) / grid - 0.5 * self.height) / focal
        return forward - x[None, :, None] * left - y[:, None, None] * up

    def _unbend(self, grid):
        """Return the rays x, y of all samples through the lens, whose pictures have this one's shape."""
        import cv2

        lens, scale = self.lens, self.height / self.lens.size[1]
        (fx, fy), (cx, cy) = lens.focal, lens.centre
        places = (np.indices((self.height * grid, self.width * grid))[::-1] + 0.5) / grid / scale - 0.5
        places = np.moveaxis(places, 0, -1).reshape(-1, 1, 2)
        matrix, coefficients = np.array([[fx, 0.0, cx], [0.0, fy, cy], [0.0, 0.0, 1.0]]), np.array(lens.coefficients)
        if lens.model == "equidistant":
            rays = cv2.fisheye.undistortPoints(places, matrix, coefficients)
        else:
            end = (cv2.TERM_CRITERIA_COUNT | cv2.TERM_CRITERIA_EPS, 200, 1e-12)
            rays = cv2.undistortPoints(places, matrix, coefficients, criteria=end)
        return np.moveaxis(rays.reshape(self.height * grid, self.width * grid, 2), -1, 0)


def cast(soup, view, grid, holes=None):
    """Return (distance along the optical axis, triangle or -1, rays) of every sample; back faces let rays through.

    Args:
        soup: Triangles.
        view: Camera.
        grid: Samples per pixel and axis.
        holes: Tells for triangles and uv [n, 2] there whether rays go on; None: none do.
    """
    open3d = find_open3d()
    rays = view.make_rays(grid)
    scene = open3d.t.geometry.RaycastingScene()
    vertex = soup.corner.reshape(-1, 3).astype(np.float32)
    scene.add_triangles(vertex, np.arange(len(vertex), dtype=np.uint32).reshape(-1, 3))
    packed = np.concatenate([view.eye + NEAR * rays, rays], axis=2).astype(np.float32)
    hit = scene.cast_rays(open3d.core.Tensor(packed), nthreads=1)
    triangle = hit["primitive_ids"].numpy().astype(np.int64)
    distance = hit["t_hit"].numpy().astype(float) + NEAR
    triangle[~np.isfinite(distance)] = -1
    if holes is not None:
        inner = hit["primitive_uvs"].numpy().astype(float)
        _go_through_holes(scene, soup, view, holes, rays, distance, triangle, inner)
    return distance, triangle, rays


def _go_through_holes(scene, soup, view, holes, rays, distance, triangle, inner):
    """Send samples that met a hole on until they meet something, in place."""
    open3d = find_open3d()
    going = np.flatnonzero(triangle.ravel() >= 0)
    flat, far, which, within = rays.reshape(-1, 3), distance.reshape(-1), triangle.reshape(-1), inner.reshape(-1, 2)
    for _ in range(200):
        uv = soup.uv[which[going]]
        place = uv[:, 0] + within[going, :1] * (uv[:, 1] - uv[:, 0]) + within[going, 1:] * (uv[:, 2] - uv[:, 0])
        going = going[holes(which[going], place)]
        if not len(going):
            return
        start = far[going] * (1.0 + 1e-6) + 1e-5
        packed = np.concatenate([view.eye + start[:, None] * flat[going], flat[going]], axis=1).astype(np.float32)
        hit = scene.cast_rays(open3d.core.Tensor(packed), nthreads=1)
        far[going] = start + hit["t_hit"].numpy()
        which[going] = np.where(np.isfinite(far[going]), hit["primitive_ids"].numpy().astype(np.int64), -1)
        within[going] = hit["primitive_uvs"].numpy()
        going = going[which[going] >= 0]
    raise AssertionError("a ray met 200 holes")


def keep_facing(soup, view, materials):
    """Return the triangles that face the eye or have two sides."""
    normal = np.cross(soup.corner[:, 1] - soup.corner[:, 0], soup.corner[:, 2] - soup.corner[:, 0])
    side = np.einsum("ij,ij->i", normal, view.eye - soup.corner[:, 0])
    two_sided = np.array([bool(material.flags & SHADE_TWO_SIDED) for material in materials])
    kept = (side > 0) | (two_sided[soup.material] & (side != 0))
    return soup.select(kept)


class Reference:
    """Renders a simulator's scene slowly.

    Args:
        simulator: Whose scene and state.
    """

    def __init__(self, simulator):
        self.simulator = simulator
        self.scene = simulator.scene
        self._pyramids = {}

    def render(self, car, camera, grid=GRID):
        """Return (picture [height, width, 3], share of static samples per pixel [height, width])."""
        view = View.of_car(self.simulator, car, camera)
        soup = keep_facing(place_meshes(self.simulator), view, self.scene.materials)
        holed = any(self.scene.materials[index].flags & SHADE_CUTOUT for index in np.unique(soup.material))
        holes = (lambda triangle, uv: self._is_hole(soup.material[triangle], uv)) if holed else None
        distance, triangle, rays = cast(soup, view, grid, holes)
        colour = np.empty((*distance.shape, 3))
        sky = triangle < 0
        colour[sky] = self._shade_sky(rays[sky], math.tan(camera.fov / 2) * 2 / camera.height / grid)
        solid = ~sky
        colour[solid] = self._shade_soup(soup, view, triangle[solid], distance[solid], rays[solid], grid)
        moves = np.zeros(distance.shape, bool)
        moves[solid] = soup.moves[triangle[solid]]
        shape = (camera.height, grid, camera.width, grid)
        static = 1.0 - moves.reshape(shape).mean((1, 3))
        return colour.reshape(*shape, 3).mean((1, 3)), static

    def _is_hole(self, material, uv):
        """Return whether the texel at uv of each material is a hole, by the texture's first level."""
        result = np.zeros(len(material), bool)
        for index in np.unique(material):
            if self.scene.materials[index].flags & SHADE_CUTOUT:
                rows = np.flatnonzero(material == index)
                alpha = self.scene.textures[self.scene.materials[index].texture][..., 3]
                high, wide = alpha.shape
                at = np.floor(uv[rows] * (wide, high)).astype(int)
                result[rows] = alpha[at[:, 1] % high, at[:, 0] % wide] < 128
        return result

    def _shade_soup(self, soup, view, triangle, distance, rays, grid):
        light = self.scene.light
        point = view.eye + distance[:, None] * rays
        edge1, edge2 = soup.corner[:, 1] - soup.corner[:, 0], soup.corner[:, 2] - soup.corner[:, 0]
        normal = np.cross(edge1, edge2)
        area = np.einsum("ij,ij->i", normal, normal)
        # Rows that give the two barycentric weights of a point, and from them the change of uv per metre.
        weight1 = np.cross(edge2, normal) / area[:, None]
        weight2 = np.cross(normal, edge1) / area[:, None]
        duv = soup.uv[:, 1:] - soup.uv[:, :1]
        gradient = duv[:, 0, :, None] * weight1[:, None, :] + duv[:, 1, :, None] * weight2[:, None, :]
        base = soup.uv[:, 0] - np.einsum("ijk,ik->ij", gradient, soup.corner[:, 0])
        gradient, base = gradient[triangle], base[triangle]
        uv = np.einsum("ijk,ik->ij", gradient, point) + base
        facing = normal[triangle]
        spread = math.tan(view.fov / 2) * 2 / view.height / grid
        footprint = []
        for axis in (view.axes[:, 1], view.axes[:, 2]):
            ray = rays - spread * axis
            reach = np.einsum("ij,ij->i", facing, point - view.eye) / np.einsum("ij,ij->i", facing, ray)
            footprint.append(np.einsum("ijk,ik->ij", gradient, view.eye + reach[:, None] * ray - point))
        colour = self._colour_materials(soup, triangle, uv, footprint, facing, rays)
        is_ground = np.array([material.segment == CLASS_GROUND for material in self.scene.materials])
        density = np.where(is_ground[soup.material[triangle]], light.ground_fog_density, light.fog_density)
        clear = np.clip(1.0 - density * distance / 16.0, 0.0, None) ** 16
        colour = np.minimum(colour * clear[:, None] + (1 - clear[:, None]) * np.array(light.fog_colour) * 255.0, 255.0)
        return colour * self._cast_shadows(point, clear)[:, None]

    def _colour_materials(self, soup, triangle, uv, footprint, facing, rays):
        light = self.scene.light
        unit = facing / np.linalg.norm(facing, axis=1)[:, None]
        unit *= -np.sign(np.einsum("ij,ij->i", unit, rays))[:, None]
        sun = np.maximum(unit @ np.array(light.sun_direction), 0.0)
        lit = np.minimum(np.sqrt(np.array(light.ambient_colour) + sun[:, None] * np.array(light.sun_colour)), 1.0)
        colour = np.empty((len(triangle), 3))
        for index in np.unique(soup.material[triangle]):
            rows = soup.material[triangle] == index
            material = self.scene.materials[index]
            tone = np.array(material.colour) * np.ones((rows.sum(), 1))
            if material.flags & SHADE_PAINT:
                tone = tone * soup.paint[triangle[rows]]
            if not material.flags & SHADE_UNLIT:
                tone = tone * lit[rows]
            texel = 255.0
            if material.flags & SHADE_TEXTURE:
                texel = self._read(material.texture, uv[rows], [change[rows] for change in footprint])
            colour[rows] = tone * texel
        return colour

    def _read(self, texture, uv, footprint):
        """Return texels, bilinear, at the mip level nearest to the longer side of the footprint."""
        if texture not in self._pyramids:
            self._pyramids[texture] = build_pyramid(self.scene.textures[texture])
        texels, sizes = self._pyramids[texture]
        longest = np.maximum(*(np.linalg.norm(change * sizes[0, :2], axis=1) for change in footprint))
        level = np.clip(np.round(np.log2(np.maximum(longest, 1e-9))), 0, len(sizes) - 1).astype(np.int64)
        return _read_bilinear(texels, sizes, np.ascontiguousarray(uv), level)

    def _shade_sky(self, rays, spread):
        texture = self.scene.light.sky_texture
        if texture < 0:
            return np.array(self.scene.light.fog_colour) * 255.0
        azimuth = np.arctan2(rays[:, 1], rays[:, 0])
        zenith = np.arccos(rays[:, 2] / np.linalg.norm(rays, axis=1))
        uv = np.stack([azimuth / (2 * math.pi), zenith / math.pi], axis=1)
        step = np.tile([spread / (2 * math.pi), spread / math.pi], (len(uv), 1))
        return self._read(texture, uv, [step, step])

    def _cast_shadows(self, point, clear):
        tables = self.simulator.renderer._looks.tables
        state = self.simulator.state
        factor = np.ones(len(point))
        things = [(state.position[c], state.orientation[c], tables.car_shadow[c]) for c in self.simulator.list_cars()]
        props = zip(state.prop_position, tables.prop_shadow, strict=True)
        things += [(position, (1.0, 0.0, 0.0, 0.0), extent) for position, extent in props]
        for position, orientation, extent in things:
            near = np.linalg.norm(point - position, axis=1) < 1.0
            if not near.any():
                continue
            heading = rotate(orientation)[:2, 0]
            heading = heading / np.linalg.norm(heading)
            away = point[near] - position
            x = away[:, :2] @ heading - extent[0]
            y = away[:, 1] * heading[0] - away[:, 0] * heading[1] - extent[1]
            local = np.stack([x, y, away[:, 2] - extent[4]], axis=1).astype(np.float32)
            up = rotate(orientation)[2, 2]
            shape = np.concatenate([extent[2:4], extent[5:]])
            shape[[2, 7]] *= max(up, 0.0) ** 2
            sun = np.array(self.scene.light.sun_direction)
            down = -np.array([sun[:2] @ heading, sun[1] * heading[0] - sun[0] * heading[1]]) / max(sun[2], 0.25)
            steep = np.linalg.norm(down)
            slope = np.array([*down, *(down / steep if steep > 1e-5 else (1.0, 0.0)), steep], np.float32)
            darkness = _compute_darkness(local, tuple(shape.astype(np.float32)), tuple(slope))
            factor[near] *= 1.0 - darkness * clear[near]
        return factor


def build_pyramid(picture):
    """Return (texels of all mip levels [texel_count, 3], columns, rows and first texel of each [level_count, 3]).

    Colours are means of what is no hole; a hole between has the mean of all that is there.
    """
    weight = (picture[..., 3:] >= 128).astype(np.float32)
    there = picture[..., :3] * weight
    middle = there.sum((0, 1)) / max(weight.sum(), 1.0)
    levels = []
    while True:
        colour = np.where(weight > 0, there / np.maximum(weight, 1e-9), middle)
        levels.append(np.rint(colour * 256.0).astype(np.uint16))
        if max(there.shape[:2]) == 1:
            break
        there, weight = (_halve(layer) for layer in (there, weight))
    first = np.cumsum([0] + [level.shape[0] * level.shape[1] for level in levels])
    sizes = np.array([(level.shape[1], level.shape[0], begin) for level, begin in zip(levels, first, strict=False)])
    return np.concatenate([level.reshape(-1, 3) for level in levels]), sizes


def _halve(layer):
    high, wide = max(layer.shape[0] // 2, 1), max(layer.shape[1] // 2, 1)
    return layer.reshape(high, layer.shape[0] // high, wide, layer.shape[1] // wide, -1).mean((1, 3))


@njit(cache=True)
def _read_bilinear(texels, sizes, uv, level):
    colour = np.empty((len(uv), 3))
    for row in range(len(uv)):
        wide, high, first = sizes[level[row]]
        x, y = uv[row, 0] * wide - 0.5, uv[row, 1] * high - 0.5
        left, top = math.floor(x), math.floor(y)
        share_x, share_y = x - left, y - top
        left, right, top, below = left % wide, (left + 1) % wide, top % high, (top + 1) % high
        for channel in range(3):
            a = float(texels[first + top * wide + left, channel])
            b = float(texels[first + top * wide + right, channel])
            c = float(texels[first + below * wide + left, channel])
            d = float(texels[first + below * wide + right, channel])
            upper = a + (b - a) * share_x
            lower = c + (d - c) * share_x
            colour[row, channel] = (upper + (lower - upper) * share_y) / 256.0
    return colour


@njit(cache=True)
def _compute_darkness(local, extent, slope):
    result = np.empty(len(local), np.float32)
    for row in range(len(local)):
        result[row] = compute_darkness(local[row, 0], local[row, 1], local[row, 2], extent, slope)
    return result


def measure_psnr(picture, reference):
    """Return the peak signal-to-noise ratio [dB] of 8-bit pictures."""
    error = np.mean((picture.astype(float) - reference) ** 2)
    return 10.0 * math.log10(255.0**2 / max(error, 1e-9))
