"""A shop of real Spark jobs, to see Lineward at work."""

from service.demo.story import run

__all__ = ["run"]
