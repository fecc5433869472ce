"""Camera, lens, lidar and textures: pictures and ranges from `State` and `Scene`."""
