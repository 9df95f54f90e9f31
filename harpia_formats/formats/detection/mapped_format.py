"""Find the format that a map of columns is for: that of the input or of the output."""

from collections.abc import Iterable, Iterator
from typing import Any

from harpia_formats.files.framing.container import Layout
from harpia_formats.files.io.discovery import Exclusion
from harpia_formats.files.io.inputs import is_rereadable
from harpia_formats.formats.detection.result import Detected
from harpia_formats.formats.registry import all_formats, format_of, formats_named
from harpia_formats.model.format import Container, Format
from harpia_formats.model.problem import ConversionOptionsError

#: The format of text tables whose columns hold what a map says.
TEXT_TABLE = "csv"
#: Formats whose columns can have any names.
FREE_COLUMN_FORMATS = (TEXT_TABLE, "haystack")
#: The format of rows of JSON in no known format, and the layouts that hold rows.
ANY_KEYS = "json"
_row_layouts = frozenset({Layout.LINES, Layout.ARRAY, Layout.ONE_LINE})
_json_layouts = frozenset({*_row_layouts, Layout.OBJECT})
_for_what = "`--map` is for csv and haystack, and for other keys of JSON rows"


def detect_mapped_format(inputs: Iterable[Any], exclusion: Exclusion) -> str | None:
    """Return the first format with free column names that is detected in `inputs`.

    A map names columns, so lists and text without a sign of their own are taken for
    such a format, too, and rows of JSON for `json` if no file is in a known format.
    None if there is none. Only files and bytes are looked at: a stream or pipe can be
    read only once.
    """
    has_known, has_rows = False, False
    for detected in _detected(inputs, exclusion):
        found = detected.format or detected.possible
        if has_free_names(found):
            return found
        has_known |= bool(found)
        has_rows |= not found and detected.container in _row_layouts
    return ANY_KEYS if has_rows and not has_known else None


def has_free_names(format_: str | None) -> bool:
    """Tell whether the columns, or the keys of rows, have any names in a format.

    `format_` is its id, or a family, or None.
    """
    if format_ in FREE_COLUMN_FORMATS:
        return True
    known = all_formats().get(format_ or "")
    return known is not None and known.general


def _detected(inputs: Iterable[Any], exclusion: Exclusion) -> Iterator[Detected]:
    """Yield the formats of the files that a run reads, but for what it leaves out.

    Only files and bytes are looked at: a stream or pipe can be read only once.
    """
    from harpia_formats.formats.detection.detect_files import detect_files  # noqa: PLC0415 - only a map of columns needs detection

    return detect_files(filter(is_rereadable, inputs), exclusion=exclusion)


def require_mapped_format(inputs: Iterable[Any], exclusion: Exclusion) -> str:
    """Return the format whose columns or keys are mapped in `inputs`, by default `csv`.

    Rows of JSON in no known format are in `json`, and any text table is in `csv`: its
    map says what its columns are. Raises `ConversionError` for an input whose records
    are not rows, and for inputs of different formats, which no map is for.
    """
    found, first = None, ""
    for detected in _detected(inputs, exclusion):
        own = _mapped_format(detected)
        if own is None:
            continue
        if found is None:
            found, first = own, detected.path
        elif own != found:
            raise ConversionOptionsError(
                f"{first} is read as {found}, and {detected.path} as {own}: a map is "
                "for files of one format; read them one by one, or name the format of "
                "all with `--from`"
            )
    return found or TEXT_TABLE


def _mapped_format(detected: Detected) -> str | None:
    """Return the format in which a map reads a file, None if nothing shows it.

    Raises `ConversionError` for a file whose records are not rows.
    """
    format_ = detected.format or detected.possible
    if format_ in FREE_COLUMN_FORMATS or (
        format_ and has_mappable_keys(format_of(format_))
    ):
        return format_
    if format_ and _is_text_table(format_of(format_)):
        return TEXT_TABLE
    if not format_ and detected.container in _row_layouts:
        return ANY_KEYS
    if detected.format or "JSON" in detected.container:
        what = detected.format or f"{detected.container} of no known format"
        raise ConversionOptionsError(
            f"{detected.path} is {what}, and {_for_what}; name the format with "
            "`--from haystack` if its columns have other names"
        )
    return None


def _is_text_table(format_: Format) -> bool:
    """Tell whether all files of `format_` are text with a header and cells."""
    dialects = format_.dialects
    return all(dialect.container is Container.TABLE for dialect in dialects)


def _has_unknown_table(inputs: Iterable[Any], exclusion: Exclusion) -> bool:
    """Tell whether nothing says what the columns of an input hold."""
    return any(
        detected.format is None and has_free_names(detected.possible)
        for detected in _detected(inputs, exclusion)
    )


def takes_map(name: str) -> bool:
    """Tell whether rows of the one format called `name` can be validated by a map."""
    formats = formats_named(name)
    return len(formats) == 1 and (
        formats[0].id == "csv" or has_mappable_keys(formats[0])
    )


def has_mappable_keys(format_: Format) -> bool:
    """Tell whether records of `format_` are JSON rows, which may have other keys."""
    containers = {dialect.container for dialect in format_.dialects}
    has_rows = bool(containers & {Container.ROWS, Container.WRAPPED})
    return bool(format_.adapter) and has_rows


def require_mappable_keys(format_: Format) -> None:
    """Raise `ConversionError` unless records of `format_` are JSON rows."""
    if not has_mappable_keys(format_):
        raise ConversionOptionsError(
            f"columns of {format_.id} have no other names than theirs; {_for_what}"
        )


def maps_output_columns(
    inputs: Iterable[Any],
    to: str,
    source: str | None,
    exclusion: Exclusion,
) -> bool:
    """Tell whether a map of columns is for the output, in the format `to`.

    It is for the input if that cannot be read without it, or has free column names: by
    its format `source`, or by what is detected where that is None. Where CSV is
    written, detected columns of CSV and Haystack do not count.
    """
    if to not in FREE_COLUMN_FORMATS or has_free_names(source):
        return False
    if source is not None:
        return True
    inputs = list(inputs)
    if _has_unknown_table(inputs, exclusion):
        return False
    found = detect_mapped_format(inputs, exclusion)
    return found is None or (to == "csv" and found in FREE_COLUMN_FORMATS)
