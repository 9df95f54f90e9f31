"""What a format is: a frozen record of functions, registered in a table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harpia_formats.problem import Path


@dataclass(frozen=True, slots=True)
class Advice:
    """What a format knows better about a broken condition than its schema says."""

    code: str
    help: str


#: Given a branch of the schema (a pointer) that a record breaks, where it breaks it
#: and the record: the rule and the help, if the format knows them.
Advise = Callable[[str, Path, Any], Advice | None]


def no_advice(branch: str, path: Path, record: Any) -> Advice | None:  # noqa: ARG001 - the shape of `Format.advise`
    """Return nothing."""
    return None


@dataclass(frozen=True, slots=True)
class Format:
    """One format, in one version."""

    #: Such as `eee@0.2.0`.
    id: str
    #: What it is, in a few words.
    title: str
    #: The key that holds a record's id, empty if there is none.
    id_key: str
    #: Returns why a row looks like this format, empty if it does not.
    sniff: Callable[[Mapping[str, Any]], str]
    advise: Advise = no_advice
    #: Other ids that this version goes by.
    aliases: tuple[str, ...] = ()
