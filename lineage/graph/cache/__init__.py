"""Lineage of a moment ago in memory, for a service that answers many queries."""
