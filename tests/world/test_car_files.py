"""Cars come from presets, from presets on other floors, and from files that say what differs."""

import pytest

from donkeysim.core.errors import SpecError
from donkeysim.physics.vehicle import pack_car
from donkeysim.world.specs import list_cars, load_car


def write(folder, text):
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_preset_makes_a_car_and_bears_its_name():
    names = list_cars()
    assert {"original", "original-2021", "rc10", "rc10-asphalt", "rc16", "rc16-concrete"} <= set(names)
    for name in names:
        assert load_car(name).name == name
        pack_car(load_car(name))


def test_another_floor_changes_the_tyres_and_nothing_else():
    carpet, concrete = load_car("rc10"), load_car("rc10-concrete")
    assert concrete.sideways.extremum_value == 0.65 < carpet.sideways.extremum_value
    changed = {name for name in vars(carpet) if getattr(carpet, name) != getattr(concrete, name)}
    assert changed == {"name", "forward", "sideways", "sideways_rear"}


def test_a_file_needs_to_say_only_what_differs_from_its_base(tmp_path):
    path = write(tmp_path, 'base = "rc10-asphalt"\nsteer_gain = 0.3\n\n[servo]\nspeed = 2.0\n')
    car, base = load_car(str(path)), load_car("rc10-asphalt")
    assert (car.name, car.steer_gain, car.servo.speed) == ("mine", 0.3, 2.0)
    assert (car.servo.dead_band, car.sideways, car.mass) == (base.servo.dead_band, base.sideways, base.mass)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('base = "rc9"', "line 1: unknown car preset 'rc9'"),
        ('base = "rc10"\n[servo]\nspede = 1.0', "line 3: unknown key in [servo] 'spede'; did you mean 'speed'?"),
        ('base = "rc10"\n[esc]\ndead_zone = 0.9', "dead_zone 0.9 is not valid; it takes 0 to 0.5."),
        ('base = "rc10"\n[battery]\nempty_voltage = 20.0', "empty_voltage 20 V must lie above 0"),
        ("mass = 2.0", "is missing"),
    ],
)
def test_a_broken_file_is_told_with_its_place(tmp_path, text, told):
    with pytest.raises(SpecError) as caught:
        load_car(str(write(tmp_path, text)))
    assert told in str(caught.value)
    assert "mine.toml" in str(caught.value)


def test_a_name_that_is_none_is_told_what_there_is():
    with pytest.raises(SpecError, match=r"did you mean 'rc10'\?.*A file of your own ends in \.toml"):
        load_car("rc100")
