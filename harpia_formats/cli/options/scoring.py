"""Options of `score` and `score compare`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from harpia_formats.cli.options.common import REPORTING, input_format
from harpia_formats.cli.options.declare import READING, choice, flag, number, text
from harpia_formats.cli.options.values import (
    comma_separated,
    listed,
    name_and_value,
)
from harpia_formats.conversion.mapping.answer_groups import GROUPED
from harpia_formats.evaluation.figures.kinds import kinds_of
from harpia_formats.evaluation.metrics import METRICS
from harpia_formats.evaluation.scoring.options import Missing as MissingAnswer
from harpia_formats.evaluation.scoring.p_values import FOR_EACH, TESTS
from harpia_formats.evaluation.scoring.profiles import profile_names
from harpia_formats.formats.registry import result_formats
from harpia_formats.model.exact_json import NOT_JSON, decode
from harpia_formats.model.metric_profile import ScoreError
from harpia_formats.reporters.score_tables import FORMS

SELECTION, STATISTICS = "Metrics", "Groups and intervals"


def replicates(least: int, more: str = "") -> Any:
    """Return the declaration of `--replicates`, with at least so many of them."""
    return number(f"Bootstrap replicates{more}.", least=least, panel=STATISTICS)


def plots(command: str) -> Any:
    """Return the declaration of `--plot` with the kinds of pictures of a command."""
    kinds = kinds_of(command).values()
    listing = "; ".join(f"{kind.name}: {kind.summary}" for kind in kinds)
    help_text = (
        "Also draw a picture into FILE, whose suffix is .svg or .png (repeatable). "
        f"KIND is the first of these if not named: {listing}."
    )
    return text("[KIND=]FILE", help_text, "--plot", panel=REPORTING)


Metrics = Annotated[
    list[str] | None,
    text(
        "METRICS",
        f"Metrics, comma-separated: {', '.join(METRICS)}; those of the input "
        "or the profile if not given. NAME=METRIC renames one, to have it again with "
        "other parameters.",
        "--metrics",
        "-m",
        panel=SELECTION,
    ),
]
Profile = Annotated[
    str | None,
    text(
        "PROFILE",
        f"Definitions of the metrics: {listed(profile_names())}; those of the output "
        "format if not given.",
        panel=SELECTION,
    ),
]
Config = Annotated[
    Path | None,
    text(
        "FILE",
        "A vendor's configuration file that selects metrics and names.",
        panel=SELECTION,
    ),
]
Parameters = Annotated[
    list[str] | None,
    text(
        "METRIC.NAME=VALUE",
        "Set a parameter of a metric, such as rouge.stemmer=true (repeatable).",
        "--param",
        panel=SELECTION,
    ),
]
SkipUnknown = Annotated[
    bool,
    flag("--skip-unknown", "Skip metrics that cannot be computed.", panel=SELECTION),
]
Pool = Annotated[
    bool,
    flag(
        "--pool",
        "Take all files without model names as parts of one system, also those that "
        "share questions.",
        panel=SELECTION,
    ),
]
ScoredInputs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="PATHS",
        help="Files, folders or patterns, or NAME=FILE to name the system of a file "
        "without model names; standard input if none is given.",
        show_default=False,
    ),
]
Groups = Annotated[
    list[str] | None,
    text(
        "FIELDS",
        "Score groups of answers, too, comma-separated: by "
        f"{listed([*GROUPED, 'metadata.NAME'])}.",
        panel=STATISTICS,
    ),
]
Level = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        help="Confidence level of the intervals.",
        rich_help_panel=STATISTICS,
    ),
]
ComparisonLevel = Annotated[
    float,
    typer.Option(
        "--level",
        metavar="SHARE",
        help="Confidence level of the intervals; differences are significant with p "
        "below 1 - SHARE.",
        rich_help_panel=STATISTICS,
    ),
]
Replicates = Annotated[int, replicates(0, "; 0 for no intervals")]
ComparisonReplicates = Annotated[
    int, replicates(1, f", at least {FOR_EACH} for each score that is compared")
]
Seed = Annotated[int, number("Seed of the random draws.", panel=STATISTICS)]
Missing = Annotated[
    str,
    choice(
        MissingAnswer,
        "What a missing answer counts as, nothing or a score of 0: {}.",
        panel=STATISTICS,
    ),
]
Test = Annotated[
    str | None,
    text(
        "TEST",
        f"Test of the difference: {listed(TESTS)}; permutation for means "
        "and bootstrap for other scores if not given.",
        panel=STATISTICS,
    ),
]
Detect = Annotated[
    float | None,
    typer.Option(
        metavar="DIFFERENCE",
        help="Tell how many questions detect this difference with 80 percent power.",
        rich_help_panel=STATISTICS,
    ),
]
ScoreFormat = Annotated[
    str,
    choice(
        FORMS,
        "What is printed: a table for people, or one for programs or papers: {}.",
    ),
]
ResultFormat = Annotated[
    str | None,
    text(
        "FORMAT",
        f"Format of results to write: {listed(result_formats())}; a table if not "
        "given.",
        "--to",
        "-t",
    ),
]
Names = Annotated[
    list[str] | None,
    text(
        "WHAT=NAME",
        "Name in the results, such as task=qa or run_name=baseline (repeatable).",
        "--name",
    ),
]
Plots = Annotated[list[str] | None, plots("score")]
ComparisonPlots = Annotated[list[str] | None, plots("score compare")]
ComparedInputs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="INPUTS",
        help="Files, folders or patterns, each with the answers of one system or of "
        "several models; NAME=FILE names the system of a file without model names.",
        show_default=False,
    ),
]
ComparedFormat = Annotated[str | None, input_format("the inputs")]
ComparedModels = Annotated[
    list[str] | None,
    text(
        "[INPUT=]NAME",
        "Compare only this model, of the input with this path or number from 1 if it "
        "is named (repeatable).",
        "--model",
        panel=READING,
    ),
]
BaselineSystem = Annotated[
    str | None,
    text(
        "NAME",
        "Compare each system with this one only, and not all pairs.",
        panel=STATISTICS,
    ),
]
ShowStored = Annotated[
    bool,
    flag(
        "--stored",
        "Show the scores that the answers hold already, and compute none.",
        panel=SELECTION,
    ),
]
Stored = Annotated[
    bool,
    flag(
        "--stored", "Compare the scores that the records hold already.", panel=SELECTION
    ),
]
Force = Annotated[
    bool,
    flag(
        "--force",
        "Compare stored scores even if they were computed differently.",
        panel=SELECTION,
    ),
]


def metrics_of(values: list[str] | None) -> tuple[str, ...]:
    """Return the names of metrics in `--metrics` values.

    Raises `ScoreError` if there are values but no name in them.
    """
    names = (name.strip() for name in comma_separated(values))
    found = tuple(name for name in names if name)
    if values and not found:
        raise ScoreError("--metrics names no metric")
    return found


def pairs_of(values: list[str] | None, option: str, form: str) -> dict[str, str]:
    """Return the values of `option` by their names; the last one of a name counts.

    Raises `ScoreError` for a value that does not have this form, such as `WHAT=NAME`.
    """
    return dict(name_and_value(text, option, form, ScoreError) for text in values or ())


def parameters_of(values: list[str] | None) -> dict[str, Any]:
    """Return the value of each metric parameter: decoded JSON, or else the text.

    Raises `ScoreError` for a value that is not `METRIC.NAME=VALUE`.
    """
    found: dict[str, Any] = {}
    for name, value in pairs_of(values, "--param", "METRIC.NAME=VALUE").items():
        try:
            found[name] = decode(value.encode())
        except NOT_JSON:
            found[name] = value
    return found
