"""What the name of a file says that it holds, against what it does hold."""

from harpia_formats.detection.recognize import Sample
from harpia_formats.framing.container import Layout
from harpia_formats.io.compression import CODECS

#: What a file may be, by the end of its name.
_promised = {
    ".json": {Layout.ARRAY, Layout.OBJECT, Layout.ONE_LINE, Layout.LONG_LINE},
    ".jsonl": {Layout.LINES, Layout.ONE_LINE, Layout.LONG_LINE},
    ".ndjson": {Layout.LINES, Layout.ONE_LINE, Layout.LONG_LINE},
    ".csv": {Layout.TEXT},
}
#: What to call a file, by what it holds.
_better = {Layout.LINES: ".jsonl", Layout.TEXT: ".csv"}


#: Records that are surely lines, and not one document that is broken.
FEWEST = 2


def misleading_suffix(name: str, head: Sample) -> tuple[str, str] | None:
    """Return a message and a help if `name` says something else than the file."""
    plain, layout = uncompressed_lower_name(name), head.layout
    if head.several or (layout is Layout.LINES and len(head.rows) < FEWEST):
        return None
    ending = next((each for each in _promised if plain.endswith(each)), "")
    if not ending or layout is Layout.EMPTY or layout in _promised[ending]:
        return None
    held = "a table" if layout is Layout.TEXT else layout.value
    message = f"the file is called {ending} and holds {held}"
    return message, f"call it {_better.get(layout, '.json')}"


def uncompressed_lower_name(name: str) -> str:
    """Return `name` in lower case, without the ending that tells its compression."""
    return without_compression(name).casefold()


def without_compression(name: str) -> str:
    """Return `name` without the ending that tells its compression."""
    for each in CODECS:
        if name.casefold().endswith(each.suffix):
            return name[: -len(each.suffix)]
    return name
