"""The folder of a site: what lies in it, what it replaces, and what it refuses."""

import json
import re
import shutil
from pathlib import Path

import onnx
import pytest

from donkeysim.core.errors import DonkeySimError, describe_install
from donkeysim.site import folder, modules
from donkeysim.site.folder import CONTROL, CONTROL_FILES, NAMED_FILE, PAGE, PILOTS, SHARED, write_site
from donkeysim.world.specs import SceneSpec

SPEC = SceneSpec("waveshare")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A site whose kernels are none, as compiling them is not what is tested."""
    place = tmp_path_factory.mktemp("site")
    module = place / "kernels-0.wasm"
    module.write_bytes(b"\0asm")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folder, "make_module", lambda: module)
        told = []
        write_site(place / "out", [SPEC], report=told.append)
        yield place / "out", patch, module
    assert told[0].startswith("waveshare: ")


def test_everything_that_is_named_lies_there(site):
    out = site[0]
    listed = json.loads((out / "site.json").read_bytes())
    (place,) = listed["places"]
    assert (out / listed["kernels"]).read_bytes() == b"\0asm"
    assert (out / place["file"]).stat().st_size == place["size"]
    assert [pilot["name"] for pilot in listed["pilots"]] == ["anywhere"]  # the other knows another place
    assert [path.name for path in (out / "pilots").iterdir()] == [listed["pilots"][0]["file"].split("/")[1]]


def test_scripts_import_what_lies_beside_them(site):
    out = site[0]
    for script in out.rglob("*.js"):
        if script.name == "three.js":
            continue
        for name in re.findall(r'^import .*from "([^"]+)";', script.read_text("utf-8"), re.M):
            assert name.startswith("."), f"{script.name} asks a server for {name}"
            assert (script.parent / name).is_file(), f"{script.name}: {name}"


def test_a_page_names_what_it_needs_first(site):
    page = (site[0] / "index.html").read_text("utf-8")
    assert page.count('rel="preload"') == 2
    for name in re.findall(r'(?:href|src)="([^"]+)"', page):
        assert (site[0] / name).is_file(), name
    assert "three.js" not in page


def test_the_worker_keeps_all_but_places_and_pilots(site):
    first = (site[0] / "sw.js").read_text("utf-8").split(";\n")[0]
    kept = json.loads(first.removeprefix("const SITE = "))["files"]
    assert {"index.html", "site.json", "worker.js", "shared/viewer/three.js", "kernels-0.wasm"} <= set(kept)
    assert not [name for name in kept if name.startswith(("places/", "pilots/")) or name == "sw.js"]
    assert all((site[0] / name).is_file() for name in kept)


def test_a_site_takes_the_place_of_another_one(site, tmp_path):
    out = tmp_path / "again"
    shutil.copytree(site[0], out)
    (out / "left over").write_text("x")
    write_site(out, [SPEC], report=lambda _: None)
    assert not (out / "left over").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again"]
    assert json.loads((out / "site.json").read_bytes()) == json.loads((site[0] / "site.json").read_bytes())


@pytest.mark.parametrize("is_file", [False, True])
def test_what_is_no_site_is_left_alone(site, tmp_path, is_file):
    out = tmp_path / "mine"
    if is_file:
        out.write_text("mine")
    else:
        out.mkdir()
        (out / "letter.txt").write_text("mine")
    with pytest.raises(DonkeySimError, match="is no site; name a new folder"):
        write_site(out, [SPEC])
    assert (out if is_file else out / "letter.txt").read_text() == "mine"


def test_ones_own_pilots_come_first(site, tmp_path):
    own = tmp_path / "mine.onnx"
    shutil.copy(PILOTS / "generated_track.onnx", own)
    listed = write_site(tmp_path / "out", [SPEC], [own], report=lambda _: None)
    assert [(pilot.name, pilot.places) for pilot in listed.pilots] == [("mine", ["generated_track"]), ("anywhere", [])]
    names = {path.name for path in (tmp_path / "out" / "pilots").iterdir()}
    assert len(names) == 2  # with a hash in them: no cache takes one for another
    assert all(len(name.rsplit("-")[-1]) == len("12345678.onnx") for name in names)


def test_a_pilot_whose_weights_lie_in_another_file_is_one_file_of_the_site(site, tmp_path):
    model = onnx.load(PILOTS / "generated_track.onnx")
    onnx.save(model, tmp_path / "mine.onnx", save_as_external_data=True, location="mine.onnx.data")
    listed = write_site(tmp_path / "out", [SPEC], [tmp_path / "mine.onnx"], report=lambda _: None)
    there = onnx.load(tmp_path / "out" / listed.pilots[0].file)
    own = onnx.load(PILOTS / "generated_track.onnx")
    assert [weight.raw_data for weight in there.graph.initializer] == [
        weight.raw_data for weight in own.graph.initializer
    ]


def test_a_tensor_called_location_is_no_name_of_another_file(tmp_path):
    """As an input, within the network, and as a value whose type the file tells."""
    helper = onnx.helper
    seen = helper.make_tensor_value_info("seen", onnx.TensorProto.FLOAT, [1, 4, 4, 3])
    value = helper.make_tensor_value_info("location", onnx.TensorProto.FLOAT, [1, 48])
    answer = helper.make_tensor_value_info("answer", onnx.TensorProto.FLOAT, [1, 48])
    nodes = [helper.make_node("Flatten", ["seen"], ["location"]), helper.make_node("Tanh", ["location"], ["answer"])]
    graph = helper.make_graph(nodes, "mine", [seen], [answer], value_info=[value])
    opsets = [helper.make_opsetid("", 13)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), tmp_path / "mine.onnx")
    assert b"\n\x08location\x12" in (tmp_path / "mine.onnx").read_bytes()
    assert not NAMED_FILE.search((tmp_path / "mine.onnx").read_bytes())


def test_the_folder_one_is_in_is_left_alone(site, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DonkeySimError, match="cannot be the one you are in"):
        write_site(Path(), [SPEC], report=lambda _: None)


def test_a_checkout_without_a_linker_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setattr(modules.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(DonkeySimError, match=re.escape(describe_install("site"))):
        modules.compile_module(tmp_path / "kernels.wasm")


def test_files_are_where_they_are_looked_for():
    for place, names in ((SHARED, folder.SHARED_FILES), (CONTROL, CONTROL_FILES), (PAGE, ("index.html", "sw.js"))):
        assert all((place / name).is_file() for name in names)
    drawn = {path.stem for path in (SHARED / "viewer").glob("*.js")} - {"drawing", "keeping", "moments", "quality"}
    assert set(folder.DRAWN_LATER) == drawn
