"""Pages for people, drawn on the server: no script, nothing fetched, every name escaped."""
