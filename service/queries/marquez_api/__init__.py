"""Marquez 0.51's read API over the catalog: the answers, one module for each kind of thing."""
