"""Parts of values, and words about them, that all of Haystack's formats use."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from harpia_formats.model.format import Remark, Remarks
from harpia_formats.model.problem import Path

Name = TypeVar("Name")

#: Characters of a name, and names of a list, that a sentence shows.
_shown, _listed = 40, 4


def object_in(value: Any) -> Mapping[str, Any]:
    """Return `value` if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def list_in(value: Any) -> list[Any]:
    """Return `value` if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def quoted(name: str) -> str:
    """Return a name in quotes, cut where it is long."""
    cut = name if len(name) <= _shown else name[:_shown] + "…"
    return json.dumps(cut, ensure_ascii=False)


def listed(names: Iterable[str]) -> str:
    """Return the first few of `names` in quotes, and how many more there are."""
    every = list(names)
    return joined([quoted(name) for name in every[:_listed]], len(every))


def joined(words: Sequence[str], of: int) -> str:
    """Return `words` as one phrase that says that there are `of` in all."""
    more = [f"{of - len(words):,} more"] if of > len(words) else []
    *firsts, last = [*words, *more] or ["nothing"]
    return f"{', '.join(firsts)} and {last}" if firsts else last


def counted(number: int, what: str) -> str:
    """Return a number of things, such as `1 item` or `2 items`."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def usual_of(lengths: Mapping[Name, int]) -> Name:
    """Return the first name that has the length that most have.

    Raises `ValueError` without names.
    """
    ((usual, _),) = Counter(lengths.values()).most_common(1)
    return next(name for name, length in lengths.items() if length == usual)


def below(path: Path, remarks: Iterable[Remark]) -> Iterator[Remark]:
    """Yield remarks on the value at `path` as remarks on the whole."""
    for remark in remarks:
        yield replace(remark, path=(*path, *remark.path))


def of_components(document: Any, remarks: Remarks) -> Iterator[Remark]:
    """Yield the remarks on what stands under each component's name."""
    for name, component in object_in(document).items():
        yield from below((name,), remarks(component))
