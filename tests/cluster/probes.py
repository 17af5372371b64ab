"""Probes of a container, asked as a kubelet asks them."""

import time
from typing import Any, Final

import httpx

_HTTP: Final = httpx.Client(trust_env=False, headers={"Connection": "close"})


class Probe:
    """Probe by HTTP.

    Attributes:
        has_passed: since the last time that it failed for good.
    """

    def __init__(self, given: dict[str, Any], address: str, ports: dict[str, int]) -> None:
        request = given["httpGet"]
        self._url = f"http://{address}:{ports[request['port']]}{request['path']}"
        self._period, self._timeout = given.get("periodSeconds", 10), given.get("timeoutSeconds", 1)
        self._threshold = given.get("failureThreshold", 3)
        self._due, self._failures = 0.0, 0
        self.has_passed = False

    @property
    def has_failed(self) -> bool:
        """Return whether it failed as often as makes it count."""
        return self._failures >= self._threshold

    def ask(self) -> None:
        """Ask, where it is due."""
        if time.monotonic() < self._due:
            return
        self._due = time.monotonic() + self._period
        if self._answers():
            self.has_passed, self._failures = True, 0
        else:
            self._failures += 1
            self.has_passed = self.has_passed and not self.has_failed

    def _answers(self) -> bool:
        try:
            return _HTTP.get(self._url, timeout=self._timeout).is_success
        except httpx.TransportError:
            return False


class Probes:
    """Probes of a container that runs."""

    def __init__(self, container: dict[str, Any], address: str) -> None:
        ports = {one["name"]: one["containerPort"] for one in container.get("ports", [])}
        self._startup, self._liveness, self._readiness = (
            Probe(container[kind], address, ports) if kind in container else None
            for kind in ("startupProbe", "livenessProbe", "readinessProbe")
        )

    def ask(self) -> None:
        """Ask those that are due: the startup probe alone until it passes."""
        for one in (self._liveness, self._readiness) if self._has_started() else (self._startup,):
            if one is not None:
                one.ask()

    def are_ready(self) -> bool:
        """Return whether the container takes requests; without a probe it does at once."""
        return self._has_started() and (self._readiness is None or self._readiness.has_passed)

    def want_restart(self) -> bool:
        """Return whether a kubelet would start the container again."""
        return any(one is not None and one.has_failed for one in (self._startup, self._liveness))

    def _has_started(self) -> bool:
        return self._startup is None or self._startup.has_passed
