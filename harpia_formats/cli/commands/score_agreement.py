"""`harpia-formats score agreement`."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from harpia_formats.api.recipes.table import ScoreRun
from harpia_formats.cli.commands.score import print_scores
from harpia_formats.cli.exit_codes import ExitCode, UsageError
from harpia_formats.cli.options.given import Given
from harpia_formats.cli.output.problems import print_problems
from harpia_formats.evaluation.scoring.agreement import Agreement
from harpia_formats.evaluation.scoring.agreement_options import FIELD
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.reporters.score_tables import CSV, Form


def score_agreement(given: Given) -> ExitCode:
    """Tell how far two judges agree, or a judge with the labels of records.

    It is the share of equal labels and Cohen's kappa, with intervals by question.
    Answers are paired by the ids, prompts and references of their records, and by model
    and index. Without --field the value `score` of verdicts is the label.

    Exit codes:
    - 0: computed
    - 1: a row is not valid and not skipped, or kappa is not defined
    - 2: something could not be read or computed
    - 3: a bug in harpia-formats

    For example:
    - harpia-formats score agreement first.jsonl second.jsonl
    - harpia-formats score agreement rows.jsonl --field references --field outputs
    - harpia-formats score agreement a.jsonl b.jsonl --labels yes,no --weights linear
    """
    if not given.inputs:
        raise UsageError("name the files whose labels are compared")
    if given.csv_safe and given.output_format != CSV:
        raise UsageError("--csv-safe is for --output-format csv")
    progress = given.progress(given.inputs)
    options = given.options(
        ScoreOptions,
        csv_safe=False,
        progress=progress.update,
    )
    names: tuple[object, ...] = given.labels
    if given.definition is not None:
        if names:
            raise UsageError("--labels and --definition cannot be combined")
        names = _labels_of(given.definition, given.fields or (FIELD,))
    run = Agreement(given.inputs, options, given.fields, names, given.weights)
    print_problems(iter(run), progress)
    shown = ScoreRun(given.inputs, output_format=cast("Form", given.output_format))
    return print_scores(run.scores(), shown, csv_safe=given.csv_safe, quiet=given.quiet)


def _labels_of(definition: Path, fields: Sequence[str]) -> tuple[object, ...]:
    """Return the labels that the definition of a judge declares, in their order."""
    from harpia_formats.evaluation.llm_judge.definition.declared_labels import (  # noqa: PLC0415 - few runs read a definition
        declared_labels,
    )
    from harpia_formats.evaluation.llm_judge.errors import JudgeError  # noqa: PLC0415 - few runs read a definition

    try:
        return declared_labels(definition, fields)
    except JudgeError as error:
        raise UsageError(str(error)) from error
