"""Driving with a joystick: its device, what its controls are called and do, and the part that drives."""
