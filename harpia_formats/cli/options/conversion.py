"""Options of `convert`, `roundtrip` and `diff`."""

from pathlib import Path
from typing import Annotated

from harpia_formats.cli.options.common import input_format, output
from harpia_formats.cli.options.declare import MISSING, READING, choice, flag, text
from harpia_formats.conversion.mapping.choices import (
    Prompt,
    References,
    Responses,
    Turns,
)
from harpia_formats.conversion.options import (
    FILLING_METRICS,
    ContainerKind,
    Ids,
    OnInvalid,
    OnLoss,
)
from harpia_formats.files.io.compression import CODECS

CONVERSION, LOSSES = "Conversion", "Losses"

AnyTarget = Annotated[
    str | None,
    text(
        "FORMAT",
        "Format to write; .csv, .tsv, .parquet, .arrow and .feather at the end of the "
        "output's name say it, too.",
        "--to",
        "-t",
    ),
]
Via = Annotated[str, text("FORMAT", "Format to convert into and back.", "--via")]
OutputFiles = Annotated[
    str,
    output(
        f" Names that end in {', '.join(codec.suffix for codec in CODECS)} are "
        "compressed; {model} in the name writes one file per model."
    ),
]
LeftFormat = Annotated[str | None, input_format("A")]
RightFormat = Annotated[
    str | None,
    text(
        "FORMAT",
        "Format of B; detected from the content if not given.",
        "--to",
        "-t",
        panel=READING,
    ),
]
AnyReferences = Annotated[
    References,
    choice(
        References,
        "Records with several references, if a row holds only one: {}.",
        panel=CONVERSION,
    ),
]
AnyResponses = Annotated[
    Responses | None,
    choice(
        Responses,
        "Records with several answers, if a row holds only one: {}. By default expand, "
        "and the list where a format is converted to itself.",
        panel=CONVERSION,
    ),
]
AnyTurns = Annotated[
    Turns,
    choice(
        Turns,
        "Conversations, if a row holds only one prompt: {}.",
        panel=CONVERSION,
    ),
]
AnyPrompt = Annotated[
    Prompt,
    choice(
        Prompt,
        "The prompt that is written: {}, where a record has what the model got.",
        panel=CONVERSION,
    ),
]
AnyFilter = Annotated[
    str | None,
    text(
        "NAME",
        "Convert the scores and extractions of this filter of a harness, or of all of "
        "them; the first one if not given, where a row has room for one.",
        "--filter",
        panel=CONVERSION,
    ),
]
Group = Annotated[
    str | None,
    text(
        "FIELD",
        "Combine rows with the same id, prompt or other field, and the same input, "
        "into one record.",
        panel=CONVERSION,
    ),
]
Container = Annotated[
    ContainerKind | None,
    choice(
        ContainerKind,
        "{}; if not given, by the name of the output (.json, .jsonl) or the format.",
        panel=CONVERSION,
    ),
]
RecordIds = Annotated[
    Ids,
    choice(
        Ids,
        "Ids of records: {}. A hash is of the input: the same for the same question. "
        "--group id groups by these hashes, but numbers what it has grouped by the old "
        "ids.",
        panel=CONVERSION,
    ),
]
PrefixIds = Annotated[
    bool,
    flag("--prefix-ids", "Put the name of the file before each id.", panel=CONVERSION),
]
KeepExtra = Annotated[
    bool,
    flag(
        "--keep-extra",
        "Keep fields that have no place in the format, in its free fields.",
        panel=CONVERSION,
    ),
]
OneMetric = Annotated[
    str | None,
    text(
        "METRIC",
        "Convert the scores of this metric only: its name, or METRIC|filter:NAME.",
        "--metric",
        panel=CONVERSION,
    ),
]
CorrectFrom = Annotated[
    float | None,
    text(
        "NUMBER",
        "An answer is correct from this score on, where scores do not say it.",
        "--correct-from",
        panel=MISSING,
    ),
]
FillScores = Annotated[
    str | None,
    text(
        "METRIC",
        f"Score answers that have no score: {' or '.join(FILLING_METRICS)}.",
        panel=MISSING,
    ),
]
OnAnyLoss = Annotated[
    OnLoss,
    choice(
        OnLoss,
        "If something is lost: {}. To fail is to write nothing and exit with 1.",
        panel=LOSSES,
    ),
]
LossReport = Annotated[
    Path | None,
    text("FILE", "Write the losses to this file, as JSON.", panel=LOSSES),
]
OnInvalidRow = Annotated[
    OnInvalid,
    choice(
        OnInvalid,
        "Rows that are not valid or cannot be converted: {}.",
        panel=READING,
    ),
]
OnInvalidPair = Annotated[
    OnInvalid,
    choice(
        [OnInvalid.FAIL, OnInvalid.SKIP], "Rows that are not valid: {}.", panel=READING
    ),
]
Quarantine = Annotated[
    str | None,
    text(
        "FILE",
        "File for quarantined rows; beside the output if not given.",
        panel=READING,
    ),
]
