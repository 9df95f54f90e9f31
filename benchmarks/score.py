"""Compare our metrics with a straightforward script: time and memory.

The script uses sacrebleu, rouge-score and a function for SQuAD's exact match and F1.
Before the measurement it is proved that its scores equal ours.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from data.answer_pairs import VOCABULARY, WORDS, pairs
from data.files import Rows, generated_file
from data.repeated_answers import ANSWERS, questions
from harness.candidates import OURS, PEERS, ROOT, script
from harness.measure import INTERVAL, Candidate, Measurement, Sample, compare
from report.pages import circumstances
from report.tables import ratio, ratios_table, table, times_table

from harpia_formats import score

SCRIPT, FEWER = "script", "ours, a tenth of the data"
MARKDOWN = """\
# Benchmark of `harpia-formats score`

Written by `benchmarks/score.py`, on {count:,} generated pairs of an answer and a
reference of {words} words each, and on {answers:,} generated answers, {each} to each
question. Ratios are medians over medians: below 1, ours took less time. What a ratio is
on another machine, only a run there can tell.

## Ratios

{ratios}

{groups}

## Floors

{floors}

## What was measured

- Ours is `harpia-formats score` with all defaults: it recognises the format, checks
  every record against its schema, measures in as many processes as there are cores,
  and finds the confidence intervals of 1,000 replicates. The script is one process: it
  reads all lines with Python's `json`, calls sacrebleu's `corpus_score` and
  rouge-score's `score`, and has functions of its own for exact match, F1 and, with
  numpy, pass@5. It finds no intervals.
- Of ROUGE the script computes 1, 2, 3 and L, and ours Lsum as well. Nothing is stemmed.
- Scores of both were seen to be equal to within 10^-9 on the first {proven:,} pairs.
- The script is run on {sample:,} pairs or {more:,} answers, and its time beyond that of
  one line scaled up. Its memory is that of this smaller run.
- Of the answers to a question, up to four in ten are the reference. Three words in ten
  of any other answer are not those of the reference; words follow Zipf's law over
  {vocabulary:,}, and four pairs in ten hold letters beyond ASCII.
- Wall time is from the start of a process to its end. Runs of each command, by
  turns: {runs}. Memory comes from a run of its own: the peak of the sum of the
  proportional set sizes of the process and its descendants, looked at every
  {interval:.0f} ms.
{circumstances}
"""
#: Lines on which the scores are compared.
PROVEN = 500
TOLERANCE = 1e-9
PACKAGES = ("harpia-formats", "nltk", "rapidfuzz", "rouge-score", "sacrebleu")
WHOLE, ROUGE, REPEATED = (
    "em, F1, BLEU and ROUGE",
    "ROUGE",
    "and pass@5, 10 answers each",
)
Results = Mapping[str, Mapping[str, Measurement]]


@dataclass(frozen=True, slots=True)
class Task:
    """Metrics, and the data that they are computed of."""

    metrics: tuple[str, ...]
    #: Yields lines, and what their file is called.
    rows: Rows = pairs
    data: str = "pairs"
    #: Answers in a line, and those that the script is measured on.
    answers: int = 1
    sample: int = 5000


GROUPS = {
    WHOLE: Task(("em", "f1", "bleu", "rouge")),
    ROUGE: Task(("rouge",)),
    REPEATED: Task(
        ("em", "f1", "bleu", "rouge", "pass@5"),
        questions,
        "questions",
        ANSWERS,
        50_000,
    ),
}


def generated(task: Task, lines: int, folder: Path) -> Path:
    """Return a file of so many lines of the data of a task."""
    return generated_file(folder / f"{lines}-{task.data}.jsonl", task.rows, lines)


def plain(path: Path, metrics: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command with which the script scores `path`."""
    return (sys.executable, str(PEERS / "plain_score.py"), str(path), *metrics)


def ours(path: Path, metrics: tuple[str, ...]) -> tuple[str, ...]:
    """Return the command with which we score `path`."""
    program = script("harpia-formats")
    return (program, "score", str(path), "--metrics", ",".join(metrics))


def candidates_on(answers: int, folder: Path, task: Task) -> list[Candidate]:
    """Return our command on so many answers and on a tenth, and the script on some."""
    lines = max(answers // task.answers, 1)
    sampled = min(task.sample // task.answers, lines)
    one = plain(generated(task, 1, folder), task.metrics)
    some = plain(generated(task, sampled, folder), task.metrics)
    fewer = generated(task, max(lines // 10, 1), folder)
    return [
        Candidate(OURS, ours(generated(task, lines, folder), task.metrics)),
        Candidate(SCRIPT, some, sample=Sample(one, lines / sampled)),
        Candidate(FEWER, ours(fewer, task.metrics)),
    ]


def prove(folder: Path) -> None:
    """Prove that both compute the same scores; raises `SystemExit` otherwise."""
    for task in (GROUPS[WHOLE], GROUPS[REPEATED]):
        path = generated(task, PROVEN, folder)
        found = score(path, metrics=task.metrics, replicates=0)
        expected = json.loads(subprocess.check_output(plain(path, task.metrics)))
        for name, value in expected.items():
            mine = found[name].value
            if mine is None or not math.isclose(value, mine, abs_tol=TOLERANCE):
                raise SystemExit(f"{name}: ours is {mine}, the script's {value}")


def measured(
    pairs_count: int, answers: int, folder: Path, runs: int
) -> dict[str, dict[str, Measurement]]:
    """Measure every group of metrics; raises `SystemExit` and `UnexpectedExitError`."""
    _say("seeing that both give the same scores")
    prove(folder)
    results = {}
    for name, task in GROUPS.items():
        count = pairs_count if task.rows is pairs else answers
        _say(f"measuring {count:,} answers: {name}")
        results[name] = compare(candidates_on(count, folder, task), runs)
    return results


@dataclass(frozen=True, slots=True)
class Floor:
    """A limit that must not be exceeded."""

    what: str
    limit: float
    measured: Callable[[Results], float]


def growth(results: Results, group: str) -> float:
    """Return our peak memory divided by that for a tenth of the answers.

    The result is infinity if a peak is unknown.
    """
    more, fewer = (results[group][name].peak for name in (OURS, FEWER))
    return more / fewer if more and fewer else math.inf


FLOORS = (
    Floor(
        f"wall time, {WHOLE}: ours / {SCRIPT}",
        1 / 3,
        lambda of: ratio(of[WHOLE][OURS], of[WHOLE][SCRIPT]),
    ),
    Floor(
        f"wall time, {ROUGE}: ours / {SCRIPT}",
        1 / 5,
        lambda of: ratio(of[ROUGE][OURS], of[ROUGE][SCRIPT]),
    ),
    Floor(
        f"wall time, {REPEATED}: ours / {SCRIPT}",
        1 / 10,
        lambda of: ratio(of[REPEATED][OURS], of[REPEATED][SCRIPT]),
    ),
    Floor(
        "peak memory of ours: all pairs / a tenth of them",
        1.1,
        lambda of: growth(of, WHOLE),
    ),
    Floor(
        "peak memory of ours: all answers / a tenth of them",
        1.1,
        lambda of: growth(of, REPEATED),
    ),
)


def missed(results: Results) -> list[Floor]:
    """Return the limits that are not met."""
    return [floor for floor in FLOORS if not floor.measured(results) <= floor.limit]


def floors_table(results: Results) -> str:
    """Return a table of the limits with the measured values."""
    rows = [
        [
            floor.what,
            f"{floor.limit:.3g}",
            f"{floor.measured(results):.3f}",
            "no" if floor in missed(results) else "yes",
        ]
        for floor in FLOORS
    ]
    return table(["floor", "at most", "measured", "met"], rows)


def document(results: Results, count: int, answers: int, runs: int) -> str:
    """Return the results as Markdown."""
    compared = {
        name: {key: measurement for key, measurement in group.items() if key != FEWER}
        for name, group in results.items()
    }
    tables = [f"## {name}\n\n{times_table(group)}" for name, group in results.items()]
    return MARKDOWN.format(
        count=count,
        answers=answers,
        each=ANSWERS,
        words=WORDS,
        vocabulary=VOCABULARY,
        ratios=ratios_table(compared, (OURS,)),
        groups="\n\n".join(tables),
        floors=floors_table(results),
        proven=PROVEN,
        sample=min(GROUPS[WHOLE].sample, count),
        more=min(GROUPS[REPEATED].sample, answers),
        runs=runs,
        interval=INTERVAL * 1000,
        circumstances=circumstances(
            f"python benchmarks/score.py --pairs {count} --answers {answers} "
            f"--runs {runs}",
            PACKAGES,
        ),
    )


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def arguments_of(given: list[str] | None = None) -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--answers", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where generated files are kept")
    output = ROOT / "docs" / "benchmarks" / "score-benchmark.md"
    parser.add_argument("--output", type=Path, default=output)
    parser.add_argument("--check", action="store_true", help="exit with 1 for a floor")
    arguments = parser.parse_args(given)
    if min(arguments.pairs, arguments.answers, arguments.runs) < 1:
        parser.error("at least one pair, one answer and one run are needed")
    return arguments


def main() -> int:
    """Measure, write the tables, and return the exit code."""
    arguments = arguments_of()
    with tempfile.TemporaryDirectory() as fleeting:
        folder: Path = arguments.folder or Path(fleeting)
        folder.mkdir(parents=True, exist_ok=True)
        counts = arguments.pairs, arguments.answers
        results = measured(*counts, folder, arguments.runs)
    text = document(results, *counts, arguments.runs)
    arguments.output.write_text(text, encoding="utf-8")
    print(text)
    return int(arguments.check and bool(missed(results)))


if __name__ == "__main__":
    sys.exit(main())
