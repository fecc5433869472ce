"""The private API's key: from the environment or made, never on the command line."""

import os
import re

import pytest

from donkeysim.cli.private_port import KEY_VARIABLE, open_private_port
from donkeysim.core.errors import SpecError
from donkeysim.web.listener import PortInUseError


def test_a_key_of_the_environment_is_taken_out_of_it_and_not_printed(monkeypatch, capsys):
    monkeypatch.setenv(KEY_VARIABLE, " 73550198\n")
    opened = open_private_port("127.0.0.1", 0)
    with opened.listener:
        assert opened.key == "73550198"
        assert KEY_VARIABLE not in os.environ
        port = opened.listener.getsockname()[1]
        assert capsys.readouterr().out == f"Private API on 127.0.0.1:{port}; its key is in {KEY_VARIABLE}\n"


def test_without_one_a_new_key_is_printed(monkeypatch, capsys):
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    keys = set()
    for _ in range(2):
        opened = open_private_port("127.0.0.1", 0)
        opened.listener.close()
        assert re.search(r"its key is (\w{10})\n", capsys.readouterr().out)[1] == opened.key
        keys.add(opened.key)
    assert len(keys) == 2


def test_what_does_not_go_is_told(monkeypatch):
    assert open_private_port("127.0.0.1", None) is None
    monkeypatch.setenv(KEY_VARIABLE, "1234567")
    with pytest.raises(SpecError, match="has 7 characters; give it 8 or more"):
        open_private_port("127.0.0.1", 0)
    first = open_private_port("127.0.0.1", 0)
    with first.listener, pytest.raises(PortInUseError, match="another port with --private-port"):
        open_private_port("127.0.0.1", first.listener.getsockname()[1])
