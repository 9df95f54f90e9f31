"""The validators of a file's parts: its records, its columns and its header."""

from collections.abc import Callable, Iterator
from functools import cache, cached_property, partial
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import msgspec

from harpia_formats.formats.detection.candidates import (
    FormatVariant,
    Variants,
    first_match,
    variants_of,
)
from harpia_formats.formats.detection.sampled_file import Framing
from harpia_formats.formats.registry import all_formats
from harpia_formats.formats.schema.bundled_schemas import (
    Schema,
    document_schema,
    item_schema,
    record_schema,
    schema_validator_of,
)
from harpia_formats.model.format import (
    Container,
    Dialect,
    Remark,
    Remarks,
    no_advice,
)
from harpia_formats.model.problem import Path, Severity
from harpia_formats.validation.dedup.identity import IdentityReader
from harpia_formats.validation.plan.file_plan import FilePlan
from harpia_formats.validation.unit.row_checks import RowChecks
from harpia_formats.validation.unit.row_validator import RowValidator

if TYPE_CHECKING:  # only if rules are selected that are not checked by default
    from harpia_formats.model.lint import Lints
    from harpia_formats.validation.unit.row_linter import RowLinter

#: The rule on a record of another format.
OTHER_FORMAT, OTHER_LABEL = "S203", "S211"
#: The rules of the hub with the severity error; no remark has one of them.
_HUB_RULES = ("J", "S", "C", "V", "X")
#: The beginnings of the codes of rules on schema errors.
_schema_rules = ("S1", "C", "V", OTHER_FORMAT)


def _identity_of(plan: FilePlan) -> IdentityReader | None:
    """Return what reads the ids of a file's records, None if it is not needed."""
    if not plan.checks_ids:
        return None
    from harpia_formats.validation.dedup.repeated_digests import identity_reader_of  # noqa: PLC0415 - only if repeated ids are looked for

    return identity_reader_of(plan.variant)


@cache
def _specific_variants() -> Variants:
    """Return the variants of all formats but the general ones.

    Nearly every record looks like one of a general format.
    """
    return variants_of(all_formats().values()).particular


class RowPart(msgspec.Struct):
    """The rows of a file at one path, and what validates them."""

    validator: RowValidator
    schema: Schema
    #: The path of each row in its record; () for whole records.
    path: Path = ()


class FileValidators:
    """The validators of one file's parts, built when they are first used.

    They learn from rows, which changes their speed and never their verdicts, so one
    object serves all units of a plan that one process validates.
    """

    def __init__(self, plan: FilePlan) -> None:
        """Take the plan of the file."""
        self.plan = plan
        self.options = plan.run.options
        self.rules = plan.run.active_rules()
        self.variant = plan.variant
        #: The schema of the whole document, or of each row.
        self.schema = plan.schema
        #: Reads the ids of records, if repeated ids are looked for.
        self.identity = _identity_of(plan)
        self._parts: dict[Path, RowPart] = {}
        self._linters: dict[Path, RowLinter | None] = {}
        #: The schema validators of other formats, by the names of their variants.
        self._other_schemas: dict[str, Any] = {}
        self._header: RowValidator | None = None
        #: Whether any texts are valid, by the names of their columns.
        self._any_texts: dict[tuple[str, ...], bool] = {}

    @property
    def id_key(self) -> str:
        """The key of a record's id, "" if the format has none."""
        return self.variant.format.id_key if self.variant else ""

    def part(self, path: Path = ()) -> RowPart:
        """Return the rows at `path`: () for records, else the items of a column."""
        found = self._parts.get(path)
        if found is None:
            found = self._parts[path] = self._built(path)
        return found

    def accept_any_texts(self, columns: tuple[str, ...]) -> bool:
        """Return whether records with these columns are valid, whatever their texts.

        It may only accept: a schema that asks for more than texts is not decided. Lints
        are not asked.
        """
        found = self._any_texts.get(columns)
        if found is None:
            from harpia_formats.formats.schema.decoder_types import allows_any  # noqa: PLC0415 - only for tables: start-up time

            # Nothing is checked of a record but its schema.
            found = self._any_texts[columns] = (
                not self.plan.unvalidated
                # Blank fields are no members of the objects that it is about.
                and self.plan.run.schema is None
                and not self.options.cross_check
                and self.identity is None
                and self._remarks(()) is None
                and allows_any(self._record_schema(), columns)
            )
        return found

    def linter(self, path: Path = ()) -> "RowLinter | None":
        """Return what checks the rows at `path` by lints, None if there are none."""
        if path not in self._linters:
            self._linters[path] = self._new_linter(path)
        return self._linters[path]

    def _new_linter(self, path: Path) -> "RowLinter | None":
        """Return a linter of the rows at `path`, None if no lint is to be made."""
        lints = self.lints
        is_item = self.plan.has_columns
        if (
            lints is None
            or (is_item and not path)
            or not (lints.rows or ((lints.across or lints.files) and not is_item))
        ):
            return None
        from harpia_formats.validation.unit.row_linter import RowLinter  # noqa: PLC0415 - only if rules are selected that are not checked by default

        return RowLinter(lints, str(path[-1]) if is_item else "")

    @cached_property
    def lints(self) -> "Lints | None":
        """The lints that are to be made, None if there are none."""
        if self.plan.run.for_reading or not any(
            rule.lint for rule in self.rules.values()
        ):
            return None
        from harpia_formats.validation.unit.selected_lints import selected_lints  # noqa: PLC0415 - only with lints: start-up time

        return selected_lints(self.variant, self.rules, self.options.columns)

    def forget(self, path: Path) -> None:
        """Build the validator of the rows at `path` anew when it is used again."""
        self._parts.pop(path, None)

    def header_validator(self) -> RowValidator:
        """Return the validator of a document without its records."""
        if self._header is None:
            dialect = self.variant.dialect if self.variant else None
            remarks = dialect and dialect.header_remarks
            self._header = self._validator(self.schema, remarks=remarks, is_typed=False)
        return self._header

    def _built(self, path: Path) -> RowPart:
        """Return the rows at `path` with a new validator."""
        schema = item_schema(self.schema, path) if path else self._record_schema()
        validator = self._validator(
            schema,
            remarks=self._remarks(path),
            decoder_schema=self._decoder_schema(path),
            is_typed=self.variant is None or _is_typed(self.variant.dialect),
            find_other_format=self._other_format
            if OTHER_FORMAT in self.rules and not self.plan.run.is_pinned
            else None,
            identity=self.identity,
            of_items=bool(path),
        )
        return RowPart(validator, schema, path)

    def _record_schema(self) -> Schema:
        """Return the schema of what is validated row by row."""
        cut = self.plan.cut
        if self.variant is None or cut is Framing.TABLE:
            return self.schema
        dialect, strict = self.variant.dialect, self.options.strict
        if cut is Framing.MEMBERS or dialect.container is Container.ROWS:
            return record_schema(dialect, strict=strict)
        return self.schema

    def _validator(self, schema: Schema, **checks: Any) -> RowValidator:
        """Return a validator of rows by `schema` with these checks."""
        options = self.options
        of_schema = any(code.startswith(_schema_rules) for code in self.plan.run.rules)
        asks_schema = of_schema or options.cross_check
        if self.plan.run.guards_rows:
            # Without a format there are no other checks than these.
            from harpia_formats.validation.unit.guarded_rows import (  # noqa: PLC0415 - only for such schemas: start-up time
                GuardedRows,
                RowSettings,
            )

            settings = RowSettings(
                schema,
                self.plan.run.key,
                options.assert_formats,
                "J105" in self.rules,
                asks_schema,
                options.cross_check,
            )
            return GuardedRows(settings, options.row_timeout)
        second_opinion = None
        if options.cross_check:
            from harpia_formats.validation.unit.cross_check import second_opinion_of  # noqa: PLC0415 - a tenth of a second, when asked for

            second_opinion = second_opinion_of(schema, formats=options.assert_formats)
        row_checks = RowChecks(
            advise=self.variant.format.advise if self.variant else no_advice,
            formats=options.assert_formats,
            repeated_keys="J105" in self.rules,
            asks_schema=asks_schema,
            second_opinion=second_opinion,
            keeps_texts=self.plan.run.for_reading or self.lints is not None,
            **checks,
        )
        return RowValidator(schema, row_checks)

    def _remarks(self, path: Path) -> Callable[[Any], Iterator[Remark]] | None:
        """Return what yields remarks on a row at `path`, None if there are none."""
        mapped = self._mapped_remarks(path)
        own = self._own_remarks(path)
        if mapped is None or own is None:
            return mapped or own
        return lambda row: chain(own(row), mapped(row))

    def _mapped_remarks(self, path: Path) -> Callable[[Any], Iterator[Remark]] | None:
        """Return what yields remarks on mapped values of rows of JSON, None if none.

        Those of tables are columns that their schema requires.
        """
        columns, is_required = self.plan.run.mapped_keys
        if not columns or path or self.plan.cut is Framing.TABLE:
            return None
        from harpia_formats.validation.unit.mapped_values import mapped_remarks  # noqa: PLC0415 - only for a map: start-up time

        return mapped_remarks(columns, required=is_required)

    def _own_remarks(self, path: Path) -> Callable[[Any], Iterator[Remark]] | None:
        """Return what the dialect says of a row at `path`, None if it says nothing."""
        dialect = self.variant.dialect if self.variant else None
        remarks = dialect.remarks if dialect else None
        if dialect is not None and self._refuses_labels:
            name = self.plan.format
            return partial(_with_label, name, dialect, remarks or _no_remarks)
        if dialect is None or remarks is None or not self._asks_remarks(dialect):
            return None
        if not path:
            is_whole = self.plan.has_columns or self.plan.has_documents
            return None if is_whole else remarks
        column = path[-1]

        def of_item(item: Any) -> Iterator[Remark]:
            for remark in remarks({column: item}):
                path = remark.path[1:]
                yield Remark(remark.code, path, remark.message, remark.help)

        return of_item

    @property
    def _refuses_labels(self) -> bool:
        """Return whether records with the label of another version are refused."""
        if self.variant is None or OTHER_LABEL not in self.rules:
            return False
        return self.options.strict and bool(self.variant.dialect.labels)

    def _asks_remarks(self, dialect: Dialect) -> bool:
        """Return whether any active rule may be that of a remark."""
        if dialect.remarks_refuse:
            return True
        if self.plan.run.severities:
            return True
        # Reading needs only the valid rows, which these remarks do not change.
        return not self.plan.run.for_reading and any(
            rule.severity is not Severity.ERROR or not code.startswith(_HUB_RULES)
            for code, rule in self.rules.items()
        )

    def _decoder_schema(self, path: Path) -> Schema | None:
        """Return a schema of rows without remarks, None if there is none."""
        if self.variant is None:
            return None
        columns, is_required = self.plan.run.mapped_keys
        has_own = self._own_remarks(path) is not None
        if not self.variant.dialect.strict and (has_own or not columns):
            return None
        if not path:
            schema = record_schema(self.variant.dialect, strict=True)
            if not columns:
                return schema
            from harpia_formats.validation.unit.mapped_values import with_mapped_keys  # noqa: PLC0415 - only for a map: start-up time

            return with_mapped_keys(schema, columns, required=is_required)
        return item_schema(document_schema(self.variant.dialect, strict=True), path)

    def _is_valid_as(self, variant: FormatVariant, value: Any) -> bool:
        """Return whether a record is valid in another format."""
        if variant.name not in self._other_schemas:
            schema = record_schema(variant.dialect, strict=self.options.strict)
            self._other_schemas[variant.name] = schema_validator_of(schema)
        return bool(self._other_schemas[variant.name].is_valid(value))

    def _other_format(self, value: Any) -> Remark | None:
        """Return a remark on a record that looks like one of another format."""
        own = self.variant
        # An empty object has no sign of a format.
        if not value or own is None or own.dialect.container is not Container.ROWS:
            return None
        if isinstance(value, dict) and own.dialect.sniff(value):
            return None
        found = first_match(value, _specific_variants())
        if found is None:
            return None
        other, sign = found
        is_sibling = other.format.family == own.format.family
        # Unless it is a valid record of another shape, its errors are listed.
        if is_sibling and (self.options.strict or not self._is_valid_as(other, value)):
            return None
        message = f"this is {other.name} ({sign}), in a file of {own.name}"
        return Remark(OTHER_FORMAT, (), message, "put each format in its own file")


def _shown(label: str) -> str:
    from harpia_formats.model.describe import short_json  # noqa: PLC0415 - start-up: needed for messages only

    return short_json(label)


def _is_typed(dialect: Dialect) -> bool:
    """Tell whether a typed decoder is built for the rows of a dialect.

    The schemas of whole documents are more than its types can express.
    """
    return dialect.is_typed and dialect.container is not Container.DOCUMENT


def _no_remarks(_: Any) -> Iterator[Remark]:
    """Yield nothing."""
    yield from ()


def _with_label(
    name: str, dialect: Dialect, remarks: Remarks, row: Any
) -> Iterator[Remark]:
    """Yield the remarks on a row, and one if its label is that of another version."""
    label = row.get(dialect.label_key) if isinstance(row, dict) else None
    if isinstance(label, str) and label not in dialect.labels:
        yield Remark(
            OTHER_LABEL,
            (dialect.label_key,),
            f"{dialect.label_key} is {_shown(label)}, and the record has the shape "
            f"of {name}",
            "give the label of the shape, or the shape of the label",
        )
    yield from remarks(row)


#: What differs between two files that are validated alike.
_OWN_OF_FILE = frozenset({"run", "name", "fingerprint", "key"})
_kind_of = attrgetter(
    *(name for name in FilePlan.__struct_fields__ if name not in _OWN_OF_FILE)
)
#: Kinds of files of a run whose validators are kept.
_KINDS = 32


class SharedValidators:
    """The validators of files, one for all files of one run and kind.

    Building the schema engine anew, and learning how rows look, would take most of the
    time of a small file.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], FileValidators] = {}

    def of(self, plan: FilePlan) -> FileValidators:
        """Return the validators for a file with this plan."""
        if len(self._known) >= _KINDS:
            self._known.clear()
        kind = (plan.run.key, *_kind_of(plan))
        found = self._known.get(kind)
        if found is None:
            found = self._known[kind] = FileValidators(plan)
        return found

    def forget(self) -> None:
        """Forget all validators, which an error may have left unfinished."""
        self._known.clear()
