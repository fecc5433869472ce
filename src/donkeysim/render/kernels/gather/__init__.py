"""Pictures as stages that are functions of one index: of a camera, a triangle, a tile, some pixels."""
