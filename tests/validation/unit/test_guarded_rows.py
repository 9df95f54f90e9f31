import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from effort import pairs
from faulty_code import contradicted
from harpia_formats import Report, SchemaError, validate
from harpia_formats.files.workers import killable
from harpia_formats.formats.schema.user_schema import is_bounded
from harpia_formats.validation.unit import guarded_rows
from json_lines import jsonl
from processes import children_of, is_running, until
from worker_units import small_units

#: Seconds that a row may take in these tests.
LIMIT = 0.3
TEXT = {"type": "string"}


def doubled(levels: int, leaf: Any) -> dict[str, Any]:
    """Return definitions of which the first evaluates `leaf` 2 ** `levels` times."""
    made = {}
    for level in range(levels):
        following = {"$ref": f"#/definitions/d{level + 1}"}
        made[f"d{level}"] = {"allOf": [following, following]}
    return {**made, f"d{levels}": leaf}


DOUBLED = {
    "$ref": "#/definitions/d0",
    "definitions": doubled(40, {"required": ["hard"]}),
}
#: Each level of a value doubles the work on what is inside.
BRANCHING = {
    "anyOf": [
        {"properties": {"in": {"$ref": "#"}}},
        {"properties": {"in": {"$ref": "#"}}, "minProperties": 1},
    ],
    "properties": {"leaf": {"type": "string"}},
}
#: Hard only for rows that have the key `hard`; `id` is required.
SOMETIMES = {
    "required": ["id"],
    "if": {"required": ["hard"]},
    "then": {"$ref": "#/definitions/d0"},
    "definitions": doubled(40, {"required": ["id"]}),
}


def deep(levels: int) -> Any:
    """Return an object with so many objects inside each other."""
    value: Any = {"leaf": 5}
    for _ in range(levels):
        value = {"in": value}
    return value


HOSTILE: dict[str, tuple[Any, Any]] = {
    "doubled": (DOUBLED, {"hard": 1}),
    "doubled and refused": (DOUBLED, {}),
    "branching": (BRANCHING, deep(60)),
    "conditional": (SOMETIMES, {"id": 1, "hard": 1}),
}


@pytest.mark.parametrize(("name", "cross_check"), pairs([*HOSTILE], [False, True]))
def test_row_that_takes_too_long_is_undetermined(name: str, cross_check: bool) -> None:
    """A row on which a schema takes longer than its time gets V901 and no verdict."""
    schema, row = HOSTILE[name]
    begun = time.monotonic()

    report = validate(
        jsonl(row), schema=schema, row_timeout=LIMIT, cross_check=cross_check
    )

    assert time.monotonic() - begun < 20
    assert [problem.code for problem in report.problems] == ["V901"]
    assert "takes longer than 0.3 s" in report.problems[0].message
    assert (report.files[0].undetermined, report.ok) == (1, False)


@pytest.mark.parametrize("select", [("S",), ("J",)])
def test_undetermined_row_is_never_valid(select: tuple[str, ...]) -> None:
    """A row without a verdict is undetermined even if V901 is not selected."""
    report = validate(jsonl({}), schema=DOUBLED, row_timeout=LIMIT, select=select)

    assert (report.files[0].valid, report.files[0].undetermined) == (0, 1)
    assert not report.ok


def codes_by_row(report: Report) -> list[tuple[int | None, str]]:
    """Return the record and the code of each problem."""
    return [(problem.place.record, problem.code) for problem in report.problems]


def test_other_rows_are_still_validated() -> None:
    """Rows before, between and after rows that take too long get their verdicts."""
    rows: list[Any] = [{"id": number} for number in range(1_000)]
    rows[5] |= {"hard": 1}
    rows[6] = {}
    rows[600] |= {"hard": 1}
    rows[999] = {}

    report = validate(jsonl(*rows), schema=SOMETIMES, row_timeout=LIMIT)

    assert codes_by_row(report) == [
        (6, "V901"),
        (7, "S101"),
        (601, "V901"),
        (1_000, "S101"),
    ]


def test_guarded_rows_have_the_findings_of_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All findings are the same in the other process as in this one."""
    schema = {
        "required": ["id"],
        "properties": {"id": {"type": "integer"}, "in": {"$ref": "#"}},
        "additionalProperties": False,
    }
    data = jsonl({"id": 1}, {"ID": 2}, {"id": "3"}, {"id": 4, "in": {"id": None}})
    data += b'\n{"id": 5, "id": 6}\n{"id": \n{"id": 1, "x": [], "y": {}}\n'
    assert not is_bounded(schema)

    found = validate(data, schema=schema, cross_check=True)
    monkeypatch.setattr(
        "harpia_formats.validation.plan.file_plan.is_guarded", lambda _: False
    )
    expected = validate(data, schema=schema, cross_check=True)

    assert found == expected
    assert found.errors == 7


def test_disagreement_in_the_other_process_is_an_internal_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A row on which the engines differ has V902, and the others their verdicts."""
    contradicted(monkeypatch)
    # A new fork has what is changed here.
    guarded_rows.end_process()
    monkeypatch.setattr(killable, "is_fork_safe", lambda: True)

    report = validate(jsonl({}, {"id": 2}, {}), schema=SOMETIMES, cross_check=True)

    assert codes_by_row(report) == [(1, "S101"), (2, "V902"), (3, "S101")]
    assert "we say valid, the reference" in report.problems[1].message


@pytest.mark.parametrize("jobs", [1, 2])
def test_large_file_with_several_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    """Any number of processes reports the same of a large file."""
    small_units(monkeypatch, 100_000)
    path = tmp_path / "rows.jsonl"
    rows: list[Any] = [{"id": number, "text": "x" * 900} for number in range(900)]
    rows[800] |= {"hard": 1}
    del rows[850]["id"]
    path.write_bytes(jsonl(*rows))

    report = validate(path, schema=SOMETIMES, row_timeout=LIMIT, jobs=jobs)

    assert codes_by_row(report) == [(801, "V901"), (851, "S101")]


def test_hostile_check_of_a_schema_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """A schema whose check takes too long is refused, as one that cannot be used."""
    monkeypatch.setattr(guarded_rows, "_checked", never_ending)
    monkeypatch.setattr(guarded_rows, "CHECK_SECONDS", LIMIT)

    with pytest.raises(SchemaError, match=r"checking it takes longer than 0\.3 s"):
        validate(b"{}", schema=DOUBLED)


def never_ending(*_: Any) -> Iterator[str]:
    """Take forever."""
    time.sleep(600)
    yield ""


def test_bounded_schema_needs_no_other_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """For formats and plain schemas no process is started."""

    def fail() -> Any:
        raise AssertionError

    monkeypatch.setattr(killable, "_forked", fail)
    monkeypatch.setattr(killable, "_spawned", fail)
    plain = {"properties": {"a": {"$ref": "#/definitions/t"}}}
    plain |= {"definitions": {"t": {"type": "string", "pattern": "^a+$"}}}

    assert validate(b'{"a": "a"}', schema=plain).ok
    assert validate(b'{"model_output": "a", "ref_answer": "b"}').files


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.usefixtures("new_interpreters")
def test_no_process_is_left() -> None:
    """The process of a run ends with the run."""
    before = children_of(os.getpid())
    validate(jsonl({}), schema=DOUBLED, row_timeout=LIMIT)

    assert set(children_of(os.getpid())) <= set(before)


@pytest.mark.usefixtures("new_interpreters")
def test_process_in_a_process_with_threads() -> None:
    """With other threads, the process is a new interpreter and works as well."""
    end = threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    try:
        report = validate(
            jsonl({"id": 1}, {"id": 2, "hard": 1}, {}),
            schema=SOMETIMES,
            row_timeout=LIMIT,
        )
    finally:
        end.set()
        thread.join()

    assert codes_by_row(report) == [(2, "V901"), (3, "S101")]


def started(tmp_path: Path, *arguments: str) -> "subprocess.Popen[str]":
    """Start a validation by a hostile schema that takes minutes."""
    schema, data = tmp_path / "mine.json", tmp_path / "rows.jsonl"
    schema.write_text(json.dumps(DOUBLED))
    data.write_bytes(jsonl(*[{}] * 20))
    command = [sys.executable, "-m", "harpia_formats", "validate", str(data)]
    command += ["--schema", str(schema), "--row-timeout", "30", *arguments]
    process = subprocess.Popen(  # noqa: S603 - our own command
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - nothing else runs here
    )
    assert until(lambda: children_of(process.pid))
    time.sleep(0.5)
    return process


#: A signal that a process handles, and one that it cannot handle.
TELLING = [((signal.SIGINT, 130), "2"), ((signal.SIGKILL, -9), "1")]
LONG = pytest.mark.long


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("ended", "jobs"),
    [
        pytest.param(ended, jobs, marks=[] if (ended, jobs) in TELLING else LONG)
        for ended in (
            (signal.SIGHUP, 129),
            (signal.SIGINT, 130),
            (signal.SIGTERM, 143),
            (signal.SIGKILL, -9),
        )
        for jobs in ("1", "2")
    ],
)
def test_signal_ends_all_processes(
    tmp_path: Path, ended: tuple[int, int], jobs: str
) -> None:
    """A signal ends a run inside a hostile row: no traceback, no process left."""
    number, code = ended
    process = started(tmp_path, "--jobs", jobs)
    children = children_of(process.pid)

    process.send_signal(number)
    _, errors = process.communicate(timeout=20)

    assert process.returncode == code
    assert "Traceback" not in errors
    assert until(lambda: not any(map(is_running, children)))


def made_schema(seed: int) -> dict[str, Any]:
    """Return a schema whose definitions refer to the next ones in many ways."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    levels = chance.choice([14, 20, 30, 45])
    definitions: dict[str, Any] = {f"d{levels}": chance.choice(LEAVES)}
    for level in range(levels):
        following = {"$ref": f"#/definitions/d{level + 1}"}
        several = [following] * chance.choice([2, 2, 3])
        definitions[f"d{level}"] = chance.choice(
            [
                {chance.choice(["allOf", "anyOf", "oneOf"]): several},
                {"if": following, "then": following, "else": following},
                {"not": {"not": {"anyOf": several}}},
                {"properties": {"in": following}, "allOf": several},
                {"dependencies": {"in": following}, "anyOf": several},
            ]
        )
    return {"allOf": [{"$ref": "#/definitions/d0"}], "definitions": definitions}


LEAVES = [TEXT, {"type": "integer"}, {"required": ["in"]}, {"pattern": "(?=(a+)+$)b"}]


@pytest.mark.long
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("seed", range(24))
def test_many_made_schemas_end(tmp_path: Path, seed: int, jobs: int) -> None:
    """Whatever a schema multiplies, each row ends, with a verdict or without one."""
    path = tmp_path / "rows.jsonl"
    filler = [{"text": "x" * 1_000_000}] * 9
    path.write_bytes(jsonl(deep(3), *filler, deep(40), "a" * 50, 5))

    report = validate(path, schema=made_schema(seed), row_timeout=LIMIT, jobs=jobs)

    assert report.files[0].records == 13
    assert not report.has_internal_errors


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_limit_is_a_time(seconds: float) -> None:
    """A row timeout that is no time is refused."""
    with pytest.raises(ValueError, match="row_timeout must be above 0"):
        validate(b"{}", schema=True, row_timeout=seconds)
