"""Detect the format of each input, by its beginning only."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from msgspec import structs

from harpia_formats.files.framing.chunk import Chunk
from harpia_formats.files.framing.container import (
    Layout,
    OpenedContainer,
    open_container,
)
from harpia_formats.files.io.discovery import Exclusion
from harpia_formats.files.io.file_kinds import OtherKindError
from harpia_formats.files.io.inputs import Input, sources_of_inputs
from harpia_formats.files.io.reader import ROW_LIMIT, SourceError
from harpia_formats.files.io.source import Source, SourceReader, open_source
from harpia_formats.files.parsing.csv_delimiter import delimiter_named
from harpia_formats.formats.detection.candidates import (
    FormatChoice,
    FormatVariant,
    matches_of,
    variants_of,
)
from harpia_formats.formats.detection.own_files import own_kind, why_no_data
from harpia_formats.formats.detection.recognize import recognize, why_contested
from harpia_formats.formats.detection.result import Detected
from harpia_formats.formats.detection.sample import Sample
from harpia_formats.formats.detection.sampled_file import (
    ReadBlocks,
    SampledFile,
    sample_file,
)
from harpia_formats.formats.detection.unexpected_format import delimiter_note
from harpia_formats.formats.registry import all_formats, all_unpackers
from harpia_formats.model.format import Container, Format
from harpia_formats.model.report import FileCount

#: Containers whose file is one value.
_document_containers = {Container.DOCUMENT, Container.WRAPPED, Container.COLUMNS}


def detect_files(
    inputs: Iterable[Input],
    delimiter: str | None = None,
    exclusion: Exclusion | None = None,
) -> Iterator[Detected]:
    """Yield the detected format of each file behind `inputs`, in their order.

    What `exclusion` matches is left out. Raises nothing for files that
    cannot be read: `reason` says why. Raises `ValueError` if `delimiter` is no
    delimiter.
    """
    if delimiter is not None:
        delimiter_named(delimiter)
    formats = tuple(all_formats().values())
    for source in sources_of_inputs(inputs, exclusion, all_unpackers()):
        if isinstance(source, SourceError):
            yield Detected(source.path, reason=source.reason)
        else:
            yield _detect_source(source, formats, delimiter)


def _detect_source(
    source: Source, formats: Sequence[Format], delimiter: str | None
) -> Detected:
    try:
        with open_source(source) as reader:
            blocks = ReadBlocks(reader, FileCount(source.name))
            opened = open_container(blocks)
            # Whatever validation passes over in a folder is no data here either.
            kind = own_kind(opened.buffer.data) if source.is_found else ""
            if kind:
                return Detected(source.name, reason=why_no_data(kind), skipped=kind)
            detected = _detect_blocks(reader, blocks, opened, formats, delimiter)
    except SourceError as error:
        return Detected(source.name, reason=error.reason)
    broken = blocks.error
    if broken is None:
        return detected
    skipped = ""
    if isinstance(broken, OtherKindError) and source.is_found:
        skipped = broken.kind.name
    return replace(detected, reason=broken.reason, skipped=skipped)


def _detect_blocks(
    reader: SourceReader,
    blocks: ReadBlocks,
    opened: OpenedContainer,
    formats: Sequence[Format],
    delimiter: str | None,
) -> Detected:
    """Return the format of a file by its blocks, of which only the first are read."""
    path = reader.name
    sampled = sample_file(opened, ROW_LIMIT, formats, path, delimiter)
    sample = sampled.sample
    if reader.unpacker:
        sample = structs.replace(sample, unpacker=reader.unpacker)
    if sample.other_delimiter:
        note = delimiter_note(sample)
        return Detected(path, container="a table", why=note.message, nearest=note.help)
    found = recognize(sample, formats)
    if found.choice is not None:
        return _recognized(path, sample, found.choice, formats)
    if blocks.error is not None:
        return Detected(path)
    layout = Layout.TEXT if sample.text else sample.layout
    container = "a table" if sample.delimiter else layout.value
    if found.notes:
        # The last part of the help is about options of `validate`.
        nearest = found.notes[0].help.rpartition("; ")[0]
        return Detected(
            path,
            container=container,
            why=found.notes[0].message,
            records=len(sample.rows),
            nearest=nearest,
            possible=found.notes[0].possible,
        )
    return Detected(path, container=container, why=_why_no_records(sampled))


def _recognized(
    path: str, sample: Sample, choice: FormatChoice, formats: Sequence[Format]
) -> Detected:
    """Return the result for a file whose format is `choice`."""
    variant = choice.variant
    is_table = variant.dialect.container is Container.TABLE
    rival = choice.rival
    is_other = rival is not None and rival.format is not variant.format
    return Detected(
        path,
        format=variant.format.id,
        dialect=variant.dialect.name,
        container="a table" if is_table else sample.layout.value,
        confidence=choice.confidence,
        why=f"{choice.evidence[0]}{_where_found(choice)}",
        records=choice.records,
        others=_other_formats(sample, variant, formats),
        rival=rival.name if rival is not None and is_other else "",
        matching=choice.matching,
        contested=why_contested(choice),
    )


def _why_no_records(sampled: SampledFile) -> str:
    """Return why there are no records by which a format could be recognized."""
    layout = sampled.sample.layout
    is_cut = layout in {Layout.LINES, Layout.ARRAY}
    has_rows = any(isinstance(frame, Chunk) or frame.record for frame in sampled.held)
    if layout is Layout.EMPTY or (is_cut and not has_rows):
        return "the file holds no records"
    return "none of the first records can be read"


def _where_found(choice: FormatChoice) -> str:
    """Return where in the file the evidence is, for the end of a sentence."""
    hedge = " or the like" if len(choice.evidence) > 1 else ""
    container = choice.variant.dialect.container
    if container is Container.TABLE:
        return f"{hedge} in the header"
    if container in _document_containers:
        return f"{hedge} in the document"
    records = f"record{'s' * (choice.records != 1)}"
    return f"{hedge} in {choice.matching:,} of {choice.records:,} {records}"


def _other_formats(
    sample: Sample, chosen: FormatVariant, formats: Sequence[Format]
) -> tuple[tuple[str, int], ...]:
    """Return the variants that rows match which do not match `chosen`, with counts."""
    variants = variants_of(formats, sample.layout)
    if not chosen.format.general:
        variants = variants.particular
    others: Counter[str] = Counter()
    for row in sample.rows:
        others.update(_other_name(row, chosen, variants))
    return tuple(others.most_common())


def _other_name(
    row: Any, chosen: FormatVariant, variants: Sequence[FormatVariant]
) -> list[str]:
    """Return the first variant that a row matches, nothing if it matches `chosen`."""
    names = [variants[index].name for index, _ in matches_of(row, variants)]
    return [] if chosen.name in names else names[:1]
