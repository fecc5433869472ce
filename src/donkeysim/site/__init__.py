"""A folder that any web server serves: the simulator in a page, with nothing to install."""
