"""Large files are scored by several processes, with the numbers of one process."""

import json
import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dying_workers import end_worker
from harpia_formats import Problem, ScoreError
from harpia_formats.cli.app import app_for
from harpia_formats.evaluation.scoring import score_ranges
from harpia_formats.evaluation.scoring.measures import outcomes, select_metrics
from harpia_formats.evaluation.scoring.measures.outcomes import computed_metric
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.evaluation.scoring.scoring_run import Scoring
from harpia_formats.plugins import MetricRequest
from harpia_formats.validation.parallel import ranges
from harpia_formats.validation.unit.findings import InternalFault, internal_fault
from worker_units import short_first_block

CHANCE = random.Random(3)  # noqa: S311 - a test needs a seed, not secrecy
WORDS = "the of and answer question paris france seven blue green city river".split()
#: Texts of some words, fewer than a metric of labels takes.
TEXTS = [" ".join(CHANCE.choices(WORDS, k=2 + at % 8)) for at in range(40)]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ranges of some rows each, and let workers begin at once."""
    monkeypatch.setattr(ranges, "WORTH_SECONDS", 0.0)
    for name in ("MIN_RANGE", "MAX_RANGE", "BUNDLE", "TIMED"):
        monkeypatch.setattr(ranges, name, 7_000)
    short_first_block(monkeypatch)


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list of the records of each range that a worker scores."""
    found: list[int] = []
    usual = score_ranges.RangeScoring.merge

    def noted(self: Any, answer: Any, *others: Any) -> Any:
        found.append(len(answer.records))
        return usual(self, answer, *others)

    monkeypatch.setattr(score_ranges.RangeScoring, "merge", noted)
    return found


def record_of(number: int, chance: random.Random) -> dict[str, Any]:
    """Return a record of one of three models; some questions have several answers."""
    reference = chance.choice(TEXTS)
    outputs = [
        {
            "model": chance.choice(["one", "two", "three"]),
            "text": chance.choice([reference, *TEXTS[:2]]),
        }
        for _ in range(chance.choice([1, 1, 2]))
    ]
    return {
        "id": number,
        "prompt": f"question {number} {'x' * 60}",
        "references": [reference, "blue"][: chance.randint(1, 2)],
        "category": f"c{number % 5}",
        "metadata": {"level": number % 3},
        "outputs": outputs,
    }


def records(count: int) -> list[dict[str, Any]]:
    """Return so many records, always the same."""
    chance = random.Random(5)  # noqa: S311 - a test needs a seed, not secrecy
    return [record_of(number, chance) for number in range(count)]


def write_rows(path: Path, rows: Sequence[dict[str, Any] | bytes]) -> Path:
    """Write rows as lines, or as an array by the name of the file; return the file."""
    if path.suffix == ".json":
        path.write_text(json.dumps(rows, indent=1))
        return path
    texts = (
        row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows
    )
    path.write_bytes(b"".join(text + b"\n" for text in texts))
    return path


def outcome(path: Path, jobs: int, **options: Any) -> tuple[Scores, list[Problem]]:
    """Return the scores of a file without how long they took, and its problems."""
    run = Scoring([path], options=ScoreOptions(jobs=jobs, **options))
    problems = list(run)
    return replace(run.scores(), seconds=()), problems


def assert_same(path: Path, **options: Any) -> Scores:
    """Assert that one and several processes come to the same; return the scores."""
    one, two = (outcome(path, jobs, **options) for jobs in (1, 2))

    assert two == one
    return one[0]


@pytest.mark.parametrize(
    "options",
    [
        {"metrics": ("em", "f1", "bleu", "f1-macro")},
        {"metrics": ("em", "length"), "by": ("model", "category")},
        *(
            pytest.param(options, marks=pytest.mark.long)
            for options in (
                {"metrics": ("em", "f1"), "by": ("category", "metadata.level")},
                {"metrics": ("em",), "model": "two", "missing": "skip"},
                {"metrics": ("pass@k",), "missing": "skip"},
            )
        ),
    ],
    ids=["metrics", "models", "groups", "model", "questions"],
)
def test_processes_make_no_difference(
    options: dict[str, Any], tmp_path: Path, shared: list[int]
) -> None:
    """Workers come to the scores, groups and notes of one process, to the last bit."""
    path = write_rows(tmp_path / "rows.jsonl", records(400))

    found = assert_same(path, from_="record", **options)

    assert len(shared) > 5
    assert found.ok


@pytest.mark.parametrize(
    "name", ["rows.jsonl", pytest.param("rows.json", marks=pytest.mark.long)]
)
def test_answers_without_a_score_are_reported_at_their_places(
    name: str, tmp_path: Path, shared: list[int]
) -> None:
    """Missing answers and references have the places that one process tells."""
    rows = records(400)
    for number in range(0, 390, 17):
        rows[number]["outputs"][0]["text"] = None
        rows[number + 7]["references"] = []
    path = write_rows(tmp_path / name, rows)

    for missing in ("skip", "zero"):
        found = assert_same(
            path, metrics=("em", "bleu"), from_="record", missing=missing
        )
        assert {each.code for each in found.problems} == {"M101", "M102"}
    assert len(shared) > 10


def test_a_refused_answer_is_the_error_of_one_process(tmp_path: Path) -> None:
    """Without an option the first answer without a score ends the run."""
    rows = records(400)
    rows[300]["outputs"][0]["text"] = None
    rows[320]["references"] = []
    path = write_rows(tmp_path / "rows.jsonl", rows)
    texts = []
    for jobs in (1, 2):
        with pytest.raises(ScoreError) as error:
            outcome(path, jobs, metrics=("em",), from_="record")
        texts.append(str(error.value))

    assert texts[0] == texts[1]
    assert f"{path}:301:" in texts[0]


@pytest.mark.long
def test_questions_without_an_id_and_an_input_are_counted_by_their_numbers(
    tmp_path: Path, shared: list[int]
) -> None:
    """Each such record is a question of its own, in whichever range it is."""
    rows = [
        {key: one[key] for key in ("references", "outputs")} for one in records(1_200)
    ]
    path = write_rows(tmp_path / "rows.jsonl", rows)

    found = assert_same(path, metrics=("em", "length"), from_="record", pool=True)

    assert shared
    assert sum(one.scores[0].questions for one in found.systems) > 1_200


def test_results_are_written_by_the_main_process(
    tmp_path: Path, shared: list[int]
) -> None:
    """They need the records, which workers do not send."""
    path = write_rows(tmp_path / "rows.jsonl", records(400))
    found = []
    for jobs in (1, 2):
        output = tmp_path / f"{jobs}.csv"
        options = ScoreOptions(metrics=("em",), from_="record", jobs=jobs)
        assert list(Scoring([path], "csv", output, options)) == []
        found.append(output.read_bytes())

    assert found[0] == found[1]
    assert not shared


def test_invalid_rows_are_left_to_the_main_process(
    tmp_path: Path, shared: list[int]
) -> None:
    """Ranges with rows that are left out come to the same in any process."""
    rows: list[dict[str, Any] | bytes] = list(records(400))
    rows[230], rows[370] = b'{"bad"', b'{"outputs": 7}'
    path = write_rows(tmp_path / "rows.jsonl", rows)

    found = assert_same(path, metrics=("em", "f1"), from_="record", on_invalid="skip")

    assert shared
    assert found.report.files[0].invalid == 2


def test_rows_that_repeat_answers_are_scored_by_the_main_process(
    tmp_path: Path, shared: list[int]
) -> None:
    """Which row repeats an answer of another range, only one process can tell."""
    rows = records(1_000)
    for row in rows:
        row["outputs"] = [
            {**row["outputs"][0], "scores": [{"metric": "x", "value": 0.5}]}
        ]
    again = json.loads(json.dumps(rows))
    for row in again:
        row["outputs"][0]["scores"][0]["metric"] = "y"
    path = write_rows(tmp_path / "rows.jsonl", [*rows, *again])

    found = assert_same(path, metrics=("em",), from_="record")

    assert not shared
    assert sum(one.answers for one in found.systems) == 1_000


@pytest.mark.long
def test_a_row_that_may_be_repeated_leaves_its_range(
    tmp_path: Path, shared: list[int]
) -> None:
    """A range with such a row is scored by the main process, and others are not."""
    rows = records(400)
    for number in (250, 370):
        first = rows[250]["outputs"][:1]
        scores = [{"metric": f"m{number}", "value": 1}]
        rows[number] = {**rows[250], "outputs": [{**first[0], "scores": scores}]}
    path = write_rows(tmp_path / "rows.jsonl", rows)

    found = assert_same(path, metrics=("em",), from_="record")

    assert shared
    assert any("repeat an answer" in note for note in found.notes)


@pytest.mark.long
def test_computed_scores_are_compared_with_stored_ones(
    tmp_path: Path, shared: list[int]
) -> None:
    """Where computed scores differ from stored ones is reported as by one process."""
    rows = records(1_200)
    for number, row in enumerate(rows):
        signature = {"signature": "em|impl:other"}
        scores = [
            {"metric": "em", "value": number % 2, **signature},
            {"metric": "other", "value": 1, **signature},
        ]
        row["outputs"] = [{**row["outputs"][0], "scores": scores}]
    path = write_rows(tmp_path / "rows.jsonl", rows)

    found = assert_same(path, metrics=("em",), from_="record")

    assert shared
    assert found.stored_differences[0]["compared"] == 1_200


def test_stored_scores_have_the_means_of_one_process(tmp_path: Path) -> None:
    """Stored scores are read by one process, however many there are."""
    rows = records(400)
    for number, row in enumerate(rows):
        row["outputs"][0]["scores"] = [{"metric": "rating", "value": number % 7 / 3}]
    path = write_rows(tmp_path / "rows.jsonl", rows)

    assert_same(path, stored=True, from_="record", by=("category",))


def test_answers_that_are_measured_together_are_not_parted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: list[int]
) -> None:
    """A metric gets the same answers together, however many processes there are."""
    path, together = write_rows(tmp_path / "rows.jsonl", records(900)), list[int]()
    metric = computed_metric(MetricRequest("em"))

    def batch(pairs: Sequence[Any]) -> list[Any]:
        together.append(len(pairs))
        return [metric.measure.statistics(*pair) for pair in pairs]

    own = replace(metric, measure=replace(metric.measure, batch=batch))
    monkeypatch.setattr(select_metrics, "computed_metric", lambda _: own)
    monkeypatch.setattr(outcomes, "BATCHES_HERE", 99)

    assert_same(path, metrics=("em",), from_="record")

    assert not shared
    assert together[: len(together) // 2] == together[len(together) // 2 :]


def _unable(*_: object) -> None:
    """Return that nothing can be scored."""


def _failed(*_: object) -> InternalFault:
    """Return what an error in a worker becomes."""
    return internal_fault(RuntimeError("no such luck"))


@pytest.mark.parametrize(
    "answer", [_unable, pytest.param(_failed, marks=pytest.mark.long)]
)
def test_ranges_that_fail_in_workers_are_scored_here(
    answer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: list[int]
) -> None:
    """The main process scores what workers leave to it."""
    path = write_rows(tmp_path / "rows.jsonl", records(400))
    monkeypatch.setattr(ranges, "run_range", answer)

    assert_same(path, metrics=("em", "bleu"), from_="record", by=("category",))

    assert not shared


@pytest.mark.parametrize("how", ["fail", pytest.param("skip", marks=pytest.mark.long)])
def test_rows_that_kill_two_workers_are_reported(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have no verdict (V901), and the command ends with 1."""
    monkeypatch.setattr(ranges, "run_range", end_worker)
    path = write_rows(tmp_path / "rows.jsonl", records(350))
    scores, problems = outcome(path, 2, metrics=("em",), on_invalid=how)
    (count,) = scores.report.files

    assert {each.code for each in problems} == {"V901"}
    assert count.undetermined > 0
    assert not scores.ok
    if how == "fail":
        given = ["score", str(path), "-m", "em", "--jobs", "2"]
        with pytest.raises(SystemExit) as ended:
            app_for(["score"])(given, standalone_mode=False)
        assert ended.value.code == 1


def test_answers_that_kill_two_workers_are_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They have no verdict (V901), and no scores are reported without them."""
    rows = [
        {"references": ["it is"], "outputs": [{"text": f"{text} {number}"}]}
        for number in range(400)
        for text in ("Paris", "It is 4", "The dog", "")
    ]
    data = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    monkeypatch.setattr(ranges, "WORTH_SECONDS", math.inf)
    monkeypatch.setattr(outcomes, "_measure_in_worker", end_worker)
    options = ScoreOptions(metrics=("f1",), jobs=2, from_="record")
    run = Scoring([data], options=options)
    problems = list(run)
    (count,) = run.scores().report.files

    assert {each.code for each in problems} == {"V901"}
    assert "answers could not be scored: the process" in problems[0].message
    assert "see that there is memory enough" in (problems[0].help or "")
    assert 0 < count.undetermined < count.records
    assert not run.scores().ok
