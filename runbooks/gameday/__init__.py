"""A game day: an estate that never was, what happens to it, and how well people are told."""
