"""Vehicle, tyre, contact and progress: everything that changes `State`."""
