"""Tell which values of the rows of a source its target may write."""

from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.record import FIELD_TYPES, TEXT_LISTS

#: Types of values that hold no number with a text of its own, such as 1e2.
_exact_types = frozenset({str, int, bool, type(None)})
_extras = ("extra", "outputs.extra")


def may_write_extra(source: FormatAdapter, target: FormatAdapter) -> bool:
    """Tell whether keys of rows of `source` that are no fields may be written."""
    return source.vendor == target.vendor or any(
        target.carries(f"{start}.{source.vendor}") for start in _extras
    )


def _writes_float_fields(source: FormatAdapter, target: FormatAdapter) -> bool:
    """Tell whether `target` has a place for a field of `source` with floats."""
    paths = {mapping.record_path for mapping in source.fields} | source.other_paths
    return any(
        target.carries(path)
        for path in paths - TEXT_LISTS
        if not _exact_types.issuperset(FIELD_TYPES.get(path, (object,)))
    )


def may_write_floats(
    source: FormatAdapter, target: FormatAdapter, choices: Choices
) -> bool:
    """Tell whether a row may have a float that the row of its record had.

    Only the exact decoder keeps the text of a float. Messages and turns may have some
    under any key.
    """
    if choices.keep_extra or may_write_extra(source, target):
        return True
    paths = {mapping.record_path for mapping in source.fields} | source.other_paths
    is_chat = target.capacity.messages or target.capacity.turns
    if is_chat and paths & {"messages", "outputs.turns"}:
        return True
    return _writes_float_fields(source, target)
