"""What a race organiser's program may say on the private API's port; `replies` has what it is told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from donkeysim.core.errors import WireError
from donkeysim.wire.fields import Form, show
from donkeysim.wire.messages import Request
from donkeysim.wire.reading import Reading, read_bare, read_by

MOST_SEED = (1 << 53) - 1
"""Whole numbers up to here are the same in every language's JSON."""


class Verify(Request, frozen=True, tag="verify"):
    """Show the key."""

    private_key: str


class SetRandomSeed(Request, frozen=True, tag="set_random_seed"):
    """Draw the challenges anew from another seed, now and in scenes that are loaded later."""

    seed: int


class ResetChallenges(Request, frozen=True, tag="reset_challenges"):
    """Draw the challenges anew from the same seed: what was pushed about stands where it stood."""


def read_private_request(fields: Mapping[str, Any]) -> Reading:
    """Return what a client's JSON object asks for.

    Raises:
        UnknownMessageError: No or unknown `msg_type`.
        WireError: A field is missing or cannot be understood.
    """
    return read_by(_READERS, fields)


def _read_verify(form: Form) -> Verify:
    key = form.read_text("private_key")
    if key is None:
        raise WireError("private_key is missing; this message needs it.")
    return Verify(private_key=key)


def _read_seed(form: Form) -> SetRandomSeed:
    form.read_required_number("seed")
    seed = form.read_integer("seed")
    if seed is None or not 0 <= seed <= MOST_SEED:
        raise WireError(f"seed {show(form.fields['seed'])} is not valid; it takes 0 to {MOST_SEED}.")
    return SetRandomSeed(seed=seed)


_READERS = {
    Verify.message_type(): _read_verify,
    SetRandomSeed.message_type(): _read_seed,
    ResetChallenges.message_type(): read_bare(ResetChallenges()),
}
