"""Find result formats by their names."""

from harpia_formats.evaluation.scoring.results.format import ResultFormat
from harpia_formats.formats.extensions.formats_and_rules import imported
from harpia_formats.formats.registry import FAMILIES, UnknownFormat, result_formats


def result_format_named(name: str) -> ResultFormat:
    """Return the result format with this id or family; raises `UnknownFormat`."""
    found = result_formats()
    # The first version of a family is written, as in a conversion.
    members = FAMILIES.get(name, ())
    first = next((member for member in members if member in found), name)
    if first not in found:
        raise UnknownFormat(name, tuple(found), "of results ")
    results: ResultFormat = imported(found[first])
    return results
