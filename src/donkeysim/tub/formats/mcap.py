"""Drives as MCAP files: a message a record, and one for each of its pictures; opens in Foxglove and its like."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from donkeysim import __version__
from donkeysim.core.errors import TubError, import_extra
from donkeysim.core.types import Report
from donkeysim.record import foxglove as fox
from donkeysim.tub.formats.drive import DriveRecord, Picture, RecordedDrive, decode_heading, explain_damage
from donkeysim.tub.formats.survey import InputColumn, Survey

HEADING_NAME = "donkeysim.tub"
"""Name of the metadata that hold the heading."""

RECORD_TOPIC, RECORD_SCHEMA = "/record", "donkeysim.Record"
PICTURE_SCHEMA = "foxglove.CompressedImage"

_WHAT, _NEED = "an MCAP file", "MCAP files need the package mcap"
_ITEM_TYPES = {"float": "number", "": "number", "int": "integer", "bool": "boolean", "str": "string"}


def name_topic(key: str) -> str:
    """Return the topic of an input's pictures."""
    return "/" + key.strip("/")


class McapDrive:
    """An MCAP file. Implements `RecordedDrive`."""

    def __init__(self, path: Path) -> None:
        """Open it.

        Raises:
            TubError: It is no MCAP file of a drive.
        """
        reader, self._stream_reader, exceptions = (
            import_extra(f"mcap.{module}", _NEED, "datasets") for module in ("reader", "stream_reader", "exceptions")
        )
        self._error = exceptions.McapError
        self.path = path
        with explain_damage(path, _WHAT, self._error), path.open("rb") as stream:
            found = {each.name: each.metadata for each in reader.make_reader(stream).iter_metadata()}
        if HEADING_NAME not in found:
            raise TubError(f"{path} is another MCAP file: only those that donkeysim made can become a tub.")
        with explain_damage(path, _WHAT):
            self.heading = decode_heading(found[HEADING_NAME]["json"], path)

    def iterate(self, with_pictures: bool = True) -> Iterator[DriveRecord]:
        """Yield all records; a record's pictures come before it."""
        keys = {name_topic(key): key for key in self.heading.picture_keys} if with_pictures else {}
        pictures: dict[str, bytes] = {}
        with explain_damage(self.path, _WHAT, self._error), self.path.open("rb") as stream:
            for topic, data in self._iterate_messages(stream):
                if topic in keys:
                    pictures[keys[topic]] = b64decode(json.loads(data)["data"])
                elif topic == RECORD_TOPIC:
                    content = json.loads(data)
                    files = {key: Picture(name, pictures.get(key, b"")) for key, name in content["pictures"].items()}
                    fields = (content["index"], content["session"], content["timestamp_ms"], content["deleted"])
                    yield DriveRecord(*fields, content["values"], files)
                    pictures = {}

    def _iterate_messages(self, stream: IO[bytes]) -> Iterator[tuple[str, bytes]]:
        """Yield topic and content of each message as they lie in the file, a chunk of it in memory."""
        topics: dict[int, str] = {}
        for record in self._stream_reader.StreamReader(stream, validate_crcs=True).records:
            if hasattr(record, "topic"):
                topics[record.id] = record.topic
            elif hasattr(record, "channel_id") and hasattr(record, "log_time"):
                yield topics[record.channel_id], record.data


def write_mcap(drive: RecordedDrive, survey: Survey, path: Path, report: Report) -> list[str]:
    """Write a drive as an MCAP file; nothing is left to say."""
    mcap = import_extra("mcap.writer", _NEED, "datasets")
    with path.open("wb") as stream:
        writer = mcap.Writer(stream, compression=mcap.CompressionType.ZSTD)
        writer.start(profile="", library=f"donkeysim {__version__}")
        writer.add_metadata(HEADING_NAME, {"json": drive.heading.encode()})
        channels = _add_channels(writer, drive, survey)
        for done, record in enumerate(drive.iterate(), start=1):
            seconds, milliseconds = divmod(record.timestamp_ms, 1000)
            time = {"sec": seconds, "nsec": milliseconds * 1_000_000}
            for key, picture in record.pictures.items():
                fields = {"timestamp": time, "frame_id": key, "data": b64encode(picture.data).decode()}
                message = {**fields, "format": "png" if picture.data.startswith(b"\x89PNG") else "jpeg"}
                _add(writer, channels[name_topic(key)], record, done, message)
            _add(writer, channels[RECORD_TOPIC], record, done, _list_content(record, time))
            report(done, survey.count)
        writer.finish()
    return []


def _list_content(record: DriveRecord, time: dict[str, int]) -> dict[str, Any]:
    return {
        "timestamp": time,
        "index": record.index,
        "session": record.session,
        "timestamp_ms": record.timestamp_ms,
        "deleted": record.is_deleted,
        "values": record.values,
        "pictures": {key: picture.name for key, picture in record.pictures.items()},
    }


def _add(writer: Any, channel: int, record: DriveRecord, number: int, message: dict[str, Any]) -> None:
    moment = max(record.timestamp_ms, 0) * 1_000_000
    writer.add_message(channel, moment, json.dumps(message).encode(), moment, number)


def _add_channels(writer: Any, drive: RecordedDrive, survey: Survey) -> dict[str, int]:
    """Return the channel of each topic."""
    record = writer.register_schema(RECORD_SCHEMA, "jsonschema", json.dumps(_make_schema(drive, survey)).encode())
    channels = {RECORD_TOPIC: writer.register_channel(RECORD_TOPIC, "json", record)}
    keys = drive.heading.picture_keys
    if keys:
        content = json.dumps(fox.make_schema(fox.CompressedImage, PICTURE_SCHEMA)).encode()
        schema = writer.register_schema(PICTURE_SCHEMA, "jsonschema", content)
        channels |= {name_topic(key): writer.register_channel(name_topic(key), "json", schema) for key in keys}
    return channels


def _make_schema(drive: RecordedDrive, survey: Survey) -> dict[str, Any]:
    """Return the schema of a record."""
    names = {key: {"type": "string", "description": "file name in the tub"} for key in drive.heading.picture_keys}
    values = {column.key: _describe_column(column) for column in survey.columns}
    properties: dict[str, Any] = {
        "timestamp": fox.make_schema(fox.Time, "time"),
        "index": {"type": "integer", "description": "number of the record; consecutive ones follow each other"},
        "session": {"type": "string", "description": "the drive it belongs to"},
        "timestamp_ms": {"type": "integer", "description": "when it was recorded [ms since 1970]"},
        "deleted": {"type": "boolean", "description": "whether it is marked as deleted"},
        "values": {"type": "object", "properties": values},
        "pictures": {"type": "object", "properties": names},
    }
    return {"title": RECORD_SCHEMA, "type": "object", "properties": properties}


def _describe_column(column: InputColumn) -> dict[str, Any]:
    kind = column.kind
    if kind.item == "json":
        return {}
    schema: dict[str, Any] = {"type": _ITEM_TYPES[kind.item]}
    for _ in range(kind.depth):
        schema = {"type": "array", "items": schema}
    return schema
