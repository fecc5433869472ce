"""A client's JSON objects to messages; each message reads its own fields.

The port of the private API takes a race organiser's messages only, which stand here too; `replies` has the answers.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple, Self

from donkeysim.core import frames
from donkeysim.core.errors import WireError, describe_unknown
from donkeysim.wire import equipment, messages
from donkeysim.wire.fields import LONGEST_NUMBER, Form, is_plain, show
from donkeysim.wire.messages import Request

REQUESTS = {kind.message_type(): kind for kind in (*messages.REQUESTS, *equipment.CONFIGURATIONS)}
"""All that clients may say, by `msg_type`."""


class UnknownMessageError(WireError):
    """No or unknown `msg_type`."""


class Reading(NamedTuple):
    """A request as understood.

    Attributes:
        request: What the client wants.
        note: What had to be changed to make it possible, one sentence for the client; "" for nothing, and for a
            lidar, whose notes are sent when the limit of rays has been seen to.
    """

    request: Request
    note: str = ""


def read_request(fields: Mapping[str, Any]) -> Reading:
    """Return what a client's JSON object asks for.

    Raises:
        UnknownMessageError: No or unknown `msg_type`.
        WireError: A field is missing or cannot be understood.
    """
    if fields.get("msg_type") == "control" and (control := _read_plain_control(fields)) is not None:
        return Reading(control)
    return read_by(REQUESTS, fields)


def read_by(kinds: Mapping[str, type[Request]], fields: Mapping[str, Any]) -> Reading:
    """Return what a JSON object asks for, by what may be said where it came.

    Raises:
        UnknownMessageError: No or unknown `msg_type`.
        WireError: A field is missing or cannot be understood.
    """
    name = fields.get("msg_type")
    if type(name) is not str:
        given = f"is {show(name)}" if "msg_type" in fields else "is missing"
        raise UnknownMessageError(f"msg_type {given}; it must be one of {', '.join(sorted(kinds))}.")
    kind = kinds.get(name)
    if kind is None:
        raise UnknownMessageError(describe_unknown("msg_type", name, tuple(kinds)))
    form = Form(fields)
    try:
        request = kind.read(form)
    except WireError as error:
        raise WireError(f"{name}: {error}") from error
    return Reading(request, f"{name}: {'; '.join(form.notes)}." if form.notes else "")


def _read_plain_control(fields: Mapping[str, Any]) -> messages.DriveCar | None:
    """Return a control that is written as nearly all are, three texts of numbers in their ranges; None of any other."""
    try:
        steering, throttle, brake = fields["steering"], fields["throttle"], fields["brake"]
        texts = "".join((steering, throttle, brake))
        if len(texts) > LONGEST_NUMBER or not is_plain(texts):
            return None
        steering, throttle, brake = float(steering), float(throttle), float(brake)
    except (KeyError, TypeError, ValueError):
        return None
    if not (-1.0 <= steering <= 1.0 and -1.0 <= throttle <= 1.0 and 0.0 <= brake <= 1.0):
        return None
    return messages.DriveCar(steer=frames.steer_from_wire(steering), throttle=throttle, brake=brake)


MOST_SEED = (1 << 53) - 1
"""Whole numbers up to here are the same in every language's JSON."""


class Verify(Request, frozen=True, tag="verify"):
    """Show the key."""

    private_key: str

    @classmethod
    def read(cls, form: Form) -> Self:
        """Return the message of these fields."""
        key = form.read_text("private_key")
        if key is None:
            raise WireError("private_key is missing; this message needs it.")
        return cls(private_key=key)


class SetRandomSeed(Request, frozen=True, tag="set_random_seed"):
    """Draw the challenges anew from another seed, now and in scenes that are loaded later."""

    seed: int

    @classmethod
    def read(cls, form: Form) -> Self:
        """Return the message of these fields."""
        form.read_required_number("seed")
        seed = form.read_integer("seed")
        if seed is None or not 0 <= seed <= MOST_SEED:
            raise WireError(f"seed {show(form.fields['seed'])} is not valid; it takes 0 to {MOST_SEED}.")
        return cls(seed=seed)


class ResetChallenges(Request, frozen=True, tag="reset_challenges"):
    """Draw the challenges anew from the same seed: what was pushed about stands where it stood."""


read_private_request = partial(
    read_by, {kind.message_type(): kind for kind in (Verify, SetRandomSeed, ResetChallenges)}
)
"""Returns what an organiser's JSON object asks for, as `read_by` does."""
