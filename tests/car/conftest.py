"""Car folders as people have them."""

import textwrap

import pytest

from donkeysim.car.config import TEMPLATE_FOLDER, load_config


class CarFolder:
    """A folder with the template's config.py and a myconfig.py of the test."""

    def __init__(self, path):
        self.path = path
        self.write_config((TEMPLATE_FOLDER / "config.py").read_text(encoding="utf-8"))

    def write_config(self, text):
        (self.path / "config.py").write_text(text, encoding="utf-8")

    def load(self, own="", **options):
        """Load with a myconfig.py of these lines."""
        (self.path / "myconfig.py").write_text(textwrap.dedent(own), encoding="utf-8")
        return load_config(self.path / "config.py", **options)


@pytest.fixture
def car_folder(tmp_path):
    return CarFolder(tmp_path)
