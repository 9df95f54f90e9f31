"""Tell which records a row can hold as they are, so that no step has to fit them.

The functions return True only where the step notes no fate either.
"""

from collections.abc import Callable, Sequence

from harpia_formats.mapping.choices import Choices
from harpia_formats.model.adapter import Cardinality, RowCapacity
from harpia_formats.model.record import Record

Check = Callable[[Record], bool]


def unsplit_check(capacity: RowCapacity, choices: Choices) -> Check:
    """Return a function that tells whether a record becomes one row with all it has.

    Where it does, `fit_record` does only what `fit_chats` does.
    """
    checks: list[Check] = []
    if choices.model is not None:
        checks.append(lambda record: _is_all_of(record, choices.model))
    if capacity.references is Cardinality.ONE:
        checks.append(_has_one_reference)
    if capacity.outputs in {Cardinality.ONE, Cardinality.MANY_OF_ONE_MODEL}:
        checks.append(_has_one_output)
    if capacity.scores is Cardinality.ONE:
        checks.append(_has_one_score)
    return _all_of(checks)


def same_chats_check(capacity: RowCapacity) -> Check:
    """Return a function that tells whether `fit_chats` returns a record as it is."""
    checks: list[Check] = []
    if not capacity.messages:
        checks.append(_has_no_messages)
    is_answered = capacity.messages or capacity.outputs is not Cardinality.NONE
    if not capacity.turns and is_answered:
        checks.append(_has_no_turns)
    return _all_of(checks)


def _all_of(checks: Sequence[Check]) -> Check:
    """Return a function that tells whether all `checks` are true of a record.

    One or two checks are called without a loop.
    """
    if not checks:
        return lambda record: True  # noqa: ARG005 - the signature of `Check`
    first, *others = checks
    if not others:
        return first
    if len(others) == 1:
        (second,) = others
        return lambda record: first(record) and second(record)
    rest = _all_of(others)
    return lambda record: first(record) and rest(record)


def _is_all_of(record: Record, model: str | None) -> bool:
    return all(output.model == model for output in record.outputs)


def _has_one_reference(record: Record) -> bool:
    references = record.references
    return not references or len(references) == 1


def _has_one_output(record: Record) -> bool:
    return len(record.outputs) <= 1


def _has_one_score(record: Record) -> bool:
    outputs = record.outputs
    if len(outputs) != 1:
        return True
    scores = outputs[0].scores
    return not scores or len(scores) == 1


def _has_no_messages(record: Record) -> bool:
    return not record.messages and type(record.messages) is not list


def _has_no_turns(record: Record) -> bool:
    return not any(output.turns for output in record.outputs)
