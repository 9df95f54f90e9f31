"""acme-chat: questions with the answer of one model, as lines of JSON."""

from collections.abc import Iterator
from typing import Any

from harpia_formats.plugins import (
    LIST_OF_ONE,
    Dialect,
    FieldMapping,
    FieldTable,
    Format,
    FormatAdapter,
    Remark,
)


def remarks(row: Any) -> Iterator[Remark]:
    """Yield that an answer is empty."""
    if row["answer"] == "":
        yield Remark("AC101", ("answer",), "the answer is empty", "ask the model again")


TABLE = FieldTable(
    "acme",
    (
        FieldMapping(("question",), "prompt", required=True),
        FieldMapping(("expected",), "references", LIST_OF_ONE),
        FieldMapping(("model",), "outputs.model"),
        FieldMapping(("answer",), "outputs.text", required=True),
    ),
)
ADAPTER = FormatAdapter(
    vendor="acme", fields=TABLE.fields, read=TABLE.read, write=TABLE.write
)
FORMAT = Format(
    id="acme-chat",
    title="Questions with an answer each",
    vendor="acme",
    dialects=(
        Dialect(
            "acme_harpia:acme-chat",
            lambda row: "`question`" if "question" in row else "",
            remarks=remarks,
        ),
    ),
    adapter="acme_harpia.chat:ADAPTER",
)
