"""The Markdown report is bounded, and text from data means nothing in it."""

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import harpia_formats as hf
from generated_reports import ANY_TEXT, reports, result_text, text_of
from harpia_formats import FileCount, Group, Report, Severity
from harpia_formats.plugins import Result, safe

#: A parser of CommonMark with the tables of GitHub; `typer` brings it along.
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
#: What a report is made of.
ELEMENTS = set(
    "h3 p strong table thead tbody tr th td code pre a ul li details".split()
)
ELEMENTS.add("summary")
#: What GitHub and GitLab make links of outside of code: mentions, issues, addresses.
_found_in_text = re.compile(r"@\w|#\d|GH-\d|https?:|www\.", re.IGNORECASE)


class Elements(HTMLParser):
    """Collects the elements, the addresses, and the text that is not in code."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: set[str] = set()
        self.text = ""
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element and where it leads."""
        self.names.add(tag)
        self._depth += tag in {"code", "pre", "a"}
        self.links |= {value or "" for name, value in attrs if name == "href"}

    def handle_endtag(self, tag: str) -> None:
        """Note the end of an element."""
        self._depth -= tag in {"code", "pre", "a"}

    def handle_data(self, data: str) -> None:
        """Note text that is in no code and no link."""
        if not self._depth:
            self.text += data


def rendered(markdown: str) -> Elements:
    """Return what a consumer shows of Markdown."""
    page = Elements()
    page.feed(PARSER.render(markdown))
    page.close()
    return page


def group(number: int, count: int = 1) -> Group:
    """Return a group of findings of a rule."""
    field = f"/a-{number}"
    return Group("b.jsonl", "S101", "m-k", Severity.ERROR, field, count, 2, 1, 2)


def test_a_report_has_verdict_files_findings_and_examples() -> None:
    """A report of real data has its parts, with links to the pages of rules."""
    report = hf.validate(b'{"a": NaN}\n{"a": 1}\n', format="nemo-input")
    text = text_of("markdown", report)

    assert text.startswith("### harpia-formats: not ok\n")
    assert "| error | [J106 not-json-constant](https://" in text
    assert ":1:7  J106 not-json-constant" in text
    assert rendered(text).names <= ELEMENTS
    assert {"table", "details", "a"} <= rendered(text).names


def test_the_worst_comes_first_and_the_rest_is_counted() -> None:
    """Where there is no room for all, a sentence says how many are not shown."""
    files = tuple(FileCount(f"{n}.jsonl", errors=1) for n in range(9_000))
    groups = (*(group(n) for n in range(9_000)), group(9_999, 77))
    text = text_of("markdown", Report((*files, FileCount("c")), groups, ()))

    assert len(text.encode()) <= 60_000
    rows = [line for line in text.splitlines() if line.startswith("| error")]
    assert "a-9999" in rows[0]
    hidden = re.findall(r"^([\d,]+) more (file|kind)", text, re.MULTILINE)
    assert [name for _, name in hidden] == ["file", "kind"]
    assert int(hidden[1][0].replace(",", "")) == 9_001 - len(rows)


def test_findings_of_all_files_are_one_row() -> None:
    """A rule at a field is one row for all files; files without findings are few."""
    groups = tuple(replace(group(1, 10), path=f"{n}.jsonl") for n in range(30))
    files = tuple(FileCount(f"{n}.jsonl", errors=10 * (n < 30)) for n in range(99))
    text = text_of("markdown", Report(files, groups, ()))

    assert "<code>/a-1</code> | 300 | 30 | <code>0.jsonl&#58;2&#58;1</code> |" in text
    assert text.count("\n| <code>") == 30
    assert "69 more files not shown." in text


@given(reports(), st.sampled_from((2_000, 5_000, 60_000)))
def test_any_report_is_bounded_and_harmless(report: Report, most: int) -> None:
    """Whatever data says, there are our elements, links and no mentions only."""
    text = text_of("markdown", report, most_bytes=most)
    page = rendered(text.encode("utf-8", "backslashreplace").decode())

    assert len(text.encode("utf-8", "backslashreplace")) <= most
    assert page.names <= ELEMENTS
    assert all(link.startswith("https://harpia-formats.") for link in page.links)
    assert not _found_in_text.search(page.text)


@given(ANY_TEXT)
def test_text_is_shown_as_it_is(text: str) -> None:
    """Text of data is shown as elsewhere: in a headline, and in a cell as code."""

    class One(Result):
        def headline(self) -> str:
            return f"x {text} x"

        def table(self) -> list[dict[str, Any]]:
            return [{text: text}]

    page = PARSER.render(result_text("markdown", One()))
    shown = safe(f"x {text} x", 10_000)
    whole = unescape(re.sub("<[^>]*>", "", page))

    assert {*re.findall(r"<(\w+)", page)} <= ELEMENTS
    assert " ".join(shown.split()) in " ".join(whole.split())


class Rows(Result):
    """A result of two rows."""

    def headline(self) -> str:
        """Return a headline with data."""
        return "2 rows of @team"

    def table(self) -> list[dict[str, Any]]:
        """Return rows whose columns differ."""
        return [{"a|b": "|", "n": 0.123456}, {"a|b": None, "c": "@x"}]


def test_scores_are_a_table_for_readers() -> None:
    """It has one cell for an interval, and tells the empty value from all answers."""
    rows = [
        {
            "prompt": f"q{category}",
            "category": category,
            "references": ["yes"],
            "outputs": [{"text": "yes"}],
        }
        for category in ("", "law")
    ]
    scores = hf.score(rows, metrics=("em",), by=("category",))

    text = unescape(re.sub("</?code>", "", result_text("markdown", scores)))
    first, *_ = text.splitlines()
    assert first == "### harpia-formats: em 1.0000 over 2 answers"
    table = [line.split(" | ") for line in text.splitlines() if line.startswith("|")]
    assert [line[0] for line in table] == [
        *("| category", "| ---", "| (empty)", "| law", "| (all)")
    ]
    assert table[-1][1] == "1.00 [0.01, 1.00] \\*"
    assert table[-2][1] == "1.00 \u2020"
    assert "- Signature of em: `em|" in text
    assert "- Intervals of em: `wilson|" in text


def test_statistics_are_several_tables() -> None:
    """Next to lengths they are fields, values, repetitions and tokens."""
    answer = {"text": "", "model": "m", "token_usage": {"total": 3}}
    found = hf.stats([{"prompt": "p", "outputs": [answer]}])

    lines = result_text("markdown", found).splitlines()
    titles = [line.strip("*") for line in lines if line.startswith("**")]
    assert titles == ["Lengths", "Fields", "Values", "Repetitions", "Tokens"]


def test_any_other_result_is_a_table() -> None:
    """A result that is no report of a validation has its headline and its table."""
    assert result_text("markdown", Rows()).splitlines() == [
        "### harpia-formats: <code>2 rows of &#64;team</code>",
        "",
        "| <code>a&#124;b</code> | <code>n</code> | <code>c</code> |",
        "| --- | ---: | --- |",
        "| <code>&#124;</code> | 0.1235 |  |",
        "|  |  | <code>&#64;x</code> |",
    ]


def test_a_table_of_nothing_is_left_out() -> None:
    """There is no empty table of findings."""
    text = text_of("markdown", Report((FileCount("a"),), (), ()))

    assert "| file |" in text
    assert "| rule |" not in text
