"""Pictures of other simulators' cameras, drawn by OpenGL: a textured plane, boxes around, a camera that moves.

`python opengl_pictures.py mujoco|panda3d WIDTH HEIGHT SECONDS`; needs mujoco or panda3d, and nothing of donkeysim. The
last line is JSON: pictures per second, the version, and what draws. With no graphics chip that is Mesa's llvmpipe; set
`LP_NUM_THREADS=1` and it takes one core.
"""

import json
import math
import os
import sys
import time
from collections.abc import Callable

BOXES = [(1.5 + 0.4 * (k % 6), 0.5 * (k // 6) - 0.8, 0.2) for k in range(24)]
TURNS = 64
"""Places that the camera goes round."""

Drawer = tuple[Callable[[int], int], str, str]
"""Draws the picture of a turn and returns its bytes; version; what draws."""


def open_mujoco(width: int, height: int) -> Drawer:
    """Return MuJoCo's own renderer."""
    os.environ.setdefault("MUJOCO_GL", "egl")
    import mujoco
    from OpenGL import GL

    boxes = "".join(
        f'<geom type="box" size=".15 .15 .2" pos="{x} {y} {z}" rgba="{0.2 + 0.03 * k} .5 .3 1"/>'
        for k, (x, y, z) in enumerate(BOXES)
    )
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><visual><quality shadowsize="0" offsamples="0"/></visual><asset>
        <texture name="ground" type="2d" builtin="checker" width="256" height="256" rgb1=".3 .3 .3" rgb2=".5 .6 .4"/>
        <material name="ground" texture="ground" texrepeat="20 20"/></asset>
        <worldbody><light pos="0 0 5" dir="-.3 .2 -1" directional="true"/>
        <geom type="plane" size="20 20 .1" material="ground"/>{boxes}
        <body name="car" pos="0 0 .2"><joint type="hinge" axis="0 0 1"/><geom type="box" size=".05 .05 .05"/>
        <camera name="eye" pos=".1 0 .15" xyaxes="0 -1 0 .2 0 1" fovy="60"/></body></worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    renderer = mujoco.Renderer(model, height, width)

    def draw(turn: int) -> int:
        data.qpos[0] = 0.3 * math.sin(2.0 * math.pi * turn / TURNS)
        mujoco.mj_forward(model, data)
        renderer.update_scene(data, "eye")
        return int(renderer.render().nbytes)

    draw(0)
    return draw, mujoco.__version__, GL.glGetString(GL.GL_RENDERER).decode()


def open_panda3d(width: int, height: int) -> Drawer:
    """Return Panda3D's renderer without a window."""
    import panda3d.core as panda
    from direct.showbase.ShowBase import ShowBase

    panda.load_prc_file_data(
        "", f"load-display p3headlessgl\nwindow-type offscreen\nwin-size {width} {height}\naudio-library-name null"
    )
    base = ShowBase()
    board = panda.PNMImage(256, 256)
    for x in range(256):
        for y in range(256):
            board.set_xel(x, y, *((0.3, 0.3, 0.3) if (x // 128 + y // 128) % 2 else (0.5, 0.6, 0.4)))
    texture = panda.Texture()
    texture.load(board)
    texture.set_minfilter(panda.SamplerState.FT_linear_mipmap_linear)
    maker = panda.CardMaker("ground")
    maker.set_frame(-20, 20, -20, 20)
    maker.set_uv_range((0, 0), (20, 20))
    ground = base.render.attach_new_node(maker.generate())
    ground.set_p(-90)
    ground.set_texture(texture)
    for k, (x, y, z) in enumerate(BOXES):
        box = base.loader.load_model("models/box")
        box.set_texture_off(1)
        box.set_color(0.2 + 0.03 * k, 0.5, 0.3, 1.0)
        box.set_scale(0.3, 0.3, 0.4)
        box.set_pos(-y - 0.15, x - 0.15, z - 0.2)
        box.reparent_to(base.render)
    sun = base.render.attach_new_node(panda.DirectionalLight("sun"))
    sun.set_hpr(20, -60, 0)
    base.render.set_light(sun)
    base.camera.set_pos(0, 0.1, 0.35)
    base.camLens.set_fov(75, 60)
    base.camLens.set_near_far(0.03, 100.0)
    base.disable_mouse()
    seen = panda.Texture()
    base.win.add_render_texture(seen, panda.GraphicsOutput.RTM_copy_ram)

    def draw(turn: int) -> int:
        base.camera.set_hpr(17.0 * math.sin(2.0 * math.pi * turn / TURNS), -11.0, 0.0)
        base.graphicsEngine.render_frame()
        return len(memoryview(seen.get_ram_image()))

    draw(0)
    return draw, panda.PandaSystem.get_version_string(), base.win.get_gsg().get_driver_renderer()


def main() -> None:
    """Draw for some seconds."""
    peer, (width, height), seconds = sys.argv[1], map(int, sys.argv[2:4]), float(sys.argv[4])
    draw, version, driver = {"mujoco": open_mujoco, "panda3d": open_panda3d}[peer](width, height)
    rates = []
    for _ in range(3):
        count, start, used = 0, time.perf_counter(), time.process_time()
        while time.perf_counter() - start < seconds / 3:
            if draw(count) < width * height * 3:
                raise RuntimeError("a picture is too small")
            count += 1
        rates.append(count / (time.process_time() - used))
    print(json.dumps({"rate": sorted(rates)[1], "best": max(rates), "version": version, "driver": driver}))


if __name__ == "__main__":
    main()
