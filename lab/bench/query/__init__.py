"""Benchmark of the service's responses."""
