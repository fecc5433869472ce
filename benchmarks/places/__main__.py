"""Compare places with files of facts: `python -m benchmarks.places [JSON ...]`; fails where a figure is too far off."""

import sys
from pathlib import Path

from benchmarks.places import KNOWN, print_figures, run

figures = run([Path(name) for name in sys.argv[1:]] or KNOWN)
print_figures(figures)
sys.exit(any(figure.value > (figure.most or 0.0) for figure in figures))
