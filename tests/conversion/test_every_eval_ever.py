"""Rows of eee@0.3.0 made of every format are accepted by EvalEval's own validator.

It needs Python 3.12, and so an environment of its own; `HARPIA_EVERY_EVAL_EVER` is the
Python of that environment: `python3.12 -m venv env && env/bin/pip install
every_eval_ever`.
"""

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from corpora import CORPORA
from fixture_files import valid_files
from harpia_formats import HarpiaFormatsError
from known_formats import READABLE

pytestmark = pytest.mark.tools
ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
CORPUS = CORPORA / "neighbours"
PYTHON = os.environ.get("HARPIA_EVERY_EVAL_EVER", "")
TARGET = "eee@0.3.0"
#: What EvalEval requires and files may lack.
GIVEN: dict[str, Any] = {
    "evaluation_id": "demo/run/1",
    "model_id": "org/model",
    "evaluation_name": "demo",
    "input.raw": "a question",
    "output.raw": "an answer",
    "input.reference": ["a reference"],
    "evaluation.is_correct": False,
}
#: Prints the first error of each line of each file that the model refuses.
PROGRAM = """
import json, sys
from every_eval_ever.instance_level_types import InstanceLevelEvaluationLog as Row
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                Row.model_validate(json.loads(line))
            except Exception as error:
                print(f"{path}:{number}: {error}")
"""


def refused_by_every_eval_ever(paths: Sequence[Path]) -> str:
    """Return the errors of EvalEval's models in files of rows."""
    done = subprocess.run(  # noqa: S603 - the Python that the caller named
        [PYTHON, "-c", PROGRAM, *map(str, paths)],
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    return done.stdout


def converted(path: Path, format_: str | None, output: Path) -> bool:
    """Convert an input; return whether it has rows that EvalEval's format can hold."""
    options: dict[str, Any] = {"from_": format_, "constants": GIVEN, "score": "em"}
    options["ids"] = "number"  # epochs and filters have one id
    options["on_invalid"] = "skip"  # rows without an answer of a model that gave others
    try:
        harpia_formats.convert(path, to=TARGET, output=output, **options)
    except HarpiaFormatsError as error:
        print(f"not converted: {path}: {error}")  # noqa: T201 - shown by -rP
        return False
    return True


def inputs() -> Iterator[tuple[str | None, Path]]:
    """Yield all valid fixtures with their formats, and the files of other tools."""
    for format_ in READABLE:
        if (FIXTURES / format_).is_dir():
            yield from ((format_, path) for path in valid_files(format_))
    if CORPUS.is_dir():
        for folder in sorted(CORPUS.iterdir()):
            if folder.name == "helm":
                yield from ((None, path) for path in sorted(folder.iterdir()))
            elif folder.is_dir():
                files = (path for path in sorted(folder.rglob("*")) if path.is_file())
                yield from ((None, path) for path in files)


@pytest.mark.corpora
@pytest.mark.skipif(not PYTHON, reason="HARPIA_EVERY_EVAL_EVER names no Python")
def test_rows_of_all_formats_are_accepted(tmp_path: Path) -> None:
    """What is written of each readable format is valid for EvalEval's own models."""
    written, formats = [], set()
    for number, (format_, path) in enumerate(inputs()):
        output = tmp_path / f"{number}.jsonl"
        if converted(path, format_, output):
            written.append(output)
            formats.add(format_)

    assert refused_by_every_eval_ever(written) == ""
    assert formats - {None} == set(READABLE)


@pytest.mark.skipif(not PYTHON, reason="HARPIA_EVERY_EVAL_EVER names no Python")
def test_scored_records_are_accepted_with_their_aggregate(tmp_path: Path) -> None:
    """Results in EvalEval's folders pass its command with all of its checks."""
    folder = tmp_path / "data" / "demo" / "finch-labs" / "finch-3b"
    folder.mkdir(parents=True)
    name = "0f8fad5b-d9cb-469f-a165-70867728950e"
    samples = tmp_path / "samples.jsonl"
    answers = FIXTURES / "nemo-output" / "valid" / "answers.jsonl"
    assert converted(answers, None, samples)

    results = folder / f"{name}_samples.jsonl"
    harpia_formats.score(samples, metrics=("em",), to=TARGET, output=results)

    done = subprocess.run(  # noqa: S603 - the command beside the Python that was named
        [Path(PYTHON).with_name("every_eval_ever"), "validate", *folder.iterdir()],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout
