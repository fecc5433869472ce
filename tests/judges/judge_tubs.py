"""The original's reader judges our tubs, and ours judges the original's.

    python tests/judges/judge_tubs.py PYTHON_WITH_DONKEYCAR

Makes tubs whose writers died at every byte, were killed, met a full disk, or closed properly; has donkeycar 5.3.0 read
each, and compares record by record (values and picture files) with what our reader finds. Ends with exit code 1 when
a single tub differs.
"""

import argparse
import hashlib
import json
import logging
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from donkeysim.core.errors import format_count  # noqa: E402
from donkeysim.tub.catalog import read_lines  # noqa: E402
from donkeysim.tub.edit import change_deleted  # noqa: E402
from donkeysim.tub.reader import TubReader  # noqa: E402
from donkeysim.tub.writer import TubWriter  # noqa: E402
from tub.drives import make_record, write_tub  # noqa: E402
from tub.killed import kill_a_writer  # noqa: E402
from tub.torn import make_full_tubs, make_torn_tubs  # noqa: E402

JUDGE = TESTS / "judges" / "read_tub.py"


def digest_tub(path):
    """Return count and digest of the living records as our reader finds them."""
    digest, records = hashlib.sha256(), list(TubReader(path))
    for record in records:
        private = {"_index": record.index, "_timestamp_ms": record.timestamp_ms, "_session_id": record.session_id}
        text = json.dumps({**record.values, **private}, sort_keys=True)
        digest.update(text.encode() + hashlib.sha256(record.read_image()).digest())
    return len(records), digest.hexdigest()


def ask_judge(python, paths):
    """Yield path and what the original says of it."""
    for first in range(0, len(paths), 200):
        run = subprocess.run(
            [python, JUDGE, "read", *paths[first : first + 200]], capture_output=True, text=True, check=True
        )
        for line in run.stdout.splitlines():
            if line.startswith("{"):
                answer = json.loads(line)
                yield Path(answer.pop("path")), answer


def compare(python, title, paths, at_least):
    """Have tubs judged; `at_least` says how many living records each must have. Returns whether all agree."""
    agreed, kept_more, wrong = 0, 0, []
    for path, answer in ask_judge(python, paths):
        count, digest = digest_tub(path)
        agrees = answer.get("count") == count and answer.get("digest") == digest and answer["in_dataset"] == count
        one_behind = answer.get("count") == count - 1 and count - 1 >= at_least[path]
        if agrees and count >= at_least[path]:
            agreed += 1
        elif one_behind:
            kept_more += 1
        else:
            wrong.append((path.name, count, answer))
    print(
        f"{title}: {format_count(len(paths), 'tub')}, {agreed} read alike, {kept_more} with one record more in ours, "
        f"{len(wrong)} wrong"
    )
    for row in wrong[:5]:
        print("   ", *row)
    return not wrong


def judge_ours(python, folder, kill_count):
    """Have our tubs read by the original."""
    torn, least = [], {}
    for before in (1, 2, 3, 6):
        (folder / f"torn{before}").mkdir()
        for path, _budget in make_torn_tubs(folder / f"torn{before}", before):
            torn.append(path)
            least[path] = before
    yield compare(python, "writer died at every step and byte", torn, least)
    for path in torn:
        write_tub(path, 4)
        least[path] += 4
    yield compare(python, "the same, mended and added to by ours", torn, least)
    full = []
    for path, writer, _error in make_full_tubs(folder, 2):
        writer.write_record(make_record(9))
        full.append(path)
        least[path] = 3
    yield compare(python, "disk full at every step, then room again", full, least)
    killed = []
    for seed in range(kill_count):
        path = folder / f"killed_{seed}"
        told = kill_a_writer(path, seed, TESTS)
        killed.append(path)
        least[path] = told + 1
    yield compare(python, "writing process killed (SIGKILL) at a random moment", killed, least)
    closed = write_tub(folder / "closed", 2500)
    change_deleted(closed, lambda deleted, _count: deleted | set(range(100, 200)))
    yield compare(python, "2,500 records in 3 catalogs, 100 deleted", [closed], {closed: 2400})


def judge_theirs(python, folder):
    """Have the original's tub read and added to by ours, and that read by the original."""
    path = folder / "theirs"
    written = subprocess.run([python, JUDGE, "write", path, "20"], capture_output=True, check=True)
    assert written.returncode == 0
    before = {name: (path / name).read_bytes() for name in ("manifest.json", "catalog_2.catalog_manifest")}
    yield compare(python, "written by the original", [path], {path: 20})
    with TubWriter(path):
        pass
    same = all((path / name).read_bytes() == content for name, content in before.items())
    print(f"opened for appending by ours and closed: files are {'the same bytes' if same else 'DIFFERENT'}")
    yield same
    for number in range(10):
        with TubWriter(path) as writer:
            writer.write_record(make_record(number))
    yield compare(python, "the original's, 10 sessions added by ours", [path], {path: 30})
    subprocess.run([python, JUDGE, "write", path, "5"], capture_output=True, check=True)
    yield compare(python, "and 5 records by the original again", [path], {path: 35})
    line = read_lines(path / "catalog_0.catalog")[0].decode()
    ours = write_tub(folder / "ours", 1)
    print("   a line by the original:", line.strip())
    print("   a line by ours:        ", read_lines(ours / "catalog_0.catalog")[0].decode().strip())


def main():
    """Run all judgements."""
    logging.disable(logging.CRITICAL)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python", help="an interpreter with donkeycar 5.3.0")
    parser.add_argument("--kills", type=int, default=100, help="how many writers are killed")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        verdicts = [*judge_ours(arguments.python, folder, arguments.kills), *judge_theirs(arguments.python, folder)]
    print("all agree" if all(verdicts) else "SOME DIFFER")
    return 0 if all(verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
