"""The commands of `donkey`, a module each: `add_arguments(parser)` and `run(arguments) -> int`."""
