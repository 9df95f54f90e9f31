"""tencent-csv: the rows of manual evaluation as a table of three columns."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from harpia_converters.tencent.detection import VENDOR
from harpia_formats.model.format import Container, Dialect, Format, Remark

TABLE = "tencent-csv"
NO_SYSTEM, OTHER_COLUMN = "T104", "T105"

#: Columns that are enough to tell a table by.
_enough = 2
#: Columns that a table of prompts with the answers of a model has.
_of_answers = frozenset({"references", "model"})
#: Other columns beside them, at most: there are many tables with a prompt in them.
_most_others = 3


def sign_of(row: Mapping[str, Any], answers: str) -> str:
    """Return the sign of a table with the expected answers in `answers`, or ""."""
    if answers != ("answer" if _has_alias(row) else "response"):
        return ""
    # There a response is what a model answered, and not what is expected.
    if _of_answers & row.keys():
        return ""
    known = [f"`{column}`" for column in ("system", "prompt", answers) if column in row]
    if len(known) < _enough or len(row) > len(known) + _most_others:
        return ""
    return f"{', '.join(known[:-1])} and {known[-1]}"


def _has_alias(row: Mapping[str, Any]) -> bool:
    return "answer" in row and "response" not in row


def remarks_of(row: Any, answers: str) -> Iterator[Remark]:
    """Yield what is to be said of the columns of `row`."""
    if not isinstance(row, Mapping):
        return
    if "system" not in row:
        yield Remark(
            NO_SYSTEM,
            (),
            "the table has no column system",
            "add the column, blank where there is no system input",
        )
    for column in row:
        if column not in {"system", "prompt", answers}:
            yield Remark(
                OTHER_COLUMN,
                (column,),
                f"the column is none of system, prompt and {answers}",
                "remove the column; such a table has these three only",
                at_key=True,
            )


def _dialect(answers: str, name: str = "") -> Dialect:
    schema = f"{TABLE}-{name}" if name else TABLE
    return Dialect(
        schema,
        partial(sign_of, answers=answers),
        name=name,
        container=Container.TABLE,
        strict=f"{schema}-strict",
        header_remarks=partial(remarks_of, answers=answers),
        documented=not name,
    )


FORMAT = Format(
    id=TABLE,
    title="Prompts with expected responses as a table: system, prompt, response",
    vendor=VENDOR,
    adapter="harpia_converters.tencent.mapping:TABLE",
    dialects=(_dialect("response"), _dialect("answer", name="answer")),
)
