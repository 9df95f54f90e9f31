"""The benchmark of validation: its bars, its page, its picture, and its records."""

import json
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import harpia_formats

ROOT = Path(__file__).parents[2]
NEW_SCHEMA = json.loads(
    (ROOT / "schemas" / "eee" / "eee@0.3.0.schema.json").read_bytes()
)

Modules = Callable[[str], ModuleType]


@pytest.mark.parametrize(
    ("figure", "at_least", "met"),
    [
        (0.2, False, True),
        (0.21, False, False),
        (0.2, True, True),
        (0.19, True, False),
        (None, False, False),
        (None, True, False),
    ],
)
def test_a_bar_is_met_up_to_its_limit(
    modules: Modules, figure: float | None, at_least: bool, met: bool
) -> None:
    """A bar is met up to its limit, and never by what was not measured."""
    bar = modules("harness.bars").Bar("a / b", 0.2, figure, at_least)

    assert bar.met is met


def test_table_of_limits_marks_missing_measurements(modules: Modules) -> None:
    """Each line shows its value or why it is missing, its limit and its verdict."""
    bars = modules("harness.bars")
    lines = [
        bars.Bar("a", 0.125, 0.1234),
        bars.Bar("b", 30_000, 45_678.9, at_least=True),
        bars.Bar("c", 1.0, None, why_not="no peer"),
    ]
    rows = bars.bars_table(lines).splitlines()[2:]

    assert [[each.strip() for each in row.split("|")[1:-1]] for row in rows] == [
        ["a", "0.12", "at most 0.125", "met"],
        ["b", "45,679", "at least 30,000", "met"],
        ["c", "no peer", "at most 1", "**not met**"],
    ]


def test_memory_stands_next_to_a_time(modules: Modules) -> None:
    """A limit of times names the peak memory of both commands, if it is known."""
    bars, measure = modules("harness.bars"), modules("harness.measure")
    one = measure.Measurement("one", (1.0,), 80_000_000)
    other = measure.Measurement("other", (4.0,))
    bar = bars.timed("one / other", 0.25, one, other)
    row = bars.bars_table([bar]).splitlines()[2].split(" | ")

    assert (bar.met, bar.figure) == (True, 0.25)
    assert row[0].startswith("| one / other, time")
    assert row[-1] == "80 / not measured |"


def results_of(modules: Modules, seconds: float, peak: int, *, every: bool) -> Any:
    """Return results in which all but ours took a second and 100 MB, ours as given."""
    work, measure = modules("harness.validation_runs"), modules("harness.measure")

    def measured(mine: tuple[str, ...], *others: str) -> Any:
        taken = (seconds,)
        ours = {
            each: measure.Measurement(each, taken, peak, taken, taken) for each in mine
        }
        rest = {
            each: measure.Measurement(each, (1.0,), 10**8, (0.7,), (0.3,))
            for each in others
        }
        return {**ours, **rest}

    mine = (work.OURS, work.OURS_LESS, work.OURS_ALONE)
    good = measured(mine, work.SOURCEMETA, work.PARSER)
    faults = modules("data.generate").FAULTS
    return work.Results(
        {1000: good, 2000: good},
        measured((work.OURS,), work.EMPTY),
        measured((work.SOME_BAD,), work.CLEAN),
        dict.fromkeys(faults, measured((work.OURS,), work.CONTINUED)),
        measured((work.OURS,), work.EVERY) if every else {},
    )


@pytest.mark.parametrize(
    ("seconds", "peak", "missed"),
    [
        (0.03, 10**7, 0),
        (0.1, 10**7, 3),
        (0.15, 10**7, 5),
        (0.21, 10**7, 9),
        (1.6, 10**7, 12),
        (0.03, 2 * 10**7, 1),
    ],
)
def test_every_limit_is_checked(
    modules: Modules, seconds: float, peak: int, missed: int
) -> None:
    """Each measured value is compared with its own limit, also rows a second."""
    results = results_of(modules, seconds, peak, every=True)
    bars = modules("harness.validation_runs").bars_of(results)

    assert len(bars) == 13
    assert sum(not each.met for each in bars) == missed


def test_a_missing_validator_is_reported(modules: Modules) -> None:
    """Without EvalEval's validator its line is not met and says what to install."""
    results = results_of(modules, 0.03, 10**7, every=False)
    page = modules("validate").document(results, 2700.0, 3, "python x.py --runs 3")
    missed = [
        each
        for each in modules("harness.validation_runs").bars_of(results)
        if not each.met
    ]

    assert ["every_eval_ever" in each.what for each in missed] == [True]
    assert "pip install every_eval_ever" in missed[0].why_not
    assert missed[0].why_not in page
    assert "0.7 s are its own\ncode and 0.3 s the system's" in page
    assert "- Command: `python x.py --runs 3`." in page


def test_the_command_is_shown_without_paths(modules: Modules) -> None:
    """What a page says of its command names no place on a machine."""
    given_ = [*("--runs", "3", "--folder", "/a", "--series"), "--output=/b/c.md"]
    command = modules("validate")
    arguments = command.arguments_of(given_)

    assert arguments.without_paths == ["--runs", "3", "--series"]
    assert arguments.parts == ["series"]
    assert command.arguments_of([]).parts == ["bars"]


def test_run_replaces_only_its_part_of_the_page(
    modules: Modules, tmp_path: Path
) -> None:
    """A run writes its own part of the page and keeps the other parts."""
    pages = modules("report.pages")
    page = tmp_path / "page.md"
    page.write_text("something else")
    pages.replace_part(page, "series", "first")
    pages.replace_part(page, "memory", "second \\1")
    pages.replace_part(page, "series", "third")
    text = page.read_text()

    assert text.startswith("# Benchmark of")
    assert [each in text for each in ("first", "second \\1", "third")] == [0, 1, 1]
    assert "Not measured yet: `python benchmarks/validate.py`." in text


def test_the_page_in_docs_has_all_parts(modules: Modules) -> None:
    """A run on the page that is published changes nothing but its own part."""
    pages = modules("report.pages")
    text = pages.PAGE.read_text(encoding="utf-8")

    assert [f"<!-- {each} -->" in text for each in pages.PARTS] == [True] * len(
        pages.PARTS
    )
    assert [f"<!-- end of {each} -->" in text for each in pages.PARTS] == [True] * len(
        pages.PARTS
    )


def test_repeated_rows_have_new_ids(modules: Modules, tmp_path: Path) -> None:
    """Rows are repeated in order, whole, each with an id that no other row has."""
    generate, repeat = modules("data.generate"), modules("data.repeat")
    source = tmp_path / "rows.jsonl"
    generate.write_rows(source, 7)
    found = [json.loads(each) for each in repeat.repeated([source, source], 30)]
    ids = [each.pop("sample_id") for each in found]
    base = [json.loads(each) for each in generate.rows(7)]
    rows = [{**each, "sample_id": None} for each in base]

    assert len(set(ids)) == 30
    assert [{**each, "sample_id": None} for each in found] == (rows * 5)[:30]


def test_a_row_without_an_id_is_not_repeated(modules: Modules, tmp_path: Path) -> None:
    """Rows without an id are refused, and so is a file without rows."""
    repeat = modules("data.repeat")
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"id": 1}\n')
    with pytest.raises(ValueError, match="no sample_id in"):
        list(repeat.repeated([path], 2))
    path.write_bytes(b"")

    with pytest.raises(ValueError, match="no records in"):
        list(repeat.repeated([path], 2))


def test_repeated_file_is_deleted(modules: Modules, tmp_path: Path) -> None:
    """A large file is deleted after its measurement."""
    repeat = modules("data.repeat")
    source = tmp_path / "rows.jsonl"
    source.write_bytes(b'{"sample_id": 4}')
    with repeat.repeated_file(tmp_path, [source], 3) as path:
        lines = path.read_bytes().splitlines()

    assert [json.loads(each)["sample_id"][-1] for each in lines] == ["0", "1", "2"]
    assert list(tmp_path.iterdir()) == [source]


def test_a_disk_without_room_is_an_error(modules: Modules, tmp_path: Path) -> None:
    """Rows for which the disk has no room are refused before any is written."""
    repeat = modules("data.repeat")
    source = tmp_path / "rows.jsonl"
    source.write_bytes(b'{"sample_id": 4}\n')
    with (
        pytest.raises(SystemExit, match="name another folder with --folder"),
        repeat.repeated_file(tmp_path, [source], 10**15),
    ):
        pass

    assert list(tmp_path.iterdir()) == [source]


def test_datastore_fits_its_validator(modules: Modules, tmp_path: Path) -> None:
    """The rows of the datastore are valid as 0.3.0 and match their aggregate."""
    samples, aggregate = modules("data.datastore").datastore(tmp_path, 60)
    report = harpia_formats.validate(samples, companion=aggregate, format="eee@0.3.0")
    reference = jsonschema.Draft7Validator(NEW_SCHEMA)
    place = json.loads(aggregate.read_bytes())["detailed_evaluation_results"]

    assert report.ok
    assert [each.records for each in report.files] == [60]
    assert harpia_formats.validate(aggregate).ok
    assert samples.as_posix().endswith(place["file_path"])
    with samples.open("rb") as lines:
        assert all(reference.is_valid(json.loads(each)) for each in lines)


def points(modules: Modules, peak: int | None) -> Any:
    """Return what three tools took for some rows, one of them only for few."""
    point = modules("report.picture").Point
    return [
        point(tool, rows, rows * 2700, rows * cost, peak and peak + rows)
        for tool, cost, most in (("ours", 5e-6, 10**6), ("a & b", 9e-6, 10**6))
        for rows in (50_000, 500_000, most)
    ] + [point("peer", 50_000, 1, 2.0, peak)]


@pytest.mark.parametrize(("peak", "panels"), [(10**7, 2), (None, 1)])
def test_the_picture_labels_every_line(
    modules: Modules, peak: int | None, panels: int
) -> None:
    """The picture is XML, and each line in each panel has the name of its tool."""
    picture = modules("report.picture").svg_of(points(modules, peak))
    root = ET.fromstring(picture)  # noqa: S314 - drawn a line above
    texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]

    assert [texts.count(name) for name in ("ours", "a & b", "peer")] == [panels] * 3
    assert "Peak memory" in texts or panels == 1
    assert "prefers-color-scheme: dark" in picture
    assert picture == modules("report.picture").svg_of(points(modules, peak))


@given(heights=st.lists(st.floats(60, 380), max_size=4).map(sorted))
def test_labels_never_overlap(modules: Modules, heights: list[float]) -> None:
    """Labels keep their order and their distance, and their middle stays."""
    spaced = modules("report.picture").spread_apart(heights, 17)

    assert all(other - one > 16.5 for one, other in pairwise(spaced))
    assert sum(spaced) == pytest.approx(sum(heights))


def test_peer_that_needs_too_much_memory_is_skipped(
    modules: Modules, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compared tool that would need too much memory is skipped with the reason."""
    series = modules("harness.cost_growth")
    monkeypatch.setattr(series, "memory_in", lambda _: 1_000_000_000)
    grown = series.Growth()
    point = modules("report.picture").Point(series.SOURCEMETA, 1000, 1, 1.0, 10_000_000)
    grown.points.append(point)

    assert not series.stops_sourcemeta(grown, 50_000)
    assert series.stops_sourcemeta(grown, 70_000)
    reason = grown.reason_stopped
    assert "stops at 1,000 rows: 70,000 would take it about 1 GB" in reason
    assert series.stops_sourcemeta(grown, 1_000)


def test_memory_that_grows_is_not_flat(modules: Modules) -> None:
    """The limits of the memory are on its spread over sizes and on its maximum."""
    flat = modules("harness.memory_growth")
    sizes = {
        each: flat.Size(1, 1, 1.0, peak)
        for each, peak in ((0.1, 70_000_000), (1.0, 80_000_000))
    }
    unknown = {**sizes, 10.0: flat.Size(1, 1, 1.0, None)}

    assert [each.met for each in flat.bars_of(sizes)] == [False, True]
    assert [each.met for each in flat.bars_of(unknown)] == [False, False]


def test_short_run_uses_the_best_ratio(modules: Modules) -> None:
    """The best ratio of adjacent runs counts; a missing tool is skipped."""
    quick, measure = modules("quick"), modules("harness.measure")
    slow = measure.Measurement("slow", (9.0, 2.0, 9.0))
    fast = measure.Measurement("fast", (1.0, 1.0, 1.0))
    starts = (quick.HELP, quick.ONE, quick.CONVERTED, quick.PAIRS)
    names = (quick.OURS, quick.OURS_ALONE, quick.ALL_BAD, *starts)
    found = {**dict.fromkeys(names, slow), quick.PARSER: fast, quick.EMPTY: fast}
    bars = quick.bars_of(found)

    assert quick.best(slow, fast) == 2
    assert [each.figure for each in bars] == [2, 2, 1, 2, 2, 2, 2]
    assert len(quick.bars_of({**found, quick.SOURCEMETA: slow})) == 8


def test_short_run_reports_what_it_skips(
    modules: Modules,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """A missing sourcemeta command is skipped with a note; each bad row is invalid."""
    quick = modules("quick")
    monkeypatch.setattr(modules("harness.candidates"), "has_sourcemeta", lambda: False)
    monkeypatch.setattr(quick, "has_sourcemeta", lambda: False)
    found = quick.candidates(tmp_path, 30)
    report = harpia_formats.validate(tmp_path / "bad.jsonl", format="eee@0.2.0")

    assert quick.SOURCEMETA not in [each.name for each in found]
    assert "sourcemeta-jsonschema is not installed" in capsys.readouterr().err
    assert (report.files[0].invalid, report.errors) == (30, 30)


@pytest.mark.parametrize(
    ("arguments", "figure", "code"),
    [([], 0.2, 0), ([], 0.3, 1), ([], None, 1), (["--report-only"], 0.3, 0)],
)
def test_run_prints_its_limits_last(  # noqa: PLR0913, PLR0917 - what is set and what is expected
    modules: Modules,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    arguments: list[str],
    figure: float | None,
    code: int,
) -> None:
    """A run prints the limits last; a missed one fails it without --report-only."""
    command = modules("validate")
    bar = modules("harness.bars").Bar("a / b", 0.2, figure)
    monkeypatch.setitem(command.PARTS, "memory", lambda *_: ("the text", [bar]))
    page = tmp_path / "page.md"
    given_ = ["validate.py", "--memory", "--output", str(page), *arguments]
    monkeypatch.setattr(sys, "argv", given_)

    assert command.main() == code
    assert capsys.readouterr().out.splitlines()[-1].startswith("| a / b |")
    assert "the text" in page.read_text()
