"""The racing environment, where it was before races had a room of their own; `racing.env` defines it."""

from donkeysim.racing import env

RaceEnv = env.RaceEnv
parallel_env = env.parallel_env
