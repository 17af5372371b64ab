"""Access check: other machines have access only with tokens."""

from lineage.policy.access import Access
from lineage.policy.model import Policy
from lineage.process.http_hosts import is_loopback
from service.errors import RejectedInputError
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
