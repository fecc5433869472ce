"""What stands still: walls, rooms, tunnels, blocks, gantries, and where props stand."""
