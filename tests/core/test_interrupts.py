"""Ctrl-C waits for what has to be done as a whole."""

import signal
import threading

import pytest

from donkeysim.core.files import hold_interrupts


def press_and_go_on(work):
    with hold_interrupts():
        signal.raise_signal(signal.SIGINT)
        work()


def test_ctrl_c_comes_when_the_block_is_done():
    done, before = [], signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        press_and_go_on(lambda: done.append(True))
    assert done
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_of_the_block_is_the_one_that_is_told():
    def fail():
        raise OSError("full")

    with pytest.raises(OSError, match="full"):
        press_and_go_on(fail)


def test_a_block_on_another_thread_changes_nothing():
    before, found = signal.getsignal(signal.SIGINT), []

    def work():
        with hold_interrupts():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [before]


def test_a_program_that_ignores_ctrl_c_goes_on_ignoring_it():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with hold_interrupts():
            signal.raise_signal(signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
