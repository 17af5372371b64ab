"""Ask servers on this machine."""

import httpx

# A connection a request: a kept one may be closed while a test looks elsewhere.
CLIENT = httpx.Client(
    verify=False,  # noqa: S501 - loading the certificates of the world costs more than a test
    trust_env=False,
    timeout=30,
    limits=httpx.Limits(max_keepalive_connections=0),
)
