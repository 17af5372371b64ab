"""Name of the person who runs a command, for the audit log."""

import getpass

import msgspec

from lineage.process.environment import read


class OperatorSettings(msgspec.Struct, frozen=True):
    """Setting of a shell that several people share, such as a shell in a container."""

    operator: str = ""


def operator_name() -> str:
    """Return `LINEWARD_OPERATOR` with the user of the machine, or the user alone."""
    user, named = getpass.getuser(), read(OperatorSettings).operator.strip()
    return f"{named} ({user})" if named else user
