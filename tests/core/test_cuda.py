"""What the device that is a GPU asks of numba-cuda; stand-ins answer, as nothing here needs a GPU."""

import contextlib
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from donkeysim.core import cuda
from donkeysim.core.errors import DonkeySimError, SpecError
from donkeysim.core.kernel import index_kernel


class Pair(NamedTuple):
    first: np.ndarray
    more: tuple


@index_kernel
def count_index(index, room, visits):
    visits[index] += 1


class Card:
    """Two GPUs that note what they are asked for."""

    def __init__(self, monkeypatch, available=True):
        self.calls = []
        driver = SimpleNamespace(driver=self, binding=self, device_memset=self.note("memset"))
        flags = SimpleNamespace(CU_STREAM_NON_BLOCKING=1, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL=1)
        self.CUstream_flags = self.CUstreamCaptureMode = flags
        numba = SimpleNamespace(
            is_available=lambda: available,
            gpus=[contextlib.nullcontext()] * 2,
            grid=None,
            defer_cleanup=contextlib.nullcontext,
            external_stream=lambda handle: f"stream {handle}",
            device_array=self.make_array,
            jit=lambda **options: lambda loop: self,
        )
        modules = {"numba_cuda": None, "numba.cuda": numba, "numba.cuda.cudadrv.driver": driver}
        monkeypatch.setattr(cuda, "import_extra", lambda *_: None)
        monkeypatch.setattr(cuda, "import_module", modules.__getitem__)

    def make_array(self, shape, dtype):
        array = np.empty(shape, dtype).view(Memory)
        array.gpu_data = object() if array.size else None
        return array

    def note(self, name, result=None):
        def call(*arguments):
            self.calls.append((name, *arguments))
            return result

        return call

    def __getattr__(self, name):
        return self.note(name, result=7)

    def __getitem__(self, configuration):
        return self.note(("launch", *configuration))


class Memory(np.ndarray):
    """Memory of a GPU."""

    def copy_to_device(self, source):
        self[...] = source


def test_a_gpu_that_is_not_there_is_named(monkeypatch):
    Card(monkeypatch)
    with pytest.raises(SpecError, match="'cuda:2'; there are GPUs 0 to 1 here"):
        cuda.Cuda(2)
    Card(monkeypatch, available=False)
    with pytest.raises(SpecError, match="no NVIDIA GPU here, or no driver"):
        cuda.Cuda()


def test_an_install_without_numba_cuda_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "numba_cuda", None)
    with pytest.raises(DonkeySimError, match=r'needs numba-cuda; install it .*\[gpu\]"'):
        cuda.Cuda()


def test_an_upload_keeps_the_form_of_tuples_and_gives_every_array_an_address(monkeypatch):
    Card(monkeypatch)
    given = Pair(np.arange(3), (np.zeros((0, 2)), 5))
    pair = cuda.Cuda().upload(given)
    assert isinstance(pair, Pair)
    assert isinstance(pair.first, Memory)
    assert pair.first.tolist() == [0, 1, 2]
    empty, number = pair.more
    assert empty.shape == (0, 2)
    assert empty.gpu_data is not None
    assert number == 5


def test_a_graph_notes_launches_on_a_stream_of_its_own_and_ends_even_after_an_error(monkeypatch):
    card = Card(monkeypatch)
    device, visits = cuda.Cuda(), np.zeros(100)
    graph = device.capture(lambda: device.run(count_index, 100, visits))
    names = [name for name, *_ in card.calls]
    assert names == [
        "cuStreamCreate", "cuStreamBeginCapture", ("launch", 2, 64, "stream 7"), "cuStreamEndCapture",
        "cuGraphInstantiate", "cuGraphDestroy", "cuStreamDestroy",
    ]  # fmt: skip
    graph.launch()
    assert card.calls[-1][0] == "cuGraphLaunch"
    with pytest.raises(ZeroDivisionError):
        device.capture(lambda: 1 // 0)
    assert [name for name, *_ in card.calls[-2:]] == ["cuStreamEndCapture", "cuStreamDestroy"]
    device.run(count_index, 64, visits)
    assert card.calls[-1][0] == ("launch", 1, 64, 0)


def test_no_indices_are_compiled_and_not_launched(monkeypatch):
    card = Card(monkeypatch)
    cuda.Cuda().run(count_index, 0, np.zeros(0))
    assert [name for name, *_ in card.calls] == ["typeof_pyval", "typeof_pyval", "compile"]
