"""Read the fields that a target needs straight from what a typed decoder decoded.

A row of a format with `FormatAdapter.reads_by_fields` needs no dict then, no field that
is not written, and its extra only for targets that may write that. The types of all its
values are the key of what becomes of its fields, which is found once for each key by
reading one such row as a whole.
"""

from collections.abc import Mapping
from typing import Any

from harpia_formats.conversion.mapping.carried_values import may_write_extra
from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.conversion.mapping.direct_read_code import DirectReader
from harpia_formats.conversion.mapping.direct_records import DirectRead
from harpia_formats.conversion.mapping.row_reader import NO_SURROUNDINGS
from harpia_formats.formats.schema.typed_decoder import TypedDecoder
from harpia_formats.model.adapter import FormatAdapter

__all__ = ["DirectRead", "direct_read"]


def direct_read(  # noqa: PLR0913 - what reads rows, and for whom
    source: FormatAdapter,
    target: FormatAdapter,
    choices: Choices,
    decoder: TypedDecoder,
    around: Mapping[str, Any] = NO_SURROUNDINGS,
    *,
    is_exact: bool = True,
) -> DirectRead | None:
    """Return the function that reads rows of `decoder` for `target`.

    `around` is what stands around the rows. If not `is_exact`, numbers may lose their
    text, objects the order of their keys, and all keys are None. None where rows have
    to be read as a whole, such as where their objects have no types.
    """
    if source.direct_reader is not None and not choices.keep_extra:
        return _own_reader(source, target, decoder, around)
    if not source.reads_by_fields or choices.keep_extra:
        return None
    paths = {mapping.record_path for mapping in source.fields}
    if len(paths) < len(source.fields) or "messages" in paths:
        return None
    has_extra = may_write_extra(source, target)
    reader = DirectReader(
        source,
        decoder,
        has_extra=has_extra,
        target=target,
        choices=choices,
        is_exact=is_exact,
    )
    return reader.function() if reader.is_typed() else None


def _own_reader(
    source: FormatAdapter,
    target: FormatAdapter,
    decoder: TypedDecoder,
    around: Mapping[str, Any],
) -> DirectRead | None:
    """Return the function that the source has for its rows, None if it has none."""
    assert source.direct_reader is not None  # noqa: S101 - asked before
    if may_write_extra(source, target):
        return None
    read = source.direct_reader(around, target, decoder)
    return None if read is None else DirectRead(lambda row, _: read(row), None)
