"""Windows and macOS run the package too, which nobody here has: what they lack or forbid is not asked of them."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from sources import PACKAGE, list_nodes

LACKING = {
    "fcntl resource pwd grp termios tty pty syslog posix msvcrt winreg": "",
    "os": "fork killpg setsid getuid geteuid nice sched_getaffinity sched_yield mkfifo sync fdatasync statvfs pread "
    "pwrite sendfile wait waitid wait3 wait4 getloadavg register_at_fork memfd_create O_NONBLOCK O_NOFOLLOW "
    "O_DIRECTORY chown fchmod",
    "signal": "SIGKILL SIGHUP SIGQUIT SIGUSR1 SIGUSR2 SIGCHLD SIGALRM SIGPIPE alarm setitimer pause pthread_kill",
    "socket": "AF_UNIX SO_REUSEPORT SO_EXCLUSIVEADDRUSE TCP_INFO TCP_QUICKACK TCP_KEEPIDLE TCP_KEEPINTVL TCP_KEEPCNT",
    "select": "poll epoll kqueue",
    "time": "clock_gettime tzset",
    "asyncio": "open_unix_connection start_unix_server",
}
"""Modules, and names of modules, that Windows or macOS lacks, or that only Windows has."""

ASKS_FIRST = {
    "core/memory.py": {"os.memfd_create"},
    "core/workers.py": {"os.sched_getaffinity"},
    "drive/joystick/device.py": {"fcntl", "os.O_NONBLOCK", "select.poll"},
    "envs/child_guard.py": {"os.killpg", "signal.SIGKILL"},
    "serve/peer_window.py": {"socket.TCP_INFO"},
    "sim/compile_apart.py": {"os.fork"},
    "web/listener.py": {"socket.SO_EXCLUSIVEADDRUSE"},
}
"""Where they are used, by code that runs only where they are."""

TESTS = Path(__file__).resolve().parents[1]

LINUX_ONLY = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells which files are open")


def find_lacking(path):
    modules = {module for names in LACKING if not LACKING[names] for module in names.split()}
    for node in list_nodes(path):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.attr in LACKING.get(node.value.id, "").split():
                yield f"{node.value.id}.{node.attr}"
        elif isinstance(node, ast.Import):
            yield from modules.intersection(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names = {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
            lacking = {f"{module}.{name}" for module in LACKING for name in LACKING[module].split()}
            yield from names & (modules | lacking)


def test_what_some_systems_lack_is_used_only_where_that_is_asked_first():
    files = {path.relative_to(PACKAGE).as_posix(): set(find_lacking(path)) for path in PACKAGE.rglob("*.py")}
    assert {file: found for file, found in files.items() if found} == ASKS_FIRST


def run_by_rules(folder, *program):
    command = [sys.executable, *program, str(folder)]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=150)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@LINUX_ONLY
def test_a_car_its_tub_and_files_are_made_by_the_rules_of_windows(tmp_path):
    codes, *broken = run_by_rules(tmp_path, "-m", "windows_rules")
    assert broken == []
    assert set(codes) <= set("[0, ]")


@LINUX_ONLY
def test_the_rules_of_windows_see_what_it_refuses(tmp_path):
    program = """
import contextlib, os, sys
from pathlib import Path
from windows_rules import WindowsRules

folder = Path(sys.argv[1])
(folder / "kept").write_text("")
(folder / "data").mkdir()
rules = WindowsRules(folder)

def try_each():
    yield lambda: (folder / "10:30.txt").write_text("")
    yield lambda: (folder / "aux.csv").write_text("")
    yield lambda: (folder / "kept").rename(folder / "ends with a dot.")
    yield lambda: (folder / "kept").unlink()
    yield lambda: (folder / "kept").symlink_to(folder / "other")
    yield lambda: os.open(folder / "data", os.O_RDONLY)

with (folder / "kept").open():
    for attempt in try_each():
        with contextlib.suppress(PermissionError):
            attempt()
(folder / "kept").rename(folder / "moved")
print(*(line.partition(":")[0] for line in rules.broken), sep="\\n")
"""
    reasons = run_by_rules(tmp_path, "-c", program)
    assert reasons == [*["no name there"] * 3, "it is open", "no links", "no folder can be opened"]
