"""Options of `score agreement`."""

from pathlib import Path
from typing import Annotated

import typer

from harpia_formats.cli.options.declare import choice, text
from harpia_formats.evaluation.metrics.label_reading import POWERS

LABELS = "Labels"

RatedInputs = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="INPUTS",
        help="Two files with the labels of the same answers, or one file with two "
        "fields.",
        show_default=False,
    ),
]
LabelFields = Annotated[
    list[str] | None,
    text(
        "NAME",
        "The value of verdicts, such as score, or the field of records that holds "
        "labels, such as references or metadata.label; twice if the two differ.",
        "--field",
        panel=LABELS,
    ),
]
LabelNames = Annotated[
    list[str] | None,
    text(
        "LABELS",
        "The labels that count, comma-separated, in their order.",
        "--labels",
        panel=LABELS,
    ),
]
LabelDefinition = Annotated[
    Path | None,
    text(
        "FILE",
        "The definition of the judge, whose choices, or integers from minimum to "
        "maximum, are the labels.",
        "--definition",
        panel=LABELS,
    ),
]
Weights = Annotated[
    str,
    choice(
        tuple(POWERS),
        "What kappa counts a pair of labels for by their distance: {}.",
        panel=LABELS,
    ),
]
