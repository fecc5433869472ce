"""The simulation's thread draws for watchers right after time has moved, and also when time stands still."""

import asyncio
import time
from types import SimpleNamespace

import pytest

from donkeysim.serve import watched_thread as thread_module
from donkeysim.serve.watched_thread import WatchedThread
from donkeysim.watch.live_interpolator import LiveInterpolator


class BeatingStage:
    """A simulation that only beats and draws; a picture is the number of the beat it shows."""

    scene_name, is_loading, loading_stage = "flat", False, ""
    is_paced = True

    def __init__(self, beat_seconds):
        self.beat_seconds = beat_seconds
        self.beat_count = 0
        self.begun = self.next_beat = time.perf_counter()
        self.picture_seconds = 0.0
        self.viewing = SimpleNamespace(interpolator=LiveInterpolator(), outline=None)

    def close(self):
        pass

    def seconds_to_beat(self):
        return None if self.beat_seconds is None else max(0.0, self.next_beat - time.perf_counter())

    def seconds_of_room(self):
        return self.seconds_to_beat()

    def beat(self):
        if self.seconds_to_beat() == 0.0:
            self.next_beat += self.beat_seconds
            self.beat_count += 1

    def take_freed(self):
        return []

    def take_outputs(self):
        return []

    def list_cars(self):
        return []

    def take_picture(self, view, car_id, width, height):
        end = time.perf_counter() + self.picture_seconds
        while time.perf_counter() < end:
            pass
        return SimpleNamespace(beat=self.beat_count, phase=self.next_beat - time.perf_counter())


def watch(simulation, question):
    """Run the simulation on a thread and ask it."""

    async def run():
        thread = WatchedThread(lambda: simulation, lambda outputs: None, time.perf_counter, pytest.fail)
        thread.start()
        answer = await asyncio.wait_for(question(thread), 10)
        thread.stop()
        return answer

    return asyncio.run(run())


def test_whoever_looks_after_a_while_is_told_of_the_cars_as_they_are_now(monkeypatch):
    monkeypatch.setattr(thread_module, "WATCHED_SECONDS", 0.2)
    stage = BeatingStage(0.01)
    stage.list_cars = lambda: [stage.beat_count]

    async def look_twice(thread):
        await thread.take_picture("chase", 1, 320, 180)  # the simulation runs
        first = await thread.list_cars()
        await asyncio.sleep(0.4)
        before = stage.beat_count
        return first[0], before, (await thread.list_cars())[0]

    first, before, second = watch(stage, look_twice)
    assert 0 < first < before <= second


def test_every_picture_shows_a_new_beat_and_is_drawn_early_in_it():
    """A machine that has other work to do may draw late; one of five tries must not."""

    async def take_six(thread):
        return [await thread.take_picture("chase", 1, 320, 180) for _ in range(6)]

    found = []
    for _ in range(5):
        pictures = watch(BeatingStage(0.05), take_six)
        beats = {picture.beat for picture in pictures}
        phases = sorted(picture.phase for picture in pictures)
        assert len(beats) == 6
        found.append(phases[3])
        if phases[3] > 0.025:
            return
    pytest.fail(f"time left at the middle picture, five times: {found}")


def test_views_asked_for_together_show_the_same_beat():
    async def take_two(thread):
        await thread.take_picture("chase", 1, 320, 180)
        return await asyncio.gather(*(thread.take_picture(view, 1, 320, 180) for view in ("chase", "camera")))

    first, second = watch(BeatingStage(0.05), take_two)
    assert first.beat == second.beat


def test_a_scene_that_waits_is_drawn_all_the_same():
    async def take_one(thread):
        return await thread.take_picture("chase", 1, 320, 180)

    assert watch(BeatingStage(None), take_one).beat == 0


def test_many_watchers_cannot_hold_up_time():
    simulation = BeatingStage(0.05)
    simulation.picture_seconds = 0.8 * thread_module.PICTURE_SECONDS

    async def take_many(thread):
        await asyncio.gather(*(thread.take_picture("chase", 1, 320, 180) for _ in range(20)))
        return time.perf_counter() - simulation.begun

    elapsed = watch(simulation, take_many)
    assert simulation.beat_count == pytest.approx(elapsed / 0.05, abs=3)
    assert simulation.beat_count >= 8
