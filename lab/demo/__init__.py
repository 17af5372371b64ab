"""Shop of real Spark jobs, to see Lineward at work."""

from lab.demo.start import run

__all__ = ["run"]
