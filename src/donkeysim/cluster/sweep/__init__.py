"""Many trainings with different options: which there are, who trains them, and what came of them."""
