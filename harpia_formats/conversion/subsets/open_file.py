"""Open a file whose rows are copied: find its format, and how it is cut."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from msgspec.structs import replace

from harpia_formats.conversion.subsets.cut_file import CutFile, KeptBytes
from harpia_formats.conversion.subsets.subset_options import SubsetError, SubsetOptions
from harpia_formats.files.framing.container import (
    Layout,
    OpenedContainer,
    frames_of,
    open_container,
)
from harpia_formats.files.io.inputs import (
    Input,
    checked_inputs,
    close_copies,
    rereadable_input,
    rewind_inputs,
    sources_of_inputs,
)
from harpia_formats.files.io.reader import SourceError
from harpia_formats.files.io.source import Source, SourceReader, open_source
from harpia_formats.files.parsing.csv_delimiter import (
    WIDE_DELIMITERS,
    how_to_read,
    named,
    shown_delimiter,
)
from harpia_formats.formats.detection.sample import Sample
from harpia_formats.formats.detection.sampled_file import (
    Framing,
    SampledFile,
    sample_file,
)
from harpia_formats.formats.detection.unexpected_format import LEAVE_OUT_FROM
from harpia_formats.formats.registry import all_unpackers
from harpia_formats.model.format import Container
from harpia_formats.validation.options import Options
from harpia_formats.validation.plan.file_plan import FilePlan, RunPlan, plan_file
from harpia_formats.validation.run_plans import RunPlans

#: Bytes of a document that may stand around its rows, if rows may not be longer.
LEAST_AROUND = 16 * 1024 * 1024


@contextmanager
def cut_file(
    source: Source, options: SubsetOptions, *, is_brief: bool = False
) -> Generator[CutFile, None, None]:
    """Open a file whose rows are copied, and find how it is cut.

    If `is_brief`, only as much is read for that as is needed: the format may stay
    unknown. Raises `SourceError` if the file cannot be read, also at the end if it has
    changed, and `SubsetError` if it has no rows that can be copied.
    """
    with open_source(source) as reader:
        most = max(LEAST_AROUND, 4 * options.max_row_bytes)
        kept = KeptBytes(source.name, reader, most, lambda: _note(reader, options))
        opened = open_container(kept)
        is_plain = opened.layout in {Layout.LINES, Layout.ARRAY} and not reader.unpacker
        if is_brief and is_plain and options.from_ is None:
            plan, sampled = _plain_rows(source, opened, options)
        else:
            plan, sampled = _planned(source, opened, options, reader.unpacker)
            reason = uncut_reason(plan, sampled.sample)
            if reason:
                raise SubsetError(f"in {source.name} {reason}")
            _check_plan(source.name, plan, is_text=not reader.unpacker)
        yield CutFile(source.name, plan, options, reader, kept, sampled)
        error = reader.change()
        if error is not None:
            raise error


def _run_plan(source: Source, options: SubsetOptions) -> RunPlan:
    """Return the plan of a run in which a file is cut."""
    plans = RunPlans(
        Options(
            format=options.from_,
            delimiter=options.delimiter,
            max_row_bytes=options.max_row_bytes,
        )
    )
    return plans.of(source)


def _plain_rows(
    source: Source, opened: OpenedContainer, options: SubsetOptions
) -> tuple[FilePlan, SampledFile]:
    """Return the plan of lines or an array, whatever the format of the rows is."""
    limit = options.max_row_bytes
    rows = frames_of(opened, limit)
    sampled = SampledFile(opened, Sample(opened.layout), limit, [], rows)
    run = _run_plan(source, options)
    return FilePlan(run, source.name, Framing.VALUES, unvalidated=True), sampled


def _planned(
    source: Source, opened: OpenedContainer, options: SubsetOptions, unpacker: str
) -> tuple[FilePlan, SampledFile]:
    """Return the plan of a file by its format, which its beginning tells."""
    run = _run_plan(source, options)
    sampled = sample_file(
        opened,
        options.max_row_bytes,
        run.candidates(),
        source.name,
        options.delimiter,
    )
    if unpacker:
        sampled.sample = replace(sampled.sample, unpacker=unpacker)
    plan, _ = plan_file(run, source.name, sampled.sample)
    return plan, sampled


def _note(reader: SourceReader, options: SubsetOptions) -> None:
    if options.progress is not None:
        options.progress(reader)


def uncut_reason(plan: FilePlan, sample: Sample) -> str:
    """Return why a table is not cut, and how to read it, "" if it is.

    It may have another delimiter, not be called a table, or be no text.
    """
    if sample.unpacker and plan.cut is Framing.NONE:
        return f"rows are no text; {LEAVE_OUT_FROM}"
    found = sample.other_delimiter or sample.likely_delimiter
    if not found or plan.cut is not Framing.NONE:
        return ""
    from_csv = "" if sample.other_delimiter else "--from csv "
    how = f"read it with `{from_csv}--delimiter {shown_delimiter(found)}`"
    if found in WIDE_DELIMITERS:
        how = how_to_read(found, sample.delimiter)
    return f"a {named(found)} separates the fields; {how}"


def _check_plan(name: str, plan: FilePlan, *, is_text: bool) -> None:
    """Raise `SubsetError` for a file whose rows cannot be copied one by one."""
    convert = "convert it first, such as with `convert --to record`"
    if plan.cut is Framing.NONE:
        raise SubsetError(
            f"{name} is neither JSON nor a table that can be read; of a table, give "
            "`--from csv`, and its `--delimiter`"
        )
    variant = plan.variant
    if variant is not None and variant.dialect.container is Container.DOCUMENT:
        raise SubsetError(
            f"{name} is {variant.format.id}, one document that has no rows"
        )
    if plan.has_columns:
        raise SubsetError(
            f"{name} is {plan.format}, whose records stand in columns and not in "
            f"rows; {convert}"
        )
    if plan.cut is Framing.MEMBERS and variant is not None:
        if variant.dialect.count_remarks is not None:
            raise SubsetError(
                f"{name} is {plan.format}, where the document around the records "
                f"counts them, which would be wrong for some of them; {convert}"
            )
        if not is_text:
            raise SubsetError(
                f"{name} is an archive or folder of {plan.format}, whose records are "
                f"no rows; {convert}"
            )


def one_source(given: Input) -> Source:
    """Return the file that an input names.

    Raises `SourceError` if it cannot be found, and `SubsetError` for several files.
    """
    found = list(sources_of_inputs(checked_inputs([given]), None, all_unpackers()))
    if len(found) > 1:
        raise SubsetError(
            f"there are {len(found):,} files, and rows are copied from one; merge "
            "puts files together"
        )
    (source,) = found
    if isinstance(source, SourceError):
        raise source
    return source


class RereadInput:
    """An input that is read several times."""

    def __init__(self, kept: Input) -> None:
        """Take what `rereadable_input` returned."""
        self._kept = kept

    def again(self) -> Input:
        """Return the input, to be read from its beginning."""
        rewind_inputs([self._kept])
        return self._kept

    def source(self) -> Source:
        """Return the file, to be read from its beginning; raises `SourceError`."""
        return one_source(self.again())


@contextmanager
def reread_input(given: Any) -> Generator[RereadInput, None, None]:
    """Make an input that can be read several times; a stream is copied for that."""
    (checked,) = checked_inputs([given])
    kept = rereadable_input(checked)
    try:
        yield RereadInput(kept)
    finally:
        close_copies([checked], [kept])


def notes_on(file: CutFile, *, is_partial: bool = True) -> tuple[str, ...]:
    """Return what the user should know of copies of the rows of a file."""
    if file.is_unpacked:
        return (f"{file.name} holds no text: its rows are written as JSON Lines",)
    if file.is_wrapped and is_partial:
        note = f"the document around the rows of {file.name} is copied as it is"
        return (f"{note}; what it says of all rows may not be true of some",)
    return ()
