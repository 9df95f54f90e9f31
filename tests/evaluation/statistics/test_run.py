"""Statistics of files: every format, any number of workers, and what cannot be read."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator

import harpia_formats
from dying_workers import end_worker
from harpia_formats import ConversionError, OptionError, ValidationFailed
from harpia_formats.cli.commands.stats import statistics_lines
from harpia_formats.evaluation.statistics import count_ranges, record_counts
from harpia_formats.evaluation.statistics.statistics_run import (
    StatisticsRun,
    StatsOptions,
)
from harpia_formats.formats.registry import all_formats
from harpia_formats.reporters import Options
from harpia_formats.reporters.html.page import page_of
from harpia_formats.validation.parallel import ranges

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "fixtures"
SCHEMA = ROOT / "schemas" / "harpia-formats" / "statistics-1.schema.json"
VALIDATOR = Draft7Validator(json.loads(SCHEMA.read_bytes()))
#: The valid fixtures of each format.
FOLDERS = sorted(FIXTURES.glob("*/valid"))


def rows(count: int) -> bytes:
    """Return lines of NeMo; every tenth repeats a prompt, and blank lines are between.

    Some texts are in other scripts, and some are empty.
    """
    lines = []
    for number in range(count):
        prompt = f"question {number - number % 10 if number % 10 == 1 else number}"
        row = {
            "input": {
                "prompt": prompt + " 你好" * (number % 7 == 0),
                "ideal_response": "" if number % 50 == 0 else "r" * (number % 300),
                "category": f"c{number % 3}",
                "source": "",
            },
            "response": "ответ " * (number % 5),
            "llm_name": f"m{number % 2}",
        }
        lines.append(json.dumps(row))
        lines += [""] * (number % 97 == 0)
    return "\n".join(lines).encode() + b"\n"


def statistics(given: Any, **options: Any) -> dict[str, Any]:
    """Return the statistics of an input as plain data."""
    return harpia_formats.stats(given, **options).to_dict()


def check_fixture(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that rows read from decoded ones are counted as those read as a whole."""
    format_ = path.parts[-3]
    if not all_formats()[format_].adapter:
        with pytest.raises(ConversionError, match="without records"):
            statistics(path, from_=format_)
        return
    found = statistics(path, from_=format_)
    VALIDATOR.validate(found)
    with monkeypatch.context() as patch:
        patch.setattr(record_counts, "direct_read", lambda *_, **__: None)
        assert statistics(path, from_=format_) == found


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parent.name)
def test_every_format_is_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of each format has statistics by their schema, or holds no records."""
    check_fixture(min(folder.iterdir()), monkeypatch)


@pytest.mark.parametrize("format_", ["eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0"])
@pytest.mark.parametrize("key", ["performance", "token_usage"])
def test_null_in_place_of_an_object_is_a_missing_field(format_: str, key: str) -> None:
    """Many rows, which are read from decoded ones, are counted as one row is."""
    path = min((FIXTURES / format_ / "valid").glob("*.jsonl"))
    row = json.loads(path.read_bytes().splitlines()[0]) | {key: None}
    line = json.dumps(row).encode() + b"\n"
    (one, many) = (statistics(line * times, from_=format_) for times in (1, 40))

    counts = [
        {each["field"]: each["count"] for each in x["fields"]} for x in (one, many)
    ]
    assert counts[1] == {name: 40 * count for name, count in counts[0].items()}
    assert many["absent"] == one["absent"]
    assert f"outputs.{key}" not in counts[0]


@pytest.mark.long
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.parent.name)
def test_every_fixture_is_counted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All valid fixtures have statistics by their schema, or hold no records."""
    for path in sorted(folder.iterdir()):
        check_fixture(path, monkeypatch)


def test_workers_count_what_one_process_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statistics do not depend on the number of workers."""
    monkeypatch.setattr(ranges, "WORTH_SECONDS", 0.0)
    monkeypatch.setattr(ranges, "MIN_RANGE", 30_000)
    first, second = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    first.write_bytes(rows(2_500))
    second.write_bytes(rows(1_500))
    paths = [first, second]

    alone = harpia_formats.stats(*paths)
    together = harpia_formats.stats(*paths, jobs=2)

    assert together.to_dict() == alone.to_dict()
    assert alone.records == 4_000
    assert alone.duplicates["ids"]["count"] == 0
    references = next(each for each in alone.fields if each["field"] == "references")
    assert references["empty"]["count"] == 0


def test_very_long_rows_are_counted_by_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers get no rows of which each takes much memory."""
    monkeypatch.setattr(ranges, "WORTH_SECONDS", 0.0)
    monkeypatch.setattr(count_ranges, "MAX_ROW", 10)
    monkeypatch.setattr(ranges, "prepare", None)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(rows(2_000))

    assert harpia_formats.stats(path, jobs=2).records == 2_000


def test_units_with_invalid_rows_are_counted_by_the_main_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that are left out are the same for any number of workers."""
    monkeypatch.setattr(ranges, "WORTH_SECONDS", 0.0)
    monkeypatch.setattr(ranges, "MIN_RANGE", 20_000)
    data = rows(3_000).splitlines(keepends=True)
    data[2_000] = b'{"input": 1}\n'
    data[2_500] = b"no JSON\n"
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"".join(data))

    alone = harpia_formats.stats(path, on_invalid="skip")
    together = harpia_formats.stats(path, on_invalid="skip", jobs=2)

    assert together.to_dict() == alone.to_dict()
    assert (alone.records, alone.skipped) == (2_998, 2)
    assert alone.ok


@pytest.mark.parametrize("before", [(), (rows(3),)])
def test_many_rows_of_no_known_format_are_left_out(before: tuple[bytes, ...]) -> None:
    """They are not counted, neither alone nor as if they were of the file before."""
    unknown = b'{"foo": 1}\n' * 40

    found = harpia_formats.stats(*before, unknown, on_invalid="skip")
    expected = harpia_formats.stats(*before).records if before else 0

    assert (found.records, found.skipped) == (expected, 40)


@pytest.mark.parametrize("how", ["fail", pytest.param("skip", marks=pytest.mark.long)])
def test_rows_that_kill_two_workers_are_reported(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have no verdict (V901), whether invalid records may be left out or not."""
    monkeypatch.setattr(ranges, "WORTH_SECONDS", 0.0)
    monkeypatch.setattr(ranges, "run_range", end_worker)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(rows(9_000))
    run = StatisticsRun([path], StatsOptions(on_invalid=how, jobs=2))
    codes = {each.code for each in run}
    (count,) = run.statistics().report.files

    assert codes == {"V901"}
    assert count.undetermined > 0
    assert not run.statistics().ok


def test_an_invalid_row_is_an_error() -> None:
    """Without an option to skip it, an invalid row ends the run."""
    with pytest.raises(ValidationFailed):
        harpia_formats.stats(rows(3) + b"{}\n")


def test_a_limit_is_for_each_file(tmp_path: Path) -> None:
    """Only so many records of each file are counted."""
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path in paths:
        path.write_bytes(rows(20))

    assert harpia_formats.stats(*paths, limit=7, jobs=2).records == 14


def test_ids_are_compared_within_a_file(tmp_path: Path) -> None:
    """The same id in two files is none that is repeated."""
    row = b'{"id": %d, "prompt": "q", "outputs": []}\n'
    one, two = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    one.write_bytes(row % 1 + row % 2)
    two.write_bytes(row % 1 + row % 1)

    found = statistics([one, two][0]), harpia_formats.stats(one, two).duplicates

    assert found[0]["duplicates"]["ids"]["surplus"] == 0
    assert found[1]["ids"]["first"] == [
        {
            "count": 2,
            "places": [
                {"path": str(two), "record": 1},
                {"path": str(two), "record": 2},
            ],
        }
    ]
    assert found[1]["prompts"]["surplus"] == 3


def test_messages_are_one_prompt_in_any_order_of_their_keys() -> None:
    """The order of keys, and of those inside, is not compared."""
    call = '"calls": [{"a": 1, "b": 2}]', '"calls": [{"b": 2, "a": 1}]'
    rows_ = [
        f'{{"messages": [{{"role": "user", {call[0]}}}], "outputs": []}}',
        f'{{"messages": [{{{call[1]}, "role": "user"}}], "outputs": []}}',
        f'{{"messages": [{{{call[1]}, "role": "tool"}}], "outputs": []}}',
    ]

    found = harpia_formats.stats("\n".join(rows_).encode(), from_="record")

    assert (found.questions, found.duplicates["prompts"]["surplus"]) == (2, 1)


def test_many_values_are_not_counted_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beyond a bound only the number of values is reported."""
    monkeypatch.setattr(record_counts, "MAX_VALUES", 2)

    values = harpia_formats.stats(rows(20)).values

    assert values["category"] == {
        "count": 20,
        "distinct": None,
        "top": [],
        "others": None,
    }
    assert values["model"]["distinct"] == 2


def test_only_whole_numbers_are_tokens_and_only_numbers_are_times() -> None:
    """12.0 counts as 12; a part of a token, a boolean and a text count as none."""
    tokens = [12, 12.0, {"a": 3.0}, 0.5, True, "7", None]
    record = {
        "prompt": "p",
        "outputs": [
            {"text": "t", "token_usage": {"k": each}, "performance": {"ms": time}}
            for each, time in zip(
                tokens, (1, 2.5, True, False, "1", None, 0), strict=True
            )
        ],
    }

    found = statistics([record], from_="record")

    (model,) = found["tokens"]["models"]
    assert model["counts"] == {
        "k": {"answers": 2, "sum": 24},
        "k.a": {"answers": 1, "sum": 3},
    }
    assert {kind: each["count"] for kind, each in found["times"].items()} == {"ms": 3}


def test_numbers_count_however_they_are_written() -> None:
    """12.00 is 12 tokens, and 120.50 and 1e2 are times."""
    row = (
        b'{"prompt": "p", "outputs": [{"text": "t", "model": "m", '
        b'"token_usage": {"k": 12.00, "n": {"a": 1e2}}, '
        b'"performance": {"ms": 120.50, "s": 1e2}}]}\n'
    )

    found = statistics(row, from_="record")

    (model,) = found["tokens"]["models"]
    assert model["counts"] == {
        "k": {"answers": 1, "sum": 12},
        "n.a": {"answers": 1, "sum": 100},
    }
    assert {kind: each["max"] for kind, each in found["times"].items()} == {
        "ms": 120.5,
        "s": 100,
    }


@pytest.mark.parametrize("redact", [False, True])
def test_too_many_scores_and_times_are_null_and_reported(
    monkeypatch: pytest.MonkeyPatch, *, redact: bool
) -> None:
    """Beyond a bound only the number of scores is reported, in all outputs."""
    monkeypatch.setattr(record_counts, "MAX_NAMES", 2)
    monkeypatch.setattr(record_counts, "MAX_KINDS", 2)
    answers = [
        {
            "text": "a",
            "model": f"m{number}",
            "token_usage": {"total": 1},
            "scores": [{"metric": f"k{number}", "value": 1}],
            "performance": {f"t{number}": 1},
        }
        for number in range(5)
    ]
    row = json.dumps({"prompt": "p", "outputs": answers}).encode()

    found = harpia_formats.stats(row + b"\n", redact=redact)

    plain = found.to_dict()
    VALIDATOR.validate(plain)
    assert (plain["scores"], plain["score_count"], plain["times"]) == (None, 5, None)
    lines = "\n".join(statistics_lines(found))
    page = page_of(found, Options())
    for text in (lines, page):
        assert "5, of too many metrics to tell them apart" in text
        assert "too many kinds of times" in text
        assert "(all)" in text


def test_the_most_frequent_values_are_listed() -> None:
    """`top` values are listed, and the others are counted."""
    category = harpia_formats.stats(rows(20), top=1).values["category"]

    assert category["top"] == [{"value": "c0", "count": 7}]
    assert category["others"] == 13


def test_no_records_are_too_few() -> None:
    """A file without records has no statistics unless it may be empty."""
    run = StatisticsRun([b""], StatsOptions(jobs=1, from_="record"))

    assert [problem.code for problem in run] != []
    assert run.statistics().is_broken


@pytest.mark.parametrize(
    "options", [{"limit": 0}, {"top": 0}, {"jobs": -1}, {"on_invalid": "skpi"}]
)
def test_options_have_ranges(options: dict[str, Any]) -> None:
    """A value out of its range is an error."""
    with pytest.raises(OptionError):
        harpia_formats.stats(b"", **options)


def test_columns_are_mapped() -> None:
    """Columns of a table are fields that are counted."""
    table = b"question,gold\nWhat?,this\nWhy?,\n"

    found = harpia_formats.stats(
        table, from_="csv", columns={"prompt": "question", "references": "gold"}
    )

    assert found.lengths["prompt"]["characters"]["sum"] == 9
    assert found.records == 2
