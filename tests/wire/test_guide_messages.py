"""The messages that the guide shows are those that the simulator reads and writes, in every language alike."""

import json
from pathlib import Path

import msgspec
import pytest

from donkeysim.wire import replies
from donkeysim.wire.reading import REQUESTS, read_request
from donkeysim.world.telemetry import Telemetry
from wire.test_reading import OF_THE_ORIGINAL

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guide"
LANGUAGES = ("README.md", "README.zh.md", "README.ja.md")
REPLIES = {kind.__struct_config__.tag: kind for kind in replies.Reply.__subclasses__()}
READ = OF_THE_ORIGINAL - {"cam_config_b", "regen_road", "racer_info", "connected"}
FIELDS = Telemetry.__struct_fields__
WRITTEN = {
    "telemetry", "scene_selection_ready", "protocol_version", "scene_names", "scene_loaded", "car_loaded",
    "node_position", "collision_with_starting_line",
}  # fmt: skip


CLIENTS = ("Client →", "客户端 →", "クライアント →")


def read_examples(name):
    """Yield each message of the guide and whether a client sends it."""
    api = (GUIDE / name).read_text(encoding="utf-8").split("\n# API\n")[1]
    for section in api.split("\n### ")[1:]:
        _, body = section.split("\n\n", 1)
        yield json.loads(body.split("```json\n")[1].split("```")[0]), body.startswith(CLIENTS)


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_guide_shows_messages_as_they_are_read_and_written(name):
    read, written = set(), set()
    for message, is_from_client in read_examples(name):
        kind = message["msg_type"]
        (read if is_from_client else written).add(kind)
        if is_from_client:
            assert read_request(message).note == "", message
        elif kind == "telemetry":
            fields = set(msgspec.structs.asdict(msgspec.convert(message, Telemetry, strict=True)))
            assert fields >= set(message) - {"msg_type", "image"}
        else:
            msgspec.convert(message | {"index": 0} if kind == "node_position" else message, REPLIES[kind], strict=True)
    assert written == WRITTEN
    assert read == READ


def test_the_page_of_the_wire_has_all_messages_and_all_columns_of_telemetry():
    text = (GUIDE.parent / "wire.md").read_text(encoding="utf-8")
    columns = {name.rsplit("_", 1)[0] + "_*" if name[-2:] in ("_x", "_y", "_z") else name for name in FIELDS}
    assert [name for name in {*REQUESTS, *REPLIES, *columns} if f"`{name}`" not in text] == []
