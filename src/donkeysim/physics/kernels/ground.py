"""Height, slope and friction of the ground under a point."""

import math

from donkeysim.core.kernel import inner_kernel
from donkeysim.physics.kernels import layout


@inner_kernel
def sample_height(terrain, scene, x, y):
    """Return (height [m], slope along x [-], slope along y [-]), bilinear; beyond the grid its border continues."""
    if terrain.entry[scene, layout.I_IS_LEVEL] != 0:
        return terrain.number[scene, layout.T_LEVEL], 0.0, 0.0
    cell = terrain.number[scene, layout.T_HEIGHT_CELL]
    rows, columns = terrain.entry[scene, layout.I_HEIGHT_ROWS], terrain.entry[scene, layout.I_HEIGHT_COLUMNS]
    u = (x - terrain.number[scene, layout.T_HEIGHT_X]) / cell
    v = (y - terrain.number[scene, layout.T_HEIGHT_Y]) / cell
    inside_x, inside_y = 1.0, 1.0
    # Beyond the grid the ground continues level: heights of the border, and no slope across it.
    if not (u > 0.0 and u < columns - 1.0):
        inside_x = 0.0
        u = min(max(u, 0.0), columns - 1.0)
    if not (v > 0.0 and v < rows - 1.0):
        inside_y = 0.0
        v = min(max(v, 0.0), rows - 1.0)
    # The last row and column have no cell of their own; a grid of one row or column takes itself as its neighbour.
    column = min(int(u), max(columns - 2, 0))
    row = min(int(v), max(rows - 2, 0))
    right = 1 if columns > 1 else 0
    up = columns if rows > 1 else 0
    base = terrain.entry[scene, layout.I_HEIGHT] + row * columns + column
    fx, fy = u - column, v - row
    h00, h10 = terrain.height[base], terrain.height[base + right]
    h01, h11 = terrain.height[base + up], terrain.height[base + up + right]
    low = h00 + (h10 - h00) * fx
    high = h01 + (h11 - h01) * fx
    slope_x = ((h10 - h00) * (1.0 - fy) + (h11 - h01) * fy) / cell * inside_x
    slope_y = (high - low) / cell * inside_y
    return low + (high - low) * fy, slope_x, slope_y


@inner_kernel
def sample_ceiling(terrain, scene, x, y):
    """Return a height [m] that the ground near a point does not exceed."""
    if terrain.entry[scene, layout.I_IS_LEVEL] != 0:
        return terrain.number[scene, layout.T_LEVEL]
    cell = terrain.number[scene, layout.T_HEIGHT_CELL]
    rows, columns = terrain.entry[scene, layout.I_HEIGHT_ROWS], terrain.entry[scene, layout.I_HEIGHT_COLUMNS]
    u = (x - terrain.number[scene, layout.T_HEIGHT_X]) / cell + 0.5
    v = (y - terrain.number[scene, layout.T_HEIGHT_Y]) / cell + 0.5
    column = int(min(max(u, 0.0), columns - 1.0))
    row = int(min(max(v, 0.0), rows - 1.0))
    return terrain.ceiling[terrain.entry[scene, layout.I_HEIGHT] + row * columns + column]


@inner_kernel
def find_surface(terrain, scene, x, y):
    """Return the index into `terrain.friction` and `terrain.drivable` of the surface at a point."""
    u = (x - terrain.number[scene, layout.T_SURFACE_X]) / terrain.number[scene, layout.T_SURFACE_CELL]
    v = (y - terrain.number[scene, layout.T_SURFACE_Y]) / terrain.number[scene, layout.T_SURFACE_CELL]
    rows, columns = terrain.entry[scene, layout.I_SURFACE_ROWS], terrain.entry[scene, layout.I_SURFACE_COLUMNS]
    kind = 0
    if u >= 0.0 and v >= 0.0 and u < columns and v < rows:
        kind = int(terrain.surface[terrain.entry[scene, layout.I_SURFACE] + int(v) * columns + int(u)])
    return terrain.entry[scene, layout.I_KINDS] + kind


@inner_kernel
def find_friction(terrain, scene, x, y):
    """Return the friction of the ground at a point [-]."""
    # Where there is one friction only, not looking for the surface spares every wheel some scattered reads a step.
    if terrain.entry[scene, layout.I_IS_UNIFORM] != 0:
        return terrain.number[scene, layout.T_FRICTION]
    return terrain.friction[find_surface(terrain, scene, x, y)]


@inner_kernel
def measure_depth(terrain, scene, point):
    """Return how deep a point is below the ground [m], negative above it, and the ground's normal there."""
    height, slope_x, slope_y = sample_height(terrain, scene, point[0], point[1])
    # The ground is taken as a plane there, so the way out is shorter than straight up, by the cosine of the slope.
    cosine = 1.0 / math.sqrt(1.0 + slope_x * slope_x + slope_y * slope_y)
    return (height - point[2]) * cosine, (-slope_x * cosine, -slope_y * cosine, cosine)
