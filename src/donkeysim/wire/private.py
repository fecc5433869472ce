"""What a race organiser's program may say on the private API's port; `replies` has what it is told."""

from functools import partial
from typing import Self

from donkeysim.core.errors import WireError
from donkeysim.wire.fields import Form, show
from donkeysim.wire.messages import Request
from donkeysim.wire.reading import read_by

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
