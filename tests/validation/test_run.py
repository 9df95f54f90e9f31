import gzip
import io
import itertools
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cases import for_each_case
from corpora import CORPORA
from harpia_formats import (
    FileCount,
    Group,
    Report,
    SchemaError,
    Severity,
    UnknownFormat,
    UnknownRule,
    ValidationFailed,
    iter_problems,
    validate,
    write_report,
)
from known_formats import RULES

ROOT = Path(__file__).parents[2]
FOLDERS = sorted((ROOT / "fixtures").iterdir())
SAMPLES = CORPORA / "eee" / "samples"
CONTRACT = jsonschema.Draft7Validator(
    json.loads(
        (ROOT / "schemas" / "harpia-formats" / "report-1.schema.json").read_bytes()
    )
)
NUMBERS = {"type": "object", "properties": {"n": {"type": "integer"}}}
SHAPES = ("eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0")
#: Each group of samples: files, records, and how many are valid in each shape.
GROUPS = {
    "skill_reference": (1, 1, (0, 1, 1)),
    "hist_": (3, 25, (0, 0, 25)),
    "conv_helm_": (3, 190, (0, 0, 190)),
    "conv_inspect_mock_": (3, 9, (0, 0, 0)),
    "conv_inspect_[!m]": (5, 12, (0, 0, 0)),
    "conv_lm_eval": (1, 10, (0, 0, 0)),
    "era96bd610f_inspect": (5, 12, (0, 0, 0)),
    "era320d58e9": (9, 47, (0, 0, 0)),
}


def json_report(*inputs: Any, **options: Any) -> Any:
    """Return the JSON report of a validation of `inputs`, read again."""
    written = io.BytesIO()
    write_report(validate(*inputs, **options), written, reporter="json")
    return json.loads(written.getvalue())


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """Return a file of two rows that are valid by `NUMBERS`."""
    path = tmp_path / "good.jsonl"
    path.write_bytes(b'{"n": 1}\n{"n": 2}\n')
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    """Return a file with one valid row and one that is not."""
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b'{"n": 1}\n{"n": "x"}\n')
    return path


def test_good_file_is_ok(good: Path) -> None:
    """A valid file gives a report without problems, and nothing is raised."""
    report = validate(good, schema=NUMBERS)
    report.raise_for_errors()

    assert report.ok
    assert list(report.problems + report.failures) == []
    assert report.groups == ()
    assert report.files == (
        FileCount(str(good), format="schema", records=2, bytes=18, complete=True),
    )


def test_bad_file_is_not(bad: Path) -> None:
    """An error is in the counts, in a group and among the problems."""
    report = validate(bad, schema=NUMBERS)
    (problem,) = report.problems
    (group,) = report.groups
    (count,) = report.files

    assert not report.ok
    assert (problem.code, problem.place.line, problem.place.path) == (
        "S102",
        2,
        str(bad),
    )
    assert replace(group, cause="") == Group(
        str(bad),
        "S102",
        problem.name,
        problem.severity,
        "/n",
        1,
        2,
        7,
        2,
        message=problem.message,
    )
    assert (count.records, count.valid, count.invalid) == (2, 1, 1)


def test_raises_for_errors_with_the_first(bad: Path) -> None:
    """`raise_for_errors` raises with the report, and says where the first error is."""
    report = validate(bad, schema=NUMBERS)

    with pytest.raises(ValidationFailed, match=r"bad\.jsonl:2:7 S102: ") as caught:
        report.raise_for_errors()

    assert caught.value.report is report


def test_raises_for_what_could_not_be_read(good: Path) -> None:
    """A file that is missing is no success, though no record has an error."""
    report = validate(good, good.with_name("god.jsonl"), schema=NUMBERS)

    assert not report.ok
    assert report.errors == 0
    with pytest.raises(ValidationFailed, match=r"god\.jsonl: .*did you mean .*good"):
        report.raise_for_errors()


def test_warnings_are_ok() -> None:
    """A warning or a note makes no record invalid."""
    report = validate(b'\xef\xbb\xbf{"n": 1}\n\n', schema=NUMBERS)

    assert report.ok
    assert [each.code for each in report.problems] == ["J201", "J202"]


def test_problems_come_one_by_one(bad: Path) -> None:
    """`iter_problems` yields what `validate` reports."""
    found = list(iter_problems(bad, b"{", schema=NUMBERS))

    assert found == list(validate(bad, b"{", schema=NUMBERS).problems)


def test_problems_are_not_capped() -> None:
    """`iter_problems` yields every problem, unless a cap is asked for."""
    data = b'{"n": "x"}\n' * 3_000

    assert len(list(iter_problems(data, schema=NUMBERS))) == 3_000
    assert len(list(iter_problems(data, schema=NUMBERS, examples=2))) == 2
    assert len(validate(data, schema=NUMBERS).problems) == 5


def test_problems_do_not_end_quietly(bad: Path) -> None:
    """Without a report, `iter_problems` raises at the end for what was not read."""
    problems = iter_problems(bad.with_name("none.jsonl"), bad, schema=NUMBERS)

    assert next(problems).code == "S102"
    with pytest.raises(ValidationFailed):
        next(problems)


def test_missing_files_do_not_stop_the_others(good: Path, bad: Path) -> None:
    """What is missing is a failed file in its place; the others are validated."""
    missing = good.with_name("none.jsonl")
    report = validate(good, missing, bad, schema=NUMBERS)
    paths = [each.path for each in report.files]

    assert paths == [str(each) for each in (good, missing, bad)]
    assert [each.records for each in report.files] == [2, 0, 2]
    assert [each.complete for each in report.files] == [True, False, True]
    assert [each.path for each in report.failures] == [str(missing)]
    assert report.summary()["files"] == 3


def test_folder_is_its_data_files(tmp_path: Path) -> None:
    """A folder stands for the data files in it, hidden ones and others left out."""
    (tmp_path / "deep").mkdir()
    for each in (".a.jsonl", "b.jsonl", "c.txt", "deep/d.json", "e.ndjson"):
        (tmp_path / each).write_bytes(b'[{"n": 1}]')
    report = validate(tmp_path, schema=NUMBERS)
    names = [str(Path(each.path).relative_to(tmp_path)) for each in report.files]

    assert names == ["b.jsonl", "deep/d.json", "e.ndjson"]


def test_folder_without_data_is_a_failure(tmp_path: Path) -> None:
    """A folder without data files is a failure of the report."""
    report = validate(tmp_path)

    assert not report.ok
    assert "no data files" in (report.failures[0].reason or "")


def test_file_named_twice_is_read_once(
    good: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file named by several paths, its folder and a pattern is validated once."""
    monkeypatch.chdir(good.parent)
    inputs = (good, str(good), "good.jsonl", "./good.jsonl", ".", "*.jsonl")

    assert [each.records for each in validate(*inputs, schema=NUMBERS).files] == [2]


def test_equal_bytes_are_separate_inputs() -> None:
    """Equal bytes given twice are two inputs, each with a name of its own."""
    data = b'{"n": "x"}'
    report = validate(data, data, b"{}", schema=NUMBERS)

    assert [each.path for each in report.files] == [
        "<data>",
        "<data> (2)",
        "<data> (3)",
    ]
    assert [(each.path, each.count) for each in report.groups] == [
        ("<data>", 1),
        ("<data> (2)", 1),
    ]


def test_open_files_are_read(bad: Path) -> None:
    """An open binary file is read from where it stands, by its name, and left open."""
    with bad.open("rb") as stream:
        stream.readline()
        report = validate(stream, stream, schema=NUMBERS)

        assert not stream.closed
    (count,) = report.files
    assert (count.path, count.records, count.invalid) == (str(bad), 1, 1)


def test_streams_without_a_name_are_numbered() -> None:
    """Streams in memory are named `<stream>` and numbered."""
    streams = io.BytesIO(b'{"n": 1}'), io.BytesIO(b'{"n": "x"}')
    report = validate(*streams, schema=NUMBERS)

    assert [each.path for each in report.files] == ["<stream>", "<stream> (2)"]
    assert [each.invalid for each in report.files] == [0, 1]


@pytest.mark.parametrize("given", [3, None, io.StringIO("{}")])
def test_input_of_another_type_is_refused(given: Any) -> None:
    """A mistake in a call is a `TypeError` at once, not a verdict on data."""
    with pytest.raises(TypeError, match="an input is a path, bytes, an open binary"):
        validate(b"{}", given)


@for_each_case(
    "options, error, words",
    [
        ({"format": "ee"}, UnknownFormat, "no format is called 'ee'"),
        ({"select": ("Q",)}, UnknownRule, "Q"),
        ({"ignore": ("S101", "conditional-turn")}, UnknownRule, "conditional-turns"),
        ({"schema": {"type": "objekt"}}, SchemaError, "objekt"),
        ({"schema": "none.json"}, SchemaError, "none.json"),
        ({"schema": True, "format": "eee"}, ValueError, "exclude each other"),
        ({"limit": 0}, ValueError, "limit must be at least 1, not 0"),
        ({"limit": -1}, ValueError, "limit must be at least 1, not -1"),
        ({"examples": -1}, ValueError, "examples must be at least 0"),
        ({"max_problems": -1}, ValueError, "max_problems must be at least 0"),
        ({"max_row_bytes": 0}, ValueError, "max_row_bytes must be at least 1"),
        ({"limits": 3}, TypeError, "limits"),
    ],
)
def test_options_that_cannot_be_met(
    options: dict[str, Any], error: type[Exception], words: str
) -> None:
    """Options that are not allowed raise an error before anything is read."""
    with pytest.raises(error, match=words):
        validate(b"{}", **options)


def test_limit_is_of_each_file(good: Path, bad: Path) -> None:
    """Every file is validated up to the limit, not only the first one."""
    report = validate(good, bad, schema=NUMBERS, limit=1)

    assert [(each.records, each.complete) for each in report.files] == [(1, False)] * 2
    assert report.ok


def test_limit_before_truncated_data() -> None:
    """Data after the limit is not read, so that it may be truncated."""
    data = gzip.compress(b'{"n": 1}\n{"n": 2}\n')[:-8]

    assert validate(data, schema=NUMBERS, limit=1).ok
    assert not validate(data, schema=NUMBERS).ok


def test_fail_fast_ends_the_run(good: Path, bad: Path) -> None:
    """With `fail_fast` no file after the first error is opened."""
    report = validate(good, bad, good.with_name("none"), schema=NUMBERS, fail_fast=True)

    assert [each.path for each in report.files] == [str(good), str(bad)]
    assert (report.errors, len(report.problems)) == (1, 1)


@for_each_case("examples, most", itertools.product([0, 1, 5], [0, 1, 7]))
def test_caps_leave_counts_exact(examples: int, most: int) -> None:
    """Counts and groups are exact with any number of examples."""
    rows = [{"n": "x", "a": "y"}, {"n": 1, "a": "y"}, {"n": 1}] * 100
    schema = {"properties": {"n": {"type": "integer"}, "a": {"type": "integer"}}}
    data = "\n".join(json.dumps(each) for each in rows).encode()
    report = validate(data, schema=schema, examples=examples, max_problems=most)
    kept = Counter(each.place.pointer for each in report.problems)
    expected = {"/n": 100, "/a": 200}

    assert {each.pointer: each.count for each in report.groups} == expected
    assert (report.errors, report.files[0].invalid) == (300, 200)
    assert not examples or max(kept.values()) <= examples
    assert not most or kept.total() == min(most, 2 * examples or most)
    assert examples or most or kept == expected


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda each: each.name)
def test_reports_keep_their_contract(folder: Path) -> None:
    """The JSON report of all fixtures of a format is valid by its published schema."""
    whole = json_report(folder, format=folder.name)
    CONTRACT.validate(whole)
    errors = [
        each["count"]
        for each in whole["groups"]
        if RULES[each["code"]].severity is Severity.ERROR
    ]

    assert whole["summary"]["errors"] == sum(errors) > 0
    for each in whole["files"]:
        parts = each["valid"] + each["invalid"] + each["undetermined"]
        assert each["records"] == parts
        assert each["format"] == folder.name


def test_report_of_what_failed_keeps_the_contract(good: Path) -> None:
    """A missing file, a folded one and an unknown format are reported by it too."""
    other = ROOT / "fixtures" / SHAPES[2] / "valid" / "runs.jsonl"
    for shape in ("eee@0.2.0", None):
        whole = json_report(good, other, "none", b"", b"{", format=shape)
        CONTRACT.validate(whole)

        assert [each["format"] for each in whole["files"]][2:] == [None, shape, shape]
        assert whole["files"][2]["reason"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda each: each.name)
def test_engines_agree_on_every_fixture(folder: Path) -> None:
    """With `cross_check` the reference engine confirms every verdict."""
    plain = validate(folder, format=folder.name)

    assert validate(folder, format=folder.name, cross_check=True) == plain


def samples_of(group: str) -> list[Path]:
    """Return the real files of a group."""
    return sorted(SAMPLES.glob(f"{group}*_samples*.jsonl"))


def report_by_shape(paths: list[Path], shape: str, **options: Any) -> Report:
    """Return the report of some files that are validated by one shape."""
    report = validate(*paths, format=shape, **options)
    assert not report.failures
    return report


@pytest.mark.corpora
@for_each_case("group, shape", itertools.product(GROUPS, SHAPES))
def test_counts_of_valid_real_records(group: str, shape: str) -> None:
    """The number of valid real records of each group and shape is the one upstream."""
    files, records, valid = GROUPS[group]
    report = report_by_shape(samples_of(group), shape)
    summary = report.summary()

    assert (summary["files"], summary["records"]) == (files, records)
    assert summary["valid"] == valid[SHAPES.index(shape)]
    assert summary["valid"] + summary["invalid"] == records


@pytest.mark.corpora
@pytest.mark.parametrize("shape", SHAPES)
def test_real_files_in_another_shape_have_one_hint(shape: str) -> None:
    """A file of another shape has one S201, before the findings of its records."""
    paths = samples_of("")
    report = report_by_shape(paths, shape)
    plain = report_by_shape(paths, shape, ignore=("S201",))
    hints = Counter(each.path for each in report.groups if each.code == "S201")
    first = {each.path: each.code for each in reversed(report.groups)}

    assert report.summary()["records"] == 306
    assert report.errors == plain.errors + hints.total()
    assert {path: (hints[path], first[path]) for path in hints} == dict.fromkeys(
        hints, (1, "S201")
    )


@pytest.mark.corpora
def test_both_engines_agree_on_real_records() -> None:
    """The reference engine confirms the verdict on all real records."""
    paths = samples_of("")

    assert report_by_shape(paths, "eee", cross_check=True) == report_by_shape(
        paths, "eee"
    )


_UNKNOWN = {
    "unknown.json": b'{"prompt": 5}',
    "unknown.jsonl": b'{"prompt": 5}\n{"prompt": 6}\n',
    "ambiguous.json": b'{"own": ["a"], "other": ["b"]}',
}


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("name", _UNKNOWN)
@pytest.mark.parametrize(
    "rules",
    [{"select": ["J"]}, {"select": ["S301"]}, {"select": ["S"]}, {"ignore": ["S301"]}],
)
def test_records_of_no_known_format_have_no_verdict(
    tmp_path: Path, rules: dict[str, Any], name: str, jobs: int
) -> None:
    """No record of an unknown format is valid, whatever rules are selected."""
    (tmp_path / name).write_bytes(_UNKNOWN[name])
    (tmp_path / "good.jsonl").write_bytes(b'{"prompt": "a", "outputs": ["b"]}\n')
    report = validate(tmp_path, jobs=jobs, **rules)
    (count,) = (file for file in report.files if file.path.endswith(name))

    assert not report.ok
    assert (count.valid, count.undetermined) == (0, count.records)
    assert count.unreported == (() if count.errors else ("S301",))
    with pytest.raises(ValidationFailed, match="S301"):
        report.raise_for_errors()


def test_byte_of_an_open_value_is_one_of_the_file(tmp_path: Path) -> None:
    """It is counted as the offset of the place is, and a missing file is counted."""
    rows = b'{"a": 1}\n\n{"a":\n'
    report = validate(rows, tmp_path / "none", format="json")
    (found,) = [each for each in report.problems if each.code == "J102"]

    assert found.message == "the text ends inside an object that starts at byte 10"
    assert found.place.byte_offset == 15
    assert report.headline().endswith(", 1 not read to the end")


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("file", "format_", "code"),
    [
        (("broken.jsonl", b'{"a": 1,\n'), None, "J102"),
        (("broken.jsonl", b'{"a": 1,\n'), "record", "J102"),
        (("bytes.jsonl", b'{"a": "\xff"}\n'), None, "J103"),
        (("bytes.jsonl", b'{"a": "\xff"}\n'), "record", "J103"),
        (("semi.csv", b"id;input\n1;a\n2;b\n"), None, "J307"),
        (("fields.csv", b"prompt,response\na\n"), "csv", "J304"),
    ],
)
def test_rule_that_is_not_reported_is_named(
    tmp_path: Path, file: tuple[str, bytes], format_: str | None, code: str, jobs: int
) -> None:
    """A rule that leaves records without a verdict is named if it is not reported."""
    name, data = file
    files = [tmp_path / name, tmp_path / f"more-{name}"]
    for path in files:
        path.write_bytes(data)
    report = validate(*files, format=format_, ignore=[code], jobs=jobs)

    assert not report.ok
    for count in report.files:
        assert (count.valid, count.unreported) == (0, (code,))
    (line,) = report.no_verdict_lines()
    assert f"{code}: add it to `--select`" in line


def test_remarks_are_on_records_that_the_schema_allows() -> None:
    """Without the rules of the schema, an invalid record leads to no internal error."""
    invalid = sorted((ROOT / "fixtures").glob("*/invalid/*.json"))
    report = validate(*invalid, select=["X"], jobs=1)

    assert len(invalid) > 50
    assert not [each for each in report.problems if each.code == "V902"]


@pytest.mark.parametrize("levels", [60, 300, 100_000])
def test_a_schema_that_is_nested_too_deeply_is_refused(levels: int) -> None:
    """It is one of a user's mistakes at any depth, and no internal error."""
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}}

    with pytest.raises(SchemaError, match="is nested deeper than 100 levels"):
        validate(b"{}", schema=schema, jobs=1)


@for_each_case("least, is_enough", [(0, True), (3, True), (4, False)])
def test_records_of_all_inputs_are_counted(least: int, is_enough: bool) -> None:
    """As many records as are asked for are enough, whichever input they are in."""
    report = validate(b"{}", b"{}\n{}", schema=True, min_records=least)

    assert (report.ok, len(report.problems)) == (is_enough, not is_enough)
