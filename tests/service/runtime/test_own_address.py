import socket

from service import __main__ as role
from tests.suite.ports import free_ports


def test_links_lead_to_the_port_that_the_service_has(monkeypatch, tmp_path):
    """Mutant: the address of a service without settings."""
    ports = dict(zip(("SERVICE", "METRICS"), map(str, free_ports(2)), strict=True))
    variables = {f"LINEWARD_{name}_PORT": port for name, port in ports.items()}
    variables["LINEWARD_DATA_DIR"] = str(tmp_path)
    given = []

    async def serve(started, *listening: socket.socket):
        given.append(started.routing.public_url)
        for one in listening:
            one.close()

    monkeypatch.setattr("lineage.process.environment.variables", lambda: variables)
    monkeypatch.setattr(role, "begin_role", lambda: None)
    monkeypatch.setattr(role, "_serve", serve)

    assert role.main() == 0
    assert given == [f"http://127.0.0.1:{ports['SERVICE']}"]
