"""Compare the suffix of a file's name with what the file holds."""

from pathlib import PurePath

from harpia_formats.files.framing.container import Layout
from harpia_formats.files.io.compression import CODECS
from harpia_formats.files.parsing.csv_delimiter import COMMA, TAB, delimiter_named
from harpia_formats.formats.detection.sample import Sample

#: Layouts that a suffix stands for.
_expected = {
    ".json": {Layout.ARRAY, Layout.OBJECT, Layout.ONE_LINE, Layout.LONG_LINE},
    ".jsonl": {Layout.LINES, Layout.ONE_LINE, Layout.LONG_LINE},
    ".ndjson": {Layout.LINES, Layout.ONE_LINE, Layout.LONG_LINE},
    ".csv": {Layout.TEXT},
    ".tsv": {Layout.TEXT},
}
#: Suffixes of tables, and of files of JSON.
TABLE_SUFFIXES = (".csv", ".tsv")
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
#: The suffix for a layout; `.json` for all others.
_suffixes = {Layout.LINES: ".jsonl", Layout.TEXT: ".csv"}
#: Records that a file must have to be lines for sure, not one broken document.
FEWEST = 2


def misleading_suffix(name: str, sample: Sample) -> tuple[str, str] | None:
    """Return a message and a help if the suffix of `name` is wrong, else None."""
    plain, layout = uncompressed_lower_name(name), sample.layout
    if sample.several or (layout is Layout.LINES and len(sample.rows) < FEWEST):
        return None
    suffix = next((suffix for suffix in _expected if plain.endswith(suffix)), "")
    if not suffix or layout is Layout.EMPTY or layout in _expected[suffix]:
        return None
    content = "a table" if layout is Layout.TEXT else layout.value
    message = f"the file is called {suffix} and holds {content}"
    return message, f"call it {_suffixes.get(layout, '.json')}"


def delimiter_of(given: str | None, name: str) -> str:
    """Return the delimiter of a table: the `given` one, or that of a file so called.

    Fields of a file called .tsv are separated by tabs, those of others by commas.
    Raises `ValueError` if `given` is no delimiter.
    """
    if given is not None:
        return delimiter_named(given)
    return TAB if uncompressed_lower_name(name).endswith(".tsv") else COMMA


def has_suffix(name: str) -> bool:
    """Tell whether `name` has a suffix: that of standard input or a pipe has none."""
    return bool(PurePath(without_compression(name)).suffix)


def uncompressed_lower_name(name: str) -> str:
    """Return `name` in lower case, without the suffix of its compression."""
    return without_compression(name).casefold()


def without_compression(name: str) -> str:
    """Return `name` without the suffix of its compression, such as `.gz`."""
    for codec in CODECS:
        if name.casefold().endswith(codec.suffix):
            return name[: -len(codec.suffix)]
    return name
