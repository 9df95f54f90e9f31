"""Options of `stats`."""

from typing import Annotated

from harpia_formats.cli.options.declare import choice, number
from harpia_formats.evaluation.statistics.options import MOST_TOP

#: The values of `--output-format`.
TEXT, JSON = "text", "json"

StatsFormat = Annotated[str, choice((TEXT, JSON), "What is written: {}.")]
Top = Annotated[
    int,
    number(
        "List the N most frequent models, categories, and other values.",
        least=1,
        most=MOST_TOP,
    ),
]
