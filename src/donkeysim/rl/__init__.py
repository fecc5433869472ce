"""Learning to drive from pictures: `donkey rl`, its algorithms, and the pilots that come of them."""
