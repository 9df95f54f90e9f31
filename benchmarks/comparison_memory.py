"""Measure the memory of comparisons of many systems, questions and labels.

    python benchmarks/comparison_memory.py [--only WORD]

Prints the peak memory of all processes and the CPU time of each comparison of generated
answers. The exit code is 1 if one takes more than 200 MB.
"""

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from data.files import generated_file
from harness.candidates import script
from harness.measure import Candidate, peak_of, run_of
from report.tables import MEGABYTE, table

#: The limit in bytes.
MOST = 200 * MEGABYTE
SEED = 20
#: Words of a reference, and of how many each is one.
WORDS, VOCABULARY = 8, 1000
FIELDS = "id=id,prompt=prompt,references=references,response=answer,model=model"


@dataclass(frozen=True, slots=True)
class Task:
    """A comparison of systems that answer the same questions."""

    metrics: str
    systems: int
    questions: int
    #: The labels of answers, 0 for answers that are texts.
    labels: int = 0
    #: The share of answers that are missing.
    missing: float = 0.0
    #: Whether the answers have scores, which are compared without being computed.
    stored: bool = False

    @property
    def name(self) -> str:
        """What is compared."""
        labels = f", {self.labels} labels" if self.labels else ""
        missing = f", {self.missing:.0%} missing" if self.missing else ""
        data = f"{self.systems} systems, {self.questions:,} questions{labels}{missing}"
        return f"{'stored ' if self.stored else ''}{self.metrics}: {data}"


TASKS = (
    Task("em", 2, 300),
    Task("em", 50, 300),
    Task("em", 50, 10_000),
    Task("em", 30, 2_000, missing=0.02),
    Task("em,f1,bleu,rouge,wer", 10, 2_000),
    Task("em,bleu", 3, 100_000),
    Task("f1-macro", 20, 300, labels=10),
    Task("f1-macro", 2, 50_000, labels=100),
    Task("em", 10, 50_000, stored=True),
)


def rows(task: Task, lines: int) -> Iterator[bytes]:
    """Yield lines of answers, a line for each, at most so many."""
    chance = random.Random(SEED)
    pool = [f"word{number}" for number in range(task.labels or VOCABULARY)]
    left = lines
    for number in range(task.questions):
        words = chance.choices(pool, k=1 if task.labels else WORDS)
        for system in range(task.systems):
            if not left or chance.random() < task.missing:
                continue
            left -= 1
            # The later systems are the worse ones.
            share = 0.1 + 0.5 * system / task.systems
            answer = [
                chance.choice(pool) if chance.random() < share else word
                for word in words
            ]
            record = {
                "id": number,
                "prompt": f"Question {number}?",
                "references": [" ".join(words)],
                "answer": " ".join(answer),
                "model": f"m{system}",
            }
            if task.stored:
                score = {
                    "metric": task.metrics,
                    "value": float(answer == words),
                    "signature": f"{task.metrics}|stored",
                }
                output = {
                    "text": record.pop("answer"),
                    "model": record.pop("model"),
                    "scores": [score],
                }
                record["outputs"] = [output]
            yield json.dumps(record).encode() + b"\n"


def candidate(task: Task, folder: Path) -> Candidate:
    """Return the command of a comparison, with its generated input."""
    lines = round(task.systems * task.questions * (1 - 2 * task.missing))
    kind = "stored" if task.stored else "answers"
    name = f"{kind}-{task.systems}-{task.questions}-{task.labels}-{task.missing}.jsonl"
    path = generated_file(folder / name, partial(rows, task), lines)
    reading = ("--stored",) if task.stored else ("--map", FIELDS)
    options = (*reading, "--metrics", task.metrics, "--quiet")
    program = script("harpia-formats")
    return Candidate(task.name, (program, "score", "compare", str(path), *options))


def main() -> int:
    """Print a table of all comparisons; return 1 if one takes too much memory."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="comparisons whose name has this")
    given = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for task in TASKS:
            if given.only in task.name:
                one = candidate(task, Path(folder))
                run, peak = run_of(one), peak_of(one)
                found.append((task.name, peak, run.user + run.system))
                print(f"{task.name}: {peak / MEGABYTE:.0f} MB", file=sys.stderr)
    lines = (
        [name, f"{peak / MEGABYTE:.0f}", f"{cpu:.1f}"] for name, peak, cpu in found
    )
    print(table(["comparison", "peak memory, MB", "CPU time, s"], lines))
    return int(any(peak > MOST for _, peak, _ in found))


if __name__ == "__main__":
    sys.exit(main())
