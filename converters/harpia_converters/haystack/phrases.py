"""Phrases for messages: names in quotes, lists of names, and counted nouns."""

import json
from collections.abc import Iterable, Sequence

#: The most characters of a name, and the most names of a list, that a message shows.
_shown, _listed = 40, 4


def quoted(name: str) -> str:
    """Return a name in quotes, cut where it is long."""
    cut = name if len(name) <= _shown else name[:_shown] + "…"
    return json.dumps(cut, ensure_ascii=False)


def listed(names: Iterable[str]) -> str:
    """Return the first few of `names` in quotes, and how many more there are."""
    every = list(names)
    return joined([quoted(name) for name in every[:_listed]], len(every))


def joined(words: Sequence[str], of: int) -> str:
    """Return `words` as one phrase; of `of` in all, the missing ones are counted."""
    more = [f"{of - len(words):,} more"] if of > len(words) else []
    *firsts, last = [*words, *more] or ["nothing"]
    return f"{', '.join(firsts)} and {last}" if firsts else last


def counted(number: int, what: str) -> str:
    """Return a number of things, such as `1 item` or `2 items`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
