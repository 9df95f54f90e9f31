"""Convert large files by several processes, with the result of one process."""

import gzip
import json
import os
import random
from itertools import count
from pathlib import Path
from typing import Any, Literal

import pytest

from effort import drawn, pairs
from harpia_formats import ConversionError, convert
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.conversion.parallel.convert_ranges import RangeConversion
from harpia_formats.conversion.parallel.converted_rows import Part
from harpia_formats.conversion.reading import row_batch
from harpia_formats.conversion.run import Conversion
from harpia_formats.evaluation.filling_measure import filling_measure
from harpia_formats.files.workers.pool import WorkerPool
from harpia_formats.plugins import SourceError
from harpia_formats.validation.parallel import ranges
from harpia_formats.validation.parallel.range_worker import run_range
from harpia_formats.validation.plan.units import RowRange
from harpia_formats.validation.unit.row_validator import DecoderTraining
from json_lines import jsonl, jsonl_rows
from sample_rows import nemo_answer
from shared_small_files import share_small_files

#: The formats that stand for each container of a file.
LINES, ARRAY, WRAPPED, TABLE, COLUMNS = (
    "tencent-outputs",
    "nemo-output",
    "harpia",
    "csv",
    "haystack",
)
CONTAINERS = (LINES, ARRAY, WRAPPED, TABLE, COLUMNS)
#: What some targets require.
GIVEN = {"model": "m", "outputs.scores.value": 1, "references": ["r"]}
#: What a row of lines may be instead of a valid one.
BROKEN = (b'{"input": 1}', b'{"bad"', b"", b"7", b'{"prompt": "q"}')
#: A record that NeMo's answers hold as a whole, and one of which a field is lost.
WHOLE = {"prompt": "question", "references": ["r"], "outputs": [{"text": "a"}]}
LOSSY, LOSS = jsonl({**WHOLE, "metadata": {"only_here": 1}}), {"on_loss": "fail"}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make units of a few rows each, and let workers begin at once."""
    share_small_files(monkeypatch, 20_000)
    monkeypatch.setattr(row_batch, "ROWS", 20)
    monkeypatch.setattr(row_batch, "JOINED", 20_000)


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> list[list[Part] | None]:
    """Return a list of the answers of workers, which grows while they work."""
    found: list[list[Part] | None] = []
    usual = WorkerPool.result

    def noted(self: Any, ticket: Any) -> Any:
        found.append(None)
        found[-1] = usual(self, ticket)
        return found[-1]

    monkeypatch.setattr(WorkerPool, "result", noted)
    return found


def record_of(number: int, chance: random.Random) -> dict[str, Any]:
    """Return a record, of one of many shapes."""
    output = {"text": f"answer {number} " + "x" * chance.randrange(2_000)}
    record: dict[str, Any] = {"prompt": f"question {number}", "references": ["r"]}
    if chance.random() < 0.5:
        output["model"] = chance.choice(["m", "n"])
    if chance.random() < 0.1:
        record["metadata"] = {chance.choice("abc"): chance.choice([1, 1.50, "é", None])}
    if chance.random() < 0.1:
        record["system"] = 'a "system"\n'
    return {"id": f"i{number}", **record, "outputs": [output]}


def records(count: int, seed: int = 0) -> bytes:
    """Return records as lines."""
    chance = random.Random(seed)  # noqa: S311 - a test needs a seed, not secrecy
    return jsonl(*(record_of(number, chance) for number in range(count)))


def source_of(format_: str, folder: Path, count: int, seed: int = 0) -> Path:
    """Return a file of so many records in a format."""
    hub, file = folder / "hub.jsonl", folder / f"source-{format_}"
    hub.write_bytes(records(count, seed))
    if format_ == "record":
        return hub
    kinds: dict[str, Literal["array", "lines"]] = {ARRAY: "array", LINES: "lines"}
    report = convert(
        hub,
        to=format_,
        from_="record",
        output=file,
        constants=GIVEN,
        container=kinds.get(format_),
        jobs=1,
    )
    assert report.ok
    return file


def result_or_error(
    source: Path | list[Path], target: str, output: Path, jobs: int, **options: Any
) -> tuple[Any, ...]:
    """Return all that a conversion shows: bytes, losses, problems, counts, rejects."""
    inputs = source if isinstance(source, list) else [source]
    given = ConvertOptions(jobs=jobs, **options)
    aside = output.with_name(f"{output.stem}.invalid.jsonl")
    for written in (output, aside):
        written.unlink(missing_ok=True)
    run = Conversion(inputs, target, output, given)
    try:
        problems = list(run)
    except SourceError as error:
        return (str(error),)
    report = run.report()
    data, refused = (
        written.read_bytes() if written.exists() else b"" for written in (output, aside)
    )
    found = report.to_dict()
    found.pop("outputs")
    carried = [
        (file.losses.carried, file.losses.kept, file.losses.outcomes)
        for file in report.losses
    ]
    return data, problems, found, carried, run.messages, refused


def assert_same(
    source: Path | list[Path],
    target: str,
    *,
    processes: tuple[int, ...] = (1, 2),
    **options: Any,
) -> tuple[bytes, dict[str, Any]]:
    """Assert that one and several processes come to the same.

    Return the output, and the report of the conversion.
    """
    first = source[0] if isinstance(source, list) else source
    one, *others = (
        result_or_error(source, target, first.parent / "output", jobs, **options)
        for jobs in processes
    )

    for other in others:
        assert other == one
    return one[0], one[2]


PAIRS = [(source, target) for source in CONTAINERS for target in CONTAINERS]
SHORT = [(LINES, TABLE), (ARRAY, LINES), (WRAPPED, COLUMNS), (COLUMNS, WRAPPED)]


def _check_pair(source: str, target: str, folder: Path, seed: int) -> None:
    file = source_of(source, folder, 300, seed)
    given: dict[str, Any] = {"from_": source, "constants": GIVEN}
    assert assert_same(file, target, processes=(1, 3), **given)[0]


@pytest.mark.parametrize(("source", "target"), SHORT)
def test_any_number_of_processes_writes_the_same(
    source: str, target: str, tmp_path: Path, answered: list[list[Part] | None]
) -> None:
    """Bytes, losses and problems are the same for any number of processes."""
    _check_pair(source, target, tmp_path, 1)

    assert len(answered) > 3
    assert all(parts and all(part.converted for part in parts) for parts in answered)


@pytest.mark.long
@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_any_number_of_processes_writes_the_same_for_all_containers(
    source: str, target: str, seed: int, tmp_path: Path
) -> None:
    """So it is for each container of the source and each of the target."""
    _check_pair(source, target, tmp_path, seed)


@pytest.mark.parametrize(
    "options",
    [
        {"ids": "number"},
        {"ids": "hash"},
        {"prefix_ids": True},
        {"model": "m", "on_invalid": "skip"},
        {"keep_extra": True},
        {"score": "f1", "filling_measure": filling_measure},
        {"on_loss": "fail"},
        {"max_row_bytes": 1_500, "on_invalid": "skip"},
        {"responses": "fail", "references": "fail"},
        {"reference_from": "gt"},
        {"constants": {"category": "c", "model": "k"}},
        {"responses": "first", "references": "expand"},
        {"group": "id"},
    ],
    ids=" ".join,
)
def test_options_reach_the_workers(options: dict[str, Any], tmp_path: Path) -> None:
    """With any option the result is that of one process."""
    file = source_of("record", tmp_path, 300)
    assert_same(file, "eee@0.3.0", from_="record", **{"constants": GIVEN, **options})


@pytest.mark.parametrize(
    ("format_", "how"), pairs([LINES, ARRAY, WRAPPED], ["fail", "skip", "quarantine"])
)
def test_invalid_rows_are_found_in_their_places(
    format_: str, how: str, tmp_path: Path
) -> None:
    """Invalid rows are reported, and left out, as by one process."""
    chance = random.Random(format_ + how)  # noqa: S311 - a test needs a seed, not secrecy
    target = chance.choice(["nemo-output", "harpia"])
    file = source_of(format_, tmp_path, 300)
    rows = file.read_bytes().splitlines(keepends=True)
    for at in sorted(chance.sample(range(5, len(rows) - 5), 12), reverse=True):
        broken = chance.choice([each for each in BROKEN if each or format_ == LINES])
        rows.insert(at, broken + (b"\n" if format_ == LINES else b",\n"))
    file.write_bytes(b"".join(rows))
    assert_same(
        file, target, overwrite=True, from_=format_, on_invalid=how, constants=GIVEN
    )


@pytest.mark.parametrize(
    ("row", "at", "options"),
    [
        (b'{"prompt":1,"outputs":[]}\n', 10, {}),
        (b'{"system":"s","outputs":[]}\n', 0, {}),
        (LOSSY, 0, LOSS),
        (LOSSY, 0, LOSS | {"on_invalid": "skip"}),
    ],
    ids=["invalid", "not converted", "lost", "lost where others are skipped"],
)
def test_rows_are_counted_up_to_the_one_that_ends_the_run(
    row: bytes,
    at: int,
    options: dict[str, str],
    tmp_path: Path,
    answered: list[list[Part] | None],
) -> None:
    """What was read behind it is not counted, and problems before it are reported."""
    rows = [jsonl(WHOLE | {"prompt": f"question {n}"}) for n in range(5_000)]
    rows[3_499:3_501] = row, b'{"bad"\n'
    if "on_invalid" in options:
        rows[3_439], rows[3_500] = b'{"bad"\n', row
    file = tmp_path / "in.jsonl"
    file.write_bytes(b"".join(rows))
    given: dict[str, Any] = {"from_": "record", "constants": GIVEN, **options}
    _, found = assert_same(file, "nemo-output", **given)
    summary = found["report"]["summary"]

    assert len(answered) > 6
    assert summary["records"] == 3_500
    assert summary["invalid"] == summary["errors"] == int(options != LOSS)
    assert summary["bytes"] == len(b"".join(rows[:3_499])) + at


@pytest.mark.parametrize("at", [125, 126, 127])
def test_an_error_ends_a_table_wherever_its_batch_ends(
    at: int, tmp_path: Path, answered: list[list[Part] | None]
) -> None:
    """No record behind it is read, also where it is the last one of a batch."""
    rows = [b"question %d,r,a\n" % number for number in range(2_000)]
    rows[at] = rows[at + 256] = b"question,r\n"
    file = tmp_path / "in.csv"
    file.write_bytes(b"prompt,references,response\n" + b"".join(rows))
    given: dict[str, Any] = {"from_": "csv", "constants": GIVEN}
    _, found = assert_same(file, "nemo-output", **given)

    assert answered
    assert found["report"]["summary"]["records"] == at + 1


def file_with_faults(folder: Path, odd: dict[str, Any]) -> Path:
    """Return a file of records with a broken line and, soon behind it, an odd one."""
    rows = [jsonl({"id": number, **WHOLE}) for number in range(4_000)]
    rows[3_499], rows[3_504] = b'{"bad"\n', jsonl(odd)
    file = folder / "in.jsonl"
    file.write_bytes(b"".join(rows))
    return file


def test_losses_behind_a_row_that_is_left_out_have_their_lines(
    tmp_path: Path, answered: list[list[Part] | None]
) -> None:
    """A field that only a row behind an invalid one has is lost in the line of it."""
    file = file_with_faults(tmp_path, {"id": 3_504, **json.loads(LOSSY)})
    given: dict[str, Any] = {"from_": "record", "on_invalid": "skip"}
    _, found = assert_same(file, "nemo-output", constants=GIVEN, **given)
    lines = [one["line"] for one in found["losses"] if "only_here" in one["field"]]

    assert lines == [3_505]
    assert any(parts and len(parts) == 3 for parts in answered)


def test_groups_of_problems_have_one_order(
    tmp_path: Path, answered: list[list[Part] | None]
) -> None:
    """Those of rows that are not converted follow those of validation.

    Rows are read together in one process that several read apart.
    """
    file = file_with_faults(tmp_path, {"id": 3_504, "system": "s", "outputs": []})
    given: dict[str, Any] = {"from_": "record", "on_invalid": "skip"}
    _, found = assert_same(file, "nemo-output", constants=GIVEN, **given)

    assert answered
    assert [each["code"][0] for each in found["report"]["groups"]] == ["J", "L"]


#: What a line of a table may be instead of a record, or next to it.
FAULTS = (
    'i,"never closed',
    'i,a "quoted" word',
    '"i" x,q',
    "i,too,many,fields,for,the,table",
    "",
    '"a\nb",q',
    "i\rj,q",
    'i,"a ""q"" b\r\nc"',
)


@pytest.mark.parametrize("seed", range(drawn(1)))
@pytest.mark.parametrize("how", ["fail", "quarantine"])
def test_faults_of_a_table_are_found_in_their_places(
    seed: int, how: str, tmp_path: Path
) -> None:
    """Wherever a table is cut, its faults and records are those of one process."""
    chance = random.Random(seed)  # noqa: S311 - a test needs a seed, not secrecy
    texts = ["plain", '"with, comma"', '"two\nlines"', '"a ""word"""', '""']
    rows = [f"i{number},{chance.choice(texts)}{'x' * 300}" for number in range(400)]
    rows = [row if '"' not in row else row.replace("x" * 300, "") for row in rows]
    for _ in range(chance.randrange(4)):
        rows.insert(chance.randrange(350, 400), chance.choice(FAULTS))
    file = tmp_path / "in.csv"
    end = chance.choice(["\n", "\r\n"])
    file.write_bytes(end.join(["id,prompt", *rows]).encode())
    assert_same(file, "record", overwrite=True, on_invalid=how)


def test_refused_records_of_columns_are_those_of_one_process(tmp_path: Path) -> None:
    """Their order in the quarantine does not depend on which process converts rows."""
    file = source_of(COLUMNS, tmp_path, 300)
    data = file.read_bytes()
    for number in (3, 250):
        data = data.replace(b'"question %d"' % number, b'{"a":1,"a":1}')
    file.write_bytes(data)
    assert_same(file, "record", overwrite=True, from_=COLUMNS, on_invalid="quarantine")
    rows = (tmp_path / "output.invalid.jsonl").read_bytes().splitlines()

    assert [b'"questions":{"a":1,"a":1}' in row for row in rows] == [True] * 2


def test_records_of_a_table_get_their_numbers(tmp_path: Path) -> None:
    """Numbers that are ids count the records, whatever lines they have."""
    rows = [f'"q {number}\n{"x" * 300}",r' for number in range(300)]
    file = tmp_path / "in.csv"
    file.write_text("\n".join(["prompt,references", *rows]) + "\n")
    data, _ = assert_same(file, "harpia", constants={"outputs.text": "a"})

    assert [row["id"] for row in json.loads(data)["instances"]][-1] == "300"


def test_late_columns_of_a_table_are_those_of_one_process(tmp_path: Path) -> None:
    """Rows before the first value of a column have an empty cell, for any --jobs."""
    rows = jsonl_rows(records(300))
    late = ["gt", "category", "choices", "source"]
    for number, row in enumerate(rows):
        for step, key in enumerate(late, 2):
            if number > 50 * step and number % (9 * step) == 0:
                row[key] = ["x"] if key == "choices" else "x"
    file = tmp_path / "rows.jsonl"
    file.write_bytes(jsonl(*rows))
    header = assert_same(file, TABLE, from_="record")[0].partition(b"\n")[0]

    assert {*late} <= {*header.decode().split(",")}


def test_ids_that_are_numbers_count_valid_records_only(tmp_path: Path) -> None:
    """Blank lines and invalid rows do not count, in any file."""
    files = []
    for number in range(2):
        chance = random.Random(number)  # noqa: S311 - a test needs a seed, not secrecy
        rows = [json.dumps(record_of(each, chance)) for each in range(300)]
        rows = [row.replace('"id"', '"category"') for row in rows]
        rows[150:150] = ["", '{"prompt": 1}']
        files.append(tmp_path / f"{number}.jsonl")
        files[-1].write_text("\n".join(rows) + "\n")
    data, _ = assert_same(
        files, "harpia", from_="record", on_invalid="skip", constants=GIVEN
    )
    found = [row["id"] for row in json.loads(data)["instances"]]

    assert found == [str(number) for number in range(1, 601)]


def test_a_header_in_a_large_file_comes_back(tmp_path: Path) -> None:
    """A header in the first of many records is found, however the file is read."""
    metrics = [{"id": "em", "enable": True, "parameters": {}}]
    first, *rows = jsonl_rows(records(300))
    file = tmp_path / "rows.jsonl"
    file.write_bytes(jsonl(first | {"header": {"metrics": metrics}}, *rows))
    data, _ = assert_same(file, "harpia", from_="record", constants=GIVEN)

    assert json.loads(data)["metrics"] == metrics


def test_repeated_ids_are_found_across_units(tmp_path: Path) -> None:
    """An id that two units have is an error, as in one process."""
    file = source_of("record", tmp_path, 300)
    file.write_bytes(file.read_bytes() + records(1))
    data, _ = assert_same(file, "harpia", from_="record", constants=GIVEN)

    assert data == b""


def test_decoder_is_not_rebuilt_for_each_range(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranges with bad rows, run in this process, share one decoder."""
    built: list[DecoderTraining] = []
    usual = DecoderTraining._build  # noqa: SLF001 - how often it is done shows nowhere else

    def noted(training: DecoderTraining) -> None:
        built.append(training)
        usual(training)

    monkeypatch.setattr(DecoderTraining, "_build", noted)
    rows = jsonl(*map(nemo_answer, range(1_000))).splitlines(keepends=True)
    file = tmp_path / "in.jsonl"
    file.write_bytes(b"7\n".join(rows))
    report = convert(
        file, to="harpia", output=tmp_path / "out", jobs=2, on_invalid="skip"
    )

    assert (report.rows, report.skipped) == (1_000, 999)
    assert len(built) <= 4


def test_compressed_lines_are_converted_by_workers(
    tmp_path: Path, answered: list[list[Part] | None]
) -> None:
    """Lines that workers cannot read themselves are sent to them."""
    file = source_of(LINES, tmp_path, 300)
    packed = tmp_path / "rows.jsonl.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert assert_same(packed, ARRAY)[0]

    assert len(answered) > 3


def test_each_model_has_its_own_file(
    tmp_path: Path, answered: list[list[Part] | None]
) -> None:
    """Answers of each model go to its file, in their order."""
    file, found = source_of("record", tmp_path, 300), []
    for jobs in (1, 2):
        folder = tmp_path / f"{jobs}"
        folder.mkdir()
        result_or_error(file, "record", folder / "{model}.jsonl", jobs)
        found.append({each.name: each.read_bytes() for each in folder.iterdir()})

    assert found[0] == found[1]
    assert sorted(found[0]) == ["m.jsonl", "model.jsonl", "n.jsonl"]
    assert len(answered) > 3


def test_models_that_workers_read_are_listed(
    tmp_path: Path, answered: list[list[Part] | None]
) -> None:
    """If no answer is of the model, the error lists those of all records."""
    file = source_of("record", tmp_path, 300)
    late = jsonl({"prompt": "q", "outputs": [{"model": "late", "text": "a"}]})
    file.write_bytes(file.read_bytes() + late)
    for jobs in (1, 2):
        with pytest.raises(ConversionError, match="'n', 'm', 'late'"):
            result_or_error(file, "csv", tmp_path / "o.csv", jobs, model="x")

    assert len(answered) > 3


def test_a_file_that_takes_no_time_is_converted_by_one_process(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answered: list[list[Part] | None],
) -> None:
    """A second process starts only where it saves more time than it costs."""
    monkeypatch.setattr(ranges, "WORTH_SECONDS", 1000)
    file = source_of(LINES, tmp_path, 300)
    result_or_error(file, "record", tmp_path / "out", 2)

    assert answered == []


@pytest.mark.parametrize("format_", CONTAINERS)
def test_a_few_slow_rows_start_no_process(
    format_: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answered: list[list[Part] | None],
) -> None:
    """The time of the first rows, which is that of a start, is not that of others."""
    seconds = count()
    monkeypatch.setattr(ranges, "thread_time", lambda: float(next(seconds)))
    monkeypatch.setattr(ranges, "WORTH_SECONDS", 0.1)
    file = source_of(format_, tmp_path, 200)
    monkeypatch.setattr(ranges, "TIMED", file.stat().st_size)
    result_or_error(file, "record", tmp_path / "out", 2)

    assert answered == []


#: A unit that begins behind this byte kills its process.
DEADLY = 320_000


def dying(job: Any, unit: RowRange, given: Any) -> Any:
    """Convert a unit; the process dies of one behind the byte `DEADLY`."""
    if unit.begin > DEADLY:
        os._exit(1)
    return run_range(job, unit, given)


def unable(*_: Any) -> None:
    """Return that nothing can be converted."""


@pytest.mark.parametrize(
    "format_", [LINES, pytest.param(ARRAY, marks=pytest.mark.long)]
)
def test_output_is_complete_without_workers(
    format_: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    answered: list[list[Part] | None],
) -> None:
    """Output and losses are those of one process if workers give up."""
    monkeypatch.setattr(ranges, "run_range", unable)
    file = source_of(format_, tmp_path, 400)
    assert_same(file, "harpia", from_=format_, constants=GIVEN)

    assert len(answered) >= ranges.MAX_LEFT
    assert not any(answered)


@pytest.mark.parametrize(
    ("format_", "how"),
    [
        (ARRAY, "quarantine"),
        (ARRAY, "fail"),
        *(
            pytest.param(*each, marks=pytest.mark.long)
            for each in [(LINES, "fail"), (LINES, "quarantine")]
        ),
    ],
)
def test_rows_that_kill_two_workers_are_reported(
    format_: str, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are undetermined (V901): nothing is written, or the other rows are."""
    monkeypatch.setattr(ranges, "run_range", dying)
    file = source_of(format_, tmp_path, 400)
    given = {"on_invalid": how, "constants": GIVEN}
    data, problems, report, *_ = result_or_error(
        file, "harpia", tmp_path / "out", 2, **given
    )
    (count,) = report["report"]["files"]
    written = len(json.loads(data)["instances"]) if data else 0

    assert {each.code for each in problems} == {"V901"}
    assert count["undetermined"] > 0
    if how == "fail":
        assert (written, report["written"], len(problems)) == (0, False, 1)
        # How much was read behind the first of them depends on the processes.
        assert report["report"]["summary"]["bytes"] == problems[0].place.byte_offset
        return
    assert len(problems) > 1
    assert report["report"]["summary"]["bytes"] == file.stat().st_size
    assert not report["ok"]
    assert (written, report["skipped"]) == (
        400 - count["undetermined"],
        count["undetermined"],
    )


def test_file_that_changes_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is cut short while it is read is not converted."""
    file = source_of(LINES, tmp_path, 400)
    size = file.stat().st_size
    usual = WorkerPool.result

    def cutting(self: Any, ticket: Any) -> Any:
        os.truncate(file, size // 2)
        return usual(self, ticket)

    monkeypatch.setattr(WorkerPool, "result", cutting)
    data, _, report, *_ = result_or_error(file, ARRAY, tmp_path / "out", 2)

    assert data == b""
    assert "changed" in report["report"]["files"][0]["reason"]


def test_folder_for_rows_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files that rows come back in are deleted, also after an error."""
    folders: list[Path] = []
    usual = RangeConversion._folder  # noqa: SLF001 - the folder shows nowhere else

    def noted(self: Any, *given: Any) -> str:
        folder = usual(self, *given)
        folders.append(Path(folder))
        return folder

    monkeypatch.setattr(RangeConversion, "_folder", noted)
    file = source_of(LINES, tmp_path, 300)
    result_or_error(file, ARRAY, tmp_path / "out", 2)
    file.write_bytes(file.read_bytes() + b"7\n")
    result_or_error(file, ARRAY, tmp_path / "out", 2)

    assert len(folders) == 2
    assert not any(folder.exists() for folder in folders)


def _interrupted(*_: Any) -> None:
    raise KeyboardInterrupt


def test_interrupt_ends_the_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupt ends the run, and leaves neither output nor processes."""
    file = source_of(LINES, tmp_path, 300)
    monkeypatch.setattr(RangeConversion, "_deliver", _interrupted)
    output = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        result_or_error(file, ARRAY, output, 2)

    assert not output.exists()
