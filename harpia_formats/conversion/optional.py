"""Make what only some options ask for, and import it only then."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from harpia_formats.conversion.options import ConvertOptions, OnInvalid, Output

if TYPE_CHECKING:
    from harpia_formats.conversion.fill_scores import ScoreFiller
    from harpia_formats.conversion.grouping.record_groups import RecordGroups
    from harpia_formats.conversion.quarantine import Quarantine


def groups_by(key: str | None) -> "RecordGroups | None":
    """Return what groups records, if that is asked for; raises `ConversionError`."""
    if key is None:
        return None
    from harpia_formats.conversion.grouping.record_groups import RecordGroups  # noqa: PLC0415 - if asked for

    return RecordGroups(key)


def filling_by(metric: str | None) -> "ScoreFiller | None":
    """Return what scores answers, if that is asked for; raises `ConversionError`."""
    if not metric:
        return None
    from harpia_formats.conversion.fill_scores import score_filler  # noqa: PLC0415 - if asked for

    return score_filler(metric)


def quarantine_of(
    options: ConvertOptions, output: Output, inputs: Iterable[Any]
) -> "Quarantine | None":
    """Return where invalid rows go, if that is asked for.

    Raises `ConversionError` and `SinkError`.
    """
    if options.on_invalid is not OnInvalid.QUARANTINE:
        return None
    from harpia_formats.conversion.quarantine import Quarantine  # noqa: PLC0415 - if asked for

    quarantine = Quarantine.beside(
        options.quarantine, output, overwrite=options.overwrite
    )
    quarantine.check_apart(inputs)
    return quarantine
