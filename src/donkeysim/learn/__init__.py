"""Pilots: training them, their files, and evaluating how they drive."""
