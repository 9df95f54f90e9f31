"""`harpia-formats schema`, `schema check` and `schema infer`."""

import json
import sys
from dataclasses import replace
from typing import Any

from harpia_formats.cli.command_options import Given
from harpia_formats.cli.progress_and_problems import (
    print_failures,
    print_problems,
    print_unmatched,
    print_unread,
)
from harpia_formats.cli.streams_and_exit_codes import (
    MESSAGE_LIMIT,
    ExitCode,
    UsageError,
    exit_code_of,
    shown_data,
    text_writer,
    write_stderr,
)
from harpia_formats.files.io.urls import masked
from harpia_formats.model.format import Container, Dialect, Format
from harpia_formats.model.problem import Path
from harpia_formats.model.report import Report
from harpia_formats.model.safe_text import safe


def schema(given: Given) -> ExitCode:
    """Print a JSON Schema (draft-07), or a Python validator made from it.

    `harpia-formats formats` lists the formats and their dialects.
    `harpia-formats schema check FILE` finds mistakes in schemas, and
    `harpia-formats schema infer FILE` writes a schema of rows that have none.

    For example:
    - harpia-formats schema eee
    - harpia-formats schema nemo-output --strict
    - harpia-formats schema harpia --as-python
    """
    name, rows_path = _schema_of(given.id_, given.dialect, strict=given.strict)
    content = _record_schema(name, rows_path) if rows_path else _schema_text(name)
    if given.as_python:
        from harpia_formats.formats.schema.to_python import as_python as to_python  # noqa: PLC0415 - only for --as-python

        content = to_python(name, json.loads(content))
    text_writer(sys.stdout)(content)
    return ExitCode.OK


def _schema_text(name: str) -> str:
    from harpia_formats.formats.schema.bundled_schemas import schema_text  # noqa: PLC0415 - for this command only

    return schema_text(name).decode()


def _record_schema(name: str, rows_path: Path) -> str:
    """Return the schema of one record, from that of a document with records."""
    from harpia_formats.formats.schema.bundled_schemas import item_schema, schema_text  # noqa: PLC0415 - for this command only

    document = json.loads(schema_text(name))
    kept = ("$schema", "title", "version")
    head = {key: document[key] for key in kept if key in document}
    item: Any = item_schema(document, rows_path)
    record = head | item
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"


def _schema_of(asked: str, dialect: str | None, *, strict: bool) -> tuple[str, Path]:
    """Return the id of the schema of a format, and the path of records in a document.

    The path is () if the schema is that of a record or of a whole document. `asked`
    may be the id of a schema, too. Raises `UnknownFormat` and `UsageError`.
    """
    from harpia_formats.formats.registry import UnknownFormat, formats_named  # noqa: PLC0415 - for this command only
    from harpia_formats.formats.schema.bundled_schemas import schema_ids  # noqa: PLC0415 - for this command only

    try:
        formats = formats_named(asked)
    except UnknownFormat:
        if asked not in schema_ids():
            raise
        if dialect is not None or strict:
            reason = "is a schema: `--dialect` and `--strict` are for formats"
            raise UsageError(f"{asked} {reason}") from None
        return asked, ()
    if len(formats) > 1:
        ids = ", ".join(format_.id for format_ in formats)
        raise UsageError(f"{asked} stands for several formats; name one of them: {ids}")
    chosen = _dialect_of(formats[0], dialect)
    rows_path = chosen.rows_path if chosen.container is Container.ROWS else ()
    return (strict and chosen.strict) or chosen.schema, rows_path


def _dialect_of(format_: Format, name: str | None) -> Dialect:
    """Return the dialect with this name, the first one if `name` is None.

    Raises `UsageError` if the format has no such dialect.
    """
    for dialect in format_.dialects:
        if name is None or dialect.name == name:
            return dialect
    from harpia_formats.model.spelling import hint_on  # noqa: PLC0415 - for mistakes only

    names = [dialect.name for dialect in format_.dialects if dialect.name]
    hint = hint_on(name or "", names) or " (it has only one)"
    raise UsageError(f"{format_.id} has no dialect called {name!r}{hint}")


def schema_check(given: Given) -> ExitCode:
    """Find mistakes in JSON Schemas that validators do not report.

    Each file is one schema, in the draft that its $schema names; draft-07 without
    one. Findings go to standard output, everything else to standard error.

    Exit codes:
    - 0: no errors
    - 1: errors
    - 2: something could not be read or done
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats schema check mine.json
    - harpia-formats schema check schemas --select S4
    - harpia-formats schema check mine.json --output-format json
    """
    from harpia_formats.cli.report import (  # noqa: PLC0415 - for this command only
        Printing,
        ReportFiles,
        report_exit_code,
        report_options,
    )
    from harpia_formats.validation.schema_check import SchemaCheck, SchemaCheckOptions  # noqa: PLC0415 - for this command only

    options = given.options(SchemaCheckOptions)
    reports = ReportFiles(given.report, Report, given.paths)
    check = SchemaCheck(given.paths, options)
    shown = report_options(
        statistics=given.statistics,
        quiet=given.quiet,
        error_on_warning=given.error_on_warning,
        exit_zero=given.exit_zero,
    )
    with given.progress(given.paths) as progress:
        printing = Printing(progress, given.output_format, shown)
        problems = printing.problems(reports.keeping(check))
        printing.reporter.write(
            problems, check.report, printing.write, printing.options
        )
        found = check.report()
        printing.end(found)
    print_failures(found.failures)
    print_unmatched(found.unmatched)
    reports.write(found, replace(shown, quiet=False))
    return report_exit_code(
        found, error_on_warning=given.error_on_warning, exit_zero=given.exit_zero
    )


def schema_infer(given: Given) -> ExitCode:
    """Write a JSON Schema (draft-07) of rows that have none.

    It holds what was seen: types, the keys that every object has, and texts
    of which there are few. All files together give one schema. Nothing is
    written if a row cannot be read.

    Exit codes:
    - 0: the schema is written
    - 1: a file is empty, or a row is no JSON or no row of the table
    - 2: something could not be read or written, or a table has no row
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats schema infer rows.jsonl
    - harpia-formats schema infer rows.jsonl -o mine.json
    - harpia-formats schema infer logs --closed --limit 1000
    """
    from harpia_formats.conversion.output_files import check_output  # noqa: PLC0415 - for this command only
    from harpia_formats.validation.inferred_schema import (  # noqa: PLC0415 - for this command only
        InferOptions,
        schema_json,
        write_schema,
    )
    from harpia_formats.validation.schema_inference import Inference  # noqa: PLC0415 - for this command only

    progress = given.progress(given.paths)
    options = given.options(InferOptions, progress=progress.update)
    check_output(given.output, overwrite=given.overwrite)
    run = Inference(given.paths, options)
    print_problems(iter(run), progress)
    found = run.result()
    print_unread(found.report)
    if found.schema is not None and given.output == "-":
        text_writer(sys.stdout)(shown_data(schema_json(found.schema)))
    elif found.schema is not None:
        write_schema(
            found.schema,
            given.output,
            given.paths,
            exclude=options.exclude,
            overwrite=given.overwrite,
        )
        if not given.quiet:
            name = safe(masked(given.output), MESSAGE_LIMIT)
            write_stderr(f"{name}: {found.headline()}\n")
    return exit_code_of(found.report, ok=found.ok)
