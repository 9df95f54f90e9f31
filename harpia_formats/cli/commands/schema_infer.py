"""`harpia-formats schema infer`."""

import sys

from harpia_formats.cli.exit_codes import ExitCode, exit_code_of
from harpia_formats.cli.options.given import Given
from harpia_formats.cli.output.problems import print_problems, print_unread
from harpia_formats.cli.output.streams import shown_data, text_writer, write_stderr
from harpia_formats.conversion.output_files import check_output
from harpia_formats.validation.inference.options import (
    InferOptions,
)
from harpia_formats.validation.inference.run import Inference
from harpia_formats.validation.inference.write import schema_json, write_schema


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
            write_stderr(f"{given.output}: {found.headline()}\n")
    return exit_code_of(found.report, ok=found.ok)
