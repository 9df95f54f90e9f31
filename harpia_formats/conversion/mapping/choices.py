"""The choices where a conversion has several ways; the first one is the default."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct, field


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


class Prompt(StrEnum):
    """Which prompt of a record is written."""

    #: The question as the record has it.
    QUESTION = "question"
    #: The prompt as the model got it, where the record has that.
    FORMATTED = "formatted"


#: The filter that stands for all of them.
ALL_FILTERS = "all"


class Choices(Struct, frozen=True):
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
    prompt: Prompt = Prompt.QUESTION
    #: The filter of a harness whose scores and extractions are converted, or
    #: `ALL_FILTERS`; None for the first one where a row holds one score.
    filter: str | None = None
    #: The metric whose scores are converted; None for all.
    metric: str | None = None
    #: The lowest score of a correct answer, for scores that do not say which are.
    correct_from: float | None = None
    #: Whether a list of answers is kept in rows of the format that it was read from,
    #: whatever `responses` says.
    keeps_own_lists: bool = False
