"""A GPU of NVIDIA's as a `core.device.Device`; the only file that knows numba-cuda.

Written against numba-cuda 0.30.4, cuda-core 1.2 and the driver's functions of CUDA 13. Tests compile and assemble its
kernels without a GPU; on an H100 with driver 580 all of it ran, `torch.from_dlpack` too (docs/envs/gpu.md).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from donkeysim.core.errors import SpecError, import_extra
from donkeysim.core.index_loops import is_own, make_grid_loop
from donkeysim.core.workers import Workers

T = TypeVar("T")

GPU_THREADS = 64
"""Threads of a block. Physics needs enough registers that few more would run at once; pictures fill a GPU with it."""


class Cuda:
    """A GPU of NVIDIA's.

    All runs and copies go into CUDA's default stream, in the order of the calls. It and other libraries' streams, as
    PyTorch's, wait for each other, unless those ask not to. Runs do not wait for the GPU; `download` does.
    """

    shares_rooms = False

    def __init__(self, ordinal: int = 0) -> None:
        """Take a GPU.

        Raises:
            DonkeySimError: numba-cuda is missing.
            SpecError: There is no such GPU.
        """
        import_extra("numba_cuda", "a batch on a GPU needs numba-cuda", "gpu")
        self._cuda: Any = import_module("numba.cuda")
        self._driver: Any = import_module("numba.cuda.cudadrv.driver")
        import numba  # not for who has a ready library and no GPU

        if not self._cuda.is_available():
            raise SpecError("there is no NVIDIA GPU here, or no driver for CUDA 13; give 'cpu' for the device.")
        count = len(self._cuda.gpus)
        if ordinal >= count:
            raise SpecError(f"the device is 'cuda:{ordinal}'; there are GPUs 0 to {count - 1} here.")
        # Numba warns of small grids: whoever asks for a small batch knows.
        numba.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # type: ignore[attr-defined]
        self.workers = Workers(1)
        self.name, self._ordinal = f"cuda:{ordinal}", ordinal
        self._stream: Any = 0
        self._kernels: dict[Callable[..., None], Any] = {}
        self._held: list[Any] | None = None

    def run(self, function: Callable[..., None], count: int, *arguments: Any, block: int = 1) -> None:
        """See `core.device.Device.run`."""
        del block
        compiled = self._kernels.get(function)
        with self._here():
            if compiled is None:
                compiled = self._kernels[function] = self._compile(function)
            if count < 1:
                compiled.compile(tuple(map(compiled.typeof_pyval, (count, arguments))))
                return
            if self._held is not None:
                self._held.append(arguments)
            compiled[-(-count // GPU_THREADS), GPU_THREADS, self._stream](count, arguments)

    def _compile(self, function: Any) -> Any:
        from donkeysim.core.dispatcher import thaw

        loose = bool(thaw(function).targetoptions.get("fastmath"))
        jit = self._cuda.jit(cache=is_own(function), fastmath=loose)
        return jit(make_grid_loop(thaw(function), self._cuda.grid))

    def count_rooms(self, count: int) -> int:
        """See `core.device.Device.count_rooms`."""
        return count

    def upload(self, value: T) -> T:
        """See `core.device.Device.upload`."""
        if isinstance(value, tuple):
            parts = [self.upload(part) for part in value]
            return cast("T", type(value)(*parts) if hasattr(value, "_fields") else tuple(parts))
        if isinstance(value, (int, float, np.generic)):
            return value
        given: NDArray[Any] = np.asarray(value)
        array = self.empty(given.shape, given.dtype)
        self.copy_to(array, given)
        return cast("T", array)

    def download(self, array: Any) -> NDArray[Any]:
        """See `core.device.Device.download`."""
        with self._here():
            copied: NDArray[Any] = array.copy_to_host()
            return copied

    def empty(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """See `core.device.Device.empty`."""
        with self._here():
            array = self._cuda.device_array(shape, dtype)
            if array.size == 0:
                # numba-cuda gives it no address, and then does not take it as an argument.
                array.gpu_data = self._cuda.device_array(1, np.int64).gpu_data
            return array

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """See `core.device.Device.zeros`."""
        array = self.empty(shape, dtype)
        if array.size > 0:
            with self._here():
                self._driver.device_memset(array, 0, array.nbytes)
        return array

    def synchronize(self) -> None:
        """See `core.device.Device.synchronize`."""
        with self._here():
            self._cuda.default_stream().synchronize()

    def capture(self, function: Callable[[], None]) -> CudaGraph:
        """See `core.device.Device.capture`."""
        api = self._driver.driver
        held: list[Any] = []
        # Memory that is given back meanwhile would break the capture off.
        with self._here(), self._cuda.defer_cleanup():
            # The default stream cannot be captured; one that waits for it would be disturbed by others' work there.
            flag = self._driver.binding.CUstream_flags.CU_STREAM_NON_BLOCKING
            mode = self._driver.binding.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
            handle = api.cuStreamCreate(int(flag))
            self._stream, self._held = self._cuda.external_stream(int(handle)), held
            try:
                api.cuStreamBeginCapture(handle, mode)
                try:
                    function()
                finally:
                    graph = api.cuStreamEndCapture(handle)
                executable = api.cuGraphInstantiate(graph, 0)
                api.cuGraphDestroy(graph)
            finally:
                self._stream, self._held = 0, None
                api.cuStreamDestroy(handle)
        return CudaGraph(self, executable, held)

    @property
    def dlpack_device(self) -> tuple[int, int]:
        """See `core.device.Device.dlpack_device`."""
        return 2, self._ordinal

    def adopt(self, array: Any) -> Any:
        """See `core.device.Device.adopt`."""
        with self._here():
            return self._cuda.as_cuda_array(array)

    def copy_to(self, target: Any, source: NDArray[Any]) -> None:
        """See `core.device.Device.copy_to`."""
        if target.size > 0:
            with self._here():
                target.copy_to_device(np.ascontiguousarray(source, target.dtype).reshape(target.shape))

    def order(self, stream: int) -> None:
        """See `core.device.Device.order`."""
        if stream not in (0, 1):
            with self._here():
                done = self._cuda.event(timing=False)
                done.record(0)
                done.wait(self._cuda.external_stream(stream))

    def close(self) -> None:
        """See `core.device.Device.close`."""
        self.synchronize()
        self._kernels.clear()

    def launch(self, executable: Any) -> None:
        """Run a CUDA graph."""
        with self._here():
            self._driver.driver.cuGraphLaunch(executable, self._driver.binding.CUstream(0))

    def destroy_later(self, owner: object, executable: Any) -> None:
        """Let a CUDA graph be destroyed with who owns it; at the end of the process the driver does it."""
        weakref.finalize(owner, self._driver.driver.cuGraphExecDestroy, executable).atexit = False

    def _here(self) -> Any:
        """Return what makes this GPU the thread's own for a while."""
        return self._cuda.gpus[self._ordinal]


class CudaGraph:
    """A CUDA graph and the arrays that it works on."""

    def __init__(self, device: Cuda, executable: Any, held: list[Any]) -> None:
        self._device, self._executable, self._held = device, executable, held
        device.destroy_later(self, executable)

    def launch(self) -> None:
        """See `core.device.Graph.launch`."""
        self._device.launch(self._executable)
