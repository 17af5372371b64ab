"""Small folders of publishing histories for tests, in the format of `bench cadences`."""

import csv

DAY = 86_400
START = 1_700_000_000 // DAY * DAY
_INDEX = ("file", "repository", "class_seen")
_LABELS = ("series", "start", "label", "class")


def write_folder(folder, histories):
    """Write a folder.

    Args:
        folder: exists.
        histories: (name, repository, class_seen, seconds, {start: (label, class)}).
    """
    labels = []
    for name, _, _, seconds, labelled in histories:
        (folder / f"{name}.csv").write_text("".join(f"{second}\n" for second in seconds))
        labels += [(f"{name}.csv", start, *label) for start, label in labelled.items()]
    index = [(f"{name}.csv.csv", repository, seen) for name, repository, seen, *_ in histories]
    _write(folder / "index.csv", _INDEX, index)
    _write(folder / "labels.csv", _LABELS, labels)
    return folder


def _write(path, names, rows):
    with path.open("w", newline="") as lines:
        csv.writer(lines).writerows([names, *rows])


def daily_seconds(days, *, without=(), late=()):
    """Return the seconds of daily writes at about one o'clock, in days after `START`.

    Args:
        days: how many.
        without: days that have no write.
        late: days whose write comes fifteen hours later.
    """
    return [
        START + day * DAY + 3_600 + day * 37 % 300 + (15 * 3_600 if day in late else 0)
        for day in range(days)
        if day not in without
    ]
