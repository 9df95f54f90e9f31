"""The score of a row that follows from a list in the reply of a judge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harpia_formats.evaluation.llm_judge.definition.output_fields import OutputField
from harpia_formats.evaluation.llm_judge.errors import DefinitionError

#: The key of the score among the values of a row.
SCORE = "score"
#: The rules: the mean of the numbers of a list, and whether a list has any member.
MEAN, ANY = "mean_of", "any_of"
#: The list of which each member has a number in the list of `MEAN`.
_EACH = "each_of"


@dataclass(frozen=True, slots=True)
class RowScore:
    """How the score of a row follows from its values."""

    #: `MEAN` or `ANY`.
    rule: str
    #: The output field that is the list.
    output: str
    #: The output field with a member for each number of the list, "" for none.
    each_of: str = ""

    @property
    def scale_label(self) -> str:
        """The scale for the signature of verdicts."""
        return f"|scale:{SCORE}=0-1"

    @property
    def parts(self) -> tuple[str, ...]:
        """The rule and its fields, for the digest of a definition."""
        return self.rule, self.output, self.each_of

    def error_in(self, values: Mapping[str, Any], *, strict: bool) -> str:
        """Return why a row with these values has no score, "" if it has one.

        Only with `strict` must the list have as many numbers as the other has members.
        """
        found = values[self.output]
        if not isinstance(found, list):
            return f"{self.output} is not an array"
        if self.rule == ANY:
            return ""
        if not all(map(_is_share, found)):
            return f"{self.output} has a value that is not a number from 0 to 1"
        others = values[self.each_of] if self.each_of else found
        if strict and (not isinstance(others, list) or len(others) != len(found)):
            return f"{self.output} has not one number for each member of {self.each_of}"
        return ""

    def value(self, values: Mapping[str, Any]) -> float:
        """Return the score of a row without an error; an empty list scores 0."""
        found = values[self.output]
        if self.rule == ANY:
            return int(bool(found))
        return sum(found) / len(found) if found else 0


def _is_share(value: Any) -> bool:
    return isinstance(value, int | float) and 0 <= value <= 1


def row_score(given: Any, outputs: Sequence[OutputField]) -> RowScore | None:
    """Return the score that a definition describes, None if it has none.

    Raises `DefinitionError`.
    """
    if given is None:
        return None
    rules = given.keys() & {MEAN, ANY} if isinstance(given, Mapping) else ()
    if len(rules) != 1:
        raise DefinitionError(
            f"the score must be an object with {MEAN} or {ANY}, the name of an output"
        )
    (rule,) = rules
    known = (rule, _EACH) if rule == MEAN else (rule,)
    names = [output.name for output in outputs]
    for key, name in given.items():
        if key not in known:
            raise DefinitionError(
                f"the score has no {key!r} (known: {', '.join(known)})"
            )
        if name not in names:
            raise DefinitionError(
                f"the {key} of the score must be one of the outputs, {', '.join(names)}"
            )
    if SCORE in names:
        raise DefinitionError(
            f"there is an output called {SCORE} beside the rule for it: leave one out"
        )
    return RowScore(rule, given[rule], given.get(_EACH, ""))
