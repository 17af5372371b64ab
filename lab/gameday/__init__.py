"""Game day: a simulated estate, its faults, and how well people are notified."""
