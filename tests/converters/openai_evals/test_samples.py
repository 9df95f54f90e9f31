import pytest

import harpia_formats
from cases import for_each_case
from corpora import CORPORA
from harpia_formats.plugins import Row
from known_formats import FORMATS

REAL = CORPORA / "neighbours" / "openai" / "evals_samples.jsonl"


@for_each_case(
    "row",
    [
        {"input": "q", "target": "4"},
        {"input": {"prompt": "q"}, "ideal": "4"},
        {"input": [{"content": "q"}], "ideal": "4"},
        {"input": {"prompt": "q", "ideal_response": "4"}, "response": "a"},
        {"id": 1, "input": "q"},
        {"ideal": "4"},
        {"input": "q", "ideal": 4},
    ],
)
def test_rows_of_others_are_left_to_them(row: Row) -> None:
    """Rows of Inspect, NeMo and HarpIA are no samples."""
    assert FORMATS["openai-evals"].dialects[0].sniff(row) == ""


@pytest.mark.corpora
def test_samples_of_the_guide_are_read() -> None:
    """Two chats and a text are three questions with one, two and one references."""
    records = list(harpia_formats.read(REAL))

    assert [record.references for record in records] == [["Maputo"], ["2", "3"], ["4"]]
    assert [record.prompt for record in records][1:] == [
        "Name a prime below 5.",
        "2+2=",
    ]
    assert records[0].system == "Answer with one word."
