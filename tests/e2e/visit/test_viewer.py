"""The view that the browser draws shows what is simulated: its classes, pixel by pixel, against the camera's own."""

import base64
import contextlib
import io

import chromium
import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect, sync_playwright

from donkeysim.core.errors import SceneError
from donkeysim.drive.drawn_views import name_own
from donkeysim.watch.spectator import create_app
from stand_ins.served_app import ServedApp
from stand_ins.served_page import ServedPage
from stand_ins.shown_simulator import SIZE, ShownSimulator

pytestmark = [pytest.mark.visit, chromium.NEEDED]

SHARES = 0.1, 0.45, 0.8
AGREEMENT = 0.99
"""Of all pixels; in the rest the two round the edges of things differently."""

DRAW_CLASSES = """async ([width, height, time]) => {
  const { WebGLRenderTarget } = await import("/shared/viewer/three.js");
  const viewer = document.querySelector(".drawn-here").viewer;
  const { renderer, place, cars, eyes: [eye] } = viewer;
  while (viewer.moments.newest?.time !== time) await new Promise((done) => setTimeout(done, 20));
  const moment = viewer.moments.newest;
  cars.show(moment.cars);
  viewer.moveProps(moment.props);
  cars.hide(null, false);
  for (const car of cars.byId.values()) car.plate.visible = car.contact.visible = false;
  eye.camera.aspect = width / height;
  eye.look("seat", moment.cars[0], moment.seats[moment.cars[0].id], place, 0);
  eye.camera.updateProjectionMatrix();
  const target = new WebGLRenderTarget(width, height); // of one sample each: means of classes would be other classes
  place.showClasses(true);
  renderer.setRenderTarget(target);
  renderer.clear();
  renderer.render(place.scene, eye.camera);
  renderer.setRenderTarget(null);
  place.showClasses(false);
  const texels = new Uint8Array(4 * width * height);
  renderer.readRenderTargetPixels(target, 0, 0, width, height, texels);
  target.dispose();
  return btoa(texels.reduce((read, value, index) => index % 4 ? read : read + String.fromCharCode(value), ""));
}"""

READ_STANDING = """() => {
  const { renderer, place } = document.querySelector(".drawn-here").viewer;
  const { width: side } = place.occlusionMap, [left, low, width, height] = place.occlusionBox.value;
  const texels = new Uint8Array(4 * side * side);
  renderer.readRenderTargetPixels(place.occlusionMap, 0, 0, side, side, texels);
  const at = ([x, y]) => Math.floor((y - low) / height * side) * side + Math.floor((x - left) / width * side);
  const near = texels.filter((_, index) => index % 4 === 0);
  const most = near.reduce((largest, value) => Math.max(largest, value), 0);
  return [place.notes.path.map((node) => near[at(node)] / 255), most / 255];
}"""

DRAW = """([width, height, { isBehind = true, hidden = [], mirrors = false }]) => {
  const viewer = document.querySelector(".drawn-here").viewer;
  const { renderer, place, cars, eyes: [eye] } = viewer, [car] = viewer.moments.newest.cars;
  viewer.isClosed = true;
  renderer.setPixelRatio(1);
  renderer.setSize(width, height, false);
  renderer.setViewport(0, 0, width, height);
  eye.camera.aspect = width / height;
  eye.turn = null; // at once
  if (isBehind) eye.look("chase", car, null, place, 0);
  else eye.place([car.pose[0], car.pose[1], place.notes.floor + 0.4], [0, 0, 0.5]);
  eye.camera.updateProjectionMatrix();
  if (mirrors) place.floorMirror.look(renderer, place.scene, eye.camera, width, height);
  else place.floorMirror?.rest();
  const [ground] = place.shares.keys();
  const kind = ({ alphaTest, userData: { class_map: number, segment } }) =>
    number === ground ? "ground" : place.shares.has(number) ? "strip"
      : segment === "prop" ? (alphaTest ? "leaves" : "trunks") : "";
  place.scene.traverse((node) => {
    if (node.isMesh) node.visible = !hidden.includes(kind(node.material));
  });
  renderer.clear();
  renderer.render(place.scene, eye.camera);
  return renderer.domElement.toDataURL("image/png");
}"""
"""Draw from behind the first car, or from near the floor; ground, strips of road, leaves, trunks may be hidden."""

TURN_LEAVES = """() => {
  let count = 0;
  document.querySelector(".drawn-here").viewer.place.root.traverse(({ material, geometry }) => {
    if (!material?.alphaTest) return;
    const { normal } = geometry.attributes;
    for (let index = 0; index < normal.count; index++) {
      normal.setXYZ(index, -normal.getX(index), -normal.getY(index), -normal.getZ(index));
    }
    normal.needsUpdate = true;
    count += 1;
  });
  return count;
}"""

SLIDE = """(sideways) => {
  const { marks, moments, place } = document.querySelector(".drawn-here").viewer, [car] = moments.newest.cars;
  const pose = (step) => [0.05 * step * !sideways, 0.05 * step * sideways, 0.1, 1, 0, 0, 0];
  const slide = (step) => ({ ...car, id: 77 + sideways, pose: pose(step), braking: 0 });
  for (let step = 0; step < 5; step++) marks.add({ time: 0.05 * step, cars: [slide(step)] });
  return [marks.next, marks.dust?.next ?? null];
}"""


@pytest.fixture(scope="module")
def drawing_browser():
    with sync_playwright() as playwright:
        browser = chromium.launch_drawing(playwright)
        yield browser
        browser.close()


def read_classes(page, time):
    """Return the viewer's classes of a moment [s] as the first car sees them, shape [480, 640]."""
    width, height = SIZE
    texels = base64.b64decode(page.evaluate(DRAW_CLASSES, [width, height, time]))
    return np.frombuffer(texels, np.uint8).reshape(height, width)[::-1]


def compare_classes(browser, scene, style):
    """Return which share of pixels has the camera's class, of the worst of some places along the path."""
    served, stage = ServedApp(), ShownSimulator(scene, style)
    stage.put(SHARES[0])
    served.start(create_app(stage, wire_port=None))
    page = browser.new_page(viewport={"width": 900, "height": 700})
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    try:
        page.goto(f"{served.address}/?draw=low")
        chromium.wait_on_page(page, lambda: chromium.count_drawn(page) > 0, "nothing was drawn")
        shares = []
        for share in SHARES:
            stage.put(share)
            seen, meant = read_classes(page, stage.seconds), stage.get_classes()
            shares.append(float((seen == meant).mean()))
        read_picture(page.evaluate(DRAW, [*SIZE, {}]))
        assert errors == []
    finally:
        page.close()
        served.close()
    return min(shares)


BETWEEN = """async ([before, after, share]) => {
  const { blend } = await import("/shared/viewer/moments.js");
  return blend(before, after, share);
}"""


def make_moment(x, turn, **fields):
    car = {"id": 1, "pose": [x, 0.0, 0.0, *turn], "steer": x, "wheels": [x] * 4, "extensions": [0.01] * 4, "tv": None}
    return {"time": x, "cars": [car | fields], "props": [[0, x, 0.0, 0.0, *turn]]}


def test_what_lies_between_two_moments_is_on_its_way(drawing_browser):
    half = 0.5**0.5
    before, after = make_moment(0.0, (1.0, 0.0, 0.0, 0.0)), make_moment(0.2, (half, 0.0, 0.0, half))
    with ServedPage() as served:
        page = drawing_browser.new_page()
        page.goto(f"{served.address}/drive")
        between = page.evaluate(BETWEEN, [before, after, 0.5])
        leapt = page.evaluate(BETWEEN, [before, make_moment(9.0, (1.0, 0.0, 0.0, 0.0)), 0.5])
        aims = [[0.0, 0.0, 1.0, 0.0, 0.1, yaw, 0.5] for yaw in (3.1, -3.1)]
        turned = [make_moment(0.1 * index, (1.0, 0.0, 0.0, 0.0), tv=aim) for index, aim in enumerate(aims)]
        across = page.evaluate(BETWEEN, [*turned, 0.5])
        page.close()
    car = between["cars"][0]
    assert np.allclose(car["pose"][:3], (0.1, 0.0, 0.0))
    assert np.allclose(car["pose"][3:], (np.cos(np.pi / 8), 0.0, 0.0, np.sin(np.pi / 8))), "half of a right angle"
    assert (car["steer"], car["wheels"][0]) == (0.1, 0.1)
    assert between["props"][0][1] == 0.1
    assert leapt["cars"][0]["pose"][0] == 9.0, "what was put elsewhere is there"
    assert abs(abs(across["cars"][0]["tv"][5]) - np.pi) < 0.01, "a camera turns the shorter way"


class OwnViews:
    """Called as `OpenViews`: a simulator's first car is the one that is driven."""

    def __init__(self, stage):
        self.stage = stage

    @contextlib.asynccontextmanager
    async def __call__(self):
        yield self

    async def take_moment(self):
        return name_own(await self.stage.take_moment(), 1)

    async def write_place(self):
        return await self.stage.write_place()

    async def take(self, view, width, height):
        raise SceneError(f"{view} is drawn by the browser, {width} x {height} pixels of it")


def test_who_drives_sees_the_car_from_everywhere_and_keeps_pictures(drawing_browser):
    stage = ShownSimulator("flat")
    stage.put(0.1)
    with ServedPage(views=OwnViews(stage)) as served:
        page = drawing_browser.new_page(viewport={"width": 1000, "height": 760})
        errors = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{served.address}/drive?draw=low")
        chromium.wait_on_page(page, lambda: chromium.count_drawn(page) > 0, "nothing was drawn")
        assert page.evaluate(SLIDE, False) == [0, 0], "who rolls leaves nothing"
        assert page.evaluate(SLIDE, True) == [6, 6], "both rear wheels, from the third moment on"
        for view in ("seat", "orbit", "top", "chase"):
            page.locator("#view_select").select_option(view)
            before = chromium.count_drawn(page)
            chromium.wait_on_page(
                page, lambda before=before: chromium.count_drawn(page) > before, f"{view} was not drawn"
            )
            expect(page.locator("#screen")).to_have_attribute("data-view", view)
        expect(page.locator(".drawn-here")).to_have_attribute("aria-label", "Drawn view of the car")
        with page.expect_download() as kept:
            page.get_by_role("button", name="Photo").click()
        picture = np.asarray(Image.open(kept.value.path()).convert("RGB"))
        assert kept.value.suggested_filename.startswith("donkeysim-flat-")
        assert picture.std() > 10.0, "it is no empty picture"
        page.locator("#drawing select").select_option("simulator")
        expect(page.locator(".drawn-here")).to_have_count(0)
        page.close()
    assert errors == []


def test_a_halls_floor_mirrors_what_stands_on_it_and_is_darker_there(drawing_browser):
    served, stage = ServedApp(), ShownSimulator("maker_hall")
    stage.put(0.1)
    served.start(create_app(stage, wire_port=None))
    page = drawing_browser.new_page(viewport={"width": 700, "height": 500})
    errors = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    try:
        page.goto(f"{served.address}/?draw=medium")
        chromium.wait_on_page(page, lambda: chromium.count_drawn(page) > 0, "nothing was drawn")
        on_road, most = page.evaluate(READ_STANDING)
        dull, bright = (
            read_picture(page.evaluate(DRAW, [320, 240, {"isBehind": False, "mirrors": mirrors}]))
            for mirrors in (False, True)
        )
    finally:
        page.close()
        served.close()
    assert max(on_road) < 0.2, "nothing stands on the road"
    assert most == 1.0
    assert np.array_equal(dull[:115], bright[:115]), "above the horizon nothing changes"
    assert np.abs(dull[125:] - bright[125:]).mean() > 3.0
    assert errors == []


def read_picture(address):
    picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(address.split(",")[1]))).convert("RGBA"))
    assert (picture[..., 3] == 255).all(), "the page shines through where leaves and wires cover a part of a pixel"
    return picture[..., :3].astype(np.float64)


@contextlib.contextmanager
def show(browser, place, along):
    """Serve a place with a car, and yield a page that draws it."""
    served, stage = ServedApp(), ShownSimulator(place)
    stage.put(along)
    served.start(create_app(stage, wire_port=None))
    page = browser.new_page(viewport={"width": 700, "height": 500})
    try:
        page.goto(f"{served.address}/?draw=low")
        chromium.wait_on_page(page, lambda: chromium.count_drawn(page) > 0, "nothing was drawn")
        yield page
    finally:
        page.close()
        served.close()


def draw(page, hidden=(), size=(320, 240)):
    return read_picture(page.evaluate(DRAW, [*size, {"hidden": list(hidden)}]))


def test_a_road_that_lies_on_the_ground_is_never_below_it(drawing_browser):
    with show(drawing_browser, "generated_road", 0.6) as page:  # at this size a quarter of it was below
        hidden = (), ("ground",), ("ground", "strip")
        shown, strip, nothing = (draw(page, kinds, (300, 200)) for kinds in hidden)
    covered = (strip != nothing).any(axis=2)
    assert covered.mean() > 0.1
    assert (np.abs(shown - strip).max(axis=2) < 20.0)[covered].mean() > 0.93, "all but its edges"


def test_crowns_have_one_light_whichever_way_their_cards_face(drawing_browser):
    with show(drawing_browser, "mountain_track", 0.1) as page:
        before = draw(page)
        assert page.evaluate(TURN_LEAVES) > 0
        after = draw(page)
    assert np.abs(before - after).max() <= 2.0


def test_trunks_are_within_their_crowns_and_not_before_them(drawing_browser):
    with show(drawing_browser, "generated_track", 0.1) as page:
        hidden = (), ("trunks",), ("leaves",), ("leaves", "trunks")
        shown, crowns, trunks, nothing = (draw(page, kinds, (640, 480)) for kinds in hidden)
    # Cones, which are red, stand before crowns; and a crown's holes let its trunk be seen.
    wood = (trunks != nothing).any(axis=2) & (trunks[..., 0] < 150.0)
    both = wood & (np.abs(crowns - nothing).max(axis=2) > 20.0)
    assert both.sum() > 500
    assert (np.abs(shown - crowns).max(axis=2) < 2.0)[both].mean() > 0.8


def test_what_is_drawn_is_what_is_simulated(drawing_browser):
    assert compare_classes(drawing_browser, "sparkfun_avc", "donkey") >= AGREEMENT
