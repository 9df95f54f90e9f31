"""Whether tables are validated by what their columns hold."""

import csv
import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harpia_formats
from effort import examples
from harpia_formats import ConversionError, FileCount, Report
from in_process import InProcess
from json_lines import jsonl

Rows = list[dict[str, str]]
UNKNOWN = {"foo": "1", "bar": "2"}
CONTESTED = ("prompt,response\nhi,there\n", "prompt,answer\nhi,there\n")
#: Columns by which a table is known, those that say nothing of it, and others. With
#: system inputs, a table of text is Tencent's, who has no Parquet.
COLUMNS = "prompt references response id score model category foo ünï".split()
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=9)


def as_csv(rows: Rows) -> bytes:
    """Return rows as a table of text."""
    file = io.StringIO()
    writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def as_parquet(rows: Rows) -> bytes:
    """Return rows as a file of Parquet."""
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), file)
    return file.getvalue()


def as_lines(rows: list[Any]) -> bytes:
    """Return rows as JSON Lines."""
    return jsonl(*rows)


def verdict(given: Any, **options: Any) -> tuple[object, ...]:
    """Return what the validation of one input says of it, but for places."""
    report = harpia_formats.validate(given, **options)
    (file,) = report.files
    codes = sorted(one.code for one in report.problems if one.code != "S205")
    return report.ok, file.records, file.valid, file.invalid, file.undetermined, codes


def only_file(report: Report) -> FileCount:
    """Return the counts of the one file of a report."""
    (file,) = report.files
    return file


@st.composite
def flat_rows(draw: st.DrawFn) -> Rows:
    """Return some rows of texts with the same columns."""
    columns = draw(st.lists(st.sampled_from(COLUMNS), min_size=2, unique=True))
    row = st.fixed_dictionaries(dict.fromkeys(columns, TEXTS))
    return draw(st.lists(row, min_size=1, max_size=4))


@examples(12)
@given(flat_rows(), st.data())
def test_a_table_has_one_verdict_in_each_container(
    rows: Rows, data: st.DataObject
) -> None:
    """CSV, Parquet and Arrow of the same texts are valid or not together.

    With a map, so are their JSON Lines.
    """
    text, table = as_csv(rows), pa.Table.from_pylist(rows)
    name: Any = {"delimiter": ","}
    plain = verdict(text, **name)

    assert verdict(as_parquet(rows)) == plain
    assert verdict(table) == plain

    columns = data.draw(
        st.dictionaries(
            st.sampled_from(("prompt", "references", "response", "id", "score")),
            st.sampled_from(list(rows[0])),
            min_size=1,
        ).filter(lambda found: len({*found.values()}) == len(found))
    )
    mapped = verdict(text, columns=columns, **name)
    assert verdict(as_parquet(rows), columns=columns) == mapped
    assert verdict(table, columns=columns) == mapped
    assert verdict(as_lines(rows), columns=columns, format="json") == mapped


@examples(12)
@given(rows=flat_rows())
def test_a_data_frame_has_the_verdict_of_its_table(rows: Rows) -> None:
    """A data frame of pandas is valid where the table of the same texts is."""
    pandas = pytest.importorskip("pandas")

    table = verdict(pa.Table.from_pylist(rows))
    assert verdict(pandas.DataFrame(rows)) == table


@pytest.mark.parametrize("names", ["id,foo", "score,model", "category,id", "foo,bar"])
def test_a_table_without_a_known_column_is_undetermined(
    tmp_path: Path, names: str, run: InProcess
) -> None:
    """One finding says so, and each record is without a verdict, in every way."""
    path = tmp_path / "a.csv"
    path.write_text(f"{names}\n1,2\n3,4\n")

    file = only_file(harpia_formats.validate(path, strict=True, lint=True))
    assert (file.undetermined, file.errors, file.format) == (2, 1, None)

    result = run("validate", path)
    assert result.code == 1
    assert result.out.count("S301") == 1

    (tmp_path / "p.toml").write_text('[datasets.a]\nfiles = "a.csv"\n')
    assert not harpia_formats.preflight(tmp_path / "p.toml").ok
    proposed = run("preflight", "--init", path, "-o", tmp_path / "q.toml")
    assert (proposed.code, "no known format" in proposed.err) == (2, True)


def test_the_finding_proposes_a_map_that_makes_the_table_known(tmp_path: Path) -> None:
    """A table is valid with the option that its finding shows."""
    path = tmp_path / "a.csv"
    path.write_text("question,gold,level\n7 + 5?,12,1\n")

    (problem,) = harpia_formats.validate(path).problems
    assert 'columns={"prompt": "question", "references": "gold"}' in problem.help

    assert harpia_formats.validate(
        path, columns={"prompt": "question", "references": "gold"}
    ).ok
    (other,) = harpia_formats.validate(path, columns={"id": "level"}).problems
    assert other.code == "S301"


def test_a_named_format_says_what_a_table_is() -> None:
    """Whoever names the format has any columns validated as text."""
    assert (
        only_file(harpia_formats.validate(as_csv([UNKNOWN]), format="csv")).valid == 1
    )


@pytest.mark.parametrize("text", CONTESTED)
def test_answers_that_may_be_expected_ones_are_noted(tmp_path: Path, text: str) -> None:
    """Without a column of system inputs, a note says both ways to read a table."""
    path = tmp_path / "a.csv"
    path.write_text(text)

    report = harpia_formats.validate(path)
    assert [one.code for one in report.problems] == ["S205"]
    assert 'format="tencent-csv" if' in report.problems[0].help
    assert 'format="csv"' in report.problems[0].help
    if "answer" in text:
        own = 'format="csv", columns={"response": "answer"} if'
        assert own in report.problems[0].help
    (found,) = harpia_formats.detect(path)
    assert found.confidence < 1
    assert found.rival.startswith("tencent-csv")
    assert harpia_formats.validate(path, format="tencent-csv").ok


@pytest.mark.parametrize("text", CONTESTED)
@pytest.mark.parametrize(
    "command",
    ["convert {} --to record -o -", "score {} -m em", "diff {} {}", "stats {}"],
)
def test_nothing_is_read_of_answers_that_may_be_expected_ones(
    tmp_path: Path, text: str, command: str, run: InProcess
) -> None:
    """What reads records stops, with an option for each way to read them."""
    path = tmp_path / "a.csv"
    path.write_text(text)

    result = run(*command.replace("{}", str(path)).split())
    assert result.code == 2
    assert "`--from tencent-csv`" in result.err
    assert "--from csv" in result.err


def test_the_options_for_contested_answers_read_them_otherwise(tmp_path: Path) -> None:
    """Each of both options gives its reading; a column of system inputs gives one."""
    path = tmp_path / "a.csv"
    path.write_text(CONTESTED[1])

    with pytest.raises(ConversionError, match='from_="tencent-csv"'):
        harpia_formats.convert(path, to="record", output=tmp_path / "b.jsonl")
    own = harpia_formats.read(path, format="csv", columns={"response": "answer"})
    assert [one.outputs[0].text for one in own] == ["there"]
    expected = harpia_formats.read(path, format="tencent-csv")
    assert [one.references for one in expected] == [["there"]]
    path.write_text("system,prompt,answer\n,hi,there\n")
    assert [one.references for one in harpia_formats.read(path)] == [["there"]]


@pytest.mark.parametrize("make", [as_csv, as_parquet, as_lines])
def test_blank_texts_are_found_in_every_container(make: Any) -> None:
    """Blank prompts, references and answers are found where a map names them."""
    rows = [{"q": " ", "gold": "4", "a": "4"}, {"q": "2+2?", "gold": "", "a": ""}]
    columns = {"prompt": "q", "references": "gold", "response": "a"}
    name: Any = {"format": "json"} if make is as_lines else {}

    report = harpia_formats.validate(make(rows), columns=columns, **name)
    found = [(one.code, one.place.pointer) for one in report.problems]
    assert found == [("V306", "/q"), ("V307", "/gold"), ("V305", "/a")]
    assert report.ok
    silent: Any = {"columns": columns, "ignore": ("V",), **name}
    assert not harpia_formats.validate(make(rows), **silent).problems


def test_blank_cells_of_known_columns_are_linted() -> None:
    """The columns of fields are as those of a map, if lints are asked for."""
    text = b"prompt,references,response\n,x,y\nhi,,\n"

    problems = harpia_formats.validate(text, lint=True, delimiter=",").problems
    found = [one.code for one in problems if one.code.startswith("V30")]
    assert found == ["V306", "V307", "V305"]


def test_mapped_keys_of_each_row_are_checked(tmp_path: Path) -> None:
    """A row that lacks a mapped key fails, and so does one with another type."""
    rows = [
        {"item": {"q": "2+2?"}, "gold": ["4"], "n": 1, "a": None},
        {"item": {}, "gold": "4", "n": "2", "a": "4"},
        {"item": {"q": 22}, "gold": "4", "n": 3, "a": ""},
        {"item": {"q": "3+3?"}, "gold": [6], "n": True, "a": {}},
    ]
    (tmp_path / "a.jsonl").write_bytes(as_lines(rows))
    (tmp_path / "p.toml").write_text(
        '[datasets.a]\nfiles = "a.jsonl"\nmax-prompt-characters = 10\nmap = '
        '{ prompt = "item.q", references = "gold", id = "n", response = "a" }\n'
    )

    report = harpia_formats.preflight(tmp_path / "p.toml")
    errors = [
        (one.place.line, one.code, one.place.pointer)
        for one in report.problems
        if one.code.startswith("S1")
    ]
    assert errors == [
        (2, "S101", ""),
        (3, "S102", "/item/q"),
        (4, "S102", "/gold"),
        (4, "S102", "/n"),
        (4, "S102", "/a"),
    ]
    assert not report.ok
    assert only_file(report).valid == 1
