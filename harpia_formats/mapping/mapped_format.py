"""Find the format that a map of columns is for: that of the input or of the output."""

from collections.abc import Iterable
from os import PathLike
from typing import Any

from harpia_formats.mapping.requirements import ConversionError
from harpia_formats.model.format import Container, Format
from harpia_formats.registry import format_of

#: Formats whose columns can have any names.
FREE_COLUMN_FORMATS = ("csv", "haystack")
_for_what = "--map is for csv and haystack, and for other keys of JSON rows"


def detect_mapped_format(inputs: Iterable[Any]) -> str | None:
    """Return the first format with free column names that is detected in `inputs`.

    A map names columns, so lists and text without a sign of their own are taken for
    such a format, too. None if there is none. Only paths and bytes are looked at: a
    stream can be read only once.
    """
    from harpia_formats.detection.detect_files import detect_files  # noqa: PLC0415 - only a map of columns needs detection

    formats = (
        detected.format or detected.possible
        for detected in detect_files(_detectable(inputs))
    )
    return next((found for found in formats if found in FREE_COLUMN_FORMATS), None)


def _detectable(inputs: Iterable[Any]) -> list[Any]:
    """Return the inputs that can be read twice: paths and bytes."""
    return [
        given
        for given in inputs
        if isinstance(given, (bytes, str, PathLike)) and given != "-"
    ]


def require_mapped_format(inputs: Iterable[Any]) -> str:
    """Return the format whose columns or keys are mapped in `inputs`, by default `csv`.

    Raises `ConversionError` for an input whose records are not rows, and for JSON in no
    known format.
    """
    from harpia_formats.detection.detect_files import detect_files  # noqa: PLC0415 - only a map of columns needs detection

    found = None
    for detected in detect_files(_detectable(inputs)):
        format_ = detected.format or detected.possible
        if format_ in FREE_COLUMN_FORMATS or (
            format_ and has_mappable_keys(format_of(format_))
        ):
            found = found or format_
        elif detected.format or "JSON" in detected.container:
            what = detected.format or f"{detected.container} of no known format"
            raise ConversionError(
                f"{detected.path} is {what}, and {_for_what}; name the format with "
                "--from haystack if its columns have other names"
            )
    return found or "csv"


def has_mappable_keys(format_: Format) -> bool:
    """Tell whether records of `format_` are JSON rows, which may have other keys."""
    containers = {dialect.container for dialect in format_.dialects}
    has_rows = bool(containers & {Container.ROWS, Container.WRAPPED})
    return bool(format_.adapter) and has_rows


def require_mappable_keys(format_: Format) -> None:
    """Raise `ConversionError` unless records of `format_` are JSON rows."""
    if not has_mappable_keys(format_):
        raise ConversionError(
            f"columns of {format_.id} have no other names than theirs; {_for_what}"
        )


def maps_output_columns(inputs: Iterable[Any], to: str, source: str | None) -> bool:
    """Tell whether a map of columns is for the output, in the format `to`.

    It is for the input if that has free column names: by its format `source`, or by
    what is detected where that is None and Haystack is written.
    """
    if to not in FREE_COLUMN_FORMATS or source in FREE_COLUMN_FORMATS:
        return False
    return to == "csv" or source is not None or detect_mapped_format(inputs) is None
