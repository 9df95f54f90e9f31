"""A data set is held at the level of its baseline."""

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from faulty_code import fails_at
from fixture_files import schema_file
from harpia_formats import (
    HarpiaFormatsError,
    OptionError,
    Report,
    iter_problems,
    validate,
)
from harpia_formats.reporters import REPORTERS
from harpia_formats.reporters import Options as Wishes
from in_process import InProcess
from json_lines import jsonl_rows
from worker_units import small_units

SCHEMA = {
    "type": "object",
    "required": ["a"],
    "properties": {"a": {"type": "integer"}, "b": {"type": "array", "maxItems": 1}},
    "patternProperties": {"[~\u0000]": {"type": "integer"}},
}
#: Rows, each with so many findings.
ROWS = {
    '{"a": 1}': 0,
    '{"a": 2}': 0,
    "{}": 1,
    '{"a": "x"}': 1,
    '{"a": "x", "b": [1, 2]}': 2,
    '{"a": null}': 1,
    '{"a": 1, "é\\u2028/~\\"": "x", "a\\u0000": "x"}': 2,
    '{"a" 1}': 1,
    "": 1,
}
rows = st.lists(st.sampled_from(sorted(ROWS)), min_size=1, max_size=12)


def write_rows(path: Path, *lines: str) -> Path:
    """Write lines to a file below a folder and return it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def checked(folder: Path, **options: Any) -> Report:
    """Return the report of the files in a folder with its baseline."""
    baseline = folder / "baseline.json"
    return validate(folder, schema=SCHEMA, baseline=baseline, **options)


def record(folder: Path, **options: Any) -> Report:
    """Write the baseline of a folder; return the report."""
    written = folder / "baseline.json"
    return validate(folder, schema=SCHEMA, write_baseline=written, **options)


@examples(10)
@given(rows, rows.filter(any))
def test_a_new_baseline_holds_all_and_shows_any_new_finding(
    first: Sequence[str], second: Sequence[str]
) -> None:
    """The same data has no finding; further rows have theirs, exactly."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_rows(folder / "d" / "1.jsonl", *first)
        write_rows(folder / "2.jsonl", *second)
        found = record(folder)
        held = checked(folder)
        assert held.summary()["errors"] == held.summary()["notes"] == 0
        assert (held.groups, held.problems) == ((), ())
        assert held.ok
        assert held.baseline is not None
        assert held.baseline.held == sum(group.count for group in found.groups)
        assert held.baseline.unused == 0
        text = (folder / "baseline.json").read_bytes()
        jsonschema.validate(json.loads(text), schema_file("baseline-1"))
        findings = json.loads(text)["findings"]
        assert sum(one["count"] for one in findings) == held.baseline.held
        assert len(text.split(b"\n")) == (len(findings) or 1) + 3
        files = folder / "d" / "1.jsonl", folder / "2.jsonl"
        validate(*files, schema=SCHEMA, write_baseline=folder / "other.json")
        assert (folder / "other.json").read_bytes() == text
        (folder / "baseline.json").write_bytes(b"\xef\xbb\xbf" + text)
        (folder / "other.json").unlink()

        for row in (row for row, count in ROWS.items() if count and row):
            write_rows(folder / "2.jsonl", *second, row)
            broken = checked(folder)

            assert broken.errors == sum(group.count for group in broken.groups)
            assert broken.errors == ROWS[row]
            assert not broken.ok
            assert len(broken.problems) == ROWS[row]
            last = {one.place.line for one in broken.problems}
            assert last == {len(second) + 1}


@examples(15)
@given(rows, rows, st.sampled_from([0, 1, 5]), st.sampled_from([0, 3]))
def test_findings_above_are_the_same_in_any_number_of_processes(
    first: Sequence[str], second: Sequence[str], examples: int, most: int
) -> None:
    """The report with a baseline does not depend on the workers."""
    with TemporaryDirectory() as name, ThreadPoolExecutor(2) as executor:
        folder = Path(name)
        path = write_rows(folder / "1.jsonl", *first)
        record(folder)
        write_rows(path, *second, *first)
        options: Any = {"examples": examples, "max_problems": most}

        assert checked(folder, **options) == checked(
            folder, **options, executor=executor
        )


@for_each_case("reporter", sorted(REPORTERS))
def test_every_reporter_says_what_the_baseline_holds(
    reporter: str, tmp_path: Path
) -> None:
    """Each output has the number that is held, and the reports keep their contract."""
    path = write_rows(tmp_path / "1.jsonl", *['{"a": "x"}'] * 10)
    record(tmp_path)
    write_rows(path, *['{"a": "x"}'] * 12)
    baseline = tmp_path / "baseline.json"
    found = validate(path, schema=SCHEMA, baseline=baseline)
    parts: list[str] = []

    REPORTERS[reporter].write(
        found.problems, lambda: found, parts.append, Wishes(statistics=True)
    )

    text = "".join(parts)
    contract = schema_file("report-1")
    if reporter == "json":
        report = json.loads(text)
        jsonschema.validate(report, contract)
        assert report["summary"]["baseline"] == report["files"][0]["baseline"] == 10
        assert report["summary"]["baseline_unused"] == 0
        assert report["groups"][0]["count"] == report["summary"]["errors"] == 2
        assert report["groups"][0]["baseline"] == 10
        assert [one["line"] for one in report["problems"]] == [11, 12]
    elif reporter == "jsonl":
        lines = jsonl_rows(text)
        for line in lines:
            jsonschema.validate(line, {**contract, "$ref": "#/definitions/line"})
        assert lines[-1]["groups"][0]["baseline"] == 10
    elif reporter == "html":
        assert "12 found, 10 in the baseline" in text
    elif reporter in {"full", "concise"}:
        assert "12 found, 10 in the baseline" in text
        assert ("; 10 in the baseline (" in text) == (reporter == "full")
        assert text.count("wrong-type") >= 2


def test_findings_beyond_many_known_ones_are_counted_exactly(tmp_path: Path) -> None:
    """Where many findings are known, new ones count, and `examples=0` shows them."""
    path = write_rows(tmp_path / "1.jsonl", *['{"a": "x"}'] * 1000)
    record(tmp_path)
    write_rows(path, *['{"a": "x"}'] * 1003)

    report = checked(tmp_path)
    shown = checked(tmp_path, examples=0)

    assert (report.errors, report.problems) == (3, ())
    assert [one.place.line for one in shown.problems] == [1001, 1002, 1003]


def test_workers_give_the_report_of_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large and small files are held alike by worker processes."""
    small_units(monkeypatch, 50_000, whole_files=110_000)
    row = '{"a": 1, "b": [1]}'
    for number in range(8):
        lines = [row] * 6_000
        lines[100 * number] = '{"a": "x"}'
        write_rows(tmp_path / f"{number}.jsonl", *lines)
    record(tmp_path, jobs=2)
    write_rows(tmp_path / "3.jsonl", *[row] * 5_000, "{}", '{"a": "x"}', '{"a": "x"}')

    one, two = (checked(tmp_path, jobs=jobs) for jobs in (1, 2))

    assert one == two
    assert one.errors == 2


def test_the_baseline_is_no_data(tmp_path: Path) -> None:
    """A baseline in a folder that is validated is not one of its files."""
    write_rows(tmp_path / "1.jsonl", "{}")
    record(tmp_path)

    assert [file.path for file in checked(tmp_path).files] == [
        str(tmp_path / "1.jsonl")
    ]


def test_a_baseline_that_is_better_than_needed_says_so(tmp_path: Path) -> None:
    """Findings that are gone, and those of files that are gone, are counted."""
    first = write_rows(tmp_path / "1.jsonl", "{}", "{}", '{"a": null}')
    second = write_rows(tmp_path / "2.jsonl", "{}")
    write_rows(tmp_path / "3.jsonl", "{}")
    record(tmp_path)
    write_rows(first, "{}")
    second.unlink()

    used = checked(tmp_path).baseline
    assert used is not None
    assert (used.held, used.unused, used.unused_in) == (2, 3, ("1.jsonl", "2.jsonl"))

    checked(tmp_path, write_baseline=tmp_path / "baseline.json")
    tightened = checked(tmp_path).baseline
    assert tightened is not None
    assert (tightened.held, tightened.unused) == (2, 0)


def test_a_report_with_a_baseline_becomes_plain_data(tmp_path: Path) -> None:
    """`dataclasses.asdict` returns what the baseline held as plain data, too."""
    write_rows(tmp_path / "1.jsonl", "{}")
    record(tmp_path)

    assert asdict(checked(tmp_path))["baseline"] == {
        "path": str(tmp_path / "baseline.json"),
        "held": 1,
        "unused": 0,
        "unused_in": (),
    }


def test_findings_of_other_rules_and_files_are_not_called_gone(tmp_path: Path) -> None:
    """What was not looked for is not missed."""
    first = write_rows(tmp_path / "1.jsonl", "{}", '{"a": null}')
    write_rows(tmp_path / "2.jsonl", "{}")
    record(tmp_path)
    options: Any = {"schema": SCHEMA, "baseline": tmp_path / "baseline.json"}

    for report in (
        validate(first, **options),
        validate(first, **options, select=["S102"]),
        validate(tmp_path, **options, limit=1),
    ):
        assert report.baseline is not None
        assert report.baseline.unused == 0


def test_a_tightened_baseline_never_holds_new_findings(tmp_path: Path) -> None:
    """New findings stay above a baseline that is tightened, and are reported."""
    path = write_rows(tmp_path / "1.jsonl", "{}", '{"a": null}')
    record(tmp_path)
    write_rows(path, "{}", "{}", "{}")

    report = checked(tmp_path, write_baseline=tmp_path / "baseline.json")
    again = checked(tmp_path)

    assert report.errors == again.errors == 2
    assert again.baseline is not None
    assert again.baseline.unused == 0


def test_a_file_that_cannot_be_read_writes_no_baseline(tmp_path: Path) -> None:
    """A baseline of only a part of the files is not written."""
    write_rows(tmp_path / "1.jsonl", "{}")
    path = tmp_path / "baseline.json"

    report = validate(
        tmp_path, tmp_path / "missing.jsonl", schema=SCHEMA, write_baseline=path
    )

    assert report.failures
    assert not path.exists()


def test_records_without_a_verdict_are_never_held(tmp_path: Path) -> None:
    """A file in no known format is an error, whatever the baseline has."""
    write_rows(tmp_path / "1.jsonl", '{"what": "is this"}')
    path = tmp_path / "baseline.json"
    validate(tmp_path, write_baseline=path)

    held = validate(tmp_path, baseline=path)

    assert [group.code for group in held.groups] == ["S301"]
    assert not held.ok


def test_another_file_is_never_replaced(tmp_path: Path) -> None:
    """A file that is no baseline is not overwritten, and reported before the run."""
    path = write_rows(tmp_path / "1.jsonl", "{}")
    with pytest.raises(HarpiaFormatsError, match="is no baseline, and is not replaced"):
        validate(path, schema=SCHEMA, write_baseline=path)
    with pytest.raises(HarpiaFormatsError, match="its folder does not exist"):
        validate(path, schema=SCHEMA, write_baseline=tmp_path / "no" / "b.json")
    with pytest.raises(HarpiaFormatsError, match="is a folder"):
        validate(path, schema=SCHEMA, baseline=tmp_path)
    with pytest.raises(HarpiaFormatsError, match="does not exist"):
        validate(path, schema=SCHEMA, baseline=tmp_path / "b.json")

    assert path.read_text() == "{}\n"


@pytest.mark.parametrize(
    "options",
    [
        {"baseline": "b", "fail_fast": True},
        {"write_baseline": "b", "fail_fast": True},
        {"write_baseline": "b", "limit": 3},
    ],
)
def test_options_that_leave_findings_out_are_refused(options: Any) -> None:
    """A baseline counts all findings of a file."""
    with pytest.raises(OptionError, match="cannot be combined"):
        validate(b"{}", **options)


def test_all_problems_above_are_yielded(tmp_path: Path) -> None:
    """`iter_problems` yields every finding beyond the known ones."""
    path = write_rows(tmp_path / "1.jsonl", "{}", '{"a": 1}')
    record(tmp_path)
    write_rows(path, "{}", *['{"a": null}'] * 8, "{}")

    found = iter_problems(path, schema=SCHEMA, baseline=tmp_path / "baseline.json")

    assert [one.place.line for one in found] == list(range(2, 11))


def test_findings_of_rules_that_were_not_checked_are_kept(tmp_path: Path) -> None:
    """A baseline keeps the findings of a rule that a tightening run ignores."""
    path = write_rows(tmp_path / "1.jsonl", '{"a": null}', "", "{}")
    record(tmp_path)
    baseline = tmp_path / "baseline.json"
    before = baseline.read_text()
    write_rows(path, '{"a": 1}', "", "{}")

    checked(tmp_path, write_baseline=baseline, ignore=["J202", "S101"])

    gone = [line for line in before.splitlines() if '"S102"' in line]
    assert len(gone) == 1
    kept = json.loads(baseline.read_text())["findings"]
    assert [one["code"] for one in kept] == ["J202", "S101"]


def test_findings_of_a_file_whose_name_is_no_utf_8_are_kept(tmp_path: Path) -> None:
    """The baseline has the escapes of its bytes, and the file is not gone."""
    path = write_rows(tmp_path / "\udcff\udc80.jsonl", "{}")
    record(tmp_path)
    baseline = tmp_path / "baseline.json"
    before = baseline.read_text()

    assert checked(tmp_path, write_baseline=baseline).ok
    assert json.loads(before)["findings"]
    assert baseline.read_text() == before
    path.unlink()
    write_rows(tmp_path / "1.jsonl", '{"a": 1}')
    held = checked(tmp_path).baseline
    assert held is not None
    assert held.unused == 1


def test_what_cannot_be_held_is_not_written(tmp_path: Path, run: InProcess) -> None:
    """A file in no known format is in no baseline, and the run names it."""
    strange = write_rows(tmp_path / "1.jsonl", '{"what": "is this"}')
    path = tmp_path / "baseline.json"
    shown = run("validate", tmp_path, "--write-baseline", path).err

    assert json.loads(path.read_text())["findings"] == []
    assert str(strange) in shown


@pytest.mark.parametrize("kind", ["baseline", "report"])
@pytest.mark.parametrize("schema", [None, SCHEMA])
def test_baselines_and_reports_in_a_folder_are_no_data(
    kind: str, schema: Any, tmp_path: Path
) -> None:
    """A file that is no data is passed over in a folder, and validated by its name."""
    write_rows(tmp_path / "1.jsonl", '{"a": 1, "prompt": "p", "ideal_response": "i"}')
    own = write_rows(
        tmp_path / "old.json", "{", f' "schema": "harpia-formats/{kind}/1"', "}"
    )

    found = validate(tmp_path, schema=schema)
    named = validate(own, schema=schema)

    assert [file.skipped for file in found.files] == ["", f"a harpia-formats {kind}"]
    assert found.ok
    messages = [group.message for group in found.groups if group.code == "J114"]
    assert messages == [f"passed over: 1 harpia-formats {kind}"]
    assert not named.ok


def test_records_on_which_our_code_fails_are_never_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An internal error says nothing about the data, and stays an error."""
    write_rows(tmp_path / "1.jsonl", "{}", '{"a": 7}')
    fails_at(monkeypatch, b"7")
    record(tmp_path)
    findings = json.loads((tmp_path / "baseline.json").read_text())["findings"]

    assert [one["code"] for one in findings] == ["S101"]
    assert [one.code for one in checked(tmp_path).problems] == ["V902"]


def text_with(*more: object, **entry: object) -> bytes:
    """Return a baseline of one finding with these members, and of more findings."""
    whole = {"path": "a", "code": "S101", "pointer": "", "count": 1, **entry}
    return json.dumps(
        {"schema": "harpia-formats/baseline/1", "findings": [whole, *more]}
    ).encode()


@for_each_case(
    "data, reason",
    [
        (b'{"schema": "harpia-formats/baseline/2"}', "has version 2, and this version"),
        (b'{"schema": "harpia-formats/report/1"}', "is no baseline"),
        (b"[]", "is no baseline"),
        (b"{", "is not JSON: .*line 1, column 2"),
        (b"\n<<<<<<< ours\n", "is not JSON: .*line 2, column 1"),
        (b"\xff", "is not UTF-8"),
        (b"[" * 100_000, "is not JSON"),
        (
            b'{"schema": "harpia-formats/baseline/1"}',
            'must have "schema" and "findings"',
        ),
        (text_with(count=0), 'finding 1 must have "count"'),
        (text_with(count=True), 'finding 1 must have "count"'),
        (text_with(code=None), 'finding 1 must have "code"'),
        (text_with(cause=1), 'finding 1 must have "cause"'),
        (text_with(counts=1), 'finding 1 has an unknown key "counts"'),
        (text_with(1), "finding 2 is no object"),
        # As a bad merge leaves them.
        (
            text_with({"path": "a", "code": "S101", "pointer": "", "count": 2}),
            "finding 2 repeats an earlier one",
        ),
    ],
)
def test_what_is_no_baseline_is_refused(
    data: bytes, reason: str, tmp_path: Path
) -> None:
    """A text that is no baseline of this version is refused with the reason."""
    path = tmp_path / "b"
    path.write_bytes(data)

    with pytest.raises(HarpiaFormatsError, match=f"baseline {path}: .*{reason}"):
        validate(b"{}", schema=True, baseline=path)


def test_no_baseline_goes_to_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Findings go there; `./-` names a file."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(HarpiaFormatsError, match="baseline -: only findings go to"):
        validate(b"{}", schema=SCHEMA, write_baseline="-")
    assert list(tmp_path.iterdir()) == []
    validate(b"{}", schema=SCHEMA, write_baseline="./-")
    assert [path.name for path in tmp_path.iterdir()] == ["-"]


def test_files_are_named_from_the_folder_of_the_baseline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file has one name in a baseline, however and from wherever it is named."""
    path = write_rows(tmp_path / "data" / "x.jsonl", "{}")
    monkeypatch.chdir(path.parent)
    places: dict[str, list[Any]] = {
        "data/x.jsonl": ["x.jsonl", "./x.jsonl", "../data/x.jsonl", str(path)]
    }
    for found, names in {**places, "<data>": [b"{}"]}.items():
        for name in names:
            for baseline in (str(tmp_path / "b.json"), "../b.json"):
                Path(baseline).unlink(missing_ok=True)
                validate(name, schema=SCHEMA, write_baseline=baseline)
                (one,) = json.loads(Path(baseline).read_text())["findings"]
                assert one["path"] == found


def test_addresses_stay_as_they_are_in_a_baseline(tmp_path: Path) -> None:
    """A file of a store is named by its address, and its findings are held by it."""
    fsspec = pytest.importorskip("fsspec", reason="the extra remote is not installed")
    address = "memory://baseline/x.jsonl"
    fsspec.filesystem("memory").pipe(address, b"{}\n")
    path = tmp_path / "b.json"
    validate(address, schema=SCHEMA, write_baseline=path)
    (one,) = json.loads(path.read_text())["findings"]
    report = validate(address, schema=SCHEMA, baseline=path)

    assert one["path"] == address
    assert (report.errors, report.ok) == (0, True)


def test_a_baseline_is_tightened_only_for_what_was_checked(tmp_path: Path) -> None:
    """Findings of files that are not read are kept; no count grows, none is new."""
    wrong = '{"a": null}'
    one = write_rows(tmp_path / "1.jsonl", "{}", "{}", "{}", wrong)
    two = write_rows(tmp_path / "2.jsonl", "{}")
    write_rows(tmp_path / "3.jsonl", "{}", "{}")
    record(tmp_path)
    write_rows(one, "{}", "{}")
    write_rows(two, *["{}"] * 9, wrong)
    baseline = tmp_path / "baseline.json"
    options: Any = {"baseline": baseline, "write_baseline": baseline}
    validate(one, two, schema=SCHEMA, **options)

    findings = json.loads(baseline.read_text())["findings"]
    assert [(each["path"], each["code"], each["count"]) for each in findings] == [
        ("1.jsonl", "S101", 2),
        ("2.jsonl", "S101", 1),
        ("3.jsonl", "S101", 2),
    ]


def test_what_says_nothing_about_the_data_leaves_a_baseline(tmp_path: Path) -> None:
    """Records without a verdict, as an edited file may have, are not written again."""
    baseline = tmp_path / "baseline.json"
    write_rows(tmp_path / "gone.jsonl", "{}")
    other = {"path": "gone.jsonl", "code": "V901", "pointer": "", "count": 1}
    held = other | {"code": "S101"}
    baseline.write_bytes(text_with(other, **held))
    path = write_rows(tmp_path / "1.jsonl", '{"a": 1}')
    options: Any = {"baseline": baseline, "write_baseline": baseline}
    validate(path, schema=SCHEMA, **options)
    assert json.loads(baseline.read_text())["findings"] == [held]
