"""Read the fields that a target needs straight from what a typed decoder decoded.

A row of a format with `FormatAdapter.reads_by_fields` needs no dict then, no field that
is not written, and no extra. The types of all its values are the key of what becomes of
its fields, which is found once for each key by reading one such row as a whole.
"""

from harpia_formats.mapping.choices import Choices
from harpia_formats.mapping.direct_read_code import DirectRead, DirectReader
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.record import FIELD_TYPES, TEXT_LISTS
from harpia_formats.schema.typed_decoder import TypedDecoder

__all__ = ["DirectRead", "direct_read"]

_exact = frozenset({str, int, bool, type(None)})


def direct_read(
    source: FormatAdapter,
    target: FormatAdapter,
    choices: Choices,
    decoder: TypedDecoder,
) -> DirectRead | None:
    """Return the function that reads rows of `decoder` for `target`.

    None where rows have to be read as a whole: their extra is written, or a number
    that only the exact decoder reads as it is, or their objects have no types.
    """
    if not source.reads_by_fields or choices.keep_extra:
        return None
    if source.vendor == target.vendor or target.carries("extra"):
        return None
    paths = {mapping.record_path for mapping in source.fields}
    if len(paths) < len(source.fields) or "messages" in paths:
        return None
    if any(target.carries(path) and _may_be_float(path) for path in paths):
        return None
    reader = DirectReader(source, target, choices, decoder)
    return reader.function() if reader.is_typed() else None


def _may_be_float(path: str) -> bool:
    return path not in TEXT_LISTS and not _exact.issuperset(
        FIELD_TYPES.get(path, (object,))
    )
