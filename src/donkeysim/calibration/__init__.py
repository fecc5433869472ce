"""A real car's camera and scales, from pictures of a printed board and from a short drive."""
