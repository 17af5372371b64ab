"""Folds of a policy together: the dataset of each name, and folds that contradict each other."""

from collections.abc import Iterator

from lineage.names.names import Name, join_parts
from lineage.policy.fold import Fold, ReadyFold, compile_fold, pattern_parts, problems_of
from lineage.policy.model import Policy
from lineage.policy.patterns import dataset_of


class CompiledFolds:
    """Folds of one policy, compiled; false where there are none.

    An object is equal to itself alone: what is remembered of one policy's folds is never taken for
    another's.
    """

    def __init__(self, folds: tuple[Fold, ...] = (), kept: frozenset[Name] = frozenset()) -> None:
        """Make them ready.

        Args:
            folds: of the policy.
            kept: names that no fold takes, since the policy names the dataset itself.
        """
        compiled = (compile_fold(fold, position) for position, fold in enumerate(folds))
        known = [fold for fold in compiled if fold is not None]
        self.folds = tuple(sorted(known, key=lambda fold: fold.specificity, reverse=True))
        self._kept = kept

    def __bool__(self) -> bool:
        """Return whether there is any fold."""
        return bool(self.folds)

    def dataset(self, namespace: str, name: str) -> Name | None:
        """Return the dataset of a name that the built-in rules have folded.

        None where no fold takes it. Of several that match, the most specific decides.
        """
        found = self.fold_of(namespace, name)
        return found.dataset if found else None

    def fold_of(self, namespace: str, name: str) -> ReadyFold | None:
        """Return the fold that takes this name to another."""
        found = next((fold for fold in self.folds if fold.matches(namespace, name)), None)
        if found is None or found.dataset == (namespace, name) or (namespace, name) in self._kept:
            return None
        return found


NO_FOLDS = CompiledFolds()


def folds_of(policy: Policy) -> CompiledFolds:
    """Return the policy's folds, compiled once and kept on it like its cached properties."""
    if not policy.folds:
        return NO_FOLDS
    known = policy.__dict__.get("_compiled_folds")
    if not isinstance(known, CompiledFolds):
        known = policy.__dict__["_compiled_folds"] = CompiledFolds(policy.folds, _named(policy))
    return known


def _named(policy: Policy) -> frozenset[Name]:
    """Return datasets that the policy names outright: what it says of them must find them."""
    pairs = (*policy.overrules(), *policy.expected_edges())
    return frozenset(policy.declared()) | {name for pair in pairs for name in pair}


def fold_problems(policy: Policy) -> Iterator[tuple[str, str]]:
    """Yield the problems of the policy's folds, each with its path."""
    for position, fold in enumerate(policy.folds):
        yield from problems_of(fold, f"$.folds[{position}]")
    yield from _repeated(policy)
    yield from _folded_twice(policy)


def _repeated(policy: Policy) -> Iterator[tuple[str, str]]:
    seen: dict[Name, int] = {}
    for position, fold in enumerate(policy.folds):
        first = seen.setdefault(pattern_parts(fold.match), position)
        if first != position:
            yield f"$.folds[{position}].match", f"is there already, at folds[{first}]"


def _folded_twice(policy: Policy) -> Iterator[tuple[str, str]]:
    """Yield folds whose dataset is itself another name, by aliases or by a fold."""
    others = {name: dataset for name, dataset in policy.overrules() if name != dataset}
    ready_folds = folds_of(policy)
    for position, fold in enumerate(policy.folds):
        dataset = dataset_of(fold.dataset)
        path = f"$.folds[{position}].dataset"
        if dataset is None:
            continue
        if dataset in others:
            yield path, f"is {join_parts(*others[dataset])!r} by aliases: name that dataset"
        elif again := ready_folds.fold_of(*dataset):
            to = join_parts(*again.dataset)
            yield path, f"is folded to {to!r} by folds[{again.position}]: name that dataset"
