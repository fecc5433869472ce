"""Cameras of MuJoCo Warp over a plane with boxes; the last line is pictures per second, as JSON.

`python mujoco_cameras.py DEVICE WORLDS WIDTH HEIGHT SECONDS`; needs mujoco-warp, and nothing of donkeysim.
"""

from __future__ import annotations

import json
import sys
import time

import mujoco
import mujoco_warp
import warp

BOXES = 24
AT_ONCE = 10


def write_model() -> str:
    """Return a scene like a track's: a textured plane, boxes around, and a camera on a body that moves."""
    boxes = "".join(
        f'<geom type="box" size=".15 .15 .2" pos="{1.5 + 0.4 * (k % 6)} {0.5 * (k // 6) - 0.8} .2" '
        f'rgba="{0.2 + 0.03 * k} .5 .3 1"/>'
        for k in range(BOXES)
    )
    return f"""<mujoco><asset>
      <texture name="ground" type="2d" builtin="checker" width="256" height="256" rgb1=".3 .3 .3" rgb2=".5 .6 .4"/>
      <material name="ground" texture="ground" texrepeat="20 20"/></asset>
      <worldbody><light pos="0 0 5" dir="-.3 .2 -1" directional="true"/>
      <geom type="plane" size="20 20 .1" material="ground"/>{boxes}
      <body pos="0 0 .2"><freejoint/><geom type="box" size=".2 .1 .05" mass="2"/>
      <camera pos=".1 0 .15" xyaxes="0 -1 0 .2 0 1" fovy="60"/></body></worldbody></mujoco>"""


def main() -> None:
    """Draw for some seconds."""
    device, (count, width, height) = sys.argv[1], map(int, sys.argv[2:5])
    model = mujoco.MjModel.from_xml_string(write_model())
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    with warp.ScopedDevice(device):
        model_there = mujoco_warp.put_model(model)
        data_there = mujoco_warp.put_data(model, data, nworld=count)
        context = mujoco_warp.create_render_context(
            model, nworld=count, cam_res=(width, height), render_rgb=True, render_depth=False
        )

        def draw() -> None:
            mujoco_warp.refit_bvh(model_there, data_there, context)
            mujoco_warp.render(model_there, data_there, context)

        draw()
        if warp.get_device().is_cuda:
            with warp.ScopedCapture() as capture:
                draw()
        warp.synchronize()
        pictures, begun = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - begun) < float(sys.argv[5]):
            for _ in range(AT_ONCE):
                if warp.get_device().is_cuda:
                    warp.capture_launch(capture.graph)
                else:
                    draw()
            warp.synchronize()
            pictures += AT_ONCE * count
    print(json.dumps(pictures / elapsed))


if __name__ == "__main__":
    main()
