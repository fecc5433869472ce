"""Who is to blame for a contact, by how the cars stood and moved."""

import math

import numpy as np
import pytest

from donkeysim.racing.rules.spotter import judge_contact
from race_script import make_ledger

EAST, NORTH, WEST = 0.0, math.pi / 2, math.pi


def judge(one, other):
    """Each is x, y, yaw, speed along the nose, sideways to the left, and whether it points against the path."""
    ledger, velocity = make_ledger(2, 2), np.zeros((2, 3))
    for row, (x, y, yaw, forward, left, is_against) in enumerate((one, other)):
        ledger.position[row, :2] = x, y
        ledger.yaw[row] = yaw
        ledger.heading_error[row] = math.pi if is_against else 0.0
        velocity[row, 0] = forward * math.cos(yaw) - left * math.sin(yaw)
        velocity[row, 1] = forward * math.sin(yaw) + left * math.cos(yaw)
    verdict = judge_contact(ledger, velocity, 0, 1)
    mirrored = judge_contact(ledger, velocity, 1, 0)
    assert (verdict.culprit, verdict.kind) == (mirrored.culprit, mirrored.kind), "whoever tells of it"
    return verdict.culprit, verdict.kind


AHEAD = (0.3, 0.0, EAST, 1.0, 0.0, False)


@pytest.mark.parametrize(
    ("one", "other", "culprit", "kind"),
    [
        ((0.0, 0.0, EAST, 2.0, 0.0, False), AHEAD, 0, "rear_end"),
        ((0.0, 0.0, EAST, 2.0, 0.0, False), (0.3, 0.05, EAST, 0.0, 0.0, False), 0, "rear_end"),
        ((0.0, 0.0, EAST, 1.0, 0.0, False), (0.3, 0.0, EAST, -0.5, 0.0, False), 1, "backed_into"),
        ((0.0, 0.0, EAST, 0.0, 0.0, False), (0.3, 0.0, EAST, -0.5, 0.0, False), 1, "backed_into"),
        ((0.0, 0.0, EAST, 0.0, 0.0, False), AHEAD, -1, "contact"),
        ((0.0, 0.0, EAST, 1.0, 0.0, False), (0.3, 0.0, NORTH, 1.0, 0.0, False), 0, "contact"),
        ((0.0, 0.0, EAST, 1.0, 0.0, False), (0.3, 0.0, WEST, 1.0, 0.0, True), 1, "contact"),
        ((0.0, 0.0, EAST, 1.0, 0.0, False), (0.3, 0.0, WEST, 0.0, 0.0, False), 0, "contact"),
        ((0.0, 0.0, EAST, 1.0, 0.0, False), (0.3, 0.0, WEST, 1.0, 0.0, False), -1, "contact"),
        ((0.0, 0.0, EAST, 1.0, 0.4, False), (0.0, 0.2, EAST, 1.0, 0.0, False), 0, "contact"),
        ((0.0, 0.0, EAST, 1.0, 0.0, False), (0.0, 0.2, EAST, 1.0, -0.4, False), 1, "contact"),
        ((0.0, 0.0, EAST, 1.0, 0.1, False), (0.0, 0.2, EAST, 1.0, 0.0, False), -1, "contact"),
    ],
)
def test_the_blame_lies_where_it_should(one, other, culprit, kind):
    assert judge(one, other) == (culprit, kind)
