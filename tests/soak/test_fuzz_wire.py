"""Millions of made-up messages: through framing and session, and through sockets against a real server.

FUZZ_MESSAGES, FUZZ_SOCKET_MESSAGES and FUZZ_SEED say how many and which; FUZZ_WORKERS how many processes.
"""

import json
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

import pytest

from wire.fuzzing import Tally, run_shard

pytestmark = pytest.mark.soak

SEED = int(os.environ.get("FUZZ_SEED", "13"))
MESSAGES = int(os.environ.get("FUZZ_MESSAGES", "1_000_000"))
WORKERS = int(os.environ.get("FUZZ_WORKERS", "0")) or os.cpu_count()
SHARD_MESSAGES = 100_000


def report(case, **figures):
    print("\n" + json.dumps({"case": case, **figures}))


def test_made_up_messages_leave_sessions_quick_valid_and_awake():
    began, whole = time.perf_counter(), Tally()
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        shards = [
            (SEED * 1_000_000 + first, min(SHARD_MESSAGES, MESSAGES - first))
            for first in range(0, MESSAGES, SHARD_MESSAGES)
        ]
        for done in as_completed([pool.submit(run_shard, *shard) for shard in shards]):
            whole.add(done.result())
    seconds = time.perf_counter() - began
    report(
        "fuzz",
        seed=SEED,
        messages=whole.sent,
        requests=whole.requests,
        errors=whole.errors,
        longest_call_ms=round(whole.longest * 1e3, 2),
        seconds=round(seconds),
        workers=WORKERS,
    )
    assert whole.sent == MESSAGES
    assert whole.requests > MESSAGES // 10
