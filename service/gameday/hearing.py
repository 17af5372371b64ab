"""What of all that a live game day's Slack is told is of the game day, and what stood behind it."""

from collections.abc import Iterable
from typing import Final

from runbooks.gameday.live.estate import NAMESPACE, TEAMS
from runbooks.gameday.received import Heard, Receivers
from runbooks.gameday.truth import Name
from service.gameday.asked import Asked

# What Lineward tells of itself and of its budgets is judged as well.
_LINEWARD: Final = frozenset({"", "lineward"})
_OURS: Final = frozenset({NAMESPACE, *TEAMS}) | _LINEWARD


class Hearing:
    """Listens when it is asked to; each link is followed once, as soon as it was heard.

    Attributes:
        heard: what is of the game day.
        others: how many messages were not.
    """

    def __init__(self, receivers: Receivers, asked: Asked) -> None:
        self._receivers, self._asked = receivers, asked
        self._lists: dict[tuple[str, int], frozenset[Name]] = {}
        self.heard: list[Heard] = []
        self.others = 0

    def listen(self) -> None:
        """Take up what came since."""
        known = len(self.heard) + self.others
        for each in self._receivers.heard[known:]:
            self._receive(each)

    def resolve(self, link: str, at: int) -> Iterable[Name]:
        """As `runbooks.gameday.scorer.Resolver`."""
        return self._lists.get((link, at), frozenset())

    def _receive(self, each: Heard) -> None:
        if each.root.namespace not in _OURS:
            self.others += 1
            return
        if each.full_list is not None and each.what in {"page", "ticket"}:
            self._lists[each.full_list, each.at] = self._asked.affected_datasets(each.full_list)
        self.heard.append(each)
