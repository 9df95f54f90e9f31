"""How to convert where there is more than one way; the first choice is the default."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class References(StrEnum):
    """What to do with several references where a row holds one."""

    FIRST = "first"
    EXPAND = "expand"
    FAIL = "fail"


class Responses(StrEnum):
    """What to do with several answers where a row holds one."""

    EXPAND = "expand"
    FIRST = "first"
    LIST = "list"
    FAIL = "fail"


class Turns(StrEnum):
    """What to do with a conversation where a row holds one prompt and one answer."""

    LAST = "last"
    TRANSCRIPT = "transcript"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of one conversion."""

    references: References = References.FIRST
    responses: Responses = Responses.EXPAND
    turns: Turns = Turns.LAST
    #: The model whose answers are taken; all if None.
    model: str | None = None
    #: What records get that lack it, by the path of the field.
    constants: Mapping[str, Any] = field(default_factory=dict)
    #: Whether what has no place goes where the format has room for it.
    keep_extra: bool = False
