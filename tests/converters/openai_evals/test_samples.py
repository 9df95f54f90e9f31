import pytest

import harpia_formats
from corpora import CORPORA

REAL = CORPORA / "neighbours" / "openai" / "evals_samples.jsonl"


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
