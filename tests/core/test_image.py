"""Picture files hold the picture, in three channels."""

import io
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from donkeysim.core.errors import SpecError
from donkeysim.core.image import decode_picture, encode_picture


def make_picture():
    ramp = np.linspace(0, 255, 40 * 30 * 3).reshape(30, 40, 3)
    return np.ascontiguousarray(ramp.astype(np.uint8))


@pytest.mark.parametrize("encoding", ["PNG", "TGA"])
def test_lossless_files_return_every_pixel(encoding):
    picture = make_picture()
    assert np.array_equal(decode_picture(encode_picture(picture, encoding)), picture)


def test_jpeg_is_quality_75_with_subsampled_colour():
    data = encode_picture(make_picture(), "JPG")
    with Image.open(io.BytesIO(data)) as image:
        assert image.mode == "RGB"
        assert image.layer[0][1:3] == (2, 2)
        assert image.quantization[0][0] == 8
    assert np.abs(decode_picture(data).astype(int) - make_picture()).mean() < 3


def test_an_unknown_encoding_names_the_valid_ones():
    with pytest.raises(SpecError, match="JPG, PNG, TGA"):
        encode_picture(make_picture(), "BMP")


def test_after_preparing_the_first_picture_of_an_encoding_loads_nothing():
    program = """
import sys
from donkeysim.core import image
image.prepare_encodings()
loaded = set(sys.modules)
for encoding in ("JPG", "PNG", "TGA"):
    image.encode_picture(image.np.zeros((8, 8, 3), image.np.uint8), encoding)
print(sorted(set(sys.modules) - loaded))
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"
