"""Axes of charts have round numbers, and every value has a place."""

from donkeysim.core.chart import Area, choose_ticks, join_pixels, join_places, make_axis


def test_axes_have_round_numbers_that_do_not_leave_them():
    assert choose_ticks(0.0, 0.7) == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    assert choose_ticks(7.06, 7.31) == [7.1, 7.15, 7.2, 7.25, 7.3]
    assert choose_ticks(0.0, 3000.0) == [0.0, 500.0, 1000.0, 1500.0, 2000.0, 2500.0, 3000.0]


def test_a_logarithmic_axis_has_powers_of_ten_or_its_ends():
    assert make_axis(1e-5, 1e-3, 0.0, 100.0, True).list_ticks() == [1e-5, 1e-4, 1e-3]
    assert make_axis(2.0, 5.0, 0.0, 100.0, True).list_ticks() == [2.0, 5.0]
    assert make_axis(1e-5, 1e-3, 0.0, 100.0, True).find(1e-4) == 50.0
    assert not make_axis(0.0, 1.0, 0.0, 100.0, True).is_log


def test_a_single_value_is_in_the_middle_and_what_is_outside_at_an_end():
    axis = make_axis(3.0, 3.0, 0.0, 100.0)
    assert [axis.find(value) for value in (3.0, -9.0, 99.0)] == [50.0, 0.0, 100.0]


def test_a_chart_escapes_what_it_is_called_and_points_up():
    area = Area(width=100, height=50, left=10, top=5, right=1, bottom=2)
    assert area.open("plot", "a < b") == '<svg class="plot" viewBox="0 0 111 57" role="img" aria-label="a &lt; b">'
    assert (area.make_up(0.0, 1.0).find(1.0), area.make_across(0.0, 1.0).find(1.0)) == (5.0, 110.0)
    assert join_pixels([(1, 2), (3, 4)]) == "M1.0 2.0L3.0 4.0"
    assert join_places([(1.0, 2.0)]) == "M1.000 -2.000"
