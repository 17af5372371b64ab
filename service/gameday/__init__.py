"""The driver of a game day: history through collector, stream and evaluation, then who is told."""
