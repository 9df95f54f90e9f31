"""The adapter of alpaca: instructions and outputs to prompts and references."""

from harpia_formats.model.adapter import (
    LIST_OF_ONE,
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
)
from harpia_formats.model.record import Record

_vendor = "alpaca"
_known = frozenset({"instruction", "input", "output", "system", "history"})
_fields = (
    FieldMapping(("instruction",), "prompt", note="and `input` below a blank line"),
    FieldMapping(("input",), "prompt", note="below `instruction` and a blank line"),
    FieldMapping(("history",), "messages", note="with the prompt, if it is not empty"),
    FieldMapping(("system",), "system"),
    FieldMapping(("output",), "references", LIST_OF_ONE),
)


def _read(row: Row) -> Record:
    """Return the record of an instruction, a chat if it has a history."""
    prompt = row["instruction"]
    if row.get("input"):
        prompt = f"{prompt}\n\n{row['input']}"
    fields: Row = {"references": [row["output"]]}
    if row.get("history"):
        fields["messages"] = _chat(row["history"], prompt)
    else:
        fields["prompt"] = prompt
    if "system" in row:
        fields["system"] = row["system"]
    if not row.keys() <= _known:
        rest = {key: value for key, value in row.items() if key not in _known}
        fields["extra"] = {_vendor: rest}
    return Record(**fields)


def _chat(history: list[list[str]], prompt: str) -> list[Row]:
    """Return the messages of earlier questions and answers, and of the prompt."""
    roles = ("user", "assistant")
    return [
        {"role": role, "content": text}
        for pair in (*history, [prompt])
        for role, text in zip(roles, pair, strict=False)
    ]


ALPACA = FormatAdapter(
    vendor=_vendor,
    fields=_fields,
    read=_read,
    capacity=RowCapacity(
        references=Cardinality.ONE, outputs=Cardinality.NONE, messages=True
    ),
)
