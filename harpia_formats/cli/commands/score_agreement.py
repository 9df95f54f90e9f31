"""`harpia-formats score agreement`."""

from pathlib import Path
from typing import cast

from harpia_formats.api.recipes.table import ScoreRun
from harpia_formats.cli.commands.score import print_scores
from harpia_formats.cli.exit_codes import ExitCode, UsageError
from harpia_formats.cli.options.agreement import (
    LabelDefinition,
    LabelFields,
    LabelNames,
    RatedInputs,
    Weights,
)
from harpia_formats.cli.options.common import (
    ColumnsOrKeys,
    CsvSafe,
    Delimiter,
    FromCsvSafe,
    Quiet,
    Redact,
    ShowProgress,
    SkipInvalid,
)
from harpia_formats.cli.options.scoring import (
    ComparedFormat,
    Level,
    Replicates,
    ScoreFormat,
    Seed,
)
from harpia_formats.cli.options.values import column_map, comma_separated
from harpia_formats.cli.output.problems import print_problems
from harpia_formats.cli.output.progress import Progress, When
from harpia_formats.evaluation.scoring.agreement import Agreement
from harpia_formats.evaluation.scoring.agreement_options import FIELD
from harpia_formats.evaluation.scoring.bootstrap import LEVEL, REPLICATES, SEED
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.reporters.score_tables import CSV, TABLE, Form


def score_agreement(  # noqa: PLR0913 - one parameter for each option of the command
    inputs: RatedInputs = None,
    *,
    fields: LabelFields = None,
    labels: LabelNames = None,
    definition: LabelDefinition = None,
    weights: Weights = "none",
    from_: ComparedFormat = None,
    columns: ColumnsOrKeys = None,
    delimiter: Delimiter = None,
    from_csv_safe: FromCsvSafe = False,
    skip_invalid: SkipInvalid = False,
    level: Level = LEVEL,
    replicates: Replicates = REPLICATES,
    seed: Seed = SEED,
    output_format: ScoreFormat = TABLE,
    csv_safe: CsvSafe = False,
    redact: Redact = False,
    quiet: Quiet = False,
    show_progress: ShowProgress = When.AUTO,
) -> ExitCode:
    """Tell how far two judges agree, or a judge with the labels of records.

    It is the share of equal labels and Cohen's kappa, with intervals by question.
    Answers are paired by the ids, prompts and references of their records, and by model
    and index. Without --field the value `score` of verdicts is the label.

    Exit codes:
    - 0: computed
    - 1: a row is not valid and not skipped, or kappa is not defined
    - 2: something could not be read or computed
    - 3: a bug in harpia-formats
    """
    if not inputs:
        raise UsageError("name the files whose labels are compared")
    if csv_safe and output_format != CSV:
        raise UsageError("--csv-safe is for --output-format csv")
    progress = Progress(
        quiet=quiet, when=show_progress, inputs=tuple(inputs), exclude=()
    )
    options = ScoreOptions(
        from_=from_,
        columns=column_map(columns),
        delimiter=delimiter,
        from_csv_safe=from_csv_safe,
        on_invalid="skip" if skip_invalid else "fail",
        level=level,
        replicates=replicates,
        seed=seed,
        redact=redact,
        progress=progress.update,
    )
    names: tuple[object, ...] = comma_separated(labels)
    if definition is not None:
        if names:
            raise UsageError("--labels and --definition cannot be combined")
        names = _labels_of(definition, fields or [FIELD])
    run = Agreement(inputs, options, tuple(fields or ()), names, weights)
    print_problems(iter(run), progress)
    shown = ScoreRun(tuple(inputs), output_format=cast("Form", output_format))
    return print_scores(run.scores(), shown, csv_safe=csv_safe, quiet=quiet)


def _labels_of(definition: Path, fields: list[str]) -> tuple[object, ...]:
    """Return the labels that the definition of a judge declares, in their order."""
    from harpia_formats.evaluation.llm_judge.definition.declared_labels import (  # noqa: PLC0415 - few runs read a definition
        declared_labels,
    )
    from harpia_formats.evaluation.llm_judge.errors import JudgeError  # noqa: PLC0415 - few runs read a definition

    try:
        return declared_labels(definition, fields)
    except JudgeError as error:
        raise UsageError(str(error)) from error
