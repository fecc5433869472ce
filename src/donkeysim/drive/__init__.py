"""Driving: the vehicle loop and its parts, the control page, the joystick, and an expert who records a drive."""
