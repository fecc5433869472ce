"""Rules of races: rule books, the director, tournaments and points; reads rows and events, without pictures or IO."""
