"""The lineage of a moment ago in memory, for a service that is asked again and again."""
