"""The choices where a conversion has several ways; the first one is the default."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class References(StrEnum):
    """What to do with several references where a row holds one."""

    FIRST = "first"
    EXPAND = "expand"
    FAIL = "fail"


class ReferenceFrom(StrEnum):
    """What the reference of a record is."""

    #: The references that it has.
    REFERENCES = "references"
    #: The expected answer of its conversation, where it has one.
    GT = "gt"


class Responses(StrEnum):
    """What to do with several answers or scores where a row holds one."""

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
    """The choices of one conversion that concern single records."""

    references: References = References.FIRST
    responses: Responses = Responses.EXPAND
    turns: Turns = Turns.LAST
    #: The model whose answers are converted; None for all.
    model: str | None = None
    #: Values for fields that a record lacks, by the path of the field.
    constants: Mapping[str, Any] = field(default_factory=dict)
    #: Whether fields without a place are stored as extra fields of the row.
    keep_extra: bool = False
