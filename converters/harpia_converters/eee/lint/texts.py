"""Check choices against references, and texts that are empty (E121, E122)."""

import re
from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from harpia_converters.eee.lint.members import Question, Step, Turn, fits
from harpia_converters.eee.lint.wording import count_of, quoted
from harpia_converters.eee.versions import Version
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import RowLint
from harpia_formats.model.problem import Path
from harpia_formats.model.text.describe import path_text

CHOICES, EMPTY = "E121", "E122"

#: A letter or a number that stands for one of the choices, as in "B", "(b)" or "2.".
_label = re.compile(r"\(?(?:(?P<letter>[A-Za-z])|(?P<number>[0-9]{1,4}))[).:]?")
#: Keys of the root that identify a row, beside those that E101 and E102 check.
_names = ("evaluation_id", "evaluation_name", "sample_id", "evaluation_result_id")


def lint(version: Version) -> RowLint:
    """Return the check of the texts of a row of `version`."""
    check = _Check(version.turns)
    return RowLint((CHOICES, EMPTY), check.remarks, check.is_clean, takes_refused=True)


class _Check:
    """Checks the texts of a row whose turns are under one key."""

    def __init__(self, key: str) -> None:
        self._key = key

    def is_clean(self, row: Any) -> bool:  # noqa: PLR0911 - one pass, for speed
        """Tell whether a typed row has nothing that `remarks` yields."""
        if row.sample_id == "" or not (row.evaluation_id and row.evaluation_name):
            return False
        if getattr(row, "evaluation_result_id", UNSET) == "":
            return False
        asked = row.input
        reference, choices = asked.reference, asked.choices
        if is_blank(asked.raw) or asked.formatted == "":
            return False
        references = [reference] if type(reference) is str else reference
        for each in references:
            if is_blank(each):
                return False  # it may be allowed
        # Of several references the first one is mostly that of the choices.
        has_choices = choices is not UNSET and choices is not None
        if has_choices and not (choices and references and references[0] in choices):
            return False
        for step in row.answer_attribution:
            if not (step.extracted_value and step.extraction_method):
                return False
        turns = getattr(row, self._key)
        return turns is UNSET or turns is None or _have_texts(turns)

    def remarks(self, row: Any) -> Iterator[Remark]:
        """Yield what is wrong with the choices and the texts of a row."""
        if type(row) is not dict:
            return
        for path in self._empty(row):
            message = f"{path_text(path)} must not be empty"
            yield Remark(EMPTY, path, message, _help_of(path))
        asked: Any = row.get("input")
        if fits(asked, Question) and asked.get("choices") is not None:
            yield from _of_choices(asked["reference"], asked["choices"])

    def _empty(self, row: Any) -> Iterator[Path]:
        """Yield the paths of texts that are empty and should not be."""
        yield from ((key,) for key in _names if row.get(key) == "")
        asked = row.get("input")
        if fits(asked, Question):
            yield from _empty_of_question(asked)
        steps, turns = row.get("answer_attribution"), row.get(self._key)
        if fits(steps, list[Step]):
            yield from _empty_of_steps(steps, row.get("evaluation"))
        if fits(turns, list[Turn]):
            yield from self._empty_of_turns(turns)

    def _empty_of_turns(self, turns: Any) -> Iterator[Path]:
        """Yield the paths of empty questions and of empty names of tool calls.

        Rules of all formats find empty answers.
        """
        for place, turn in enumerate(turns):
            if turn["role"] == "user" and turn.get("content") == "":
                yield (self._key, place, "content")
            for number, call in enumerate(turn.get("tool_calls") or ()):
                for key in ("id", "name"):
                    if not call[key]:
                        yield (self._key, place, "tool_calls", number, key)


def _empty_of_steps(steps: Any, evaluation: Any) -> Iterator[Path]:
    """Yield the paths of empty texts of the attribution of an answer.

    Where nothing was extracted there is no value: a step before the last one had no
    success, and an answer that was not found is not correct.
    """
    failed = isinstance(evaluation, dict) and evaluation.get("is_correct") is False
    for number, step in enumerate(steps):
        if not step["extracted_value"] and step["is_terminal"] and not failed:
            yield ("answer_attribution", number, "extracted_value")
        if not step["extraction_method"]:
            yield ("answer_attribution", number, "extraction_method")


def _empty_of_question(asked: Any) -> Iterator[Path]:
    """Yield the paths of empty texts of the input of a row.

    The reference of 0.2.0 is a text that must be there: it is empty where there is
    none to compare with, which cannot be where one of some choices is right.
    """
    if is_blank(asked["raw"]):
        yield ("input", "raw")
    if asked.get("formatted") == "":
        yield ("input", "formatted")
    reference = asked["reference"]
    if type(reference) is str:
        if is_blank(reference) and (reference or asked.get("choices")):
            yield ("input", "reference")
        return
    for number, each in enumerate(reference):
        if is_blank(each):
            yield ("input", "reference", number)


def _have_texts(turns: Any) -> bool:
    """Tell whether typed turns of the user have a text, and tool calls their names."""
    for turn in turns:
        if turn.content == "" and turn.role == "user":
            return False
        calls = turn.tool_calls
        if calls is not UNSET and calls is not None:
            for call in calls:
                if not (call.id and call.name):
                    return False
    return True


def is_blank(text: str) -> bool:
    """Tell whether a text is empty or all white space."""
    return not text or text.isspace()


#: What the texts that must not be empty are for, by their keys.
_uses: dict[str | int, str] = {
    "content": "it is what the user asked",
    "evaluation_id": "rows of one run are found by it",
    "evaluation_name": "rows of one evaluation are found by it",
    "evaluation_result_id": "the result that the score is part of is found by it",
    "extracted_value": "it is what was scored",
    "extraction_method": "it says how the value was extracted",
    "id": "the turn that answers the call names it",
    "name": "it says which tool was called",
    "raw": "it is what was asked",
    "sample_id": "rows of one sample are found by it",
}


def _help_of(path: Path) -> str:
    """Return what to do about an empty text at `path`."""
    if path == ("input", "formatted"):
        return "leave it out if the prompt was input.raw"
    if path[:2] == ("input", "reference"):
        if len(path) > 2:  # noqa: PLR2004 - an item of the list of references
            return "remove it from the list, or give the reference"
        return 'give the reference: only a row without choices may have "" for none'
    return f"give it: {_uses[path[-1]]}"


def _of_choices(reference: Any, choices: list[str]) -> Iterator[Remark]:
    """Yield a remark if no reference is one of the choices."""
    path: Path = ("input", "choices")
    if not choices:
        yield Remark(
            CHOICES, path, "choices is empty", "leave it out if there are no choices"
        )
        return
    listed = [reference] if type(reference) is str else reference
    plain = {choice.strip().casefold() for choice in choices}
    if not listed or any(
        each in choices
        or is_blank(each)
        or each.strip().casefold() in plain
        or _stands_for(each, len(choices))
        for each in listed
    ):
        return
    yield Remark(
        CHOICES,
        ("input", "reference"),
        f"the reference {quoted(listed[0])} is none of the "
        f"{count_of(len(choices), 'choice')}, nor a letter or number of one",
        "give the reference as in choices, or the letter of the choice",
    )


def _stands_for(reference: str, choices: int) -> bool:
    """Tell whether a reference is the letter or the number of one of `choices`."""
    found = _label.fullmatch(reference.strip())
    if found is None:
        return False
    if found["letter"]:
        return ord(found["letter"].upper()) - ord("A") < choices
    # Choices are counted from 0 or from 1.
    return int(found["number"]) <= choices
