"""Game day on the real clock: an estate of chains that write every few seconds."""
