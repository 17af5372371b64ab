"""Roles that `lineward up` runs, and the environment of each."""

import os
import signal
import socket
import sys

import msgspec

from service.errors import OccupiedError
from service.runtime.child import RoleCommand
from service.runtime.settings import Settings
from service.runtime.startup_checks import require_free

_PORTS = ("collector_port", "service_port", "metrics_port")


def role_commands(settings: Settings) -> tuple[RoleCommand, ...]:
    """List the roles in start order; the first stops last, because senders wait for it."""
    collector = RoleCommand(
        role="collector",
        argv=_module("collector"),
        address=(settings.host, settings.collector_port),
        livez=(settings.host, settings.collector_port),
        beats=True,  # the parent, which `/livez` says nothing about
        hang_seconds=settings.hang_seconds,
        # It finishes what is in flight, then ends its own worker.
        death_signal=signal.SIGTERM,
    )
    # Spark needs a while to end; killed, it would lose nothing either. Its batches take all cores:
    # senders and people that wait for an answer come first.
    pipeline = RoleCommand(
        role="pipeline",
        argv=_module("slis"),
        stop_seconds=40.0,
        nice=5,
        beats=True,
        # A JVM that collects garbage on a machine that swaps answers nobody for a minute.
        hang_seconds=2 * settings.hang_seconds,
        needs_disk=True,
    )
    service = RoleCommand(
        role="service",
        argv=_module("service"),
        livez=(settings.host, settings.service_port),
        hang_seconds=settings.hang_seconds,
    )
    # What it has in flight is answered, and need not be sent again.
    marquez = RoleCommand(
        role="marquez",
        argv=_module("service.ingest.marquez"),
        stop_seconds=20.0,
        beats=True,
        hang_seconds=settings.hang_seconds,
    )
    kafka = RoleCommand(
        role="kafka",
        argv=_module("service.ingest.kafka"),
        beats=True,
        hang_seconds=settings.hang_seconds,
    )
    kubernetes = RoleCommand(
        role="kubernetes",
        argv=_module("service.ingest.kubernetes"),
        beats=True,
        hang_seconds=settings.hang_seconds,
    )
    # It stops before the collector, whose last events wait in the spool for the next start.
    shipper = RoleCommand(
        role="shipper",
        argv=_module("collector.shipper"),
        stop_seconds=30.0,
        beats=True,
        hang_seconds=settings.hang_seconds,
    )
    beside = [shipper] if settings.is_shipped else []
    beside += [marquez] if settings.marquez_url else []
    beside += [kafka] if settings.kafka_bootstrap else []
    beside += [kubernetes] if settings.kubernetes_namespaces else []
    return collector, service, *beside, pipeline


def role_environment(settings: Settings) -> dict[str, str]:
    """Return the environment of the roles: the current one with these settings."""
    fields = {
        "LINEWARD_HOST": settings.host,
        "LINEWARD_DATA_DIR": str(settings.data_dir.absolute()),
        "LINEWARD_INSECURE": str(settings.insecure).lower(),
        **{f"LINEWARD_{name.upper()}": str(getattr(settings, name)) for name in _PORTS},
    }
    if settings.policy:
        fields["LINEWARD_POLICY"] = str(settings.policy.absolute())
    return {**os.environ, **fields}


def with_free_ports(settings: Settings) -> Settings:
    """Replace each port 0 of the settings by a free port.

    Raises:
        OccupiedError: a port is in use, or given to two roles.
    """
    chosen = {name: getattr(settings, name) or _free_port(settings.host) for name in _PORTS}
    if len(set(chosen.values())) < len(chosen):
        given = ", ".join(f"{name} {port}" for name, port in chosen.items())
        message = f"each role needs its own port, got {given}"
        raise OccupiedError(message)
    for name, port in chosen.items():
        require_free(settings.host, port, f"LINEWARD_{name.upper()}")
    return msgspec.structs.replace(settings, **chosen)


def _module(name: str) -> tuple[str, ...]:
    return (sys.executable, "-m", name)


def _free_port(host: str) -> int:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port
