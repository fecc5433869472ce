"""The ground and the sky: heights, surfaces, the baked picture of the ground near a track, what lies beyond."""
