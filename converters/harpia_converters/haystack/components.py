"""Remarks on the values that stand under the names of components."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from harpia_converters.haystack.values import object_in
from harpia_formats.model.format import Remark, Remarks
from harpia_formats.model.problem import Path


def below(path: Path, remarks: Iterable[Remark]) -> Iterator[Remark]:
    """Yield `remarks` on the value at `path` with paths from the document's root."""
    for remark in remarks:
        yield replace(remark, path=(*path, *remark.path))


def of_components(document: Any, remarks: Remarks) -> Iterator[Remark]:
    """Yield what `remarks` yields for each component of `document`."""
    for name, component in object_in(document).items():
        yield from below((name,), remarks(component))
