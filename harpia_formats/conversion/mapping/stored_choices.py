"""Which choice stored likelihoods take, and which choices a stored target makes right.

As lm-eval does it, whichever tool stored them. What converts records and what scores
them share these rules.
"""

import ast
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import UNSET

from harpia_formats.model.record import Record

#: Characters of a target that may be the text of a list.
_longest = 1 << 20
#: Digits of the longest index.
_digits = 9


class UnknownChoiceError(Exception):
    """It is not known which choice was taken, or is right; the text is the reason."""


def _stored_with_responses(record: Record) -> Iterator[Mapping[str, Any]]:
    """Yield the extra of each vendor that holds responses (`resps`)."""
    for members in () if record.extra is UNSET else record.extra.values():
        if isinstance(members.get("resps"), list):
            yield members


def likelihoods_of(record: Record) -> list[float] | None:
    """Return the log-likelihoods that a tool stored, one for each request.

    They are the first number of each response (`resps`) in the extra of the record,
    whichever vendor's; None if they are not all there.
    """
    for members in _stored_with_responses(record):
        found = _first_numbers(members["resps"])
        if found is not None:
            return found
    return None


def _first_numbers(responses: list[Any]) -> list[float] | None:
    """Return the first number of each response, None if one has none."""
    try:
        return [float(response[0][0]) for response in responses]
    except (TypeError, ValueError, IndexError, KeyError, OverflowError):
        return None


def target_of(record: Record) -> Any:
    """Return the target that a tool stored with its responses, None without one."""
    found = (members.get("target") for members in _stored_with_responses(record))
    return next(found, None)


def likeliest_choice(
    choices: Sequence[str], likelihoods: Sequence[float], *, by_length: bool = False
) -> int:
    """Return the index of the first choice of the highest likelihood.

    With `by_length` it is the highest one per character. Raises `UnknownChoiceError` if
    there is not one for each choice, or one of them is no number.
    """
    # A task that compares with likelihoods without a context has these behind them.
    if len(likelihoods) not in {len(choices), 2 * len(choices)}:
        raise UnknownChoiceError(
            f"there is not one likelihood for each choice, but {len(likelihoods)} for "
            f"{len(choices)}"
        )
    values = list(likelihoods[: len(choices)])
    if by_length:
        # The quotient by no characters is that of arrays of numpy: infinite, or none.
        values = [
            value / len(choice) if choice else value * math.inf
            for value, choice in zip(values, choices, strict=True)
        ]
    if any(map(math.isnan, values)):
        what = "a likelihood per character" if by_length else "a likelihood"
        raise UnknownChoiceError(f"{what} is no number")
    return values.index(max(values))


def target_indices(target: Any, choices: Sequence[str]) -> list[int] | None:
    """Return the indices of the right ones of `choices`, None if a target tells none.

    The target has their indices, or is the choice itself, of which the first one
    counts. An index is never taken for the choice.
    """
    indices = indices_of(target)
    if indices is None:
        is_choice = type(target) is str and target in choices
        return [choices.index(target)] if is_choice else None
    return indices if all(0 <= index < len(choices) for index in indices) else None


def indices_of(target: Any) -> list[int] | None:
    """Return the indices that a target is, None if it is none.

    It is one, as a number or a text, or a list of such.
    """
    value = target
    if type(value) is str:
        text = value.strip()
        if text.isdecimal() and len(text) <= _digits:
            return [int(text)]
        value = literal_list(text) if text.startswith("[") else None
    indices = value if type(value) is list else [value]
    is_indices = indices and all(type(index) is int for index in indices)
    return indices if is_indices else None


def literal_list(text: str) -> list[Any] | None:
    """Return the list that a text of Python is, None if it is none."""
    if len(text) > _longest:
        return None
    try:
        with warnings.catch_warnings():
            # Python warns of spellings in code, such as "\d", and this is data.
            warnings.simplefilter("ignore")
            value = ast.literal_eval(text)
    except (TypeError, ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if type(value) is list else None


def right_choices(
    choices: Sequence[str], references: Sequence[str], target: Any = None
) -> list[int]:
    """Return the indices of the choices that are references.

    Of equal choices the stored `target` tells which, if it names the references. Raises
    `UnknownChoiceError` if none is a reference, or equal ones are and it does not tell.
    """
    named = target_indices(target, choices) or []
    if named and [choices[index] for index in named] == [*references]:
        return named
    found = [index for index, choice in enumerate(choices) if choice in references]
    if not found:
        raise UnknownChoiceError("the reference is not one of the choices")
    if len({choices[index] for index in found}) < len(found):
        raise UnknownChoiceError("the reference is several of the choices")
    return found
