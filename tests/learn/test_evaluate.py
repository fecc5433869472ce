import argparse
import re
from dataclasses import replace

import numpy as np
import pytest

from donkeysim.car.config import make_default_config
from donkeysim.cli.commands.evaluate import name_report, read_conditions
from donkeysim.cli.evaluation_matrix import choose_out
from donkeysim.core.errors import SpecError
from donkeysim.envs.conf import read_conf
from donkeysim.learn.evaluate import INTERRUPTED, LAPS_DONE, LEFT_ROAD, STOOD_STILL, Conditions, evaluate
from donkeysim.learn.pilot import BUILT_IN_PILOT, load_pilot
from donkeysim.learn.report import describe_verdict, format_report, write_report

TRACK = ["generated_track"]


class Fixed:
    """A pilot that always says the same."""

    kind = "linear"
    input_names: tuple[str, ...] = ()

    def __init__(self, angle, throttle, channels=()):
        self.answer, self.input_names = (angle, throttle), channels
        self.images, self.others, self.reset_count = [], [], 0

    def run(self, image, *others):
        self.images.append(image)
        self.others.append(others)
        return self.answer

    def reset(self):
        self.reset_count += 1


@pytest.fixture(scope="module")
def built_in():
    return evaluate(load_pilot(BUILT_IN_PILOT), TRACK, 1, Conditions(film_time=0.4))


def test_the_built_in_pilot_drives_a_lap_on_the_road(built_in):
    run = built_in.runs[0]
    assert built_in.is_passed, describe_verdict(built_in)
    assert (run.ending, len(run.lap_times), run.on_road_share) == (LAPS_DONE, 1, 1.0)
    assert run.cte_most < 0.25
    assert BUILT_IN_PILOT.stat().st_size < 1_000_000


class Sized(Fixed):
    """A pilot for pictures of one size, who stays where it is."""

    def __init__(self, shape):
        super().__init__(0.0, 0.0)
        self.image_shape = shape


@pytest.mark.parametrize("shape", [(30, 80, 3), (80, 160, 3), (120, 160, 1), (66, 200, 3)])
def test_a_camera_takes_pictures_of_the_pilot_s_size_where_no_config_says_another(shape):
    conf = read_conf({"cam_config": {"fov": 80}})
    for fits, expected in ((True, shape), (False, (120, 160, 3))):
        pilot = Sized(shape)
        evaluate(pilot, TRACK, 1, Conditions(conf=conf, fits_pilot=fits))
        assert pilot.images[0].shape == expected


def test_lap_times_and_trace_belong_together(built_in):
    run = built_in.runs[0]
    lap = run.column("lap") == 1
    assert run.lap_times[0] == pytest.approx(lap.sum() / 20.0, abs=0.11)
    assert np.diff(run.column("time")) == pytest.approx(0.05)
    distance = np.hypot(np.diff(run.column("x")), np.diff(run.column("y"))).sum()
    assert run.speed_mean * run.simulated_time == pytest.approx(distance, rel=0.02)
    assert run.column("along")[lap].max() > 26.0


@pytest.mark.parametrize("seed", [1, 2])
def test_the_built_in_pilot_starts_anywhere(seed):
    conditions = Conditions(film_time=0.4, films_best_lap=True)
    evaluation = evaluate(load_pilot(BUILT_IN_PILOT), TRACK, 1, conditions, seed)
    assert evaluation.is_passed
    assert evaluation.runs[0].shows_best_lap
    assert "The best lap; in the corner" in format_report(evaluation, "any", {})


@pytest.mark.parametrize(("laps", "begin"), [(1, "The lap was driven, on"), (2, "All 2 laps driven, on")])
def test_the_verdict_counts_laps_in_words(built_in, laps, begin):
    runs = (replace(built_in.runs[0], wanted_laps=laps),)
    assert describe_verdict(replace(built_in, runs=runs)).startswith(begin)


def test_same_seed_same_figures():
    pilot = load_pilot(BUILT_IN_PILOT)
    first, second, other = (evaluate(Limited(pilot, 60), TRACK, 1, seed=seed).runs[0] for seed in (3, 3, 4))
    assert np.array_equal(first.trace, second.trace)
    assert not np.array_equal(first.trace[:50], other.trace[:50])


class Limited:
    """A pilot that stops after so many pictures."""

    kind = "linear"
    input_names = ()

    def __init__(self, pilot, count):
        self.pilot, self.left = pilot, count

    def run(self, image):
        self.left -= 1
        return self.pilot.run(image) if self.left > 0 else (0.0, 0.0)

    def reset(self):
        self.pilot.reset()


class Interrupted(Limited):
    """A pilot during which somebody presses Ctrl-C."""

    def run(self, image):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
        return self.pilot.run(image)


def test_ctrl_c_keeps_what_was_driven_where_that_is_asked_for(tmp_path):
    scenes = [*TRACK, "warren"]
    found = evaluate(
        Interrupted(load_pilot(BUILT_IN_PILOT), 700), scenes, 3, Conditions(film_time=0.4), keeps_interrupted=True
    )
    assert (len(found.runs), found.was_interrupted, found.is_passed) == (1, True, False)
    (run,) = found.runs
    assert (run.ending, len(run.lap_times), len(run.trace)) == (INTERRUPTED, 1, 699)
    assert describe_verdict(found) == "generated_track: stopped by Ctrl-C after 1 of 3 laps."
    assert write_report(found, tmp_path / "report.html", "pilot", {}).stat().st_size > 10_000
    with pytest.raises(KeyboardInterrupt):
        evaluate(Interrupted(load_pilot(BUILT_IN_PILOT), 5), TRACK, 1)


def choose(out, default):
    return choose_out(argparse.Namespace(out=out), str(default), "where the report is a page")


def test_a_report_by_default_replaces_none(tmp_path, capsys):
    name = tmp_path / "p.h5_report.html"
    for number, expected in enumerate(("p.h5_report.html", "p.h5_report_2.html", "p.h5_report_3.html")):
        path = choose(None, name)
        assert path.name == expected
        path.write_text(str(number))
    assert choose(str(name), name) == name
    assert "will be replaced." in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("out", ["nowhere/a.html", "folder.html", "a.txt"])
def test_where_no_report_can_be_is_told_before_anybody_drives(tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(SpecError, match=r"cannot be written; give another file|is not valid here"):
        choose(out, "a.html")


def test_say_where_a_pilot_left_the_road():
    run = evaluate(Fixed(0.0, 0.2), TRACK, 1).runs[0]
    assert run.ending == LEFT_ROAD
    assert not run.is_passed
    assert run.departures[0].name == "left"
    row = run.trace[round(run.departures[0].time * 20)]
    assert (row[1], row[2], row[6]) == (run.departures[0].x, run.departures[0].y, 0.0)
    assert run.simulated_time - run.departures[0].time == pytest.approx(3.05, abs=0.2)


def test_give_up_on_a_pilot_that_stands_still():
    pilot = Fixed(0.3, 0.0)
    run = evaluate(pilot, TRACK, 1).runs[0]
    assert run.ending == STOOD_STILL
    assert run.simulated_time == pytest.approx(5.0, abs=0.2)
    assert pilot.reset_count == 1


def test_show_the_pilot_what_the_config_says():
    pilot = Fixed(0.0, 0.0, ("imu/acl_x", "gyro/gyro_y"))
    conf = read_conf({"cam_resolution": (60, 80, 3)})
    evaluate(pilot, TRACK, 1, Conditions(conf=conf, transform=lambda image: image[20:], rate=10.0))
    assert {image.shape for image in pilot.images} == {(40, 80, 3)}
    assert len(pilot.images) == pytest.approx(51, abs=1)
    assert all(isinstance(value, float) for value in pilot.others[0])


def test_the_throttle_factor_slows_the_pilot():
    fast, slow = (
        evaluate(Limited(Fixed(0.0, 0.1), 40), TRACK, 1, Conditions(throttle_factor=factor)).runs[0]
        for factor in (1.0, 0.5)
    )
    assert slow.column("speed").max() < 0.7 * fast.column("speed").max()


def test_refuse_what_cannot_be_evaluated():
    pilot = Fixed(0.0, 0.1)
    for tracks, laps, seed in (
        (TRACK, 0, 0),
        ([], 1, 0),
        (["flat"], 1, 0),
        ([*TRACK, "no_track"], 1, 0),
        (TRACK, 1, -1),
    ):
        with pytest.raises(SpecError):
            evaluate(pilot, tracks, laps, seed=seed)
    assert pilot.images == []
    with pytest.raises(SpecError, match="behavior/one_hot_state_array"):
        evaluate(Fixed(0.0, 0.1, ("behavior/one_hot_state_array",)), TRACK, 1)


def test_the_report_is_one_page_that_loads_nothing(built_in, tmp_path):
    path = write_report(built_in, tmp_path / "new" / "report.html", "<my> pilot", {"file": "a & b"})
    page = path.read_text(encoding="utf-8")
    assert "&lt;my&gt; pilot on generated_track" in page
    assert "a &amp; b" in page
    assert 'src="data:image/webp;base64,' in page
    assert not re.search(r'(?:src|href)="(?!data:)|url\(|@import|https?://', page)
    assert page.count('class="plot"') == 3
    assert f"{built_in.runs[0].lap_times[0]:.2f}" in page


def test_pilots_of_one_name_have_reports_of_their_own():
    assert [name_report(model) for model in ("models/p.h5", "models/p.onnx", "built-in")] == [
        "models/p.h5_report.html",
        "models/p.onnx_report.html",
        "built_in_report.html",
    ]


def test_the_report_marks_where_it_went_wrong():
    page = format_report(evaluate(Fixed(0.0, 0.2), TRACK, 2), "bad", {})
    assert 'class="verdict failed"' in page
    assert "left the road after 0 of 2 laps, off the road once" in page
    assert 'class="departure"' in page


@pytest.mark.parametrize("seed", [0, 23])
def test_a_slow_pilot_has_the_time_to_come_to_the_start_line_first(seed):
    conditions = Conditions(throttle_factor=0.4)
    assert evaluate(load_pilot(BUILT_IN_PILOT), TRACK, 1, conditions, seed).runs[0].ending == LAPS_DONE


def test_pictures_that_are_too_late_are_refused_by_the_key_that_says_so():
    with pytest.raises(
        SpecError, match=r"1\.5 s late are more than an evaluation takes, 1 s; lower SIM_ARTIFICIAL_LATENCY"
    ):
        read_conditions(make_default_config(changes={"SIM_ARTIFICIAL_LATENCY": 1500}))


def test_pictures_are_as_late_as_in_a_drive():
    prompt, late = Fixed(0.0, 0.5), Fixed(0.0, 0.5)
    for pilot, changes in ((prompt, {}), (late, {"SIM_ARTIFICIAL_LATENCY": 150})):
        conditions, track = read_conditions(make_default_config(changes=changes))
        evaluate(pilot, [track], 1, conditions)
    assert not np.array_equal(prompt.images[10], prompt.images[13])
    for index in range(20):
        assert np.array_equal(late.images[index + 3], prompt.images[index])
