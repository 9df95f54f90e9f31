"""Which version and dialect of a format a file is validated as, and what is noted."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harpia_formats import Problem, detect, validate
from json_lines import jsonl, jsonl_rows

FIXTURES = Path(__file__).parents[3] / "fixtures"
SEED, TAG, CURRENT = "eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0"


def records_of(version: str) -> list[Any]:
    """Return some valid records of a version of EvalEval's format."""
    return jsonl_rows(FIXTURES / version / "valid" / "runs.jsonl")


def noted(data: bytes, **options: Any) -> tuple[str, list[Problem]]:
    """Return what a file is validated as, and the problems that are about that."""
    report = validate(data, **options)
    (count,) = report.files
    notes = [each for each in report.problems if each.code.startswith(("S2", "S3"))]
    return f"{count.format} {count.dialect}".strip(), notes


def codes_of(data: bytes, **options: Any) -> tuple[str, list[str]]:
    """Return what a file is validated as, and the codes of what is noted on that."""
    name, notes = noted(data, **options)
    return name, [each.code for each in notes]


@example(rows=[b"{}", b'{"messages":', b'[], "ref_answer": ""} {}'], has_end=True)
@given(
    st.lists(
        st.sampled_from(
            [
                b'{"messages": [], "ref_answer": "a"}',
                b'{"a": [2]}',
                b"{}",
                *(b"[3]", b"4", b"{", b'{"messages": 1', b" ", b"NaN"),
                b'{"\xff": 1}',
                b"[" * 2_000 + b"]" * 2_000,
            ]
        ),
        min_size=1,
    ),
    st.booleans(),
)
def test_values_are_those_of_each_row(rows: list[bytes], has_end: bool) -> None:
    """The records of a file are the rows that parse, whatever else it has."""
    values = []
    for row in rows:
        try:
            values.append(json.loads(row.replace(b"NaN", b"-").decode()))
        except (ValueError, RecursionError):
            continue
    known = [each for each in values if isinstance(each, dict) and "ref_answer" in each]
    whole = b'{"messages": [], "ref_answer": ""}\n' + b"\n".join(rows)
    items = ", ".join(json.dumps(each) for each in values) or "2"
    lines, inside = detect(
        whole + b"\n" * has_end,
        b'[{"messages": [], "ref_answer": ""}, %b]' % items.encode(),
    )

    assert (lines.records, lines.matching) == (len(values) + 1, len(known) + 1)
    assert inside.matching == len(known) + 1
    assert inside.records == max(len(values), 1) + 1


@pytest.mark.parametrize("asked", [None, "eee"])
def test_first_version_needs_no_note(asked: str | None) -> None:
    """The first format of a family needs no note."""
    assert codes_of(jsonl(*records_of(SEED)), format=asked) == (SEED, [])


@pytest.mark.parametrize("version", [TAG, CURRENT])
def test_other_version_is_chosen_with_a_note(version: str) -> None:
    """Another version is chosen, and the note gives the evidence."""
    found, (note,) = noted(jsonl(*records_of(version)))

    assert (found, note.code) == (version, "S202")
    assert note.message.startswith(f"validated as {version}: ")
    assert " records have " in note.message


def test_another_format_of_a_vendor_is_no_other_version() -> None:
    """The variant of NeMo with outputs is reported only if `nemo` was asked for."""
    data = (FIXTURES / "nemo-output" / "valid" / "answers.jsonl").read_bytes()

    assert codes_of(data) == ("nemo-output", [])
    assert codes_of(data, format="nemo") == ("nemo-output", ["S202"])


def test_undocumented_dialect_is_noted() -> None:
    """A dialect that the vendor does not document is chosen with a note."""
    data = (FIXTURES / "harpia" / "valid" / "instancias.json").read_bytes()
    found, (note,) = noted(data)

    assert (found, note.code) == ("harpia instancias", "S202")
    assert note.message.startswith("validated as harpia (instancias):")
    assert "strict" in note.help


def test_strict_refuses_undocumented_dialects() -> None:
    """With `--strict`, an undocumented dialect is noted as another shape."""
    data = (FIXTURES / "harpia" / "valid" / "instancias.json").read_bytes()
    found, (note,) = noted(data, strict=True)

    assert (found, note.code) == ("harpia", "S201")
    assert "not what HarpIA Lab documents" in note.message


@pytest.mark.parametrize("rows", [records_of(CURRENT), [{}]])
def test_strict_does_not_change_documented_formats(rows: list[Any]) -> None:
    """`--strict` changes nothing for a documented or an unknown format."""
    assert noted(jsonl(*rows), strict=True) == noted(jsonl(*rows))


def test_ambiguous_records_are_noted() -> None:
    """If all records match another format as well, a note names both."""
    scores: dict[str, Any] = {"groups": {"g": {"metrics": {"f1": {"scores": {}}}}}}
    found, (note,) = noted(jsonl(records_of(SEED)[0] | scores))

    assert (found, note.code) == (SEED, "S204")
    assert note.message == "may be eee@0.2.0 or nemo-results; validated as eee@0.2.0"


def test_no_rows_give_no_notes() -> None:
    """If no row is JSON, there is no note on the format."""
    assert codes_of(b"{\n{\n")[1] == []
    assert codes_of(b"{\n{\n", format=SEED) == (SEED, [])


def test_note_on_unknown_records_lists_missing_keys() -> None:
    """The note on an unknown format names the nearest formats and missing keys."""
    _, (note,) = noted(jsonl({"input": {}, "evaluation": {}}, {}))
    names = note.message.removeprefix("no known format; the nearest are ").split(", ")

    assert note.code == "S301"
    assert len(names) == 3
    assert "eee@0.2.0" in names
    assert "eee@0.2.0 lacks schema_version, evaluation_id, " in note.help
    assert all(f"{each} lacks " in note.help for each in names)
    assert "lacks input" not in note.help


def test_records_that_are_no_objects_are_near_nothing() -> None:
    """Records that are no objects are near no format."""
    _, (note,) = noted(b"[1, 2]\n[1, 2]\n")

    assert note.code == "S301"
    assert "not objects" in note.message


@pytest.mark.parametrize("rows", [[], [{}], [3]])
def test_asked_format_is_taken_for_anything(rows: list[Any]) -> None:
    """If a format is asked for, unknown records are validated as that."""
    assert codes_of(jsonl(*rows), format=TAG) == (TAG, [])
    assert codes_of(jsonl(*rows), format="eee") == (SEED, [])


@pytest.mark.parametrize(
    ("data", "name"),
    [(b"[{}]", "harpia instances"), (b"{}", "harpia"), (b"", "harpia")],
)
def test_asked_format_is_taken_in_a_dialect_that_the_layout_allows(
    data: bytes, name: str
) -> None:
    """An array asked to be a HarpIA input is a list of instances, no document."""
    assert codes_of(data, format="harpia")[0] == name


def test_versions_of_a_requested_family_are_distinguished() -> None:
    """The version within a requested family is recognized as without the request."""
    data = jsonl(*records_of(CURRENT))

    assert noted(data, format="eee") == noted(data)


def test_other_version_than_requested_is_noted_once() -> None:
    """One note reports that most records are of another version than requested."""
    found, (note,) = noted(jsonl(*records_of(CURRENT)), format=SEED)

    assert (found, note.code) == (SEED, "S201")
    assert note.message.startswith("the file is eee@0.3.0, not eee@0.2.0: ")
    assert 'format="eee@0.3.0";' in note.help


@pytest.mark.parametrize(
    ("rows", "help_"),
    [
        ([{"questions": "q"}, {"questions": "r"}], "leave out format; to convert"),
        ([{"questions": ["q"]}, {"questions": ["r"]}], "put each object in its own"),
        ([{"own": ["q"]}, {"own": ["r"]}], "put each object in its own file"),
        (["q", "r"], "leave out format; here"),
    ],
)
def test_rows_are_told_from_several_objects_of_columns(
    rows: list[Any], help_: str
) -> None:
    """Rows are read by their keys; several objects of columns belong in files."""
    found, (note,) = noted(json.dumps(rows).encode(), format="haystack")

    assert (found, note.code) == ("haystack", "S201")
    assert note.message == "haystack is one object in a file, and this is a JSON array"
    assert note.help.startswith(help_)


@pytest.mark.parametrize(
    ("format_", "kind"),
    [("nemo-input", "JSON"), ("nemo-results", "JSON"), ("parquet", "no text")],
)
def test_table_is_no_other_format(format_: str, kind: str, tmp_path: Path) -> None:
    """What is said of the format is true: not each other one is one object."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"own,other\n1,2\n3,4\n")
    note, *_ = validate(path, format=format_).problems

    assert note.message == f"{format_} is {kind}, and this is a table"
    assert note.help.startswith("leave out format; to convert or score it, say which")


def test_columns_of_a_table_are_no_keys(tmp_path: Path) -> None:
    """Of a table, whatever its file, the advice names a column and not a key."""
    pa = pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
    pq = pytest.importorskip("pyarrow.parquet")
    rows = tmp_path / "a.csv"
    rows.write_bytes(b"own,other\n1,2\n3,4\n")
    table = tmp_path / "a.parquet"
    pq.write_table(pa.table({"own": ["1", "3"], "other": ["2", "4"]}), table)
    for path in (rows, table):
        note, *_ = validate(path, format="haystack").problems

        assert note.message == "haystack is JSON, and this is a table"
        assert "say which column holds what" in note.help
        assert 'columns={"prompt": COLUMN}, where COLUMN is one of' in note.help


def test_rows_of_another_format_than_one_object_are_named() -> None:
    """Rows of a known format are reported as such where columns were requested."""
    found, (note,) = noted(jsonl(*records_of(CURRENT)), format="haystack")

    assert (found, note.code) == ("haystack", "S201")
    assert note.message.startswith("the file is eee@0.3.0, not haystack: ")


def test_truncated_sample_gets_no_note_on_its_version() -> None:
    """A document that was only read in part gets no note about another version."""
    path = min((FIXTURES / "haystack-run" / "valid").glob("*.json"))
    document = path.read_bytes()
    long = document.rstrip() + b" " * 8_500_000

    assert codes_of(document, format=SEED) == (SEED, ["S201"])
    assert codes_of(long, format=SEED) == (SEED, [])


def test_other_shape_that_is_valid_is_no_matter() -> None:
    """Records that match another version may be valid in the one asked for."""
    rows = [each for each in records_of(SEED) if each["interaction_type"] == "agentic"]

    assert rows
    assert codes_of(jsonl(*rows), format=TAG) == (TAG, [])


@pytest.mark.parametrize(
    ("others", "codes"), [(1, ["S210"]), (2, ["S210"]), (3, ["S201"])]
)
def test_other_shape_needs_more_than_half(others: int, codes: list[str]) -> None:
    """The file is of another version only if most of its records are."""
    rows = records_of(CURRENT)[:1] * others + [{}] * 2

    assert codes_of(jsonl(*rows), format=SEED) == (SEED, codes)


def test_less_than_half_of_the_records_are_of_the_requested_version() -> None:
    """Then the file is of the other version, although some records are as requested."""
    rows = [*records_of(SEED)[:1] * 4, *records_of(CURRENT)[:1] * 5]

    assert codes_of(jsonl(*rows), format=SEED) == (SEED, ["S201"])
    assert codes_of(jsonl(*rows[:-1]), format=SEED) == (SEED, ["S210"])
