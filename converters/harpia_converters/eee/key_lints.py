"""Check the texts and the keys of a row (E121-E128)."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, get_args

from msgspec import UNSET, Struct
from msgspec.structs import fields

from harpia_converters.eee.row_members import (
    TOKENS,
    Call,
    Counts,
    Evaluation,
    Output,
    Question,
    RowCheck,
    Step,
    Times,
    Turn,
    Usage,
    fits,
    quoted,
)
from harpia_converters.eee.versions import Version
from harpia_formats.model.describe import path_text, with_noun
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path
from harpia_formats.model.spelling import nearest

CHOICES, EMPTY = "E121", "E122"

#: A letter or a number that stands for one of the choices, as in "B", "(b)" or "2.".
_label = re.compile(r"\(?(?:(?P<letter>[A-Za-z])|(?P<number>[0-9]{1,4}))[).:]?")
#: Keys of the root that identify a row, apart from those that E101 and E102 check.
_names = ("evaluation_id", "evaluation_name", "sample_id", "evaluation_result_id")


class TextCheck(RowCheck):
    """Checks the texts of a row."""

    codes = CHOICES, EMPTY

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

    def _remarks(self, row: dict[str, Any]) -> Iterator[Remark]:
        """Yield what is wrong with the choices and the texts of a row."""
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
        f"{with_noun(len(choices), 'choice')}, nor a letter or number of one",
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


METRICS, UNKNOWN, FRACTION = "E124", "E125", "E128"

_metrics = "metrics"
_turn_lists = frozenset({"interactions", "messages"})
#: The keys of the root in every version, but for the list of turns.
_root = frozenset(
    "schema_version evaluation_id model_id evaluation_name sample_id sample_hash "
    "evaluation_result_id interaction_type input output answer_attribution evaluation "
    "token_usage performance error metadata".split()
)


def _keys_of(*kinds: type[Struct]) -> frozenset[str]:
    return frozenset(key for kind in kinds for key in kind.__struct_fields__)


#: The keys of the objects in the root.
_members = {
    "input": _keys_of(Question),
    "output": _keys_of(Output),
    "evaluation": _keys_of(Evaluation, Counts),
    "token_usage": _keys_of(Usage),
    "performance": _keys_of(Times) | {"additional_details"},
}
_step, _turn, _call = _keys_of(Step), _keys_of(Turn), _keys_of(Call)
#: Integers in the objects of the root.
_integers = {"evaluation": Counts.__struct_fields__, "token_usage": TOKENS}


class KeyCheck(RowCheck):
    """Checks the keys of a row."""

    codes = METRICS, UNKNOWN, FRACTION

    def __init__(self, version: Version) -> None:
        super().__init__(version)
        self._known = _root | {self._key}

    def is_clean(self, row: Any) -> bool:
        """Tell whether a typed row has nothing that `remarks` yields.

        The typed decoder reads no fraction as an integer.
        """
        return _is_known(row, self._known)

    def suspects(self, rows: Sequence[Any]) -> Collection[int] | None:
        """Return none of some typed rows if their class has known members only."""
        kind: type[Struct] = type(rows[0])
        return None if any(_looks_at(kind, self._known)) else ()

    def _remarks(self, row: dict[str, Any]) -> Iterator[Remark]:
        """Yield what is wrong with the keys and the integers of a row."""
        if _metrics in row:
            yield Remark(
                METRICS,
                (_metrics,),
                "metrics is a key of an earlier version, which nothing reads",
                "move num_turns to evaluation.num_turns, and remove metrics",
                at_key=True,
            )
        others = {key: value for key, value in row.items() if key != _metrics}
        yield from _unknown(others, self._known, ())
        yield from _fractions(row, ("sample_id",), ())
        for name, known in _members.items():
            member = row.get(name)
            if type(member) is dict:
                yield from _unknown(member, known, (name,))
                yield from _fractions(member, _integers.get(name, ()), (name,))
        for key, known in (("answer_attribution", _step), (self._key, _turn)):
            for place, item in _objects_in(row.get(key)):
                yield from _unknown(item, known, (key, place))
                yield from _fractions(item, ("turn_idx",), (key, place))
                for number, call in _objects_in(item.get("tool_calls")):
                    path = (key, place, "tool_calls", number)
                    yield from _unknown(call, _call, path)


def _objects_in(values: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a list, each with its index; none of what is no list."""
    for number, value in enumerate(values if type(values) is list else ()):
        if type(value) is dict:
            yield number, value


def _classes_in(kind: Any) -> Iterator[type]:
    """Yield the typed classes in a type, such as that of a list of objects or null."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        yield kind
    for part in get_args(kind):
        yield from _classes_in(part)


#: The keys of the objects under each key.
_known_in = {
    **_members,
    "answer_attribution": _step,
    "interactions": _turn,
    "messages": _turn,
    "tool_calls": _call,
}


#: What to look at in objects of a typed class: the members that are not known, and
#: those of known objects, in which others may be, each with its keys.
_Looks = tuple[tuple[str, ...], tuple[tuple[str, frozenset[str]], ...]]


@lru_cache(256)  # a row costs one call, and most classes have nothing to look at
def _looks_at(kind: type, known: frozenset[str]) -> _Looks:
    """Return what to look at in objects of a class of which these keys are known."""
    others = tuple(one.name for one in fields(kind) if one.encode_name not in known)
    inside = tuple(
        (one.name, _known_in[one.encode_name])
        for one in fields(kind)
        if one.encode_name in _known_in
        and any(
            any(_looks_at(member, _known_in[one.encode_name]))
            for member in _classes_in(one.type)
        )
    )
    return others, inside


def _is_known(value: Any, known: frozenset[str]) -> bool:
    """Tell whether a typed value has `known` members only, and so those below it."""
    if type(value) is list:
        return all(_is_known(each, known) for each in value)
    if not isinstance(value, Struct):
        return True
    others, inside = _looks_at(type(value), known)
    for name in others:
        if getattr(value, name) is not UNSET:
            return False
    return all(_is_known(getattr(value, name), keys) for name, keys in inside)


def _unknown(
    value: Mapping[str, Any], known: frozenset[str], path: Path
) -> Iterator[Remark]:
    """Yield a remark on each key of an object that is not known."""
    if known.issuperset(value):
        return
    for key in value:
        if key in known:
            continue
        owner = path[0] if path else "a row"
        near = _meant(key, known, value)
        yield Remark(
            UNKNOWN,
            (*path, key),
            f"{quoted(key)} is no key of {owner} in any version",
            f"did you mean {near}?" if near else "put it into metadata, or remove it",
            at_key=True,
        )


def _meant(key: str, known: frozenset[str], value: Mapping[str, Any]) -> str:
    """Return the known key that an unknown one stands for, "" if none does."""
    if key in _turn_lists:
        return next(iter(_turn_lists & known), "")
    absent = [name for name in known if name not in value]
    alias = _aliases.get(key, "")
    return alias if alias in absent else nearest(key, absent)


#: Keys of other tools, and those that real files have by mistake.
_aliases = {
    "sample_idx": "sample_id",
    "raw_runs": "raw",
    "num_interactions": "num_turns",
}


def _fractions(
    value: Mapping[str, Any], keys: tuple[str, ...], path: Path
) -> Iterator[Remark]:
    """Yield a remark on each of these integers of an object that is a fraction."""
    for key in keys:
        number = value.get(key)
        if type(number) is float and number.is_integer():
            yield _fraction((*path, key), number)


def _fraction(path: Path, value: float) -> Remark:
    return Remark(
        FRACTION,
        path,
        f"{path[-1]} must be written as a whole number, found {value!r}",
        f"write {int(value)}: many readers take {value!r} for a fraction",
    )
