"""Options that several commands have."""

from typing import Annotated, Any

import typer

from harpia_formats.cli.options.declare import (
    MISSING,
    READING,
    flag,
    number,
    text,
)
from harpia_formats.cli.options.values import delimiter, one_of, worker_count
from harpia_formats.cli.output.progress import When
from harpia_formats.files.framing.limits import ROW_LIMIT

#: The heading of the help page above what spreads the work.
PROCESSES = "Processes"
#: The heading of the help page above what is written of findings and results.
REPORTING = "Reporting"


def input_format(of: str) -> Any:
    """Return the declaration of `--from`, the format of the inputs `of`."""
    help_text = f"Format of {of}; detected from the content if not given."
    return text("FORMAT", help_text, "--from", "--format", "-f", panel=READING)


def column_map(mapped: str) -> Any:
    """Return the declaration of `--map` for what is `mapped` to fields."""
    help_text = f"{mapped}, such as prompt=question,gt=answer."
    return text("FIELD=COLUMN", help_text, "--map", panel=READING)


def data_set(metavar: str, help_text: str) -> Any:
    """Return the declaration of one of two data sets that are compared."""
    return typer.Argument(metavar=metavar, help=help_text)


def output(more: str = "") -> Any:
    """Return the declaration of `--output` with `more` behind its help text."""
    help_text = f"File to write; - is standard output.{more}"
    return text("FILE", help_text, "--output", "-o")


RequiredPaths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATHS",
        help="Files, folders or patterns; - is standard input.",
        show_default=False,
    ),
]
Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATHS",
        help="Files, folders or patterns; standard input if none is given.",
        show_default=False,
    ),
]
SchemaPaths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATHS",
        help="Schemas: files, folders or patterns; - is standard input.",
        show_default=False,
    ),
]
FirstInput = Annotated[str, data_set("A", "A file, folder or pattern.")]
SecondInput = Annotated[str, data_set("B", "Another file, folder or pattern.")]
InputFormat = Annotated[str | None, input_format("the inputs")]
CsvColumns = Annotated[list[str] | None, column_map("Columns of a CSV file")]
Columns = Annotated[list[str] | None, column_map("Columns of a CSV or Haystack file")]
ColumnsOrKeys = Annotated[
    list[str] | None,
    column_map("Columns of a CSV or Haystack file, or other keys of JSON rows"),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="CHAR",
        help=(
            "Character between the fields of tables, such as ';', or tab. If not "
            "given: tab in files called .tsv, else a comma."
        ),
        parser=delimiter,
        rich_help_panel=READING,
    ),
]
FromCsvSafe = Annotated[
    bool,
    flag(
        "--from-csv-safe",
        "Take back the marks of tables that were written with --csv-safe.",
        panel=READING,
    ),
]
CsvSafe = Annotated[
    bool,
    flag("--csv-safe", "Mark cells of CSV that a spreadsheet would run as formulas."),
]
Model = Annotated[
    str | None, text("NAME", "Use only the answers of this model.", panel=READING)
]
SkipInvalid = Annotated[
    bool, flag("--skip-invalid", "Skip rows that are not valid.", panel=READING)
]
Exclude = Annotated[
    list[str] | None,
    text(
        "PATTERN",
        "Leave out files and folders that match, such as logs or 'old/**/*.json', "
        "below the given folders (repeatable).",
        panel=READING,
    ),
]
SkipUnrecognised = Annotated[
    bool,
    flag(
        "--skip-unrecognised",
        "Pass over files in no known format, and say how many.",
        panel=READING,
        is_setting=True,
    ),
]
MinRecords = Annotated[
    int,
    number("Fail if all files together have fewer than N records.", panel=READING),
]
ReadWith = Annotated[
    str | None,
    text(
        "FILE",
        "Read rows with this file, such as the results beside lm-eval's samples; one "
        "in the same folder or among the inputs is found by its name.",
        "--with",
        panel=READING,
    ),
]
MaxRowBytes = Annotated[
    int,
    typer.Option(
        min=1,
        metavar="N",
        help=f"Report longer rows as errors; {ROW_LIMIT // 2**20} MiB if not given.",
        show_default=False,
        rich_help_panel=READING,
    ),
]
Jobs = Annotated[
    int,
    typer.Option(
        metavar="N",
        parser=worker_count,
        help="Worker processes; one per processor if not given, or if auto or 0.",
        show_default=False,
        rich_help_panel=PROCESSES,
    ),
]
Engine = Annotated[
    str | None,
    text("URL", "Cluster that does the work: dask://HOST:PORT.", panel=PROCESSES),
]
ClusterTimeout = Annotated[
    float,
    typer.Option(
        min=0.001,
        max=604_800,
        metavar="SECONDS",
        help="How long to wait for a cluster that has no workers.",
        rich_help_panel=PROCESSES,
    ),
]
Output = Annotated[str, output()]
Overwrite = Annotated[bool, flag("--overwrite", "Replace an existing output.")]
Constants = Annotated[
    list[str] | None,
    text("FIELD=VALUE", "Set a missing field (repeatable).", "--set", panel=MISSING),
]
ReportOption = Annotated[
    list[str] | None,
    text(
        "[NAME=]FILE",
        "Also write the whole report to FILE, by the reporter NAME; if not named, by "
        "the suffix of FILE (repeatable).",
        "--report",
        panel=REPORTING,
    ),
]
ConfigFile = Annotated[
    str | None,
    text("FILE", "Use the settings in this file, and no others.", "--config"),
]
Isolated = Annotated[bool, flag("--isolated", "Use no settings of any file.")]
Redact = Annotated[
    bool,
    flag(
        "--redact",
        "Show no value of a record, only its type and its length.",
        is_setting=True,
    ),
]
Quiet = Annotated[
    bool, flag("--quiet", "Print no summary and no progress bar.", short="-q")
]
ShowProgress = Annotated[
    When,
    typer.Option(
        "--progress",
        metavar="auto|always|never",
        parser=one_of(When),
        help="Show how far the run is, how fast, and how long the rest takes: on a "
        "terminal, or always (in a pipe a line on standard error every 5 seconds), or "
        "never.",
    ),
]
