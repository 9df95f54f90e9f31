"""The benchmark of every pair of formats: its files, scripts, figures and page."""

import ast
import json
import runpy
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import harpia_formats
from known_formats import WRITABLE

#: Formats of tools, which are written but not measured.
OF_TOOLS = {
    "inspect-dataset",
    "openai-batch-input",
    "openai-chat",
    "openai-evals",
    "parquet",
}
FORMATS = tuple(each for each in WRITABLE if each not in OF_TOOLS)
TEXTS = ("English", "Chinese", "escapes")
#: The modules that a script may import.
STANDARD = {"csv", "json", "sys"}
Modules = Callable[[str], ModuleType]


@pytest.fixture
def command(modules: Modules) -> ModuleType:
    """Return the module of the benchmark of conversions."""
    return modules("convert")


@pytest.fixture
def results(modules: Modules) -> ModuleType:
    """Return the module of results."""
    return modules("harness.pair_results")


@pytest.fixture
def tables(modules: Modules) -> ModuleType:
    """Return the module of the tables of results."""
    return modules("report.pair_tables")


@pytest.fixture
def scripts(modules: Modules) -> ModuleType:
    """Return the module that writes scripts."""
    return modules("harness.pair_scripts")


def all_pairs() -> list[tuple[str, str]]:
    """Return every pair of two formats."""
    return [(one, other) for one in FORMATS for other in FORMATS if one != other]


def test_every_format_has_files_and_scripts(modules: Modules) -> None:
    """Every format that is measured has a generator, a reader and a writer."""
    assert modules("data.source_files").FORMATS == FORMATS
    assert set(modules("data.source_files").ROWS) == set(FORMATS)
    assert set(modules("harness.script_readers").READERS) == set(FORMATS)
    assert set(modules("harness.script_writers").WRITERS) == set(FORMATS)


@pytest.mark.parametrize("text", TEXTS)
def test_files_are_valid_and_recognised(
    modules: Modules, tmp_path: Path, text: str
) -> None:
    """The file of each format is of that format, without an error."""
    source_file = modules("data.source_files").source_file
    for format_ in FORMATS:
        report = harpia_formats.validate(source_file(format_, text, 20, tmp_path))
        assert report.ok, format_
        assert (report.files[0].format, report.files[0].records) == (format_, 20)


def test_fewer_samples_are_the_beginning_of_more(modules: Modules) -> None:
    """The samples depend on the kind of text and the seed only."""
    samples = modules("data.samples").samples
    for text in TEXTS:
        assert list(samples(text, 20))[:5] == list(samples(text, 5))
        assert list(samples(text, 5)) != list(samples(text, 5, seed=1))


def test_kinds_of_text_are_what_they_say(modules: Modules, tmp_path: Path) -> None:
    """English is ASCII, Chinese is UTF-8, and escapes are ASCII with many escapes."""
    source_file = modules("data.source_files").source_file
    english, chinese, escapes = (
        source_file("eee@0.2.0", text, 50, tmp_path).read_bytes() for text in TEXTS
    )

    assert english.isascii()
    assert b"\\" not in english
    assert len(chinese) > 1.5 * len(chinese.decode())
    assert escapes.isascii()
    assert escapes.count(b"\\u") > 50 * 10
    assert escapes.count(b'\\"') > 50 * 5
    assert all(1700 < len(of) / 50 < 2600 for of in (english, chinese, escapes))


def test_changed_files_differ_in_one_record_of_a_hundred(
    modules: Modules, tmp_path: Path
) -> None:
    """The second file of a `diff` has other references in one record of a hundred."""
    source_file = modules("data.source_files").source_file
    for format_ in ("eee@0.2.0", "csv"):
        first = source_file(format_, "English", 201, tmp_path)
        second = source_file(format_, "English", 201, tmp_path, changed=True)
        before, after = (path.read_bytes().splitlines() for path in (first, second))
        pairs = zip(before, after, strict=True)
        assert sum(one != other for one, other in pairs) == 3


def convert_both(
    modules: Modules,
    monkeypatch: pytest.MonkeyPatch,
    files: Any,
) -> None:
    """Convert by us and by the script in this process, and compare the rows."""
    constants = modules("harness.pair_scripts").SET
    names = modules("harness.pair_scripts").set_fields(files.source, files.target)
    harpia_formats.convert(
        files.input,
        to=files.target,
        output=files.ours_output,
        overwrite=True,
        constants={name: constants[name] for name in names},
    )
    monkeypatch.setattr(sys, "argv", list(files.by_hand())[1:])
    runpy.run_path(sys.argv[0])
    modules("harness.pair_proof").compare_rows(files)


@pytest.mark.long  # it runs the script of each pair
@pytest.mark.parametrize("text", TEXTS)
def test_scripts_write_the_same_rows_for_every_pair(
    modules: Modules, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
) -> None:
    """The script of every pair agrees with our command in every kind of text."""
    files_of = modules("harness.conversion_commands").PairFiles
    for source, target in all_pairs():
        files = files_of(source, target, text, 50, tmp_path)
        convert_both(modules, monkeypatch, files)


def test_a_script_that_differs_is_refused(
    modules: Modules, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A pair is not measured if a value differs or a row is missing."""
    proof = modules("harness.pair_proof")
    files = modules("harness.conversion_commands").PairFiles(
        "eee@0.2.0", "nemo-output", "English", 20, tmp_path
    )
    convert_both(modules, monkeypatch, files)
    rows = json.loads(files.script_output.read_bytes())
    rows[7]["response"] += "."
    for spoiled, place in ((rows, 7), (rows[:7], 7), ([*rows[:7], rows[8]], 7)):
        files.script_output.write_text(json.dumps(spoiled))
        with pytest.raises(proof.DifferentRowsError, match=f"row {place} differs"):
            proof.compare_rows(files)


def test_other_bytes_of_one_process_are_refused(
    modules: Modules, tmp_path: Path
) -> None:
    """A pair is not measured if its output depends on the number of processes."""
    proof = modules("harness.pair_proof")
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"1.0")
    other.write_bytes(b"1.0")
    proof.compare_bytes("a to b", one, other)
    other.write_bytes(b"1.1")
    with pytest.raises(proof.DifferentBytesError, match="a to b: one process"):
        proof.compare_bytes("a to b", one, other)


@pytest.mark.parametrize(
    ("part", "whole", "agrees"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": {"b": ["x"]}}, {"a": {"b": ["x"], "c": None}}, True),
        ({"a": 1, "b": 2}, {"a": 1}, False),
        ({"a": 1}, {"a": 1.0}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": ["x"]}, {"a": ["x", "y"]}, False),
        ("x", ["x"], False),
    ],
)
def test_a_row_may_leave_out_keys_only(
    modules: Modules, part: object, whole: object, agrees: bool
) -> None:
    """Keys may be missing in the script's row; values, types and lists may not."""
    assert modules("harness.pair_proof").is_part(part, whole) is agrees


def test_scripts_are_short_and_use_the_standard_library(scripts: ModuleType) -> None:
    """A script imports json, csv and sys only, has one function and few statements."""
    for source, target in all_pairs():
        tree = ast.parse(scripts.script_of(source, target))
        nodes = list(ast.walk(tree))
        imports = [of for of in nodes if isinstance(of, ast.Import)]
        statements = [of for of in nodes if isinstance(of, ast.stmt)]

        assert {name.name for of in imports for name in of.names} <= STANDARD
        assert not any(isinstance(of, ast.ImportFrom) for of in nodes)
        assert len(statements) <= 18, (source, target)


def times(results: ModuleType, wall: float, start: float, processor: float) -> Any:
    """Return the times of a candidate with three runs, one of which was disturbed."""
    return results.Times([wall, wall, 9.0], [processor] * 3, [start] * 3, [start] * 3)


def result(results: ModuleType, pair: tuple[str, str], **given: Any) -> Any:
    """Return a result: by default ours takes 0.4 and 1.2 of the script."""
    two, one = given.pop("ratios", (0.4, 1.2))
    found: Mapping[str, Any] = {
        results.TWO: times(results, 0.25 + two, 0.25, 0.25 + one),
        results.ONE: times(results, 0.25 + one, 0.25, 0.25 + one),
        results.SCRIPT: times(results, 1.03, 0.03, 1.03),
    }
    values = {"rows": 1000, "text": "English", "size": 2_000_000, "peak": 100_000_000}
    return results.Result(source=pair[0], target=pair[1], times=found, **values | given)


def test_start_up_is_taken_off(results: ModuleType) -> None:
    """A ratio is that of median times, each less its time on few records."""
    found = result(results, ("csv", "record"))

    assert found.ratio(results.TWO) == pytest.approx(0.4)
    assert found.ratio(results.ONE) == pytest.approx(1.2)
    assert found.processor_ratio(results.ONE) == pytest.approx(1.2)


def test_a_net_time_is_not_negative(results: ModuleType) -> None:
    """A run that is as fast as its start-up takes the least time that counts."""
    assert times(results, 0.2, 0.3, 0.2).net == results.LEAST


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ({}, 0),
        ({"ratios": (0.9, 1.2)}, 0),
        ({"ratios": (0.9, 1.2), "rows": 100_000}, 1),
        ({"ratios": (0.9, 1.2), "rows": 100_000, "text": "Chinese"}, 0),
        ({"ratios": (1.1, 1.2)}, 1),
        ({"ratios": (0.4, 1.4)}, 1),
        ({"peak": 151_000_000}, 1),
        ({"ratios": (1.1, 1.4), "rows": 100_000, "peak": 151_000_000}, 4),
        ({"peak": None}, 0),
    ],
)
def test_limits_of_pairs_are_checked(
    results: ModuleType, tables: ModuleType, given: dict[str, Any], count: int
) -> None:
    """Each limit is missed by itself; memory that was not measured misses none."""
    good = [result(results, ("csv", "record"), text=text) for text in TEXTS]
    found = [*good, result(results, ("csv", "harpia"), **given)]

    assert len(tables.missed(found)) == count
    assert tables.all_met(found) is (count == 0)


def test_the_median_of_all_pairs_has_a_limit(
    results: ModuleType, tables: ModuleType
) -> None:
    """Pairs within their own limits miss that of the median if most are slow."""
    found = [
        result(results, pair, ratios=(0.7, 1.0)) for pair in (("a", "b"), ("b", "a"))
    ]

    assert not tables.missed(found)
    assert not tables.all_met(found)
    assert "yes" in tables.limits_table(found).splitlines()[-1]


def test_the_worst_pair_is_first(results: ModuleType, tables: ModuleType) -> None:
    """Pairs are ordered by what they use of their limits, in any kind of text."""
    found = [
        result(results, ("csv", "record"), ratios=(0.9, 1.0)),
        result(results, ("csv", "harpia"), ratios=(0.2, 1.6)),
        result(results, ("record", "csv"), ratios=(0.3, 0.2)),
        result(results, ("record", "csv"), ratios=(2.0, 1.0), text="Chinese"),
    ]
    lines = tables.pairs_table(found, ["English", "Chinese"]).splitlines()[2:]

    assert [line.split("|")[1].strip() for line in lines] == [
        "record to csv",
        "csv to harpia",
        "csv to record",
    ]
    assert lines[0].split()[5:17:2] == ["0.30", "0.20", "0.20", "2.00", "1.00", "1.00"]


def test_results_are_kept_for_another_run(results: ModuleType, tmp_path: Path) -> None:
    """A run that was cut off finds its results, unless it is to begin again."""
    path = tmp_path / "results.json"
    cell = results.Cell(1000, "English", "csv", "record")
    compared = results.Compared("diff, csv", 3.0, 1.5, None)
    kept = results.ResultFile(path, resume=True)
    kept.add(cell, result(results, ("csv", "record")))
    kept.add_comparison(compared)
    again = results.ResultFile(path, resume=True)

    assert again.of([cell]) == kept.of([cell])
    assert list(again.comparisons.values()) == [compared]
    assert compared.ratio == 2.0
    assert not results.ResultFile(path, resume=False).results


@pytest.mark.long
def test_a_run_measures_only_what_has_no_result(
    command: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With `--continue` a cell that has a result is not measured again."""
    given = ["--rows", "20", "--runs", "1", "--texts", "English", "--continue"]
    given += ["--pairs", "csv:record", "csv:tencent-csv"]
    given += ["--results", str(tmp_path / "results.json")]
    asked = command.arguments_of(given)
    first = command.ResultFile(asked.results, resume=True)
    found = command.measured_pairs(asked, first, tmp_path)
    assert [of.pair for of in found] == ["csv to tencent-csv", "csv to record"]
    assert not list(tmp_path.glob("*20-*"))

    monkeypatch.setattr(command, "measure_cell", lambda *_: pytest.fail("measured"))
    again = command.ResultFile(asked.results, resume=True)
    assert command.measured_pairs(asked, again, tmp_path) == found


def test_pairs_are_chosen_by_patterns(modules: Modules) -> None:
    """A star stands for any format; a format is not converted into itself."""
    cells = modules("harness.every_pair").cells
    found = list(cells(["csv:*", "*:csv"], ["English", "Chinese"], [10, 20]))

    assert len(found) == 2 * 2 * 2 * (len(FORMATS) - 1)
    assert all("csv" in (cell.source, cell.target) for cell in found)
    assert len(list(cells(["*:*"], ["English"], [10]))) == len(all_pairs())


def test_page_shows_what_was_measured(modules: Modules, results: ModuleType) -> None:
    """The page has the limits, the pairs, the comparisons and how to repeat it."""
    page = modules("report.pair_page")
    found = [result(results, ("csv", "record")), result(results, ("record", "csv"))]
    found[1] = replace(found[1], peak=None)
    compared = [results.Compared("diff, csv", 3.0, 1.5, 50_000_000)]
    text = page.page_of(found, compared, "the profile", "python x.py --rows 1000")

    assert "## 1,000 rows" in text
    assert "from 2.0 kB (csv) to 2.0 kB (record)" in text
    assert "| diff, csv | 3.00 |           1.50 |  2.00 |              50 |" in text
    assert "the profile" in text
    assert "csv.writer(target)" in text
    assert "`python x.py --rows 1000`" in text


def test_notes_stay_when_a_page_is_written_again(
    modules: Modules, results: ModuleType
) -> None:
    """What was written by hand between the marks is in the next page, too."""
    page = modules("report.pair_page")
    found = [result(results, ("csv", "record"))]
    first = page.page_of(found, [], "", "python x.py", page.notes_in(""))
    start, end = page.NOTES
    noted = first.replace(f"{start}\n", f"{start}\nCSV is slow.\n")
    again = page.page_of(found, [], "", "python x.py", page.notes_in(noted))

    assert f"{start}\n{end}" in first
    assert f"{start}\nCSV is slow.\n{end}" in again
    assert "roundtrip" not in again


def test_profile_counts_own_time_by_stage(modules: Modules) -> None:
    """A module of ours belongs to its package, and any other one to none."""
    profile = modules("harness.conversion_profile")

    assert profile.stage_of(harpia_formats.__file__) == "harpia_formats"
    module = Path(harpia_formats.__file__).parent / "conversion/mapping/to_rows.py"
    assert profile.stage_of(str(module)) == "harpia_formats.conversion.mapping"
    assert profile.stage_of(json.__file__) == "other"
    assert profile.stage_of("<read(row)>") == "compiled from tables: read(row)"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--rows", "0"], "at least one row"),
        (["--rows", "ten"], "numbers"),
        (["--runs", "0"], "at least one row"),
        (["--profile", "csv:none"], "--profile takes two of"),
        (["--profile", "csv"], "--profile takes two of"),
    ],
)
def test_wrong_arguments_are_refused(
    command: ModuleType,
    capsys: pytest.CaptureFixture[str],
    given: list[str],
    message: str,
) -> None:
    """Arguments with which nothing can be measured are wrong usage."""
    with pytest.raises(SystemExit):
        command.arguments_of(given)
    assert message in capsys.readouterr().err
