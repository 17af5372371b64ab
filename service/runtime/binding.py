"""Checks of the addresses that roles listen on: each is free, and guarded by tokens."""

import socket

from lineage.policy.access import Access
from lineage.policy.model import Policy
from lineage.process.http_hosts import is_loopback
from service.errors import OccupiedError, RejectedInputError
from service.runtime.settings import Settings


def require_guarded(
    settings: Settings, policy: Policy | None, *, with_collector: bool = True
) -> None:
    """Check that only this machine or holders of tokens have access.

    Raises:
        RejectedInputError: everybody would have access; the text names what to set.
    """
    if is_loopback(settings.host) or settings.insecure:
        return
    missing = []
    if policy is None or not isinstance(policy.access, Access):
        missing.append("an `access` section in the policy")
    if with_collector and settings.collector_token_file is None:
        missing.append("LINEWARD_COLLECTOR_TOKEN_FILE")
    if missing:
        raise RejectedInputError(
            f"LINEWARD_HOST={settings.host} accepts requests from other machines without a token:"
            f" set {' and '.join(missing)} (docs/operations.md#other-machines), or allow this with"
            " --insecure or LINEWARD_INSECURE=true"
        )


def require_free(host: str, port: int, variable: str) -> None:
    """See that a role will be able to listen there.

    Raises:
        OccupiedError: it would not.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            reason = error.strerror or str(error)
            message = f"cannot listen on {host}:{port} ({reason}): set {variable} to a free port"
            raise OccupiedError(message) from error
