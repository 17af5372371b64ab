"""Memory of an evaluation for the next one, which judges only the changes since."""

from datetime import datetime, timedelta

import msgspec
import pyarrow as pa
from sqlalchemy import Engine, text

from lineage.catalog.queries import RETIREMENT_HOLDS, ROOTS_OF_UNREAD_SQL
from lineage.policy import Policy
from slis.evaluation.input import Pause, list_pauses, read_excuses
from slis.evaluation.policy_memory import PolicyMemory
from slis.evaluation.tallies import Tallies

# So rare that it costs little, so often that an error of the choice is noticed within the hour.
WHOLE_EVERY = timedelta(hours=1)
# A write of a row for each dataset. Of a good dataset nobody needs the age to the second.
AGES_EVERY = timedelta(minutes=1)
_RETIRED = f"""
    SELECT t.dataset_key FROM retirement t JOIN dataset d ON d.dataset_key = t.dataset_key
    WHERE {RETIREMENT_HOLDS}
"""  # noqa: S608 - a constant


class SharedInputs(msgspec.Struct, frozen=True):
    """Inputs that many datasets share."""

    gaps: pa.Table
    pauses: list[Pause]
    sql_roots: frozenset[str]  # root runs whose SQL is still to be read
    retired: frozenset[int]  # by a request


class RememberedEstate(msgspec.Struct, frozen=True):
    """Inputs and results of an evaluation that was published.

    Attributes:
        as_of: of the evaluation.
        whole_at: when all datasets were judged last.
        ages_at: when the ages of all datasets were written last.
        shared: inputs that many datasets share.
        watched: `watched_evidence` of the datasets that no trigger of the catalog watches wholly.
        ahead: datasets that were first seen after `as_of`.
        tallies: the counts of the SLIs that each dataset has.
    """

    as_of: datetime
    whole_at: datetime
    ages_at: datetime
    shared: SharedInputs
    watched: pa.Table
    ahead: frozenset[int]
    tallies: Tallies


class EvaluationMemory:
    """Estate as the last evaluation of this process left it; None: all is to be judged."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self.estate: RememberedEstate | None = None
        self.policies = PolicyMemory()
        self.changed: set[int] = set()  # since the last evaluation that was published

    def take(self, previous_as_of: datetime | None, as_of: datetime) -> RememberedEstate | None:
        """Return the estate that an evaluation may follow, and forget it until that is published.

        Args:
            previous_as_of: the last evaluation of the catalog.
            as_of: of the next.
        """
        estate, self.estate = self.estate, None
        if estate is None or estate.as_of != previous_as_of:
            return None
        return estate if estate.whole_at <= as_of else None


def load_shared(
    engine: Engine, policy: Policy, as_of: datetime, backlog_since: datetime | None
) -> SharedInputs:
    """Return the inputs that many datasets share, as they are now."""
    with engine.connect() as connection:
        roots = frozenset(connection.scalars(text(ROOTS_OF_UNREAD_SQL)))
        retired = frozenset(connection.scalars(text(_RETIRED)))
    gaps = read_excuses(engine, as_of, backlog_since)
    return SharedInputs(gaps, list_pauses(engine, policy, as_of), roots, retired)
