"""The HTML page of statistics: well-formed, escaped, and the same again."""

from pathlib import Path

import harpia_formats
from generated_reports import page_of
from in_process import InProcess
from json_lines import jsonl
from strict_page import StrictPage

MARKUP = "<script>alert(1)</script>&\x1b"


def _rows(count: int = 40) -> bytes:
    rows = [
        {
            "id": number % 30,
            "prompt": f"{MARKUP} {number % 3}" + "x" * number,
            "category": MARKUP + str(number % 4),
            "metadata": {"language": MARKUP},
            "outputs": [
                {
                    "model": MARKUP,
                    "text": "a" * number,
                    "scores": [{"metric": MARKUP, "value": 1}],
                    "token_usage": {MARKUP: number},
                    "performance": {MARKUP: number * 10},
                }
            ],
        }
        for number in range(count)
    ]
    return jsonl(*rows)


def test_the_page_is_well_formed() -> None:
    """The page is whole, shows every part, and has no markup of the data."""
    found = harpia_formats.stats(_rows())

    text = page_of(found)

    assert text == page_of(harpia_formats.stats(_rows()))
    assert "<script>alert" not in text
    assert "\x1b" not in text
    for words in ("40 records", "Characters of prompt", "Repetitions", "Milliseconds"):
        assert words in text
    assert StrictPage(text).faults == []


def test_nothing_is_a_page_too(run: InProcess, tmp_path: Path) -> None:
    """Records without any field, and no statistics, have a page."""
    bare = harpia_formats.stats(b'{"prompt": "", "outputs": []}\n')
    path, page = tmp_path / "a.jsonl", tmp_path / "a.html"
    path.write_text('{"prompt": 1, "outputs": []}\n')
    found = run("stats", path, "--from", "record", "--report", page)

    assert found.code == 1
    assert StrictPage(page_of(bare)).faults == []
    assert "no statistics" in page.read_text(encoding="utf-8")


def test_one_record_has_a_page() -> None:
    """One record has a page without charts."""
    found = harpia_formats.stats(_rows(1))

    assert StrictPage(page_of(found)).faults == []
    assert found.headline() == "1 record, 1 question, 1 answer"
