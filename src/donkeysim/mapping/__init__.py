"""A recorded drive becomes a place: where each picture was taken, the floor that they show, and the road on it."""
