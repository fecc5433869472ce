"""Histograms, comparisons and films of tubs: looked at by reading them back."""

import av
import numpy as np
import pytest
from PIL import Image

from donkeysim.core.errors import TubError
from donkeysim.tub.film import FilmOptions, draw_frame, find_saliency, make_film
from donkeysim.tub.histogram import (
    choose_key,
    describe_error,
    draw_comparison,
    draw_histograms,
    gather_numbers,
    name_histogram,
)
from donkeysim.tub.reader import TubReader
from donkeysim.tub.writer import TubWriter
from tub.drives import make_record, write_tub


@pytest.fixture
def tub(tmp_path):
    return TubReader(write_tub(tmp_path / "data", 12))


def decode_film(path):
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        return float(stream.average_rate), [frame.to_ndarray(format="rgb24") for frame in container.decode(stream)]


def find_colour(picture, colour, tolerance=70):
    return np.argwhere((np.abs(picture.astype(int) - colour) < tolerance).all(axis=2))


def test_numbers_of_living_records_are_counted_by_key(tub):
    numbers = gather_numbers([tub, tub])
    assert sorted(numbers) == ["user/angle", "user/throttle"]
    assert len(numbers["user/angle"]) == 24
    assert list(choose_key(numbers, "user/angle")) == ["user/angle"]
    with pytest.raises(TubError, match="did you mean 'user/angle'"):
        choose_key(numbers, "user/angel")
    with pytest.raises(TubError, match="no numbers"):
        choose_key({}, None)


def test_histograms_are_named_as_the_original_names_them(tub, tmp_path):
    assert name_histogram(tub.path, None) == "data_hist.png"
    assert name_histogram(tub.path, "user/angle") == "data_hist_user_angle.png"
    draw_histograms(gather_numbers([tub]), tmp_path / "hist.png")
    with Image.open(tmp_path / "hist.png") as image:
        assert image.size == (1000, 300)
        assert np.asarray(image.convert("RGB")).std() > 10


def test_a_comparison_says_how_far_the_pilot_is_off(tmp_path):
    driven = [(number / 10, 0.5) for number in range(10)]
    assert describe_error(np.arange(4.0), np.arange(4.0) + 1) == "mean difference 1.000, correlation 1.00"
    assert describe_error(np.ones(3), np.arange(3.0)) == "mean difference 0.667"
    draw_comparison(driven, driven[::-1], "a\nb", tmp_path / "pilot.h5_pred.png")
    with Image.open(tmp_path / "pilot.h5_pred.png") as image:
        assert image.size == (1200, 700)


def test_a_film_has_a_frame_for_each_record_at_the_rate_of_the_drive(tub, tmp_path):
    done = []
    assert make_film(tub, tmp_path / "a.mp4", 20, FilmOptions(scale=3), report=lambda *step: done.append(step)) == 12
    rate, frames = decode_film(tmp_path / "a.mp4")
    assert rate == 20
    assert [frame.shape for frame in frames] == [(36, 48, 3)] * 12
    assert done[-1] == (12, 12)
    first, last = (int(frames[index][4, 4].mean()) for index in (0, 11))
    assert abs(first - 0) < 12
    assert abs(last - 77) < 12


def test_a_film_shows_the_records_that_were_asked_for(tub, tmp_path):
    assert make_film(tub, tmp_path / "a.mp4", 20, FilmOptions(shows_user=False), start=3, end=5) == 2
    for start, end in ((5, 5), (-1, 3), (12, -1), (7, 3)):
        with pytest.raises(TubError, match="has 12 records"):
            make_film(tub, tmp_path / "b.mp4", 20, FilmOptions(), start, end)
    with pytest.raises(TubError, match="cannot be written"):
        make_film(tub, tmp_path / "b.nonsense", 20, FilmOptions())


def test_lines_point_where_driver_and_pilot_steer(tmp_path):
    with TubWriter(write_tub(tmp_path / "data", 0)) as writer:
        black = np.zeros((120, 160, 3), np.uint8)
        writer.write_record({**make_record(0), "cam/image_array": black, "user/angle": 0.8, "user/throttle": 0.6})
    (record,) = TubReader(tmp_path / "data")
    picture = draw_frame(record, record.load_image(), FilmOptions(answer=lambda _record: (-0.8, 0.3)))
    user, pilot = find_colour(picture, (0, 220, 60)), find_colour(picture, (60, 120, 255))
    assert user[:, 1].max() > 200
    assert pilot[:, 1].min() < 130
    assert user[:, 0].min() < pilot[:, 0].min()
    bare = draw_frame(record, record.load_image(), FilmOptions(shows_user=False))
    assert bare.max() < 20


def test_what_a_pilot_looks_at_glows():
    picture = np.random.default_rng(1).integers(0, 255, (60, 80, 3), np.uint8)
    saliency = find_saliency(picture, lambda seen: (float(seen[10:20, 60:75].std()), 0.0))
    row, column = np.unravel_index(saliency.argmax(), saliency.shape)
    assert saliency.shape == (60, 80)
    assert 5 <= row <= 25
    assert 52 <= column <= 80
    assert saliency[40:, :40].max() < 0.05
    assert not find_saliency(picture, lambda _seen: (0.0, 0.0)).any()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "only says where Git LFS keeps it"),
        (b"<html>", "is broken: it is no picture"),
        (b"", "is broken: it is empty"),
    ],
)
def test_what_lies_in_place_of_a_picture_is_named(tmp_path, content, told):
    (record, *_) = TubReader(write_tub(tmp_path / "data", 3))
    record.locate_image().write_bytes(content)
    for read in (record.load_image, record.measure_image):
        with pytest.raises(TubError, match=told):
            read()


def test_a_tub_of_pointers_of_git_lfs_says_so(tmp_path):
    path = write_tub(tmp_path / "data", 3) / "manifest.json"
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    with pytest.raises(
        TubError, match=r"manifest\.json only says where Git LFS keeps it; get the file itself by 'git lfs"
    ):
        TubReader(path.parent)
