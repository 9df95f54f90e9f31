"""Rows of questions and answers as records, and back, with keys of the user's own."""

from typing import Any

import pytest

from known_formats import adapter_named

QUESTION = {"prompt": "q", "ideal_response": "r"}


def record_of(row: dict[str, Any], dialect: str = "") -> Any:
    """Return the record of an answer in a dialect."""
    adapter = adapter_named("nemo-output")
    normalised = adapter.dialect_normalizers[dialect](row) if dialect else row
    return adapter.read(normalised)


@pytest.mark.parametrize(
    ("dialect", "row"),
    [
        ("flat", {**QUESTION, "actual_response": "a"}),
        ("reference", {"input": "q", "reference": "r", "output": "a"}),
    ],
)
def test_other_dialects_keep_keys_whose_place_is_taken(
    dialect: str, row: dict[str, Any]
) -> None:
    """Keys called like those of documented answers do not take their places."""
    others = {"response": "x"} | ({"input": {"a": 1}} if "input" not in row else {})
    record = record_of({**row, **others}, dialect)

    assert (record.prompt, record.references) == ("q", ["r"])
    assert record.outputs[0].text == "a"
    assert record.extra == {"nemo": {"input": others}}
