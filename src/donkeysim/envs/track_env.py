"""Our own family of environments, `donkeysim/<Track>-v0`: normalised actions, progress along the road, fair ends.

One car is a batch of one: what a seed gives alone it gives in any batch.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded

from donkeysim.core.device import Device, is_here, open_device
from donkeysim.core.errors import SpecError
from donkeysim.core.types import ByteArray
from donkeysim.envs.actions import read_action
from donkeysim.envs.autoreset import AutoresetMode, read_mode
from donkeysim.envs.exchange import Convert
from donkeysim.envs.kernels.numbers import CarInfo, write_info
from donkeysim.envs.observations import Observation
from donkeysim.envs.reset import read_seed
from donkeysim.envs.track_settings import TrackSettings, check_count, read_settings
from donkeysim.envs.vector_env import FleetVectorEnv, choose_threads, take_first
from donkeysim.envs.window import ShownEnv
from donkeysim.sim.simulator import Simulator
from donkeysim.world.specs import SceneSpec

_INFO_TYPES: dict[str, Any] = {"on_road": bool, "hit": bool, "laps": np.int32}
"""Of the columns of `info` that are not float64."""

_CAR_BLOCK = 256
"""Cars that a thread of this machine takes at once."""


class _StepInfo:
    """Writes what `info` has of every car, on the cars' own device; implements `vector_env.InfoWriter`.

    Metres, m/s, seconds, + = left.

    Attributes:
        now: Of the last step, arrays of the device by name.
        last: Of the last steps of episodes, likewise.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._tables = self._make_table(), self._make_table()
        self.now, self.last = (table._asdict() for table in self._tables)

    def _make_table(self) -> CarInfo:
        count, zeros = self._simulator.car_count, self._simulator.device.zeros
        shapes = {"position": (count, 3)}
        return CarInfo(
            *(zeros(shapes.get(name, (count,)), _INFO_TYPES.get(name, np.float64)) for name in CarInfo._fields)
        )

    def write(self, is_last: bool) -> None:
        """See `InfoWriter.write`."""
        simulator, table = self._simulator, self._tables[is_last]
        simulator.device.run(write_info, simulator.car_count, simulator.rows, table, block=_CAR_BLOCK)


class TrackVectorEnv(FleetVectorEnv):
    """Many cars, each alone on its track, stepped together."""

    def __init__(
        self,
        num_envs: int = 1,
        track: str | SceneSpec | Sequence[str | SceneSpec] = "generated_track",
        *,
        device: str | Device | None = None,
        threads: int | None = None,
        copy: bool | None = None,
        convert: Convert | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        """Make the cars; the first time on a machine their kernels are compiled, which takes half a minute.

        Args:
            track: A track by name or with all that is said of it, or several, on which the cars take turns.
            device: What runs them: "cpu", or "cuda" or "cuda:1" for a GPU. None: "cpu", with Gymnasium's own form of
                `final_obs`.
            threads: Of the CPU; None: one per core.
            copy: Whether observations are the caller's own. Without `device`, others are valid until the next but one
                step; with it they are the same arrays in every step. None: unless there is a GPU or `convert`.
            convert: Makes the caller's arrays of the batch's, `torch.from_dlpack` for example; None: NumPy's on the
                CPU, `DeviceArray` on a GPU. Rewards and ends that are functions get such arrays on a GPU.
            autoreset_mode: One of Gymnasium's three.
            render_mode: "rgb_array" or None; on a GPU None.
            **settings: See `track_settings.read_settings`.

        Raises:
            SpecError: Something asked for is not possible, or not on a GPU.
            SceneError: There is no such track.
        """
        own = ("num_envs", "track", "device", "threads", "copy", "convert", "autoreset_mode", "render_mode")
        chosen = read_settings(settings, track, own)
        check_count("num_envs", num_envs)
        task, mode = chosen.make_task(), read_mode(autoreset_mode)
        opened = _open_device(device, threads, num_envs)
        if not is_here(opened):
            _check_gpu(chosen, copy, convert, render_mode)
        copies = (is_here(opened) and convert is None) if copy is None else copy
        sets = 2 if device is None and not copies else 1
        fleet = chosen.make_fleet(num_envs, device=opened)
        fleet.open(None)
        super().__init__(
            fleet,
            task,
            chosen.make_observer(fleet, set_count=sets, keeps_last=mode is AutoresetMode.SAME_STEP),
            chosen.make_actions(),
            _StepInfo(fleet.simulator),
            autoreset_mode=mode,
            copy=copies,
            convert=convert,
            final_as_arrays=device is not None,
            starts_at_random=chosen.starts_at_random,
            render_mode=render_mode,
        )


def _check_gpu(chosen: TrackSettings, copy: bool | None, convert: Convert | None, render_mode: str | None) -> None:
    """Make sure that a batch on a GPU does what is asked for; SpecError where it does not."""
    chosen.check_gpu(has_own_arrays=convert is not None)
    if render_mode is not None:
        raise SpecError(f"render_mode is {render_mode!r}; a batch on a GPU takes None.")
    if copy:
        raise SpecError("copy is True; on a GPU arrays are the batch's own: leave it out, and copy what you keep.")


def _open_device(device: str | Device | None, threads: int | None, car_count: int) -> Device:
    """Return what runs a batch; a CPU has no more threads than there are cars."""
    if device is None or device == "cpu":
        return open_device("cpu", choose_threads(threads, car_count))
    if isinstance(device, str) or not hasattr(device, "dlpack_device"):  # one of PyTorch has the name as its text
        return open_device(str(device), None if threads is None else choose_threads(threads, threads))
    return device


class TrackEnv(ShownEnv[Observation]):
    """One car on one track.

    Attributes:
        fleet: Its simulator, with one world.
    """

    def __init__(self, track: str = "generated_track", *, render_mode: str | None = None, **settings: Any) -> None:
        """Make the car.

        Args:
            track: Name of the track.
            render_mode: "rgb_array": `render` returns a view from behind the car, 640x360; "human": a window shows it
                after every step, in real time; None: nothing.
            **settings: See `track_settings.read_settings`.

        Raises:
            SpecError: Something asked for is not possible.
            SceneError: There is no such track.
        """
        super().__init__(render_mode)
        for name in ("num_envs", "autoreset_mode", "copy", "threads", "device", "convert"):
            if name in settings:
                raise SpecError(f"{name} is for batches only; make one with gymnasium.make_vec.")
        self._batch = TrackVectorEnv(1, track, threads=1, autoreset_mode=AutoresetMode.DISABLED, **settings)
        self.fleet = self._batch.fleet
        self.observation_space = self._batch.single_observation_space
        self.action_space = self._batch.single_action_space
        self._is_over = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode; with a seed it is repeatable bit for bit.

        Args:
            seed: Of all that is random from now on; None continues with new random numbers.
            options: `s`, `offset` [m] and `yaw` [rad]: where on the path to begin.

        Raises:
            SpecError: The seed or the options are not possible.
        """
        super().reset(seed=read_seed(seed))
        seen, info = self._batch.reset(seed=seed, options=options)
        self._is_over = False
        self._show()
        return _take_row(seen), take_first(info)

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Drive for one step.

        Args:
            action: Steering (+ = right) and throttle, -1 to 1.

        Raises:
            SpecError: The action is not two finite numbers.
            gymnasium.error.ResetNeeded: No episode has begun, or it is over.
        """
        if self._is_over:
            raise ResetNeeded("the episode is over; call reset to begin another one.")
        seen, rewards, terminated, truncated, info = self._batch.step([read_action(action, takes_brake=False)])
        self._is_over = bool(terminated[0] or truncated[0])
        self._show()
        return _take_row(seen), float(rewards[0]), bool(terminated[0]), bool(truncated[0]), take_first(info)

    def close(self) -> None:
        """Stop the simulator's threads and close the window."""
        self._batch.close()
        super().close()

    def _draw(self) -> ByteArray:
        return self._batch.draw(0)


def _take_row(seen: Observation) -> Observation:
    return {name: array[0] for name, array in seen.items()} if isinstance(seen, dict) else seen[0]
