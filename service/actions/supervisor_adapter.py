"""Adapter by which actions see the roles of `lineward up`."""

from service.queries.roles import roles_of
from service.runtime.restarts import ask
from service.runtime.settings import Settings


class SupervisorAdapter:
    """Roles on the data folder of these settings, on this machine."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def roles(self) -> dict[str, str]:
        """State by role; empty when no supervisor runs there."""
        is_up, roles = roles_of(self._settings.data_dir)
        return {role.role: role.state for role in roles} if is_up else {}

    def ask_to_restart(self, role: str) -> None:
        """Have the supervisor stop the role, and start it again."""
        ask(self._settings.data_dir, role)
