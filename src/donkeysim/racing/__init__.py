"""Races: rules, running, hosting over the network, showing, exporting, and cars that race as an environment."""
