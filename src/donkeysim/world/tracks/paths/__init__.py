"""From scripts, points, files and random walks to a line with widths; and the lines to drive on it."""
