"""History at simulated times: merged in slabs, judged on a grid of a minute, kept as changes."""
