"""What `score` tells of values of records, as a user runs it."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from harpia_formats.plugins import safe
from in_process import InProcess

#: Names that turn a line around, colour a terminal, or begin a line of their own.
ODD = ("\u202ea\n::error::x", "\x1bb\n::error::x")
STORED = "\u202estored\n::error::x"


def answer(model: str | None, text: str, score: float) -> Mapping[str, object]:
    """Return an output with a stored score, without a model if it has none."""
    scores = [{"metric": STORED, "value": score}]
    return {"text": text, "scores": scores} | ({"model": model} if model else {})


@pytest.fixture
def run(run_here: InProcess) -> InProcess:
    """Return what runs the command in a folder with answers of odd models."""
    files: dict[str, tuple[str | None, ...]] = {
        "two": ODD,
        "three": (*ODD, "c"),
        "unnamed": (ODD[0], None),
    }
    for name, models in files.items():
        rows = [
            {
                "id": f"{at}",
                "prompt": f"q{at}",
                "references": ["yes"],
                # The first model has no answer to the last question.
                "outputs": [
                    answer(model, ("yes", "no")[at % (place + 2) == 0], at / 4)
                    for place, model in enumerate(models)
                    if place or at
                ],
            }
            for at in range(4)
        ]
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        Path(f"{name}.jsonl").write_text(text, encoding="utf-8")
    return run_here


@pytest.mark.parametrize(
    ("words", "note"),
    [
        ("score two.jsonl -m em", "the answers are of 2 models"),
        ("score two.jsonl -m em,pass@2", "has no score"),
        ("score unnamed.jsonl -m em", "scored as those of"),
        ("score two.jsonl --stored", "signature"),
        ("score compare two.jsonl -m em", "questions only in"),
        ("score compare three.jsonl -m em", "questions only of"),
        ("score compare three.jsonl --stored --force", "the signatures of"),
    ],
)
def test_values_of_records_never_command_a_terminal(
    run: InProcess, words: str, note: str
) -> None:
    """Characters that it obeys or hides are escapes, and each note is one line."""
    found = run(*words.split())

    lines = (found.out + found.err).splitlines()
    assert note in found.err + found.out
    assert not [line for line in lines if safe(line, 10_000) != line]
    assert not [line for line in lines if line.lstrip().startswith("::")]
