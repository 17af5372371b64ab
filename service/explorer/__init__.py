"""Pages, rendered on the server: no scripts, no external resources, every name escaped."""
