"""Shop of real Spark jobs, to see Lineward at work."""

from lab.demo.start import run_demo

__all__ = ["run_demo"]
