"""Typed access to decoded values whose type is not checked yet."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, TypeVar

Name = TypeVar("Name")


def object_in(value: Any) -> Mapping[str, Any]:
    """Return `value` if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def list_in(value: Any) -> list[Any]:
    """Return `value` if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def first_of_usual_length(lengths: Mapping[Name, int]) -> Name:
    """Return the first name whose length is the most common one.

    Raises `ValueError` if `lengths` is empty.
    """
    ((usual, _),) = Counter(lengths.values()).most_common(1)
    return next(name for name, length in lengths.items() if length == usual)
