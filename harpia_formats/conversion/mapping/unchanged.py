"""Tell which records a row can hold as they are, so that no step has to fit them.

The functions return True only where the step notes no fate either.
"""

from collections.abc import Callable, Sequence

from msgspec import UNSET

from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.conversion.mapping.compiled_table import Code
from harpia_formats.model.adapter import Cardinality, RowCapacity
from harpia_formats.model.record import Record

Check = Callable[[Record], bool]


def unsplit_check(capacity: RowCapacity, choices: Choices) -> Check:
    """Return a function that tells whether a record becomes one row with all it has.

    Where it does, `fit_record` does only what `fit_chats` does.
    """
    checks: list[str] = []
    model = choices.model
    if model is not None:
        checks.append("all([output.model == MODEL for output in outputs])")
    if capacity.references is Cardinality.ONE:
        checks.append("(not record.references or len(record.references) == 1)")
    if capacity.outputs in {Cardinality.ONE, Cardinality.MANY_OF_ONE_MODEL}:
        checks.append("len(outputs) <= 1")
    if capacity.scores is Cardinality.ONE:
        has_one = "not outputs[0].scores or len(outputs[0].scores) == 1"
        checks.append(f"(len(outputs) != 1 or {has_one})")
    return _all_of(checks, model)


def same_chats_check(capacity: RowCapacity) -> Check:
    """Return a function that tells whether `fit_chats` returns a record as it is."""
    checks: list[str] = []
    if not capacity.messages:
        checks.append("record.messages is UNSET")
    is_answered = capacity.messages or capacity.outputs is not Cardinality.NONE
    if not capacity.turns and is_answered:
        checks.append("not any([output.turns for output in outputs])")
    return _all_of(checks)


def _all_of(checks: Sequence[str], model: str | None = None) -> Check:
    """Return a function that tells whether all `checks` are true of a record.

    It is called for each record, so there is one function for all of them.
    """
    if not checks:
        return lambda record: True  # noqa: ARG005 - the signature of `Check`
    code = Code({"MODEL": model, "UNSET": UNSET})
    code.add("outputs = record.outputs", f"return {' and '.join(checks)}")
    return code.function("is_unchanged(record)")
