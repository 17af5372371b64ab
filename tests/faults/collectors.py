"""Collectors whose worker is a mutant."""

from pathlib import Path

from tests.collector.running import Collector

_HERE = Path(__file__).parent


def mutant(folder: Path, worker: str, *, before: tuple[str, ...] = ()) -> Collector:
    """Start a collector whose worker is the script `worker`.py of this folder."""
    program = (str(_HERE / "mutant.py"), str(_HERE / f"{worker}.py"))
    return Collector(folder, program=program, before=before)
