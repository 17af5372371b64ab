"""Driver of a game day: history through collector, stream and evaluation, then notifications."""
