"""Drivers: from what a car reads of itself and its path to controls; they know no simulator."""
