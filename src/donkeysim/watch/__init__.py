"""Watching: what anybody who watches may see and do, and the page that shows it; serve and drive both are watchable."""
