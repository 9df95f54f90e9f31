"""The benchmark: the rows that it generates, how it measures, and its limits."""

import ast
import hashlib
import importlib.util
import json
import string
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import pytest

import harpia_formats

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
SCHEMA = json.loads((ROOT / "schemas" / "eee" / "eee@0.2.0.schema.json").read_bytes())
#: Of the first 300 rows; another value makes old measurements incomparable.
DIGEST = "a3ebd1f8c639e46a17b23ef368603a12e129d50a428cbfd57039491271eefb28"
COUNT = 1000


def loaded(name: str) -> ModuleType:
    """Return a benchmark's module that needs no other, by its path."""
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generate = loaded("data/generate")
measure = loaded("harness/measure")
LINES: list[bytes] = list(generate.rows(COUNT))
ROWS: list[dict[str, Any]] = [json.loads(each) for each in LINES]


@pytest.fixture
def command(modules: Callable[[str], ModuleType]) -> ModuleType:
    """Return the module of the benchmark of validation."""
    return modules("validate")


def share(found: int) -> float:
    """Return a number of rows as a share of all."""
    return found / COUNT


def text_of(row: dict[str, Any]) -> str:
    """Return a row as JSON in which only what must be escaped is."""
    return json.dumps(row, ensure_ascii=False)


def test_generates_the_same_bytes_for_the_same_seed(tmp_path: Path) -> None:
    """The first rows are byte for byte what they were when they were measured.

    A file of fewer rows is the beginning of one of more rows, and holds a row a line.
    The seed decides what the rows hold.
    """
    first = b"".join(islice(generate.rows(COUNT), 300))
    assert hashlib.sha256(first).hexdigest() == DIGEST
    path = tmp_path / "rows.jsonl"
    generate.write_rows(path, 20)
    assert path.read_bytes().splitlines(keepends=True) == LINES[:20]
    assert list(generate.rows(20, seed=1)) != LINES[:20]


def test_rows_are_as_claimed() -> None:
    """The size of rows, and the shares of what slows a reader, are near the claims."""
    assert 2300 < sum(map(len, LINES)) / COUNT < 2900
    known = SCHEMA["properties"].keys()
    wild = [each for each in ROWS if each.keys() - known]
    assert all(each["metadata"]["tags"][1]["deep"] for each in wild)
    kinds = Counter(each["interaction_type"] for each in ROWS)
    assert kinds.keys() == {"single_turn", "multi_turn", "agentic"}
    texts = [*map(text_of, ROWS)]
    spelt = [
        line.isascii() and not text.isascii()
        for line, text in zip(LINES, texts, strict=True)
    ]
    for found, expected, most in (
        (sum(not text.isascii() for text in texts), 0.4, 0.05),
        (sum(spelt), 0.04, 0.03),
        (sum("\\" in text for text in texts), 0.2, 0.05),
        (len(wild), 0.2, 0.05),
        (kinds["single_turn"], 0.5, 0.06),
        (kinds["agentic"], 0.25, 0.05),
    ):
        assert share(found) == pytest.approx(expected, abs=most)


def test_rows_come_in_several_key_orders() -> None:
    """Each of four orders of the known keys is met often."""
    plain = [tuple(each) for each in ROWS if "run_label" not in each]
    orders = Counter(plain)
    assert len(orders) == 4
    assert min(orders.values()) > len(plain) / 10


def test_rows_are_valid_by_the_reference() -> None:
    """The reference implementation finds no fault in the rows."""
    validator = jsonschema.Draft7Validator(SCHEMA)
    assert all(validator.is_valid(each) for each in ROWS[:150])


def test_rows_are_valid_by_our_validator() -> None:
    """Our validation finds no problem in the rows and recognizes their format."""
    report = harpia_formats.validate(b"".join(LINES))
    assert report.ok
    assert report.problems == ()
    assert (report.files[0].format, report.files[0].records) == ("eee@0.2.0", COUNT)


@pytest.mark.parametrize("bad", [0.1, pytest.param(1.0, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("fault", "codes"),
    [
        ("wrong type", {"S102"}),
        ("wrong key", {"S103"}),
        ("broken condition", {"C201"}),
    ],
)
def test_makes_as_many_rows_bad_as_asked(
    bad: float, fault: str, codes: set[str]
) -> None:
    """The asked share of the rows is refused, each for the one reason asked for."""
    data = b"".join(generate.rows(COUNT, bad=bad, fault=fault))
    report = harpia_formats.validate(data, format="eee@0.2.0")
    file = report.files[0]

    assert share(file.invalid) == pytest.approx(bad, abs=0.03)
    assert file.errors == file.invalid
    assert {each.code for each in report.problems} == codes


def python(code: str) -> tuple[str, ...]:
    """Return a command that runs Python code."""
    return sys.executable, "-S", "-c", code


def test_measures_every_run_of_every_candidate() -> None:
    """Each candidate gets as many wall times as there were runs, and a name."""
    pause = measure.Candidate("pause", python("import time; time.sleep(0.1)"))
    nothing = measure.Candidate("nothing", python(""))
    found = measure.compare([pause, nothing], 2, memory=False)
    assert list(found) == ["pause", "nothing"]
    assert [len(each.seconds) for each in found.values()] == [2, 2]
    assert found["pause"].median > 0.1
    assert found["pause"].peak is None


def test_candidates_alternate(tmp_path: Path) -> None:
    """Every candidate runs once before any of them runs again."""
    log = tmp_path / "log"
    code = "open({!r}, 'a').write({!r})"
    candidates = [
        measure.Candidate(each, python(code.format(str(log), each))) for each in "abc"
    ]
    measure.compare(candidates, 2, memory=False)
    assert log.read_text() == "abcabc"


def test_refuses_a_run_that_ends_otherwise_than_it_should() -> None:
    """A command with another exit code than expected is no measurement."""
    failing = measure.Candidate("failing", python("raise SystemExit(2)"), 1)
    with pytest.raises(measure.UnexpectedExitError, match="exit code 2, not 1, from: "):
        measure.seconds_of(failing)


def test_scales_sample_time_without_start_up() -> None:
    """The time of a sample is scaled, except for its start-up time."""
    sample = measure.Sample(python(""), 100)
    pause = python("import time; time.sleep(0.05)")
    seconds = measure.seconds_of(measure.Candidate("pause", pause, 0, sample))
    assert 3 < seconds < 15


@pytest.mark.skipif(not measure.MEMORY_IS_KNOWN, reason="this system tells no PSS")
def test_counts_the_memory_of_children() -> None:
    """The peak holds what a process and its child hold at the same time."""
    hold = "import time; held = bytearray(40_000_000); time.sleep(0.4)"
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {hold!r}])"
    parent = f"held = bytearray(30_000_000); {parent}"
    peak = measure.peak_of(measure.Candidate("family", python(parent)))
    assert 70e6 < peak < 110e6


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are told on Linux only")
def test_counts_the_times_of_processes_that_nothing_waits_for() -> None:
    """A worker whose parent ends before it is waited for and counted."""
    work = "import time\nwhile time.process_time() < 0.2: pass"
    parent = (
        f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {work!r}])"
    )
    run = measure.run_of(measure.Candidate("orphan", python(parent)))
    assert run.user + run.system > 0.2


@pytest.mark.skipif(not measure.MEMORY_IS_KNOWN, reason="this system tells no PSS")
def test_a_process_that_ended_takes_no_memory() -> None:
    """A process that is not there has no memory and no children."""
    gone = 2**22 + 1
    assert measure.family_of(gone) == [gone]
    assert measure.memory_of([gone]) == 0


def test_generated_file_is_reused_only_if_complete(
    command: ModuleType, tmp_path: Path
) -> None:
    """A complete file is reused; a truncated or different one is written anew."""
    path = command.generated_file(tmp_path, 20)
    whole = path.read_bytes()
    before = path.stat().st_mtime_ns
    assert command.generated_file(tmp_path, 20).stat().st_mtime_ns == before
    for spoiled in (whole[: len(whole) // 2], b"x" + whole):
        path.write_bytes(spoiled)
        assert command.generated_file(tmp_path, 20).read_bytes() == whole


def test_table_is_aligned(modules: Callable[[str], ModuleType]) -> None:
    """The cells of a table are padded: words left-aligned, numbers right-aligned."""
    tables = modules("report.tables")
    lines = tables.table(["what", "s"], [["a", "10.5"], ["longer", "1"]]).splitlines()
    assert lines == [
        "| what   |    s |",
        "| ------ | ---: |",
        "| a      | 10.5 |",
        "| longer |    1 |",
    ]


def test_asks_for_rows_and_runs_that_can_be_measured(
    command: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    """Too few rows to hold a bad one in a hundred are refused as wrong usage."""
    with pytest.raises(SystemExit):
        command.arguments_of(["--rows", "10"])
    assert "at least 1,000 rows" in capsys.readouterr().err


def fields_of_pages() -> Iterator[tuple[str, set[str], set[str]]]:
    """Yield each use of a template: its place, the fields it has, and those given."""
    for path in sorted(BENCHMARKS.rglob("*.py")):
        nodes = [*ast.walk(ast.parse(path.read_text("utf-8")))]
        texts = {
            target.id: node.value.value
            for node in nodes
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name) and isinstance(node.value.value, str)
        }
        for node in nodes:
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id=name), attr="format")
                ) if name in texts:
                    parsed = string.Formatter().parse(texts[name])
                    fields = {field for _, field, *_ in parsed if field}
                    given = {each.arg for each in node.keywords if each.arg}
                    place = f"{path.relative_to(BENCHMARKS)}:{node.lineno}"
                    yield place, fields, given


def test_templates_of_pages_get_the_fields_that_they_have() -> None:
    """What is measured for hours is not lost as its page is written."""
    found = list(fields_of_pages())
    assert len(found) > 10
    assert [(place, *both) for place, *both in found if both[0] != both[1]] == []
