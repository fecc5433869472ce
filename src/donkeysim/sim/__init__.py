"""The simulator: owns `State` and the order of a step."""
