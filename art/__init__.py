"""Draws what the package keeps as files: pictures of surfaces, meshes of props and cars. `python -m art`."""
