"""Rules of races: no pictures, no IO."""
