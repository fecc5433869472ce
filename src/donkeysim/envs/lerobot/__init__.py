"""An environment in the form that LeRobot expects, and what its tools know of it: `--env.discover_packages_path`."""
