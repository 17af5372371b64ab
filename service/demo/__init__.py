"""Shop of real Spark jobs, to see Lineward at work."""

from service.demo.start import run

__all__ = ["run"]
