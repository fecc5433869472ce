"""Start the installed `donkey_sim` outside the source tree and use both its addresses: `try_installed.py VENV`."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path


def main() -> None:
    """Start, load a scene, read one telemetry and the page, stop with SIGINT."""
    program = Path(sys.argv[1]) / "bin" / "donkey_sim"
    command = [str(program), "--port", "0", "--scene", "generated_track", "--pace-car", "--page-port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        addresses: dict[str, int] = {}
        for line in process.stdout:
            print("donkey_sim:", line.rstrip())
            for kind, port in re.findall(r"(http://)?127\.0\.0\.1:(\d+)", line):
                addresses["page" if kind else "wire"] = int(port)
            if len(addresses) == 2:
                break
        with socket.create_connection(("127.0.0.1", addresses["wire"]), timeout=120) as client:
            for line in client.makefile("r", encoding="ascii"):
                message = json.loads(line)
                if message["msg_type"] == "telemetry":
                    assert len(message["image"]) > 1000, "the picture is too small to be one"
                    break
        page = urllib.request.urlopen(f"http://127.0.0.1:{addresses['page']}/", timeout=30).read().decode()
        assert "<title>" in page, "the watching page is not there"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0, f"exit code {process.returncode} after SIGINT"
    finally:
        process.kill()
    print("The installed package drives, draws and shows its page.")


if __name__ == "__main__":
    main()
