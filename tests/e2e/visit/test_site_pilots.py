"""Pilots and places that people bring to a page: what runs there runs as it does here, all else is refused in words."""

import base64

import chromium
import numpy as np
import onnxruntime
import pytest
from playwright.sync_api import expect
from visiting import OPEN, TRACK, decode, evaluate, open_page, read, wait

from donkeysim.learn.pilot import load_pilot
from donkeysim.site.folder import PILOTS
from donkeysim.site.freeze import freeze
from donkeysim.site.modules import name_module
from donkeysim.world.specs import SceneSpec

pytestmark = [pytest.mark.visit, chromium.NEEDED]


def test_a_pilot_in_the_page_decides_as_it_does_here(page, address):
    script = (
        "async ([name]) => {"
        + OPEN
        + """
      const { Pilot } = await import(`${base}/pilot.js`);
      const machine = await open(name);
      const answers = [];
      for (const { name: known, file } of site.pilots) {
        const pilot = new Pilot(await (await fetch(`${base}/${file}`)).arrayBuffer(), machine);
        machine.restart();
        for (let frame = 0; frame < 40; frame++) {
          const picture = machine.drawPilot(), seen = encode(picture);
          const [angle, throttle] = pilot.drive(picture);
          answers.push({ file: known, seen, angle, throttle });
          machine.step(-angle, throttle, 0);
        }
      }
      return answers;
    }"""
    )
    answers = evaluate(page, address, script, [TRACK.name])
    pilots = {name: load_pilot(PILOTS / f"{name}.onnx") for name in ("generated_track", "anywhere")}
    assert {answer["file"] for answer in answers} == pilots.keys()
    for answer in answers:
        angle, throttle = pilots[answer["file"]].run(decode(answer["seen"], 120, 160, 3).astype(np.uint8))
        assert answer["angle"] == pytest.approx(min(max(angle, -1), 1), abs=1e-4)
        assert answer["throttle"] == pytest.approx(min(max(throttle, -1), 1), abs=1e-4)
    assert max(abs(answer["angle"]) for answer in answers) > 0.05


def test_a_pilot_and_a_place_can_be_dropped(page, address, site, tmp_path):
    open_page(page, address)
    own = freeze(SceneSpec("carpet_hall"), name_module())
    files = {"own_hall.place": own, "mine.onnx": (PILOTS / "anywhere.onnx").read_bytes(), "old.h5": b"h5"}
    drop(page, "old.h5", files["old.h5"])
    expect(page.locator("#toast")).to_contain_text("donkey models --onnx")
    drop(page, "mine.onnx", files["mine.onnx"])
    expect(page.locator("#who-note")).to_have_text("mine.onnx drives")
    drop(page, "own_hall.place", files["own_hall.place"])
    expect(page.locator("#place")).to_have_value("own_hall")
    expect(page.locator("#cover")).to_be_hidden()
    drop(page, "broken.onnx", b"no pilot")
    expect(page.locator("#toast")).to_contain_text("no pilot in ONNX")
    drop(page, "other.place", freeze(SceneSpec("waveshare"), "kernels-of-yesterday.wasm"))
    expect(page.locator("#toast")).to_contain_text("another donkeysim")
    drop(page, "broken.place", b"no place")
    expect(page.locator("#toast")).to_contain_text("no place for pages")
    expect(page.locator("#place")).to_have_value("own_hall")  # one stays where one was
    before = read(page, "frames")
    wait(page, lambda: read(page, "frames") > before + 3, "time stands still")


def drop(page, name, content):
    page.evaluate(
        """([name, content]) => {
          const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0));
          const transfer = new DataTransfer();
          transfer.items.add(new File([bytes], name));
          document.dispatchEvent(new DragEvent("drop", { dataTransfer: transfer, cancelable: true }));
        }""",
        [name, base64.b64encode(content).decode()],
    )


def test_a_pilot_that_fails_leaves_the_car_to_the_person(page, address):
    open_page(page, address)
    hostile = bytes.fromhex("3af5ffffffffffffffff01")  # a field of a length below 0
    drop(page, "hostile.onnx", hostile)
    expect(page.locator("#toast")).to_contain_text("no pilot in ONNX")
    expect(page.locator("[aria-pressed=true][data-driver]")).to_have_text("You")
    drop(page, "blind.onnx", make_blind_pilot())
    expect(page.locator("#toast")).to_contain_text("says nothing that a car could do")
    before = read(page, "frames")
    wait(page, lambda: read(page, "frames") > before + 3, "time stands still")


def make_model(nodes, constants):
    """Return a network on one picture, in colour, with an angle and a throttle."""
    from onnx import TensorProto, helper, numpy_helper

    picture = helper.make_tensor_value_info("img_in", TensorProto.FLOAT, [1, 120, 160, 3])
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1]) for name in ("angle", "throttle")]
    made = [helper.make_node(kind, inputs, [output], **settings) for kind, inputs, output, settings in nodes]
    weights = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(made, "network", [picture], outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    return model.SerializeToString()


def make_blind_pilot():
    """Return a network whose answers are no numbers."""
    nodes = [("Flatten", ["img_in"], "flat", {})]
    nodes += [("MatMul", ["flat", "weight"], name, {}) for name in ("angle", "throttle")]
    return make_model(nodes, {"weight": np.full((57600, 1), np.nan, np.float32)})


PICTURE = ("Transpose", ["img_in"], "picture", {"perm": [0, 3, 1, 2]})
ENDS = [
    ("GlobalAveragePool", ["made"], "means", {}),
    ("Reshape", ["means", "row"], "flat", {}),
    *(("MatMul", ["flat", "weight"], name, {}) for name in ("angle", "throttle")),
]
CONSTANTS = {
    "row": np.array([1, -1]),
    "weight": np.array([[0.3], [-0.2], [0.4]], np.float32),
    "pads": np.array([0, 0, 2, 3, 0, 0, 1, 0]),
    "filling": np.float32(0.7),
    "low": np.float32(0.2),
    "high": np.float32(0.6),
    "kernel": np.linspace(-0.2, 0.3, 3 * 3 * 4 * 5, dtype=np.float32).reshape(3, 3, 4, 5),
    "group": np.ones((3, 1, 3, 3), np.float32),
}
RUN = [
    ("Conv", ["picture", "kernel"], "made", {"strides": [3, 2], "auto_pad": "SAME_UPPER"}),
    ("Conv", ["picture", "kernel"], "made", {"strides": [2, 3], "pads": [1, 2, 0, 3]}),
    ("MaxPool", ["picture"], "made", {"kernel_shape": [3, 4], "strides": [2, 3]}),
    ("AveragePool", ["picture"], "made", {"kernel_shape": [5, 2], "strides": [2, 2]}),
    ("Pad", ["picture", "pads"], "made", {}),
    ("Clip", ["picture", "low", "high"], "made", {}),
    ("Elu", ["picture"], "made", {"alpha": 0.7}),
]
REFUSED = [
    ("Pad", ["picture", "pads"], "made", {"mode": "reflect"}),
    ("Pad", ["picture", "pads", "filling"], "made", {}),
    ("Softmax", ["picture"], "made", {"axis": 1}),
    ("MaxPool", ["picture"], "made", {"kernel_shape": [7, 7], "strides": [3, 3], "ceil_mode": 1}),
    ("MaxPool", ["picture"], "made", {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    ("Conv", ["picture", "group"], "made", {"group": 3}),
    ("Selu", ["picture"], "made", {}),
]


def test_layers_are_those_of_onnxruntime_or_refused(page, address):
    script = (
        "async ([name, files, seen]) => {"
        + OPEN
        + """
      const { Pilot } = await import(`${base}/pilot.js`);
      const machine = await open(name), picture = Uint8Array.from(atob(seen), (one) => one.charCodeAt(0));
      return files.map((file) => {
        const content = Uint8Array.from(atob(file), (one) => one.charCodeAt(0)).buffer;
        try { return new Pilot(content, machine).drive(picture); } catch (error) { return error.message; }
      });
    }"""
    )
    picture = np.random.default_rng(5).integers(0, 256, (120, 160, 3), np.uint8)
    models = [make_model([PICTURE, layer, *ENDS], CONSTANTS) for layer in (*RUN, *REFUSED)]
    files = [base64.b64encode(model).decode() for model in models]
    answers = evaluate(page, address, script, [TRACK.name, files, base64.b64encode(picture.tobytes()).decode()])
    for layer, model, answer in zip(RUN, models, answers, strict=False):
        session = onnxruntime.InferenceSession(model)
        wanted = session.run(None, {"img_in": picture[None].astype(np.float32) / 255})
        assert answer == pytest.approx([min(max(float(value[0, 0]), -1), 1) for value in wanted], abs=1e-4), layer
    for layer, answer in zip(REFUSED, answers[len(RUN) :], strict=True):
        assert str(answer).startswith("no_layer"), layer
