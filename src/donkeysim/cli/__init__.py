"""The commands: they read options, call the other rooms and print the result."""
