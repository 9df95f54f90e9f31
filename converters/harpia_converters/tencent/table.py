"""The format tencent-csv: rows of manual evaluation as a table of three columns."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from harpia_converters.tencent.detection import VENDOR
from harpia_formats.model.format import Container, Dialect, Format, Remark

TABLE = "tencent-csv"
NO_SYSTEM, OTHER_COLUMN = "T104", "T105"

#: The least known columns by which a table is detected.
_minimum = 2
#: Columns of a table of answers, whose `response` is a model's and not expected.
ANSWER_COLUMNS = frozenset({"references", "model"})
#: The columns of a table that lacks its expected answers; with others, or in another
#: order, as csv is written from chats, it is any table of prompts.
_questions = ["system", "prompt"]
#: The most other columns: many tables of other kinds have a column `prompt`.
_most_others = 3


def sign_of(row: Mapping[str, Any], answers: str) -> str:
    """Return by which columns `row` is of a table, references in `answers`, or ""."""
    if answers != (
        "answer" if "answer" in row and "response" not in row else "response"
    ):
        return ""
    if ANSWER_COLUMNS & row.keys():
        return ""
    if answers not in row and list(row) != _questions:
        return ""
    known = [f"`{column}`" for column in ("system", "prompt", answers) if column in row]
    if len(known) < _minimum or len(row) > len(known) + _most_others:
        return ""
    return f"{', '.join(known[:-1])} and {known[-1]}"


def own_sign_of(row: Mapping[str, Any]) -> str:
    """Return by which column a table is Tencent's for sure, or ""."""
    return "`system`" if "system" in row else ""


def remarks_of(row: Any, answers: str) -> Iterator[Remark]:
    """Yield remarks on the columns of `row`, the header of a table."""
    if not isinstance(row, Mapping):
        return
    if "system" not in row:
        yield Remark(
            NO_SYSTEM,
            (),
            "the column system is missing",
            "add the column, blank if there is no system input",
        )
    for column in row:
        if column not in {"system", "prompt", answers}:
            yield Remark(
                OTHER_COLUMN,
                (column,),
                f"the column is not one of system, prompt and {answers}",
                "remove the column: the table has these three only",
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
        own_sign=own_sign_of,
        contested=answers,
    )


FORMAT = Format(
    id=TABLE,
    title="Prompts with expected responses as a table: system, prompt, response",
    vendor=VENDOR,
    adapter="harpia_converters.tencent.mapping:TABLE",
    dialects=(_dialect("response"), _dialect("answer", name="answer")),
)
