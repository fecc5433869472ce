"""Who may do what on the wire follows from the address a client has."""

from types import SimpleNamespace

import pytest

from donkeysim.serve.options import WIRE_CONTROLS, find_forbidden
from donkeysim.wire.messages import DriveCar, ExitScene, LoadScene, QuitApp, RegenerateRoad, ResetCar, SetStepMode

SCENES = {LoadScene, ExitScene, RegenerateRoad, SetStepMode}


def make_connection(there, here="192.0.2.7"):
    return SimpleNamespace(getpeername=lambda: (there, 5555), getsockname=lambda: (here, 9091))


@pytest.mark.parametrize("control", WIRE_CONTROLS)
@pytest.mark.parametrize(
    ("there", "here"),
    [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("::ffff:127.0.0.1", "::ffff:127.0.0.1"), ("192.0.2.7", "192.0.2.7")],
)
def test_on_this_machine_everything_may_be_said(control, there, here):
    assert find_forbidden(control, make_connection(there, here)) == frozenset()


def test_elsewhere_it_is_as_the_option_says():
    forbidden = {control: find_forbidden(control, make_connection("192.0.2.9")) for control in WIRE_CONTROLS}
    assert forbidden == {"local": SCENES | {QuitApp}, "scenes": {QuitApp}, "all": frozenset()}
    assert not forbidden["local"] & {DriveCar, ResetCar}


def test_who_has_gone_may_do_nothing_more():
    def fail():
        raise OSError(107, "not connected")

    assert QuitApp in find_forbidden("all", SimpleNamespace(getpeername=fail))
