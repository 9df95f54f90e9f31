"""Read records from anything, whatever its format, and say what is wrong with it."""

from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import closing

from harpia_formats.blocks import Blocks
from harpia_formats.bytestream import SourceError
from harpia_formats.column_map import checked
from harpia_formats.detection import Variant
from harpia_formats.framing import ROW_LIMIT
from harpia_formats.inputs import Input, checked_inputs, sources_behind
from harpia_formats.inspection import Inspection
from harpia_formats.needs import ConversionError
from harpia_formats.options import Options
from harpia_formats.problem import Problem, Severity
from harpia_formats.record import Header
from harpia_formats.registry import all_formats, all_rules, formats_named, record_formats
from harpia_formats.report import FileCount
from harpia_formats.rules import selected_rules
from harpia_formats.second_look import SecondLook
from harpia_formats.source import Reader, Source, open_source
from harpia_formats.taking import Receive, TakeAccepted, Taker
from harpia_formats.tally import Tally

#: Rules that say nothing of whether a record can be read.
_left_out = ("X", "L")
#: Called with the format of a file before its first record.
Begin = Callable[[Variant, FileCount], None]


class Reading:
    """One run over some inputs, whose valid rows are handed on as records.

    Raises `UnknownFormat` and `MapError` when it is made, `ValueError` without an
    input, and `TypeError` for what is no input.
    """

    def __init__(  # noqa: PLR0913 - one parameter for each wish
        self,
        inputs: Iterable[Input],
        format_: str | None,
        *,
        columns: Mapping[str, str] | None = None,
        fail_fast: bool = True,
        max_row_bytes: int = ROW_LIMIT,
        progress: Callable[[Reader], None] | None = None,
    ) -> None:
        self.inputs = checked_inputs(inputs)
        if columns is not None:
            checked(columns)
            format_ = format_ or "csv"
        self._options = Options(
            format=format_,
            columns=columns,
            fail_fast=fail_fast,
            max_row_bytes=max_row_bytes,
            progress=progress,
            ignore=_left_out,
        )
        self._formats = (
            tuple(all_formats().values()) if format_ is None else formats_named(format_)
        )
        rules = all_rules()
        active = selected_rules(rules, [], list(_left_out))
        # What is only doubtful is the business of validation.
        self._rules = {
            code: rules[code]
            for code in active
            if rules[code].severity is Severity.ERROR
        }
        self._fields = {column: name for name, column in (columns or {}).items()}
        self.tally = Tally()
        #: What was around the records of each file.
        self.headers: list[Header | None] = []

    def problems(
        self,
        receive: Receive,
        begin: Begin,
        refuse: Callable[[bytes], None],
        bulk: TakeAccepted | None = None,
    ) -> Generator[Problem, None, None]:
        """Yield what is wrong; hand each valid record to `receive`.

        Raises `ConversionError` for a file whose rows are no records.
        """
        for each in sources_behind(self.inputs):
            if isinstance(each, SourceError):
                self.tally.begin(each.path).reason = each.reason
                continue
            yield from self._file(each, receive, begin, refuse, bulk)
            if self._options.fail_fast and not self.tally.report().ok:
                return

    def _file(
        self,
        source: Source,
        receive: Receive,
        begin: Begin,
        refuse: Callable[[bytes], None],
        bulk: TakeAccepted | None,
    ) -> Generator[Problem, None, None]:
        count = self.tally.begin(source.name)
        taker = Taker(
            source.name,
            receive,
            refuse,
            lambda variant: begin(_converting(variant, count), count),
            bulk,
            self._fields,
        )
        inspection = Inspection(
            self._options, self._rules, self.tally, self._formats, None, taker
        )
        try:
            with SecondLook(source) as again, open_source(source) as reader:
                blocks = Blocks(reader, count)
                with closing(_as_generator(inspection, blocks, count, again)) as flow:
                    yield from flow
                if not inspection.stopped:
                    taker.close()
        except SourceError as error:
            count.reason = error.reason
            return
        self.headers.append(taker.header)
        if not inspection.stopped:
            count.complete = blocks.error is None
        if blocks.error is not None:
            count.reason = blocks.error.reason


def _as_generator(
    inspection: Inspection, blocks: Blocks, count: FileCount, again: SecondLook
) -> Generator[Problem, None, None]:
    yield from inspection.problems(blocks, count, again)


def _converting(variant: Variant, count: FileCount) -> Variant:
    """Return `variant` if its rows are records; raises `ConversionError`."""
    if not variant.format.spoke:
        raise ConversionError(
            f"{count.path} is {variant.format.id}, a document without records; "
            f"records are in: {', '.join(record_formats())}"
        )
    return variant
