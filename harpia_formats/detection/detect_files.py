"""A first look at files: which format each of them is in."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from harpia_formats.detection.candidates import (
    FormatChoice,
    FormatVariant,
    matches_of,
    variants_of,
)
from harpia_formats.detection.head import SampledFile, sample_file
from harpia_formats.detection.recognize import Sample, recognize
from harpia_formats.detection.result import Detected
from harpia_formats.detection.torn import ReadBlocks
from harpia_formats.framing.container import Layout, open_container
from harpia_formats.framing.lines import ROW_LIMIT, Chunk
from harpia_formats.io.inputs import Input, sources_of_inputs
from harpia_formats.io.reader import SourceError
from harpia_formats.io.source import Source, open_source
from harpia_formats.model.format import Container, Format
from harpia_formats.model.report import FileCount
from harpia_formats.registry import all_formats

#: Containers whose file is one value, which tells the format.
_documents = {Container.DOCUMENT, Container.WRAPPED, Container.COLUMNS}


def detect_files(inputs: Iterable[Input]) -> Iterator[Detected]:
    """Yield what each file behind the inputs is; nothing is read but its beginning."""
    formats = tuple(all_formats().values())
    for each in sources_of_inputs(inputs):
        if isinstance(each, SourceError):
            yield Detected(each.path, reason=each.reason)
        else:
            yield _look(each, formats)


def _look(source: Source, formats: Sequence[Format]) -> Detected:
    try:
        with open_source(source) as reader:
            blocks = ReadBlocks(reader, FileCount(source.name))
            return _told(source.name, blocks, formats)
    except SourceError as error:
        return Detected(source.name, reason=error.reason)


def _told(path: str, blocks: ReadBlocks, formats: Sequence[Format]) -> Detected:
    """Tell the format of a file by its blocks."""
    opening = open_container(blocks)
    is_text = opening.layout is Layout.TEXT
    beginning = sample_file(opening, ROW_LIMIT, formats, path, formats)
    head = beginning.head
    found = recognize(head, formats)
    if found.choice is not None:
        told = _known(path, head, found.choice, formats)
    elif blocks.error is not None:
        told = Detected(path)
    elif found.notes:
        why, help_ = found.notes[0].message, found.notes[0].help
        # Its last part is about options of `validate`.
        nearest = help_.rpartition("; ")[0]
        told = _unknown(path, head.layout, why, nearest, len(head.rows))
    else:
        layout = Layout.TEXT if is_text else head.layout
        told = _unknown(path, layout, _why_nothing(beginning))
    return replace(told, reason=blocks.error.reason) if blocks.error else told


def _known(
    path: str, head: Sample, choice: FormatChoice, formats: Sequence[Format]
) -> Detected:
    variant = choice.variant
    is_table = variant.dialect.container is Container.TABLE
    return Detected(
        path,
        format=variant.format.id,
        dialect=variant.dialect.name,
        container="a table" if is_table else head.layout.value,
        confidence=choice.matching / choice.records,
        why=f"{choice.evidence[0]}{_where(choice)}",
        records=choice.records,
        others=_others(head, variant, formats),
        rival=_rival(choice),
    )


def _unknown(
    path: str, layout: Layout, why: str, nearest: str = "", records: int = 0
) -> Detected:
    container = layout.value
    return Detected(
        path, container=container, why=why, records=records, nearest=nearest
    )


def _why_nothing(beginning: SampledFile) -> str:
    """Return why there is nothing that a format could be told from."""
    layout = beginning.head.layout
    is_cut = layout in {Layout.LINES, Layout.ARRAY}
    holds_rows = any(isinstance(each, Chunk) or each.record for each in beginning.held)
    if layout is Layout.EMPTY or (is_cut and not holds_rows):
        return "the file holds no records"
    return "none of the first records can be read"


def _where(choice: FormatChoice) -> str:
    """Return in how many records the sign was that told the format."""
    hedge = " or the like" if len(choice.evidence) > 1 else ""
    container = choice.variant.dialect.container
    if container is Container.TABLE:
        return f"{hedge} in the header"
    if container in _documents:
        return f"{hedge} in the document"
    records = f"record{'s' * (choice.records != 1)}"
    return f"{hedge} in {choice.matching:,} of {choice.records:,} {records}"


def _others(
    head: Sample, taken: FormatVariant, formats: Sequence[Format]
) -> tuple[tuple[str, int], ...]:
    """Return what the rows look like that do not look like what was taken."""
    variants = variants_of(formats, head.layout)
    if not taken.format.general:
        variants = [each for each in variants if not each.format.general]
    others: Counter[str] = Counter()
    for row in head.rows:
        others.update(_other_name(row, taken, variants))
    return tuple(others.most_common())


def _other_name(
    row: Any, taken: FormatVariant, variants: Sequence[FormatVariant]
) -> list[str]:
    """Return the name of what a row looks like, none if that is what was taken."""
    names = [variants[number].name for number, _ in matches_of(row, variants)]
    return [] if taken.name in names else names[:1]


def _rival(choice: FormatChoice) -> str:
    rival = choice.rival
    if rival is None or rival.format is choice.variant.format:
        return ""
    return rival.name
