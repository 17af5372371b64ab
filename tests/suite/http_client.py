"""Client of servers on this machine."""

import httpx

# A connection per request: a server may close a kept one while a test is busy elsewhere.
CLIENT = httpx.Client(
    verify=False,  # noqa: S501 - loading the certificates of the world costs more than a test
    trust_env=False,
    timeout=30,
    limits=httpx.Limits(max_keepalive_connections=0),
)
