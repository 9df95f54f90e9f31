"""Repairs: how one value of a record is changed so that a rule is kept."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from harpia_formats.model.problem import Path

#: What a repair does with the value at its path, or with the key of it.
REMOVE, REPLACE, RENAME_KEY, ADD = "remove", "replace", "rename-key", "add"


@dataclass(frozen=True, slots=True)
class Repair:
    """A change of one value in a record, made because the record breaks a rule."""

    #: The code of the rule.
    code: str
    #: "remove", "replace", "rename-key", or "add" for a key that is not there.
    kind: str
    #: The value; for "add" the value that is to be there.
    path: Path
    #: What was done, in the past tense, such as `removed "formatted"`.
    what: str
    #: The new value, or the new key.
    value: Any = None
    #: Whether text is lost that stands nowhere else in the record; `what` says which.
    loses_text: bool = False
    #: Whether the value is counted in other values of the record: it is not while the
    #: record breaks a condition (a rule of the letter C), since either may be wrong.
    is_count: bool = False


#: Given a decoded record: repairs that may hide what was wrong with it.
UnsafeRepairs = Callable[[Any], Iterator[Repair]]
