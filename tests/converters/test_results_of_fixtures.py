"""The answers of every format's fixtures as results of every kind."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from effort import drawn
from fixture_files import valid_files
from harpia_formats import ScoreError, read, validate
from harpia_formats.conversion.mapping.requirements import holds_answers
from harpia_formats.evaluation.scoring.measures.verdict_metrics import holds_verdicts
from known_formats import READABLE, adapter_named
from unchecked import score

#: Formats of answers; results are written of answers, and not of verdicts.
ANSWERED = [
    name
    for name in READABLE
    if holds_answers(adapter_named(name)) and not holds_verdicts(adapter_named(name))
]
#: The formats of results, each with what the file is called.
RESULTS = {
    "record": "out.jsonl",
    "csv": "out.csv",
    "eee@0.2.0": "out_samples.jsonl",
    "eee@0.2.0-tag": "out_samples.jsonl",
    "eee@0.3.0": "out_samples.jsonl",
    "haystack-results": "out.json",
    "haystack-run": "out.json",
    "nemo-results": "out.json",
    "harpia-output": "out.json",
    "harpia-log": "out.jsonl",
}
#: Why EvalEval's samples and Haystack's runs cannot hold some answers.
IMPOSSIBLE = ("no answer could be", "could be an input", "sample_id of another answer")
#: That a shape is an older one, and lints of the texts, ids and numbers themselves,
#: which are not the writer's.
OF_DATA = ("S202", "J204", "V3", "X", "E1", "E206", "E3")


def cases(most: int | None) -> Iterator[tuple[str, Path]]:
    """Yield each format of results with some or all files of each format of answers."""
    for to, name in itertools.product(RESULTS, ANSWERED):
        for path in valid_files(name)[:most]:
            yield to, path


def short_name(value: Any) -> str:
    """Return the name of a case: the path of a fixture without what all have."""
    return value if isinstance(value, str) else "-".join(value.parts[-3::2])


@for_each_case("to, path", cases(drawn(2)), ids=short_name)
def test_some_answers_of_every_format_become_results(
    to: str, path: Path, tmp_path: Path
) -> None:
    """They are valid results, or an error says which option they need."""
    check_results(to, path, tmp_path)


@pytest.mark.long
@for_each_case("to, path", cases(None), ids=short_name)
def test_all_answers_of_every_format_become_results(
    to: str, path: Path, tmp_path: Path
) -> None:
    """The answers of all fixtures do, and the documents that are next to them."""
    check_results(to, path, tmp_path)
    if to.startswith("eee"):
        check_results(to, path, tmp_path, "document-map")


def check_results(to: str, path: Path, folder: Path, *metrics: str) -> None:
    """Write the results of a file, with what an error asks for; they must be valid."""
    output, name = folder / RESULTS[to], path.parts[-3]
    options: dict[str, Any] = {"from_": name, "overwrite": True}
    options["metrics"] = metrics or ("em", "f1")
    options["names"] = {"job": "j"} if to == "nemo-results" else {}
    for _ in range(3):
        try:
            scores = score(path, to=to, output=output, replicates=0, **options)
        except ScoreError as error:
            if any(each in str(error) for each in IMPOSSIBLE):
                return
            options |= asked_for(str(error), path)
        else:
            break
    files = {output, *folder.glob("out.json")}  # samples have an aggregate
    own, is_strict = to if len(files) == 1 else None, not to.startswith("haystack")
    report = validate(*files, format=own, strict=is_strict, lint=True, ignore=OF_DATA)

    assert scores.is_whole
    assert report.problems == ()
    records = list(read(path, format=name))
    counts = {
        "record": len(records),
        "csv": sum(len(each.outputs) or 1 for each in records),
    }
    assert report.files[0].records == counts.get(to, report.files[0].records)


def asked_for(error: str, path: Path) -> dict[str, Any]:
    """Return the options that an error asks for."""
    names = re.findall(r"--set ([\w.]+)=", error)
    if names:
        return {"constants": dict.fromkeys(names, "org/m")}
    assert "several models" in error or "--model" in error, error
    records = read(path, format=path.parts[-3])
    models = (one.model for each in records for one in each.outputs)
    return {"model": next(filter(None, models))}
