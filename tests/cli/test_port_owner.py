"""Whoever holds a port is found, from what each system tells."""

import os
import socket
import subprocess
import sys

import pytest

import donkeysim.cli.port_owner
from donkeysim.cli.port_owner import Owner, find_owner, read_lsof, read_netstat

NETSTAT = """
Aktive Verbindungen

  Proto  Lokale Adresse         Remoteadresse          Status           PID
  TCP    0.0.0.0:135            0.0.0.0:0              ABHÖREN          1116
  TCP    127.0.0.1:18887        0.0.0.0:0              ABHÖREN          11
  TCP    127.0.0.1:8887         127.0.0.1:50000        HERGESTELLT      12
  TCP    [::]:8887              [::]:0                 ABHÖREN          13044
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
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


def test_lsof_is_read():
    assert read_lsof("p4321\ncPython\nf5\n") == Owner(4321, "Python")
    assert read_lsof("") is None


def test_netstat_is_read_in_every_language():
    assert read_netstat(NETSTAT, 8887) == 13044
    assert read_netstat(NETSTAT, 9091) is None


def test_a_system_that_tells_nothing_is_no_failure(monkeypatch):
    def fail(*_command, **_options):
        raise FileNotFoundError("lsof")

    monkeypatch.setattr(donkeysim.cli.port_owner, "_find_on_linux", fail)
    monkeypatch.setattr(subprocess, "run", fail)
    assert find_owner(1) is None
