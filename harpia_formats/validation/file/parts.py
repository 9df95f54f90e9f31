"""The judges of a file's parts: each knows its rows, and what else to look for."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from harpia_formats.dedup.identity import IdentityReader
from harpia_formats.detection.candidates import FormatVariant, first_match, variants_of
from harpia_formats.detection.sampled_file import Framing
from harpia_formats.model.format import Container, Dialect, Remark, no_advice
from harpia_formats.model.problem import Path, Severity
from harpia_formats.registry import all_formats
from harpia_formats.rules import Rule
from harpia_formats.schema.dialect import document_schema, item_schema, record_schema
from harpia_formats.schema.load import Schema
from harpia_formats.validation.file.row_validator import Brief, Judge
from harpia_formats.validation.options import Options

#: The rule on a record of another format.
OTHER_FORMAT = "S203"
#: The rules on what a schema says.
_of_schema = ("S1", "C", "V", OTHER_FORMAT)


@cache
def _particular() -> tuple[FormatVariant, ...]:
    """Return all variants but those that nearly everything looks like."""
    variants = variants_of(all_formats().values())
    return tuple(each for each in variants if not each.format.general)


@dataclass(slots=True)
class Part:
    """The rows of a file that one judge judges, and how far they were read."""

    judge: Judge
    schema: Schema
    #: Where in its record each of them is.
    path: Path = ()
    #: Records that were read of it.
    records: int = 0


@dataclass(frozen=True, slots=True)
class Parts:
    """Makes the judges of one file."""

    options: Options
    rules: Mapping[str, Rule]
    variant: FormatVariant | None
    #: The schema of the whole document, or of each row.
    schema: Schema
    #: Reads what tells records apart, if that is asked for.
    identity: IdentityReader | None

    def of_records(self, cut: Framing) -> Part:
        """Return the part that is all records of a file, cut as told."""
        return self._part(self._records_schema(cut))

    def of_member(self, path: Path) -> Part:
        """Return the part that is the items of the array at `path`."""
        return self._part(item_schema(self.schema, path), path)

    def header_judge(self) -> Judge:
        """Return the judge of a document without its records."""
        dialect = self.variant.dialect if self.variant else None
        return self._judge(self.schema, remarks=dialect and dialect.header_remarks)

    def _records_schema(self, cut: Framing) -> Schema:
        """Return the schema of what is judged row by row."""
        if self.variant is None or cut is Framing.TABLE:
            return self.schema
        dialect, strict = self.variant.dialect, self.options.strict
        if cut is Framing.MEMBERS or dialect.container is Container.ROWS:
            return record_schema(dialect, strict=strict)
        return self.schema

    def _part(self, schema: Schema, path: Path = ()) -> Part:
        judge = self._judge(
            schema,
            remarks=self._remarks(path),
            decoder_schema=self._decoder_schema(path),
            stranger=self._stranger if OTHER_FORMAT in self.rules else None,
            identity=self.identity,
        )
        return Part(judge, schema, path)

    def _judge(self, schema: Schema, **own: Any) -> Judge:
        """Return a judge by `schema`, with what its rows have of their `own`."""
        options = self.options
        second_opinion = None
        if options.cross_check:
            from harpia_formats.validation.file.cross_check import second_opinion_of  # noqa: PLC0415 - a tenth of a second, when asked for

            second_opinion = second_opinion_of(schema, formats=options.assert_formats)
        brief = Brief(
            advise=self.variant.format.advise if self.variant else no_advice,
            formats=options.assert_formats,
            repeated_keys="J105" in self.rules,
            asks_schema=any(each.startswith(_of_schema) for each in self.rules),
            second_opinion=second_opinion,
            **own,
        )
        return Judge(schema, brief)

    def _remarks(self, path: Path) -> Callable[[Any], Iterator[Remark]] | None:
        """Return what is to be said of the rows at `path`, of columns item by item."""
        dialect = self.variant.dialect if self.variant else None
        remarks = dialect.remarks if dialect else None
        if dialect is None or remarks is None or not self._asks_remarks(dialect):
            return None
        if not path:
            return None if dialect.container is Container.COLUMNS else remarks
        column = path[-1]

        def of_item(item: Any) -> Iterator[Remark]:
            for each in remarks({column: item}):
                yield Remark(each.code, each.path[1:], each.message, each.help)

        return of_item

    def _asks_remarks(self, dialect: Dialect) -> bool:
        """Tell whether anybody wants to know what is tolerated or doubtful."""
        errors_only = all(
            each.severity is Severity.ERROR for each in self.rules.values()
        )
        return dialect.remarks_refuse or not errors_only

    def _decoder_schema(self, path: Path) -> Schema | None:
        """Return the schema of rows of which nothing is to be said, if there is one."""
        if self.variant is None or not self.variant.dialect.strict:
            return None
        # What is only doubtful may be allowed strictly.
        if any(each.lint for each in self.rules.values()):
            return None
        if not path:
            return record_schema(self.variant.dialect, strict=True)
        return item_schema(document_schema(self.variant.dialect, strict=True), path)

    def _stranger(self, value: Any) -> Remark | None:
        """Tell what other format a record looks like, and not its own."""
        own = self.variant
        if own is None or own.dialect.container is not Container.ROWS:
            return None
        if isinstance(value, dict) and own.dialect.sniff(value):
            return None
        found = first_match(value, _particular())
        if found is None:
            return None
        other, sign = found
        message = f"this is {other.name} ({sign}), in a file of {own.name}"
        return Remark(OTHER_FORMAT, (), message, "put each format in its own file")
