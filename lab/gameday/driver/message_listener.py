"""Messages of a live game day that a shared Slack received, and the lists behind them."""

from collections.abc import Iterable
from typing import Final

from lab.gameday.driver.service_client import ServiceClient
from lab.gameday.fake_receivers import ReceivedMessage, Receivers
from lab.gameday.live.estate import LIVE_TEAMS, NAMESPACE
from lab.gameday.truth_shapes import NamePattern

# Messages about Lineward itself and its budgets are judged as well.
_LINEWARD: Final = frozenset({"", "lineward"})
_OURS: Final = frozenset({NAMESPACE, *LIVE_TEAMS}) | _LINEWARD


class MessageListener:
    """Reader of messages, when called; each link is followed once, as soon as it arrived.

    Attributes:
        messages: what is of the game day.
        others: how many messages were not.
    """

    def __init__(self, receivers: Receivers, asked: ServiceClient) -> None:
        self._receivers, self._asked = receivers, asked
        self._lists: dict[tuple[str, int], frozenset[NamePattern]] = {}
        self.messages: list[ReceivedMessage] = []
        self.others = 0

    def listen(self) -> None:
        """Take up what came since."""
        known = len(self.messages) + self.others
        for each in self._receivers.messages[known:]:
            self._add(each)

    def resolve(self, link: str, at: int) -> Iterable[NamePattern]:
        """Return a list's names; see `lab.gameday.scorer.Resolver`."""
        return self._lists.get((link, at), frozenset())

    def _add(self, each: ReceivedMessage) -> None:
        if each.root.namespace not in _OURS:
            self.others += 1
            return
        if each.full_list is not None and each.what in {"page", "ticket"}:
            self._lists[each.full_list, each.at] = self._asked.affected_by(each.full_list)
        self.messages.append(each)
