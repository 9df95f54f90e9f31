"""Tell which records a row can hold as they are, so that no step has to fit them."""

from collections.abc import Callable

from harpia_formats.mapping.choices import Choices
from harpia_formats.model.adapter import Cardinality, RowCapacity
from harpia_formats.model.record import Record

Check = Callable[[Record], bool]


def unchanged_check(capacity: RowCapacity, choices: Choices) -> Check:
    """Return a function that tells whether `fit_record` yields a record as it is.

    It returns True only where that notes no fate either. What the capacity and the
    choices rule out is not asked.
    """
    checks = tuple(_checks(capacity, choices))

    def is_unchanged(record: Record) -> bool:
        for check in checks:  # noqa: SIM110 - `all` with a generator takes twice as long
            if not check(record):
                return False
        return True

    return is_unchanged


def _checks(capacity: RowCapacity, choices: Choices) -> list[Check]:
    """Return what must be true of a record for each step of `fit_record`."""
    checks: list[Check] = []
    if choices.model is not None:
        checks.append(lambda record: _is_all_of(record, choices.model))
    if capacity.references is Cardinality.ONE:
        checks.append(_has_one_reference)
    if capacity.outputs in {Cardinality.ONE, Cardinality.MANY_OF_ONE_MODEL}:
        checks.append(_has_one_output)
    if capacity.scores is Cardinality.ONE:
        checks.append(_has_one_score)
    if not capacity.messages:
        checks.append(_has_no_messages)
    is_answered = capacity.messages or capacity.outputs is not Cardinality.NONE
    if not capacity.turns and is_answered:
        checks.append(_has_no_turns)
    return checks


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
