"""Choose the format that is written, where a name stands for several formats."""

from harpia_formats.conversion.mapping.requirements import holds_answers
from harpia_formats.formats.registry import (
    FAMILIES,
    UnknownFormat,
    adapter_of,
    formats_named,
    plugin_format_names,
    writable_formats,
)
from harpia_formats.model.format import Format
from harpia_formats.model.problem import ConversionError
from harpia_formats.model.spelling import hint_on

#: Records that are searched for an answer before a format is chosen.
SAMPLED_RECORDS = 1_000


def targets_named(name: str) -> tuple[Format, ...]:
    """Return the record formats that `name` stands for, the default first.

    Raises `ConversionError` for one that cannot be written, and `PluginError` for one
    of a plug-in that cannot be used.
    """
    known = writable_formats()
    try:
        named = formats_named(name)
    except UnknownFormat as error:
        names = [*FAMILIES, *known, *plugin_format_names()]
        hint = hint_on(name, names)
        raise ConversionError(f"no format is called {name!r}{hint}") from error
    found = tuple(
        format_ for format_ in named if format_.adapter and not format_.read_only
    )
    if not found:
        listed = ", ".join(known)
        if any(format_.adapter for format_ in named):
            raise ConversionError(
                f"{name} can be read but not written (to write: {listed})"
            )
        raise ConversionError(f"{name} is a document, not records (known: {listed})")
    return found


def depends_on_answers(formats: tuple[Format, ...]) -> bool:
    """Tell whether the choice of a format depends on whether records have answers."""
    return len({holds_answers(adapter_of(format_)) for format_ in formats}) > 1


def choose_target(formats: tuple[Format, ...], *, answered: bool) -> Format:
    """Return the first of `formats` with a place for answers, or without, as asked."""
    return next(
        (
            format_
            for format_ in formats
            if holds_answers(adapter_of(format_)) is answered
        ),
        formats[0],
    )


def header_needs_rows(format_: Format) -> bool:
    """Tell whether a file's header is in its first row, so that it needs one."""
    carries_metrics = "metrics" in adapter_of(format_).header_fields
    return carries_metrics and not format_.dialects[0].rows_at
