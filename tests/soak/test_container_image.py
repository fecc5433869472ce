"""The image itself, where a builder is at hand: made from the Dockerfile as it is, driven and asked.

Needs Linux, root and buildah (Debian: `apt-get install buildah`). Where no registry of images answers, debootstrap too:
the base is then Debian's own Python 3.11, which is larger than what the Dockerfile names.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from e2e.gym_client import GymClient
from e2e.test_drive_laps import CONFIGURATION, check_drive, drive_laps

ROOT = Path(__file__).resolve().parents[2]
BASE, IMAGE = "docker.io/library/python:3.11-slim", "localhost/donkeysim-soak"
BUILDAH = shutil.which("buildah")
ENVIRONMENT = {**os.environ, "STORAGE_DRIVER": "vfs", "BUILDAH_ISOLATION": "chroot"}

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(BUILDAH is None or os.geteuid() != 0, reason="no buildah on this machine, or not root"),
]


def buildah(*words, seconds=1800.0):
    done = subprocess.run([BUILDAH, *words], env=ENVIRONMENT, capture_output=True, text=True, timeout=seconds)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """Return the image's name."""
    provide_base(tmp_path_factory.mktemp("base"))
    buildah("bud", "--pull=never", "--format", "docker", "--network", "host", "--tag", IMAGE, str(ROOT))
    yield IMAGE
    buildah("rmi", "--force", IMAGE)


def provide_base(folder):
    """Have the base image at hand: as it was, else from its registry, else made of Debian's packages."""
    if BASE in buildah("images", "--format", "{{.Name}}:{{.Tag}}"):
        return
    with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
        buildah("pull", BASE, seconds=120.0)
        return
    root = folder / "root"
    packages = "--include=python3,python3-venv,ca-certificates"
    subprocess.run(["debootstrap", "--variant=minbase", packages, "bookworm", root], check=True, capture_output=True)
    for name in ("python", "python3"):
        (root / "usr/local/bin" / name).symlink_to("/usr/bin/python3")
    trusted = (
        "etc/ssl/certs/ca-certificates.crt"  # a network may have an authority of its own, which this machine knows
    )
    if Path("/", trusted).exists():
        shutil.copy(Path("/", trusted), root / trusted)
    container = buildah("from", "scratch")
    buildah("add", "--quiet", container, str(root), "/")
    buildah("config", "--env", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", container)
    buildah("commit", "--quiet", "--rm", container, BASE)


@pytest.fixture
def container(image):
    name = buildah("from", "--pull=never", image)
    yield name
    buildah("rm", name)


@contextlib.contextmanager
def run_server(container, *words):
    """Run a program of the image until the block ends; yield the ports of its wire and of its page."""
    command = [BUILDAH, "run", "--network", "host", container, "--", *words]
    process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = []
    try:
        ports = {}
        for line in iter(process.stdout.readline, ""):
            lines.append(line)
            for kind, port in re.findall(r"(listens on |://)[\w.]+:(\d+)", line):
                ports.setdefault("page" if kind == "://" else "wire", int(port))
            if len(ports) == 2:
                break
        assert len(ports) == 2, lines
        yield ports["wire"], ports["page"]
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def ask_health(container, page):
    command = [BUILDAH, "run", "--network", "host", container, "--", "python", "/opt/health.py", str(page)]
    return subprocess.run(command, env=ENVIRONMENT, check=False, capture_output=True).returncode


def read_config(image):
    return json.loads(buildah("inspect", "--type", "image", image))["Docker"]["config"]


def test_it_weighs_less_than_400_megabytes_packed(image, tmp_path):
    buildah("push", "--quiet", image, f"oci:{tmp_path / 'image'}:latest")
    layers = sorted(path.stat().st_size / 1e6 for path in (tmp_path / "image/blobs/sha256").iterdir())
    print(f"\nthe image: {sum(layers):.0f} MB packed, its largest layers {layers[-1]:.0f} and {layers[-2]:.0f} MB")
    assert sum(layers) < 400.0


def test_whoever_runs_in_it_has_no_rights(image, container):
    assert read_config(image)["User"] == "donkey"
    assert buildah("run", container, "--", "id", "-u") == "1000"
    assert buildah("run", container, "--", "sh", "-c", "test -w /opt/donkeysim || echo unwritable") == "unwritable"


def test_three_laps_as_the_original_client_drives_them(image, container):
    command = read_config(image)["Cmd"]
    assert command[0] == "donkey_sim"
    with run_server(container, *command, "--port", "0", "--page-port", "0") as (wire, page):
        assert ask_health(container, page) == 0
        client = GymClient(("127.0.0.1", wire), configuration=CONFIGURATION, is_lock_step=True)
        print(f"\nmean speed of three laps: {check_drive(drive_laps(client, 3), client, 3):.2f} m/s")
        client.close()
    assert ask_health(container, page) == 1


def test_the_race_server_of_compose_is_healthy_over_tls(container):
    recipe = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    words = re.findall(r"^      - ((?:donkey|race|host|--\S+)$)", recipe, re.MULTILINE)
    words = [re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", word) for word in words]
    assert words[:3] == ["donkey", "race", "host"]
    with run_server(container, *words, "--port", "0", "--page-port", "0") as (_, page):
        assert ask_health(container, page) == 0
