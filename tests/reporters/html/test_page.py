"""The HTML report of a validation: well-formed, escaped, bounded and the same again."""

import io
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import harpia_formats
from effort import examples
from generated_reports import expectation, page_of
from harpia_formats import (
    Because,
    Excerpt,
    FileCount,
    Group,
    Place,
    Problem,
    Report,
    Severity,
    ValidationFailed,
)
from harpia_formats.plugins import safe
from harpia_formats.reporters import REPORTERS
from strict_page import StrictPage

_BAD_ROW = '{"sample_id": "r%d", "score": "<b>1</b>", "text": "%s"}\n'
_SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "number"}, "kind": {"enum": ["a", "b"]}},
    "required": ["sample_id"],
}


def _page(report: Report) -> StrictPage:
    return StrictPage(page_of(report))


def _bad_file(folder: Path, rows: int = 3) -> Path:
    path = folder / "bad rows.jsonl"
    text = "".join(_BAD_ROW % (at, "x" * 400) for at in range(rows))
    path.write_text(text + '{"kind": "c"}\n', encoding="utf-8")
    return path


def _text_report(text: str) -> Report:
    """Return a report with a text in every field that data or a path can reach."""
    place = Place(text, 1, 1, 2, 0, 1, text, f"/{text}", text, text)
    excerpt = Excerpt(f"{text}{text}{text}", len(text), 2 * len(text))
    problem = Problem(
        "S101",
        text,
        Severity.ERROR,
        place,
        text,
        because=(Because(f"/{text}", text, 1, 1),),
        help=text,
        excerpt=excerpt,
        key=text,
        cause=text,
    )
    group = Group(
        text, "S101", text, Severity.ERROR, f"/{text}", 3, 1, 1, 1, text, text, text
    )
    other = replace(group, code=text, severity=Severity.NOTE)
    file = FileCount(text, text, text, 3, 1, errors=3, reason=text, bytes=7)
    return Report((file,), (group, other), (problem,))


@given(st.text())
@examples(20)
def test_no_text_makes_an_element(text: str) -> None:
    """Any text in any field is shown as text, controls as escapes."""
    text = f"x{text}\"'></p></pre></script><img src=x onerror=alert(1)>\u202e\x1b"
    written = page_of(_text_report(text), command=text)
    page = StrictPage(written)
    assert not page.faults
    assert "img" not in page.elements
    assert page.elements.count("script") == 1
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", written)
    assert safe(text, 10**6) in page.text


def test_the_page_of_bad_data_shows_counts_messages_and_records(tmp_path: Path) -> None:
    """Each rule and field has its count, and each example its value in its record."""
    path = _bad_file(tmp_path)
    report = harpia_formats.validate(path, schema=_SCHEMA)
    written = page_of(report)
    page = StrictPage(written)
    assert not page.faults
    for part in ("4 records: 0 valid, 4 invalid; 5 errors", "S102", "wrong-type"):
        assert part in page.text
    assert f"{path}:1:30" in page.text
    assert written.count("<mark>&#34;&lt;b&gt;1&lt;/b&gt;&#34;</mark>") == 6
    assert "242 characters" in page.text


def test_a_record_is_shown_with_a_line_for_each_member(tmp_path: Path) -> None:
    """The text of numbers and strings stays as it is in the file."""
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a": [1.50, {}], "score": null, "big": 1E400}\n', "utf-8")
    report = harpia_formats.validate(path, schema=_SCHEMA)
    page = _page(report)
    assert '{\n  "a": [\n    1.50,\n    {}\n  ],\n  "score": null,\n' in page.text


@pytest.mark.parametrize("change", ["changed", "removed", "hidden"])
def test_a_record_that_cannot_be_read_again_is_not_shown(
    tmp_path: Path, change: str
) -> None:
    """The excerpt stays, and the page says why there is no more."""
    path = _bad_file(tmp_path)
    report = harpia_formats.validate(path, schema=_SCHEMA)
    if change == "changed":
        path.write_bytes(b"\n" * 5000)
    elif change == "removed":
        path.unlink()
    elif change == "hidden":
        hidden = (replace(one, hides_values=True) for one in report.problems)
        report = replace(report, problems=tuple(hidden))
    reason = {
        "changed": "its file is compressed or was changed",
        "removed": "its file cannot be read again",
        "hidden": "",
    }[change]
    page = _page(report)
    assert ("shown without the text around" in page.text) == bool(reason)
    assert reason in page.text
    assert "Record 1" in page.text
    assert page.elements.count("mark") == 5


def test_bytes_in_memory_are_shown_by_their_excerpt() -> None:
    """What has no file has no text to read again."""
    page = _page(harpia_formats.validate(b'{"score": NaN}'))
    assert not page.faults
    assert "its file cannot be read again" in page.text


@pytest.mark.parametrize(
    "report", [Report((), (), ()), harpia_formats.validate(b"[]")], ids=["none", "[]"]
)
def test_a_report_of_nothing_is_a_page(report: Report) -> None:
    """No file or no record makes no fault."""
    page = _page(report)
    assert not page.faults
    assert "None." in page.text or "no records" in page.text


def test_the_page_of_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    """The failure is above the counts, and in the table of files."""
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(b"\x1f\x8b\x08\x00\x00")
    page = _page(harpia_formats.validate(path))
    assert page.text.count("was not read to its end") == 1
    assert "not ok" in page.text


def test_the_page_needs_no_script_and_allows_only_its_own(tmp_path: Path) -> None:
    """Without scripts everything is there; the policy names two hashes."""
    report = harpia_formats.validate(_bad_file(tmp_path), schema=_SCHEMA)
    written = page_of(report)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', written)
    assert policy is not None
    assert policy[1].startswith("default-src &#39;none&#39;; style-src &#39;sha256-")
    assert "unsafe" not in policy[1]
    without = re.sub("<script>.*?</script>", "", written, flags=re.DOTALL)
    assert StrictPage(without).text.strip() == StrictPage(written).text.strip()
    assert 'class="tools" data-filter="field" hidden' in written


def test_equal_input_gives_equal_bytes(tmp_path: Path) -> None:
    """Neither the number of workers nor the time is on the page."""
    path = _bad_file(tmp_path, 300)
    pages = {
        page_of(harpia_formats.validate(path, schema=_SCHEMA, jobs=jobs))
        for jobs in (1, 2)
    }
    assert len(pages) == 1


def _large(groups: int, text: str) -> Report:
    """Return a report with so many groups, files and examples, all with a long text."""
    place = Place(text, 1, 1, 2, 0, 1, text, "/a", "", "")
    excerpt = Excerpt(text, 0, len(text))
    because = (Because("/a", text, 1, 1),) * 3
    problem = Problem(
        "S101", "n", Severity.ERROR, place, text, because, text, excerpt=excerpt
    )
    group = Group(text, "S101", "n", Severity.ERROR, "/a", 9, 1, 1, 1, message=text)
    return Report(
        tuple(FileCount(f"{at}{text}", errors=1) for at in range(groups)),
        tuple(
            replace(group, code=f"S{at % 500}", pointer=f"/{at}/*/{text}")
            for at in range(groups)
        ),
        tuple(
            replace(
                problem,
                code=f"S{at % 500}",
                place=replace(place, pointer=f"/{at}/3/{text}"),
            )
            for at in range(groups)
        ),
    )


@pytest.mark.parametrize("text", ["<&\u202e" * 200, "x", "é" * 3000])
def test_a_page_is_below_one_megabyte(text: str) -> None:
    """Whatever was found, and it says what it leaves out."""
    written = page_of(_large(3_000, text), command=text * 30)
    assert len(written.encode()) < 1_000_000
    page = StrictPage(written)
    assert not page.faults
    assert "27,000" in page.text or "more rows" in page.text


def test_a_preflight_shows_its_expectations_broken_ones_first() -> None:
    """Each has its state in words, what was found, and where it is stated."""
    met = expectation("met", "records <b>", "4", line=3)
    broken = expectation("broken", "one model", "2", line=4)
    report = Report((), (), (), checks=(met, broken))
    page = _page(report)
    assert not page.faults
    assert "1 of 2 expectations are met" in page.text
    assert "not ok" in page.text
    rows = page.text.index("one model"), page.text.index("records <b>")
    assert rows == tuple(sorted(rows))
    assert "p.toml:4:1" in page.text


def test_warnings_that_fail_the_run_are_not_ok() -> None:
    """The page has the verdict of the exit code."""
    report = Report((FileCount("a", warnings=1, complete=True),), (), ())
    assert "not ok" not in _page(report).text
    strict = page_of(report, error_on_warning=True)
    assert "not ok" in StrictPage(strict).text


def test_a_page_needs_a_bounded_number_of_problems() -> None:
    """A run without caps holds no more than the page may show, of each rule some."""
    first = _text_report("x").problems[0]
    needs = REPORTERS["html"].needs
    assert needs is not None
    is_needed = needs()
    many = sum(map(is_needed, [first] * 5_000))
    assert is_needed(replace(first, code="S102"))
    assert many == 50
    others = (replace(first, code=f"S{at}") for at in range(9_000))
    assert sum(map(is_needed, others)) == 3_000 - 51


def test_a_group_of_the_empty_text_is_distinguished_from_all_answers() -> None:
    """The page of scores names a group whose value is the empty text."""
    row = (
        '{"input": {"prompt": "%s?", "ideal_response": "a", "category": "%s", '
        '"source": ""}, "response": "a", "llm_name": "m"}\n'
    )
    data = "".join(row % each for each in (("p", ""), ("q", "x"))).encode()
    scores = harpia_formats.score(data, metrics=("em",), by=("category",))

    page = page_of(scores)

    # An axis of shares has both of its ends.
    assert "axes: em 0 to 1." in page
    assert page.count(">(empty)<") == page.count(">(all)<") == 1


def test_the_page_of_a_conversion_without_losses_says_so() -> None:
    """It names the fields that are kept, and has no table of others."""
    row = {"prompt": "p", "outputs": [{"text": "t"}]}
    found = harpia_formats.convert([row], to="record", output=io.BytesIO())
    page = StrictPage(page_of(found))

    assert page.faults == []
    assert "Kept as they are: prompt, outputs.text" in page.text
    assert "or changed" not in page.text

    rows = [{"prompt": 1, "outputs": []}]
    with pytest.raises(ValidationFailed) as failed:
        harpia_formats.convert(rows, from_="record", to="record", output=io.BytesIO())
    none = page_of(failed.value.result)
    assert "Kept as they are" not in StrictPage(none).text


def test_the_page_of_differences_has_the_files_of_both_inputs(tmp_path: Path) -> None:
    """It says A and B, as the page of a comparison of scores does."""
    sides = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for side, text in zip(sides, ("yes", "no"), strict=True):
        side.write_text(
            f'{{"id": "1", "prompt": "p", "outputs": [{{"text": "{text}"}}]}}\n'
        )

    page = StrictPage(page_of(harpia_formats.diff(*sides)))

    for words in ("only in A", "first: in B", "Files of A", "Files of B"):
        assert words in page.text
    assert all(side.name in page.text.split("Files of A")[-1] for side in sides)
