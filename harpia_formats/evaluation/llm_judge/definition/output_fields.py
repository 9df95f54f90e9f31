"""The output fields of a judge: their names, and the values that they may have."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harpia_formats.evaluation.llm_judge.errors import DefinitionError
from harpia_formats.model.text.spelling import hint_on

#: The Python types of a value, by the name of its JSON type in a definition.
KINDS: dict[str, tuple[type, ...]] = {
    "number": (int, float),
    "integer": (int,),
    "string": (str,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_articles = {"integer": "an", "array": "an", "object": "an"}
_keys = ("name", "type", "minimum", "maximum", "choices")


@dataclass(frozen=True, slots=True)
class OutputField:
    """One output field: its name, and the values that it may have."""

    name: str
    #: A key of `KINDS`, or empty for any value.
    kind: str = ""
    minimum: float | None = None
    maximum: float | None = None
    #: The allowed values; empty if they are not listed.
    choices: tuple[Any, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether any value is allowed."""
        return self == OutputField(self.name)

    @property
    def scale_label(self) -> str:
        """The scale for the signature of verdicts, "" unless it is from 0 to 1."""
        ends = self.choices or (self.minimum, self.maximum)
        is_share = all(isinstance(end, int | float) and 0 <= end <= 1 for end in ends)
        return f"|scale:{self.name}=0-1" if is_share else ""

    @property
    def value_description(self) -> str:
        """The allowed values in words, for the prompt and for messages."""
        if self.choices:
            texts = (json.dumps(choice, ensure_ascii=False) for choice in self.choices)
            return f"one of {', '.join(texts)}"
        kind = self.kind or "number"
        noun = f"{_articles.get(kind, 'a')} {kind}"
        if self.minimum is not None and self.maximum is not None:
            return f"{noun} from {self.minimum} to {self.maximum}"
        if self.minimum is not None:
            return f"{noun}, at least {self.minimum}"
        return noun if self.maximum is None else f"{noun}, at most {self.maximum}"

    def error_in(self, value: Any) -> str:
        """Return why a value is not allowed, "" if it is allowed."""
        if self.is_plain:
            return ""
        if self.choices:
            is_one = any(_same(value, choice) for choice in self.choices)
            return "" if is_one else f"{self.name} is not {self.value_description}"
        return (
            ""
            if self._is_in_range(value)
            else f"{self.name} is not {self.value_description}"
        )

    def plain_value(self, value: Any) -> Any:
        """Return an allowed value as the definition spells it: 4 for 4.0."""
        if self.choices:
            return next(choice for choice in self.choices if _same(value, choice))
        is_whole = isinstance(value, float) and value.is_integer()
        return int(value) if self.kind == "integer" and is_whole else value

    def _is_in_range(self, value: Any) -> bool:
        kind = self.kind or "number"
        if isinstance(value, bool):
            return kind == "boolean"
        if kind == "integer" and isinstance(value, float) and value.is_integer():
            kind = "number"
        if not isinstance(value, KINDS[kind]):
            return False
        if not isinstance(value, int | float):
            return True
        above = self.minimum is None or value >= self.minimum
        below = self.maximum is None or value <= self.maximum
        is_real = isinstance(value, int) or math.isfinite(value)
        return is_real and above and below


def output_field(given: Any) -> OutputField:
    """Return the output field of a name, or of an object with a name.

    Raises `DefinitionError` for anything else.
    """
    if isinstance(given, str):
        return OutputField(given)
    if not isinstance(given, Mapping):
        raise DefinitionError(
            f"outputs must be a list of names, or of objects with a name; {given!r} "
            "is neither"
        )
    for key in given:
        if key not in _keys:
            raise DefinitionError(f"an output has no {key!r}{hint_on(str(key), _keys)}")
    if not isinstance(given.get("name"), str):
        raise DefinitionError(f"the output {dict(given)!r} needs a name, which is text")
    return _checked(given)


def _checked(given: Mapping[str, Any]) -> OutputField:
    name, kind = given["name"], given.get("type", "")
    if kind != "" and kind not in KINDS:
        raise DefinitionError(
            f"the output {name} has the type {kind!r}; it must be one of "
            f"{', '.join(KINDS)}"
        )
    bounds = [given.get(key) for key in ("minimum", "maximum")]
    if any(bound is not None for bound in bounds) and kind not in {
        "",
        "number",
        "integer",
    }:
        raise DefinitionError(f"the output {name} is no number, so it has no range")
    if any(bound is not None and not _is_number(bound) for bound in bounds):
        raise DefinitionError(f"the range of the output {name} must be numbers")
    low, high = bounds
    if low is not None and high is not None and low > high:
        raise DefinitionError(f"the output {name} has a minimum above its maximum")
    return OutputField(name, kind, low, high, _choices(given, name))


def _choices(given: Mapping[str, Any], name: str) -> tuple[Any, ...]:
    choices = given.get("choices", ())
    if "choices" in given:
        if not isinstance(choices, list) or not choices:
            raise DefinitionError(f"the choices of the output {name} must be a list")
        if given.keys() & {"type", "minimum", "maximum"}:
            raise DefinitionError(
                f"the output {name} has choices, so neither a type nor a range: "
                "leave those out"
            )
        if not all(isinstance(choice, str | int | float | None) for choice in choices):
            raise DefinitionError(
                f"each choice of the output {name} must be text, a number, true, "
                "false or null"
            )
    return tuple(choices)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


def _same(one: Any, other: Any) -> bool:
    """Tell whether two values are equal in JSON, in which true is not 1."""
    return isinstance(one, bool) == isinstance(other, bool) and one == other
