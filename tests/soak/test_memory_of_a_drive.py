"""What `make run` takes of memory with its pages open, on a first run and when everything is compiled."""

import pytest
from benchmarks.memory import AT_MOST, is_measurable, measure_peak

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(600),
    pytest.mark.skipif(not is_measurable(), reason="this system does not tell what processes share"),
]


def test_a_drive_and_its_pages_fit_into_what_is_asked(tmp_path):
    first = measure_peak(tmp_path)
    print(f"\nfirst run: {sum(first.values()):.0f} MB", first)
    again = measure_peak(tmp_path)
    print(f"again: {sum(again.values()):.0f} MB", again)
    assert 100.0 < sum(first.values()) <= AT_MOST
    assert 100.0 < sum(again.values()) <= AT_MOST
