"""A dataclass is told what it may not have, by its annotations; what means the same is taken."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from donkeysim.core.checked_fields import check_fields, limit, name_type
from donkeysim.core.errors import SpecError


@dataclass(frozen=True)
class Part:
    name: str = ""


@dataclass(frozen=True)
class Thing:
    size: float = field(default=1.0, metadata=limit(0.5, 2.0, "m"))
    count: int | None = None
    is_on: bool = False
    place: tuple[float, float, float] = (0.0, 0.0, 0.0)
    names: tuple[str, ...] = ()
    rules: str | Sequence[str | Callable[[int], int]] = ()
    part: Part | None = None

    def __post_init__(self) -> None:
        check_fields(self, finite=True)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"size": "1"}, "size is '1'; it takes a number."),
        ({"size": True}, "size is True; it takes a number."),
        ({"size": 10**400}, "it takes a number."),
        ({"size": 3}, "size is 3.0; it takes 0.5 to 2 m."),
        ({"size": float("nan")}, "size is nan; it takes 0.5 to 2 m."),
        ({"count": 1.5}, "count is 1.5; it takes a whole number or None."),
        ({"count": True}, "count is True; it takes a whole number or None."),
        ({"is_on": "yes"}, "is_on is 'yes'; it takes True or False."),
        ({"is_on": 2}, "is_on is 2; it takes True or False."),
        ({"place": 1.0}, "place is 1.0; it takes three numbers."),
        ({"place": (1.0, 2.0)}, "place is (1.0, 2.0); it takes three numbers."),
        ({"place": np.array(1.0)}, "place is array(1.); it takes three numbers."),
        ({"place": (1.0, float("inf"), 0.0)}, "place is (1.0, inf, 0.0), but must be finite."),
        ({"names": "ann"}, "names is 'ann'; it takes a list of texts, as ['ann']."),
        ({"names": {"ann": 1}}, "names is {'ann': 1}; it takes a list of texts."),
        ({"names": [1]}, "names is [1]; it takes a list of texts."),
        ({"rules": [1]}, "rules is [1]; it takes a text or a list of texts or functions."),
        ({"rules": len}, "it takes a text or a list of texts or functions."),
        ({"part": {"name": "x"}}, "part is {'name': 'x'}; it takes a Part or None."),
        ({"part": "x" * 1000}, "...; it takes a Part or None."),
    ],
)
def test_a_value_of_another_type_is_refused_in_a_sentence(given, sentence):
    with pytest.raises(SpecError) as told:
        Thing(**given)
    assert str(told.value).endswith(sentence)
    assert str(told.value).startswith(next(iter(given)))
    assert len(str(told.value)) < 160


def test_what_means_the_same_becomes_what_the_annotation_says():
    thing = Thing(
        size=np.float32(1.5),
        count=np.int64(3),
        is_on=np.True_,
        place=np.array([1, 2, 3]),
        names=[Path("tracks"), "more"],
        rules=["a", len],
        part=Part("b"),
    )
    assert thing == Thing(1.5, 3, True, (1.0, 2.0, 3.0), ("tracks", "more"), ("a", len), Part("b"))
    assert [type(value) for value in (thing.size, thing.count, thing.is_on, thing.place[0])] == [
        float,
        int,
        bool,
        float,
    ]
    assert hash(thing) == hash(Thing(1.5, 3, True, [1, 2, 3], ["tracks", "more"], ("a", len), Part("b")))
    assert Thing(is_on=1).is_on is True


def test_a_limit_that_was_converted_from_another_unit_is_within():
    assert Thing(size=2.0 + 1e-12).size > 2.0


def test_types_are_named_in_words():
    assert name_type(tuple[float, float]) == "two numbers"
    assert name_type(float | int | None) == "a number, a whole number or None"
