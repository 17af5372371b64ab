"""How likely it is that two things go together by chance."""

import math


def fisher_exact_p(bad_with: int, bad: int, good_with: int, good: int) -> float:
    """That at least `bad_with` of `bad` have what `good_with` of `good` have, were it drawn by lot.

    Fisher's exact test, one-sided: the hypergeometric tail over the tables with these margins.

    Args:
        bad_with: bad ones that have it.
        bad: all bad ones.
        good_with: good ones that have it.
        good: all good ones.

    Raises:
        ValueError: more have it than there are.
    """
    if not (0 <= bad_with <= bad and 0 <= good_with <= good):
        raise ValueError(f"{bad_with} of {bad} and {good_with} of {good} are no counts")
    having, every = bad_with + good_with, bad + good
    tables = math.comb(every, bad)
    most = min(bad, having)
    ways = (
        math.comb(having, count) * math.comb(every - having, bad - count)
        for count in range(bad_with, most + 1)
    )
    return sum(ways) / tables
