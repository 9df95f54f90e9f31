"""Options of `validate`."""

from pathlib import Path
from typing import Annotated

import typer

from harpia_formats.cli.options.common import REPORTING
from harpia_formats.cli.options.declare import READING, flag, number, text
from harpia_formats.reporters import REPORTERS, UnknownReporter, reporter_named

VALIDATION, REPAIRS = "Validation", "Repairs"


def reporter_name(name: str) -> str:
    """Return the name of a reporter; raises `typer.BadParameter` if there is none."""
    try:
        reporter_named(name)
    except UnknownReporter as error:
        raise typer.BadParameter(str(error)) from None
    return name


Format = Annotated[
    str | None,
    text(
        "FORMAT",
        "Format of the files; detected from their content if not given.",
        "--format",
        "--from",
        "-f",
        panel=VALIDATION,
    ),
]
Schema = Annotated[
    Path | None,
    text(
        "FILE",
        "Validate against this JSON Schema (draft-07) instead of a format.",
        panel=VALIDATION,
    ),
]
Strict = Annotated[
    bool,
    flag(
        "--strict",
        "Accept only what the vendor's document describes.",
        panel=VALIDATION,
        is_setting=True,
    ),
]
AllowNoFiles = Annotated[
    bool,
    flag(
        "--allow-no-files",
        "Succeed also if every file is left out or passed over, as in a commit hook.",
        panel=READING,
    ),
]
Companion = Annotated[
    str | None,
    text(
        "FILE",
        "Also check the files against this one: an aggregate, HarpIA's input, or "
        "lm-eval's results.",
        "--with",
        "--aggregate",
        panel=VALIDATION,
    ),
]
AssertFormats = Annotated[
    bool,
    flag(
        "--assert-formats",
        "Report values that break the keyword `format` of a schema.",
        panel=VALIDATION,
        is_setting=True,
    ),
]
Select = Annotated[
    list[str] | None,
    text(
        "RULES",
        "Check only these rules: codes, prefixes or names, comma-separated.",
        panel=VALIDATION,
    ),
]
Ignore = Annotated[
    list[str] | None,
    text("RULES", "Skip these rules (same syntax).", panel=VALIDATION),
]
Lint = Annotated[
    bool, flag("--lint", "Add the optional checks.", panel=VALIDATION, is_setting=True)
]
Baseline = Annotated[
    str | None,
    text(
        "FILE",
        "Report only the findings that this baseline does not hold.",
        "--baseline",
        panel=REPORTING,
    ),
]
WriteBaseline = Annotated[
    str | None,
    text(
        "FILE",
        "Write the findings as a baseline and exit with 0 if it holds them all; with "
        "--baseline, write only what is still found of it.",
        "--write-baseline",
        panel=REPORTING,
    ),
]
CrossCheck = Annotated[
    bool,
    flag(
        "--cross-check",
        "Also ask a second schema engine (slow); exit with 3 if the two disagree.",
        panel=VALIDATION,
    ),
]
Limit = Annotated[
    int | None,
    number("Read at most N records of each file.", least=1, panel=READING),
]
RowTimeout = Annotated[
    float,
    typer.Option(
        min=0.001,
        max=86_400,
        metavar="SECONDS",
        help="Time that each row may take with a schema whose references or patterns "
        "can multiply its work.",
        rich_help_panel=VALIDATION,
    ),
]
FailFast = Annotated[
    bool, flag("--fail-fast", "Stop at the first error.", panel=READING)
]
OutputFormat = Annotated[
    str | None,
    typer.Option(
        metavar="REPORTER",
        parser=reporter_name,
        help=f"How findings are printed: {', '.join(REPORTERS)}; or the name of a "
        "plug-in. If not given: full on a terminal, concise in a pipe or file.",
        rich_help_panel=REPORTING,
    ),
]
Examples = Annotated[
    int,
    number("Print at most N findings of the same kind; 0 for all.", panel=REPORTING),
]
MaxProblems = Annotated[
    int, number("Print at most N findings in total; 0 for all.", panel=REPORTING)
]
Statistics = Annotated[
    bool,
    flag(
        "--statistics",
        "Add the number of findings of each rule.",
        panel=REPORTING,
        is_setting=True,
    ),
]
ErrorOnWarning = Annotated[
    bool,
    flag(
        "--error-on-warning",
        "Exit with 1 also if there are warnings.",
        panel=REPORTING,
        is_setting=True,
    ),
]
ExitZero = Annotated[
    bool,
    flag("--exit-zero", "Exit with 0 even if errors are found.", panel=REPORTING),
]
Fix = Annotated[
    bool,
    flag(
        "--fix",
        "Repair what can be without hiding anything, rewrite the files, and validate "
        "them then.",
        panel=REPAIRS,
    ),
]
UnsafeFixes = Annotated[
    bool,
    flag(
        "--unsafe-fixes",
        "Repair also what may hide what was wrong, such as counts and hashes.",
        panel=REPAIRS,
    ),
]
ShowDiff = Annotated[
    bool,
    flag(
        "--diff",
        "Write nothing, and show the repairs as a unified diff; exit with 1 if there "
        "are any.",
        panel=REPAIRS,
    ),
]
FixedOutput = Annotated[
    str | None,
    text(
        "FILE",
        "Write the repaired file here; the input stays as it is.",
        "--output",
        "-o",
        panel=REPAIRS,
    ),
]
OverwriteFixed = Annotated[
    bool, flag("--overwrite", "Replace an existing output.", panel=REPAIRS)
]
