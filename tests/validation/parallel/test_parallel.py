"""Runs in several processes tell what a run in one tells, byte for byte."""

import gzip
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import killed_run
from cases import for_each_case
from effort import examples, shares
from harpia_formats import convert, stats, validate
from harpia_formats.reporters import REPORTERS
from harpia_formats.reporters import Options as Wishes
from json_lines import jsonl
from worker_units import Here, few_findings, short_rows_only, small_blocks, small_units

ROOT = Path(__file__).parents[3]
VALID = ROOT / "fixtures" / "eee@0.2.0" / "valid" / "runs.jsonl"
FIXTURES = sorted(
    each for each in (ROOT / "fixtures").glob("*/*valid/*") if each.is_file()
)
FORMATS = sorted({each.parent.parent.name for each in FIXTURES})
REPORTS = ("full", "concise", "json", "jsonl")
#: Bytes of the longest row that is validated.
LIMIT = 2000
_row = json.loads(VALID.read_bytes().split(b"\n")[0])


def row_with(number: int = 0, **changes: Any) -> bytes:
    """Return a row with an id of that number; a change to None removes a key."""
    row = {**_row, "sample_id": f"id {number}", **changes}
    return json.dumps(
        {key: each for key, each in row.items() if each is not None}
    ).encode()


#: Rows with every kind of fault, and several that are alike.
FAULTY = (
    row_with(-1, evaluation={"score": "1.0", "is_correct": True}),
    row_with(-2, evaluation={"score": 1.0}),
    row_with(-3, unknown=1),
    row_with(-4, unheard_of="é" * 50),
    row_with(-5, model_id=None),
    row_with(-6, model_id=None, modle_id="m"),
    row_with(-7, interaction_type="multi_turn"),
    row_with(-8)[:-1] + b', "model_id": "twice"}',
    row_with(-9)[:-40],
    row_with(-10, metadata={"text": "é" * LIMIT}),
    row_with(-11).replace(b"Aurora".lower(), b"\xff\xfe", 1),
    b'{"messages": [{"role": "user", "content": "q"}], "model_outputs": []}',
    b'{"a": NaN}',
    b'{"a": "\\ud800"}',
    b'{"a": "\t"}',
    b"[" * 300 + b"]" * 300,
    b"nope",
    b"1",
    b"null",
    b'"\xe2\x80\xa8"',
)
rows = st.one_of(
    st.integers(0, 30).map(row_with),
    st.integers(0, 3).map(row_with),
    st.sampled_from(FAULTY),
    st.sampled_from(FAULTY[:3]),
)
lines = st.one_of(rows, rows, rows, st.sampled_from([b"", b" ", b"\r", b"\t"]))


@st.composite
def files(draw: st.DrawFn) -> bytes:
    """Return a file of lines or an array, with several kinds of errors."""
    if draw(st.booleans()):
        end = draw(st.sampled_from([b"\n", b"\r\n"]))
        data = end.join(draw(st.lists(lines, max_size=25)))
        return (
            draw(st.sampled_from([b"", b"\xef\xbb\xbf", b"\n\n"]))
            + data
            + end * draw(st.booleans())
        )
    between = draw(st.sampled_from([b",", b", ", b",\n  ", b"\n,\n"]))
    data = between.join(draw(st.lists(rows, max_size=25)))
    return b"[" + data + draw(st.sampled_from([b"]", b"]\n", b"", b"]]", b",]"]))


@cache
def pools() -> dict[int, Any]:
    """Return executors with one, two and three workers, for all tests."""
    return {each: ThreadPoolExecutor(each) for each in (1, 2, 3)}


@contextmanager
def tiny(size: int, *, small: bool = False) -> Iterator[None]:
    """Have ranges, bundles and batches of so many bytes, however little there is.

    A whole file is validated by a worker only if it is `small`.
    """
    with pytest.MonkeyPatch.context() as patch:
        small_units(patch, size, whole_files=1_000_000 if small else 0)
        yield


@contextmanager
def narrow() -> Iterator[None]:
    """Have blocks and windows of a few hundred bytes."""
    with pytest.MonkeyPatch.context() as patch:
        small_blocks(patch)
        yield


def report_text(inputs: Iterable[Any], reporter: str = "json", **options: Any) -> Any:
    """Return all that a run tells: what a reporter writes, and all counts."""
    report = validate(*inputs, **options)
    parts: list[str] = []
    REPORTERS[reporter].write(
        report.problems, lambda: report, parts.append, Wishes(statistics=True)
    )
    return "".join(parts), report.files, report.groups


def as_a_whole(given: Callable[[], Any], size: int, **options: Any) -> tuple[Any, Here]:
    """Return the counts of a file, and what has done the work in units of `size`.

    It is checked that a run without units gives the same report.
    """
    executor = Here()
    with narrow():
        whole = report_text([given()], **options, jobs=1)
    with narrow(), tiny(size):
        here = report_text([given()], **options, executor=executor)

    assert here == whole
    return here[1][0], executor


#: What a run over a file of made rows may depend on.
MADE = {
    "data": files(),
    "size": st.sampled_from([1, 300, 2000, 9000]),
    "format": st.sampled_from(["eee@0.2.0", None, "eee@0.3.0", "eee"]),
    "examples": st.sampled_from([0, 1, 5]),
    "max_problems": st.sampled_from([0, 3, 1000]),
    "reporter": st.sampled_from(REPORTS),
}
WHOLE: dict[str, Any] = {
    "format": "eee@0.2.0",
    "examples": 1,
    "max_problems": 3,
    "reporter": "json",
    "size": 1,
}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.fixed_dictionaries(MADE), st.sampled_from([1, 2, 3]))
@example({**WHOLE, "data": b"\n".join(FAULTY * 3)}, 2)
@example({**WHOLE, "data": b"[" + b",".join(FAULTY * 3) + b"]"}, 3)
def test_report_does_not_depend_on_ranges(
    tmp_path: Path, made: dict[str, Any], jobs: int
) -> None:
    """A file tells the same by every reporter, in ranges of any size or as a whole."""
    options = {**made, "max_row_bytes": LIMIT}
    data, size = options.pop("data"), options.pop("size")
    path = tmp_path / "rows.jsonl"
    path.write_bytes(data)
    with narrow():
        whole = report_text([path], **options, jobs=1)
    with narrow(), tiny(size):
        here = report_text([path], **options, executor=Here())
        pool = pools()[jobs]
        several = report_text([path], **options, executor=pool, jobs=jobs)

    assert here == whole
    assert several == whole


@pytest.mark.long
@examples(5_000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.fixed_dictionaries(MADE))
def test_nothing_ever_depends_on_ranges(tmp_path: Path, made: dict[str, Any]) -> None:
    """Thousands of files tell the same in ranges of any size or as a whole."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(made.pop("data"))
    as_a_whole(lambda: path, **made, max_row_bytes=LIMIT)


@examples(15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parts=st.lists(files(), max_size=6),
    size=st.sampled_from([1, 70_000, 1_000_000]),
    most=st.sampled_from([0, 3, 1000]),
    reporter=st.sampled_from(REPORTS),
)
def test_report_does_not_depend_on_batches(
    tmp_path: Path, parts: list[bytes], size: int, most: int, reporter: str
) -> None:
    """Small files have the same report one by one, in batches and by workers."""
    names = []
    for number, data in enumerate(parts):
        path = tmp_path / f"{number}.jsonl"
        path.write_bytes(data)
        names += [str(path), str(tmp_path / f"no-{number}.jsonl")]
    inputs = [*names, VALID, b"in memory"]
    options: dict[str, Any] = {"max_problems": most, "max_row_bytes": LIMIT}
    whole = report_text(inputs, reporter, **options, jobs=1)
    executor = Here()
    with tiny(size, small=True):
        here = report_text(inputs, reporter, **options, executor=executor)

    assert here == whole
    assert executor.works


@for_each_case("name", FORMATS)
def test_fixtures_tell_the_same(name: str) -> None:
    """Fixtures of each format tell the same, in ranges and as one of many files."""
    kinds = ("valid", "invalid")
    of_kinds = [
        [each for each in FIXTURES if each.parts[-3:-1] == (name, kind)]
        for kind in kinds
    ]
    tells_the_same([path for paths in of_kinds for path in next(shares(paths))])


@pytest.mark.long
@for_each_case("name", FORMATS)
def test_all_fixtures_tell_the_same(name: str) -> None:
    """So does every fixture."""
    tells_the_same([each for each in FIXTURES if each.parts[-3] == name])


def tells_the_same(paths: list[Path]) -> None:
    """Assert that files tell the same, in ranges and as some of many."""
    whole = report_text(paths, lint=True, jobs=1)
    with tiny(500):
        ranged_ = report_text(paths, lint=True, executor=Here())
    with tiny(100_000, small=True):
        batched = report_text(paths, lint=True, executor=Here())

    assert ranged_ == whole
    assert batched == whole


def test_wrapped_documents_are_helped_with(tmp_path: Path) -> None:
    """The records of a document with other members are validated by workers, too."""
    document = json.loads((ROOT / "fixtures/harpia/valid/H101-camel.json").read_bytes())
    first = document["instances"][0]
    odd: list[Any] = [{**first, "input": 1}, {**first, "id": "2"}, {**first, "x": 1}, 1]
    numbered = [{**first, "id": str(each)} for each in range(200)]
    path = tmp_path / "input.json"
    path.write_text(json.dumps({**document, "instances": numbered + odd * 9}))
    count, executor = as_a_whole(lambda: path, 3000)

    assert count.records == 236
    assert any(each.pieces for each in executor.works)


@pytest.mark.parametrize("cut", [0, 1, 200, 3000])
def test_compressed_files_tell_the_same(tmp_path: Path, cut: int) -> None:
    """Compressed lines have the same report by workers, also if truncated."""
    rows = [row_with(each % 50) for each in range(200)] + list(FAULTY)
    data = gzip.compress(b"\n".join(rows))
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(data[: len(data) - cut])

    assert len(as_a_whole(lambda: path, 3000)[1].works) > 2


def test_streams_tell_the_same() -> None:
    """What can be read only once tells the same, and which ids are repeated."""
    data = b"\n".join(row_with(each % 30) for each in range(90))

    assert as_a_whole(lambda: io.BytesIO(data), 3000)[0].invalid == 60


def test_users_schemas_tell_the_same(tmp_path: Path) -> None:
    """Workers validate by a schema of the user and by the second engine, too."""
    schema = {"properties": {"n": {"const": 1}, "t": {"format": "date"}}}
    texts = [b'{"n": 1, "t": "2025-01-01"}', b'{"n": true}', b'{"t": "x"}', b"{"]
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join(texts * 20))
    options: Any = {"schema": schema, "assert_formats": True, "cross_check": True}

    assert as_a_whole(lambda: path, 100, **options)[0].invalid == 60


def test_pairs_of_batches_are_found(tmp_path: Path) -> None:
    """Files that belong together are checked against each other from batches too."""
    found = [each for each in FIXTURES if "aggregate" in str(each)]
    samples = tmp_path / "a_samples.jsonl"
    samples.write_bytes(VALID.read_bytes())
    inputs = [*found, samples]
    with tiny(100_000, small=True):
        here = report_text(inputs, executor=Here(), companion=found[0])

    assert here == report_text(inputs, companion=found[0], jobs=1)


def test_beginning_is_validated_by_the_main_process(tmp_path: Path) -> None:
    """Where only a beginning is wanted nobody reads on."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join(map(row_with, range(100))))
    executor = Here()
    with narrow(), tiny(100):
        report_text([path], limit=50, executor=executor)
        report_text([path], fail_fast=True, executor=executor)

    assert executor.works == []


@pytest.mark.parametrize("at", [0, 1, 50, 98])
def test_mixed_line_ends_are_found_over_ranges(tmp_path: Path, at: int) -> None:
    """The place of the first line that ends unlike others is that of the whole file."""
    path = tmp_path / "rows.jsonl"
    ends = [b"\r\n" if number == at else b"\n" for number in range(99)]
    path.write_bytes(b"".join(row_with(each) + end for each, end in enumerate(ends)))

    count, executor = as_a_whole(lambda: path, 3000, select=("J205",))
    with tiny(3000):
        (problem,) = validate(path, select=("J205",), executor=Here()).problems
    assert count.notes + count.warnings + count.errors == 1
    assert problem.place.line == max(at, 1) + 1
    assert len(executor.works) > 2


def test_what_the_whole_file_decides_is_found_over_ranges(tmp_path: Path) -> None:
    """Ids with invisible characters are found, in whatever ranges they are."""
    path = tmp_path / "rows.jsonl"
    odd = {5, 6, 60, 150}
    ids = [f"id {number}" + "\u200b" * (number in odd) for number in range(199)]
    rows = ({"id": one, "prompt": "question", "outputs": []} for one in ids)
    path.write_bytes(jsonl(*rows))

    options: dict[str, Any] = {"format": "record", "select": ("J208", "X103")}
    _, executor = as_a_whole(lambda: path, 3000, examples=0, **options)
    with tiny(3000):
        found = validate(path, executor=Here(), **options).problems
    assert [one.place.record for one in found] == [6, 7, 61, 151]
    assert len(executor.works) > 2


def test_too_many_findings_are_validated_by_the_main_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where there are too many findings to hand over, all are counted all the same."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join([*map(row_with, range(100)), *FAULTY * 20]))
    few_findings(monkeypatch, 1)

    assert as_a_whole(lambda: path, 2000)[1].works


def test_workers_know_which_examples_are_needed(tmp_path: Path) -> None:
    """Examples that already exist are not made again."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join([FAULTY[0]] * 400))
    executor = Here()
    with narrow(), tiny(2000):
        report_text([path], executor=executor, format="eee@0.2.0")

    assert executor.demands[0].satisfied == frozenset()
    ((code, pointer, _),) = executor.demands[-1].satisfied
    assert (code, pointer) == ("S102", "/evaluation/score")


def killed(tmp_path: Path, how: str, *paths: Path) -> list[str]:
    """Return the output of a run whose processes are killed."""
    script, mark = Path(killed_run.__file__), tmp_path / "mark"
    done = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, script, how, mark, *paths],
        capture_output=True,
        check=True,
        text=True,
    )
    assert mark.exists()
    return done.stdout.splitlines()


needs_kill = pytest.mark.skipif(os.name != "posix", reason="there is no SIGKILL")
#: Lines of more than one block, one of them deadly and one of them wrong.
LINES = [
    *(row_with(each) for each in range(400)),
    row_with(400, metadata={"word": "deadly"}),
    *(row_with(each) for each in range(401, 500)),
    FAULTY[0],
]


@needs_kill
def test_a_killed_process_is_survived(tmp_path: Path) -> None:
    """What a process was at work on when it was killed is done again, alone."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join(LINES))
    *problems, counts = killed(tmp_path, "once", path)

    assert [each[:8] for each in problems] == ["501 S102"]
    assert counts == "501 500 1 0 True"


@needs_kill
def test_what_always_kills_is_named(tmp_path: Path) -> None:
    """A range that kills its process twice is named and undetermined, no other is."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\n".join(LINES))
    missed, wrong, counts = killed(tmp_path, "always", path)
    line, code, message = missed.split(maxsplit=2)
    count = int(message.split()[0])

    assert code == "V901"
    assert re.fullmatch(
        r"\d+ records could not be validated: the process that worked on bytes "
        r"[\d,]+ to [\d,]+, lines [\d,]+ to [\d,]+, died twice",
        message,
    )
    assert int(line) <= 401 <= int(line) + count
    assert wrong.startswith("501 S102")
    assert counts == f"501 {500 - count} 1 {count} True"


@needs_kill
def test_compressed_rows_that_kill_are_named(tmp_path: Path) -> None:
    """Rows sent to a worker that kill it are reported, and the rest is validated."""
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n".join(LINES)))
    missed, wrong, counts = killed(tmp_path, "always", path)
    records, valid, invalid, undetermined, _ = counts.split()

    assert missed.split()[1] == "V901"
    assert wrong.startswith("501 S102")
    assert (records, invalid) == ("501", "1")
    assert int(valid) + int(undetermined) == 500
    assert int(undetermined) > 0


@needs_kill
def test_a_small_file_that_kills_is_named(tmp_path: Path) -> None:
    """Of a batch of files only the one that kills its worker has no verdict."""
    paths = [tmp_path / f"{each}.jsonl" for each in range(4)]
    for each in paths:
        each.write_bytes(FAULTY[0])
    paths[2].write_bytes(LINES[400])
    reported = killed(tmp_path, "always files", *paths)

    assert [each.split()[1] for each in reported[:4]] == [
        "S102",
        "S102",
        "V901",
        "S102",
    ]
    assert reported[4:] == [
        "1 0 1 0 True",
        "1 0 1 0 True",
        "1 0 0 1 False",
        "1 0 1 0 True",
    ]


def test_processes_tell_the_same(tmp_path: Path) -> None:
    """One, two and three processes write the same bytes."""
    path = tmp_path / "rows.jsonl"
    rows = [row_with(each % 900) for each in range(1000)] + list(FAULTY) * 3
    path.write_bytes(b"\n".join(rows))
    whole = report_text([path], jobs=1)
    with tiny(100_000):
        two, three = report_text([path], jobs=2), report_text([path], jobs=3)

    assert two == whole
    assert three == whole


def test_long_rows_are_done_here_as_by_a_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are too long to be handed to a worker give the same as with one."""
    rows: list[dict[str, Any]] = [
        {"id": str(number), "prompt": "p", "outputs": []} for number in range(400)
    ]
    for number in (100, 200):
        rows[number]["prompt"] = "x" * 5_000
    rows[300]["prompt"] = 7
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(jsonl(*rows), 1))
    small_blocks(monkeypatch)
    small_units(monkeypatch, 2_000)
    short_rows_only(monkeypatch, 4_000)
    options: dict[str, Any] = {"format": "record", "on_invalid": "skip"}
    found = []
    for executor in (None, Here()):
        output = tmp_path / "out.jsonl"
        convert(path, to="record", output=output, executor=executor, **options)
        counts = stats(path, executor=executor, **options).to_dict()
        report = validate(path, format="record", executor=executor)
        found.append((output.read_bytes(), counts, report.problems, report.files))
        output.unlink()
        assert [one.place.record for one in report.problems] == [301]

    assert found[0] == found[1]
    assert executor is not None
    assert executor.works
