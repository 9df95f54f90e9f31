"""`harpia-formats schema infer`."""

import sys

from harpia_formats.cli.exit_codes import ExitCode, exit_code_of
from harpia_formats.cli.options.common import (
    Delimiter,
    Exclude,
    MaxRowBytes,
    Overwrite,
    Quiet,
    Redact,
    RequiredPaths,
    ShowProgress,
)
from harpia_formats.cli.options.inference import (
    Closed,
    EnumLimit,
    MapKeys,
    SchemaOutput,
)
from harpia_formats.cli.options.validation import Limit
from harpia_formats.cli.output.problems import print_problems, print_unread
from harpia_formats.cli.output.progress import Progress, When
from harpia_formats.cli.output.streams import shown_data, text_writer, write_stderr
from harpia_formats.conversion.output_files import check_output
from harpia_formats.files.framing.limits import ROW_LIMIT
from harpia_formats.validation.inference.options import (
    ENUM_LIMIT,
    MAP_KEYS,
    InferOptions,
)
from harpia_formats.validation.inference.run import Inference
from harpia_formats.validation.inference.write import schema_json, write_schema


def schema_infer(  # noqa: PLR0913 - a parameter for each option
    paths: RequiredPaths,
    *,
    output: SchemaOutput = "-",
    overwrite: Overwrite = False,
    limit: Limit = None,
    enum_limit: EnumLimit = ENUM_LIMIT,
    map_keys: MapKeys = MAP_KEYS,
    closed: Closed = False,
    exclude: Exclude = None,
    delimiter: Delimiter = None,
    max_row_bytes: MaxRowBytes = ROW_LIMIT,
    redact: Redact = False,
    quiet: Quiet = False,
    show_progress: ShowProgress = When.AUTO,
) -> ExitCode:
    """Write a JSON Schema (draft-07) of rows that have none.

    It holds what was seen: types, the keys that every object has, and texts
    of which there are few. All files together give one schema. Nothing is
    written if a row cannot be read.

    Exit codes:
    - 0: the schema is written
    - 1: a file is empty, or a row is no JSON or no row of the table
    - 2: something could not be read or written, or a table has no row
    - 3: a bug in harpia-formats
    """
    progress = Progress(
        quiet=quiet,
        when=show_progress,
        inputs=paths,
        exclude=exclude,
    )
    options = InferOptions(
        enum_limit=enum_limit,
        map_keys=map_keys,
        closed=closed,
        redact=redact,
        delimiter=delimiter,
        limit=limit,
        exclude=tuple(exclude or ()),
        max_row_bytes=max_row_bytes,
        progress=progress.update,
    )
    check_output(output, overwrite=overwrite)
    run = Inference(paths, options)
    print_problems(iter(run), progress)
    found = run.result()
    print_unread(found.report)
    if found.schema is not None and output == "-":
        text_writer(sys.stdout)(shown_data(schema_json(found.schema)))
    elif found.schema is not None:
        write_schema(
            found.schema,
            output,
            paths,
            exclude=options.exclude,
            overwrite=overwrite,
        )
        if not quiet:
            write_stderr(f"{output}: {found.headline()}\n")
    return exit_code_of(found.report, ok=found.ok)
