"""Whoever holds a port is found, from what each system tells."""

import os
import socket

import psutil
import pytest

from donkeysim.cli.private_port import Owner, find_owner


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_our_own_socket_is_ours(family):
    with socket.socket(family) as listener:
        listener.bind(("localhost" if family == socket.AF_INET else "::1", 0))
        listener.listen()
        owner = find_owner(listener.getsockname()[1])
    assert owner is not None
    assert owner.pid == os.getpid()
    assert "python" in owner.command or "pytest" in owner.command


def test_a_free_port_has_no_owner():
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # bound, but does not listen
        assert find_owner(bound.getsockname()[1]) is None


@pytest.fixture
def listening_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.mark.parametrize("failure", [psutil.AccessDenied(1), psutil.NoSuchProcess(1), FileNotFoundError("/proc")])
def test_a_process_that_tells_no_connections_is_no_failure(monkeypatch, listening_port, failure):
    def fail(*_arguments):
        raise failure

    monkeypatch.setattr(psutil.Process, "net_connections", fail)
    assert find_owner(listening_port) is None


def test_a_process_without_a_command_has_its_name(monkeypatch, listening_port):
    monkeypatch.setattr(psutil.Process, "cmdline", lambda _process: [])
    monkeypatch.setattr(psutil.Process, "name", lambda _process: "server")
    assert find_owner(listening_port) == Owner(os.getpid(), "server")


def test_a_process_that_tells_no_command_is_named_by_its_number(monkeypatch, listening_port):
    def deny(_process):
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil.Process, "cmdline", deny)
    assert find_owner(listening_port) == Owner(os.getpid(), "a process")
