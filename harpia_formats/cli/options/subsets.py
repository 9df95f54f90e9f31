"""Options of `head`, `sample`, `split` and `merge`."""

from typing import Annotated

import typer

from harpia_formats.cli.options.common import input_format, output
from harpia_formats.cli.options.declare import choice, text
from harpia_formats.conversion.subsets.merge import OnDuplicate

#: The headings of the help pages of `split`.
VERDICTS, VALUES, SHARES = "By validity", "By a field", "By shares"

OneFile = Annotated[
    str,
    typer.Argument(metavar="FILE", help="A file or a URL; - is standard input."),
]
Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES",
        help="Files, folders or patterns; - is standard input.",
        show_default=False,
    ),
]
RowsFormat = Annotated[str | None, input_format("the input")]
RowsOutput = Annotated[str, output()]
PartsOutput = Annotated[
    str | None,
    text("NAME", "Files to write, with {value} in the name.", "--output", "-o"),
]
HeadRows = Annotated[
    int,
    typer.Option("--rows", "-n", metavar="N", min=1, help="Rows that are copied."),
]
SampleRows = Annotated[
    int, typer.Argument(metavar="N", min=1, help="Rows that are chosen.")
]
SampleSeed = Annotated[
    str, text("SEED", "A number or text; the same one chooses the same rows.")
]
ValidOutput = Annotated[
    str | None,
    text("FILE", "Where valid rows go.", panel=VERDICTS),
]
InvalidOutput = Annotated[
    str | None, text("FILE", "Where all other rows go.", panel=VERDICTS)
]
Findings = Annotated[
    str | None,
    text("FILE", "Where all findings go, as JSON Lines.", panel=VERDICTS),
]
By = Annotated[
    str | None,
    text(
        "FIELD",
        "Write a file for each value of a field: category, source, model, "
        "evaluation_name, metadata.NAME, id or prompt.",
        panel=VALUES,
    ),
]
Ratio = Annotated[
    str | None,
    text(
        "SHARES",
        "Write rows at random, such as 0.8/0.2 or train=0.8,test=0.2; rows with one "
        "prompt are never on two sides.",
        panel=SHARES,
    ),
]
Key = Annotated[
    str | None,
    text("FIELD", "Keep rows with one value of this field together.", panel=SHARES),
]
Duplicates = Annotated[
    OnDuplicate,
    choice(
        OnDuplicate,
        "If two rows have one id: {}. Skip leaves out the later one.",
    ),
]
