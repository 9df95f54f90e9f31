"""Every result can be pickled, printed, tabulated and written as JSON."""

import inspect
import io
import json
import pickle
import re
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import harpia_formats as hf
from cases import for_each_case
from harpia_formats.plugins import Result

QUESTION = {"prompt": "q", "ideal_response": "r", "category": "<b>", "source": ""}
ROWS: list[dict[str, object]] = [
    {"input": QUESTION | {"prompt": f"q{n}"}, "response": "r", "llm_name": "m"}
    for n in range(3)
]
BAD: list[dict[str, object]] = [*ROWS, {"input": {"prompt": "<script>"}, "response": 5}]


def failed(run: Callable[[], Any]) -> Any:
    """Return the exception that a run raises."""
    try:
        run()
    except hf.HarpiaFormatsError as error:
        return error
    raise AssertionError


RESULTS: dict[str, Callable[[], Any]] = {
    "validate": lambda: hf.validate(ROWS),
    "invalid": lambda: hf.validate(BAD),
    "convert": lambda: hf.convert(ROWS, to="tencent-csv", output=io.BytesIO()),
    "score": lambda: hf.score(ROWS, metrics=("em", "f1", "bleu", "rouge", "chrf")),
    "groups": lambda: hf.score(ROWS, metrics=("em",), by=("category",)),
    "stats": lambda: hf.stats(ROWS),
    "diff": lambda: hf.diff(ROWS, [*ROWS[:2], ROWS[2] | {"response": "x"}]),
    "roundtrip": lambda: hf.roundtrip(ROWS, via="tencent-csv"),
    "compare": lambda: hf.compare_scores(ROWS, ROWS, metrics=("em",)),
}
ERRORS: dict[str, Callable[[], Any]] = {
    "failed": lambda: failed(lambda: hf.convert(BAD, to="record")),
    "format": lambda: failed(lambda: hf.validate(ROWS, format="nmeo")),
    "rule": lambda: failed(lambda: hf.validate(ROWS, select=("Z999",))),
    "sink": lambda: failed(lambda: hf.convert(ROWS, to="nemo", output="/no/such/x")),
    "metric": lambda: failed(lambda: hf.score(ROWS, metrics=("nope",))),
    "option": lambda: failed(lambda: hf.convert(ROWS, to="nemo", turns="lst")),  # type: ignore[arg-type]  # the mistake
    "schema": lambda: failed(lambda: hf.validate(ROWS, schema="/no/such/schema")),
}
all_results = pytest.mark.parametrize("name", RESULTS)


@all_results
def test_a_result_can_be_pickled(name: str) -> None:
    """A result that was pickled is equal to the one before."""
    result = RESULTS[name]()

    assert pickle.loads(pickle.dumps(result)) == result  # noqa: S301 - our own bytes


def result_named(name: str) -> Any:
    """Return a result, in another process."""
    return RESULTS[name]()


def test_results_come_from_other_processes() -> None:
    """A pool of processes returns each result."""
    with ProcessPoolExecutor(1) as pool:
        found = list(pool.map(result_named, RESULTS))

    # Scores also have the seconds that they took.
    expected = [run().to_dict() for run in RESULTS.values()]
    assert [result.to_dict() for result in found] == expected


@for_each_case("name", ERRORS)
def test_an_error_can_be_pickled(name: str) -> None:
    """An exception that was pickled has the same type and text."""
    error = ERRORS[name]()
    found = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes

    assert (type(found), str(found)) == (type(error), str(error))


def test_all_exceptions_have_one_base() -> None:
    """Each public exception is a `HarpiaFormatsError`."""
    public = {name: getattr(hf, name) for name in hf.__all__}
    errors = {
        name: kind
        for name, kind in public.items()
        if inspect.isclass(kind) and issubclass(kind, BaseException)
    }

    assert len(errors) > 10
    assert [
        k for k, v in errors.items() if not issubclass(v, hf.HarpiaFormatsError)
    ] == []


@all_results
def test_a_result_is_plain_data(name: str) -> None:
    """`to_dict` can be written as JSON, and says whether the result is good."""
    result = RESULTS[name]()
    found = result.to_dict()

    assert json.loads(json.dumps(found)) == found
    assert "schema" in found or found["ok"] == result.ok


def test_a_report_has_the_form_of_the_command_line() -> None:
    """`to_dict` of a validation is the report that `--output-format json` writes."""
    found = hf.validate(BAD).to_dict()

    assert found["schema"] == "harpia-formats/report/1"
    assert found["summary"]["invalid"] == 1


@all_results
def test_a_result_is_a_table(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`to_pandas` hands rows with equal keys to pandas."""
    pandas = ModuleType("pandas")
    monkeypatch.setattr(pandas, "DataFrame", list, raising=False)
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    result = RESULTS[name]()
    rows = result.table()

    # Frames without rows have these columns; groups have their fields before.
    assert all(tuple(row)[-len(result.columns) :] == result.columns for row in rows)
    assert rows == [] or result.to_pandas() == rows
    assert len({tuple(row) for row in rows}) <= 1 + (name == "groups")
    assert rows or name in {"validate", "roundtrip"}


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_frame_without_rows_has_columns(package: str) -> None:
    """A report on valid data can be grouped by the codes of its problems."""
    pytest.importorskip(package, reason="needs the extra notebook")
    report = hf.validate(ROWS)
    frame = getattr(report, f"to_{package}")()

    assert len(frame) == 0
    assert tuple(frame.columns) == report.columns
    assert "code" in report.columns


def test_without_pandas_there_is_an_import_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where pandas is not installed, the error names it and the extra."""
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"needs pandas: .*\[notebook\]"):
        hf.validate(ROWS).to_pandas()


@all_results
def test_a_result_is_shown_in_one_line(name: str) -> None:
    """The representation is one short line, and HTML has nothing from the data."""
    result = RESULTS[name]()
    html = result._repr_html_()

    assert isinstance(result, Result)
    assert repr(result).startswith(f"<{type(result).__name__}: ")
    assert len(repr(result)) < 300
    assert "\n" not in repr(result)
    assert "<script" not in html
    assert "<b>" not in html


def test_a_conversion_says_in_one_line_what_was_left_out() -> None:
    """Rows that are not valid are counted next to those that were written."""
    some = hf.convert(BAD, to="csv", output=io.BytesIO(), on_invalid="skip")
    every = hf.convert(ROWS[:1], to="csv", output=io.BytesIO())

    assert some.headline().endswith(": 3 rows of csv, lossless, 1 record left out")
    assert every.headline().endswith(": 1 row of csv, lossless")


@all_results
def test_a_result_becomes_a_frame_of_polars(name: str) -> None:
    """`to_polars` has a row for each row of the table."""
    pytest.importorskip("polars", reason="needs polars (extra notebook)")
    result = RESULTS[name]()

    assert result.to_polars().height == len(result.table())


def test_without_polars_there_is_an_import_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where polars is not installed, the error names it and the extra."""
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r"needs polars: .*\[notebook\]"):
        hf.validate(ROWS).to_polars()


#: The rows of a table that HTML shows.
SHOWN = 20


def shown(rows: list[dict[str, Any]]) -> str:
    """Return the HTML of a result that is a table of rows."""

    class Rows(Result):
        ok = True

        def headline(self) -> str:
            return "<b>"

        def table(self) -> list[dict[str, Any]]:
            return rows

    return Rows()._repr_html_()


def test_a_long_table_is_cut() -> None:
    """HTML shows the first rows, how many there are more, and the start of a text."""
    html = shown([{"n": n, "text": "x" * 10_000} for n in range(SHOWN + 5)])

    assert html.count("<tr>") == SHOWN + 1
    assert "and 5 more" in html
    assert len(html) < SHOWN * 1000


def test_findings_are_shown_with_places_and_counts() -> None:
    """A report shows how often each rule is broken, and where, without its markup."""
    html = hf.validate(BAD * 30)._repr_html_()

    assert re.search(r"S102 wrong-type</td><td[^>]*>/response</td><td[^>]*>30<", html)
    assert "&lt;rows&gt;:4:47" in html
    assert html.startswith('<div style="overflow-x:auto"><p><strong>\u2717 not ok</')
    assert len(html) < 60_000


def test_texts_of_data_are_no_markup() -> None:
    """Markup and control characters in data are shown as text."""
    html = shown([{"<i>": "<img src=x onerror=y>\x1b[31m\u202e\ud800"}])

    assert "<img" not in html
    assert "&lt;img src=x onerror=y&gt;\\x1b[31m\\u202e\\ud800" in html
    assert html.encode()


def test_scores_are_shown_with_their_intervals() -> None:
    """Limits stand in one cell with their level, and groups stand first."""
    html = hf.score(ROWS, metrics=("em",), by=("category",), level=0.9)._repr_html_()

    assert re.search(r"\d\.\d{4} to \d\.\d{4} \(90 %\)", html)
    assert html.index(">category<") < html.index(">value<")
    assert "signature" not in html


@pytest.mark.parametrize("kind", ["files", "unread"])
def test_files_are_shown_where_there_are_several(tmp_path: Path, kind: str) -> None:
    """Several files, and one that cannot be read, have a table of their own."""
    inputs = [tmp_path / "no such file"] if kind == "unread" else [ROWS, BAD]
    html = hf.validate(*inputs)._repr_html_()

    assert "Files</caption>" in html
    assert ("no such file" in html) == (kind == "unread")


def test_scores_can_be_iterated() -> None:
    """Iterating over scores yields those of all answers."""
    scores = hf.score(ROWS, metrics=("em", "f1"))

    assert [score.metric for score in scores] == ["em", "f1"]
    assert len(scores) == 2


def test_scores_are_shown_with_charts() -> None:
    """Below the table stands a chart with text of the page's colour, and no clash."""
    scores = hf.score(ROWS, metrics=("em", "f1"))
    html = scores._repr_html_()

    assert html.count('<table class="harpia-formats-charts">') == 2
    assert html.index("</table>") < html.index("harpia-formats-charts")
    assert "color: inherit" in html
    assert ":root" not in html
    assert " id=" not in html
    assert html == scores._repr_html_()


def test_many_charts_are_cut() -> None:
    """A page of others has no more than a few charts of one result."""
    rows = [row | {"llm_name": f"m{number}"} for number in range(40) for row in ROWS]
    html = hf.score(rows, metrics=("rouge", "em", "f1"))._repr_html_()

    assert 1 <= html.count("<caption>") < 7
    assert len(html) < 100_000
