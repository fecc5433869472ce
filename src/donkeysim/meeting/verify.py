"""`verify_race` under the name that docs/stability.md has promised; `racing.run.verify` defines it."""

from donkeysim.racing.run import verify

verify_race = verify.verify_race
