"""Single environments show themselves in a window where there is a display."""

import sys
import time

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import donkeysim  # noqa: F401  (registers the ids)
from donkeysim.core.errors import SpecError
from donkeysim.envs.donkey_env import DonkeyEnv
from donkeysim.envs.track_env import TrackEnv
from donkeysim.envs.window import Window

pygame = pytest.importorskip("pygame")
FAMILIES = [("donkeysim/GeneratedTrack-v0", {"observe": "vector"}), ("donkey-generated-track-v0", {})]


@pytest.fixture
def display(monkeypatch):
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    yield
    pygame.display.quit()


@pytest.mark.usefixtures("display")
@pytest.mark.parametrize(("name", "settings"), FAMILIES)
def test_a_window_shows_every_step_in_real_time(name, settings):
    env = gymnasium.make(name, render_mode="human", disable_env_checker=True, **settings)
    env.reset(seed=1)
    first = pygame.surfarray.array3d(pygame.display.get_surface()).transpose(1, 0, 2)
    begun = time.monotonic()
    for _ in range(5):
        env.step(np.float32([0.0, 1.0]))
    assert time.monotonic() - begun > 0.15
    last = pygame.surfarray.array3d(pygame.display.get_surface()).transpose(1, 0, 2)
    assert env.render() is None
    assert first.shape == (360, 640, 3)
    assert not np.array_equal(first, last)
    quiet = gymnasium.make(name, render_mode="rgb_array", disable_env_checker=True, **settings)
    quiet.reset(seed=1)
    assert np.array_equal(quiet.render(), first)
    quiet.close()
    env.close()
    env.close()
    assert not pygame.display.get_init()


@pytest.mark.usefixtures("display")
def test_a_window_that_was_closed_stays_closed():
    window = Window()
    picture = np.zeros((36, 64, 3), np.uint8)
    window.show(picture)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.show(picture)
    window.show(picture)
    assert not pygame.display.get_init()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a display")
@pytest.mark.parametrize(("name", "settings"), FAMILIES)
def test_without_a_display_one_sentence_says_so_and_it_drives_on(monkeypatch, caplog, name, settings):
    """Gymnasium's check of an environment makes it in all modes, as do programs that were written on a desktop."""
    for variable in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(variable, raising=False)
    env = gymnasium.make(name, render_mode="human", disable_env_checker=True, **settings)
    assert "there is no display for a window" in caplog.text
    env.reset(seed=1)
    assert np.isfinite(env.step(np.float32([0.0, 0.5]))[1])
    assert env.render() is None
    env.close()
    check_env(gymnasium.make(name, **settings).unwrapped)


def test_without_pygame_one_sentence_says_what_to_install(monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(SpecError, match=r'install it .*pip install ".*\[window\]"'):
        Window()
    DonkeyEnv(render_mode="human").close()
    assert "a window needs pygame" in caplog.text


@pytest.mark.parametrize("kind", [TrackEnv, DonkeyEnv])
def test_another_way_to_show_is_refused(kind):
    with pytest.raises(SpecError, match="'rgb_array', 'human' or None"):
        kind(render_mode="ansi")
