"""A car folder: its configuration, its templates, and the picture transformations that driving and training share."""
