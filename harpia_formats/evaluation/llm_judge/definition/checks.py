"""Checks of the arguments of a judge, and of the inputs of a run."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harpia_formats.evaluation.llm_judge.definition.output_fields import (
    OutputField,
    output_field,
)
from harpia_formats.evaluation.llm_judge.errors import DefinitionError, InputError
from harpia_formats.model.text.spelling import nearest

#: List types without the type of their items.
_bare = ("list", "List", "typing.List")
#: The most characters of a value in a message.
_max_shown = 200


def input_names(inputs: Any) -> tuple[str, ...]:
    """Return the names of the inputs, each of which is a tuple of a name and a type.

    Raises `DefinitionError`.
    """
    if not isinstance(inputs, list):
        raise DefinitionError(
            "inputs must be a list of tuples, each a name and a list type; "
            f"received {_cut(inputs)}"
        )
    for entry in inputs:
        if not isinstance(entry, tuple) or len(entry) != 2 or not _is_pair(*entry):  # noqa: PLR2004 - a pair
            raise DefinitionError(
                "each input must be a tuple of a name and a type such as list[str], "
                f"which is not the bare list; received {_cut(entry)}"
            )
    return tuple(name for name, _ in inputs)


def _is_pair(name: Any, kind: Any) -> bool:
    return (
        isinstance(name, str)
        and kind is not list
        and (not isinstance(kind, str) or kind not in _bare)
    )


def output_fields(outputs: Any) -> tuple[OutputField, ...]:
    """Return the output fields of a list of names or of objects with a name.

    Raises `DefinitionError`.
    """
    if not isinstance(outputs, list):
        raise DefinitionError(
            f"outputs must be a list of names; received {_cut(outputs)}"
        )
    return tuple(output_field(output) for output in outputs)


def check_examples(examples: Any) -> None:
    """Check that examples are a list of objects with `inputs` and `outputs`.

    Raises `DefinitionError`.
    """
    if not isinstance(examples, list):
        raise DefinitionError(
            f"examples must be a list of objects; received {_cut(examples)}"
        )
    for number, example in enumerate(examples, 1):
        if not isinstance(example, dict):
            raise DefinitionError(f"example {number} is no object: {_cut(example)}")
        if example.keys() != {"inputs", "outputs"}:
            raise DefinitionError(
                f"example {number} must have `inputs` and `outputs` and nothing else; "
                f"it has {_joined(example)}"
            )
        for key, value in example.items():
            _check_side(f"the {key} of example {number}", value)


def _check_side(what: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise DefinitionError(
            f"{what} must be an object; they are {type(value).__name__}"
        )
    if not all(isinstance(key, str) for key in value):
        raise DefinitionError(f"the keys of {what} must be text: {_cut(list(value))}")
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise DefinitionError(f"{what} are not JSON: {error}") from None


def row_count(names: Sequence[str], given: Mapping[str, Any]) -> int:
    """Return the number of rows: the common length of the lists in `given`.

    Raises `InputError` for a missing input, for one that is not a list, and for lists
    of different lengths. This also applies to lists that are not declared.
    """
    for name in names:
        if name not in given:
            near = nearest(name, given)
            hint = f"; is it {near!r}?" if near else ""
            raise InputError(
                f"the input {name!r} is declared and was not given{hint} "
                f"(given: {_joined(given)})"
            )
    for name, value in given.items():
        if not isinstance(value, list):
            raise InputError(
                f"the input {name!r} must be a list with one value for each row; "
                f"it is {type(value).__name__}"
            )
    if not given:
        raise InputError("no inputs are declared and none were given: nothing to judge")
    lengths = {name: len(values) for name, values in given.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} has {count}" for name, count in lengths.items())
        raise InputError(f"the inputs must be lists of one length: {counts}")
    return next(iter(lengths.values()))


def _joined(names: Iterable[Any]) -> str:
    return _cut(", ".join(str(name) for name in names) or "nothing", as_text=True)


def _cut(value: Any, *, as_text: bool = False) -> str:
    text = value if as_text else repr(value)
    return text if len(text) <= _max_shown else text[:_max_shown] + "…"
