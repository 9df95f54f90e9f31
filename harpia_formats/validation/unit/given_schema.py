"""Take a schema that the user gives, and report what is doubtful about it."""

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from harpia_formats.files.framing.chunk import Cursor
from harpia_formats.formats.schema.bundled_schemas import Schema
from harpia_formats.formats.schema.user_schema import check_schema, read_schema
from harpia_formats.model.format import Remark
from harpia_formats.validation.diagnosis.root_causes import Finding, find_repeated_keys
from harpia_formats.validation.diagnosis.row_context import RowContext
from harpia_formats.validation.plan.file_plan import is_guarded
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.findings import Findings


@dataclass(frozen=True, slots=True)
class GivenSchema:
    """A schema of the user that can be used."""

    #: Its file, or "schema".
    name: str
    #: The text of the file, empty without one.
    text: bytes
    #: As it was given.
    original: Schema
    #: With references as pointers into itself.
    schema: Schema
    #: What is doubtful about it.
    remarks: tuple[Remark, ...]


def given_schema(given: Any) -> GivenSchema:
    """Return the schema `given`, the path of its file or its value.

    Raises `SchemaError` if it cannot be read or used, or is no draft-07 schema.
    """
    name, text, schema = "schema", b"", given
    if not isinstance(given, (dict, bool)):
        name = str(given)
        text, schema = read_schema(Path(given))
    if is_guarded(schema):
        from harpia_formats.validation.unit.guarded_rows import check_schema_in_time  # noqa: PLC0415 - only for such schemas: start-up time

        checked = check_schema_in_time(name, schema)
    else:
        checked = check_schema(name, schema)
    return GivenSchema(name, text, schema, checked.schema, checked.remarks)


def schema_problems(given: GivenSchema, collector: Collector) -> Findings:
    """Return repeated keys and remarks of a schema as problems of its file.

    They are collected by `collector`. The places of a schema without a file are those
    in its JSON text.
    """
    text = given.text or msgspec.json.encode(given.original)
    remarks = (
        Finding(remark.code, 0, remark, given.original) for remark in given.remarks
    )
    findings = [
        finding
        for finding in chain(find_repeated_keys(0, text, given.original), remarks)
        if finding.code in collector.rules
    ]

    def row_of(_: Finding) -> RowContext:
        return RowContext(collector.name, text, Cursor(), None, given.original)

    collector.add_findings(findings, row_of, schema=True)
    return collector.take()
