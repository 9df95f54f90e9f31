import csv
import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

import command_runs
from effort import drawn
from harpia_formats import (
    compare_scores,
    detect,
    score,
    score_plan,
    stats,
    validate,
)
from harpia_formats.api.plan_file import LoadedPlan, plan_text
from harpia_formats.api.testing.mutation import mutants
from harpia_formats.evaluation.scoring.benchmarks import Benchmark, Plan, PlannedSystem
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.expectations.preflight_keys import KEYS
from harpia_formats.formats.detection.result import SCHEMA, detected_as_dict
from harpia_formats.formats.registry import all_formats
from harpia_formats.formats.schema.bundled_schemas import (
    built_in_schema,
    schema_ids,
    schema_validator_of,
)
from harpia_formats.formats.schema.to_python import as_python
from harpia_formats.reporters import REPORTERS, Options
from harpia_formats.validation.baselines.known_findings import Baseline, baseline_text

FIXTURES = Path(__file__).parents[3] / "fixtures"
#: Number of mutants that are validated by each schema.
MUTANTS = drawn(18)
#: A schema whose module is small.
SMALL = "tencent-messages-strict"


def exported(identifier: str) -> str:
    """Return the text of the module made of a schema."""
    return as_python(identifier, built_in_schema(identifier))


@cache
def module_of(identifier: str) -> ModuleType:
    """Return the module made of a schema."""
    module = ModuleType("exported")
    exec(exported(identifier), vars(module))  # noqa: S102 - code of ours, to be run
    return module


def is_allowed(identifier: str, value: Any) -> bool:
    """Return the verdict of the module made of a schema."""
    module = module_of(identifier)
    try:
        module.validate(value)
    except module.Invalid:
        return False
    return True


def rows_in(path: Path) -> list[Any]:
    """Return the records of a fixture that parse; of a document the whole."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            return [dict(each) for each in csv.DictReader(file)]
    text = path.read_bytes()
    return values_in([text]) or values_in(text.split(b"\n"))


def values_in(texts: list[bytes]) -> list[Any]:
    """Return the values of the texts that are JSON."""
    values = []
    for each in texts:
        try:
            values.append(msgspec.json.decode(each))
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
    return values


def records_of(format_id: str) -> list[Any]:
    """Return what the fixtures of a format hold."""
    paths = sorted((FIXTURES / format_id).glob("*/*"))
    assert paths, f"no fixtures of {format_id}"
    return [row for each in paths for row in rows_in(each)]


def report() -> list[Any]:
    """Return the JSON report on a faulty fixture."""
    found = validate(min((FIXTURES / "eee@0.2.0" / "invalid").glob("C201-*")))
    pieces: list[str] = []
    REPORTERS["json"].write(found.problems, lambda: found, pieces.append, Options())
    return [json.loads("".join(pieces))]


def detection() -> list[Any]:
    """Return the detection of some fixtures."""
    files = [detected_as_dict(each) for each in detect(FIXTURES / "nemo-output")]
    return [{"schema": SCHEMA, "files": files}]


def baseline() -> list[Any]:
    """Return a baseline of two findings."""
    counts = {("S101", "", "required a"): 2, ("J202", "", ""): 1}
    return [json.loads(baseline_text(Baseline({"rows.jsonl": counts})))]


def config() -> list[Any]:
    """Return the settings of a file, as `config` prints them."""
    arguments = ["config", __file__, "--isolated", "--output-format", "json"]
    done = command_runs.run(*arguments)
    assert done.returncode == 0
    return [json.loads(done.stdout)]


def preflight_file() -> list[Any]:
    """Return preflight files with the example of each key."""
    start = "[datasets.a]\n"
    files = 'files = "a.jsonl"\n'
    return [
        tomllib.loads(start + (key.name != "files") * files + key.example)
        for key in KEYS
    ]


def plan() -> list[Any]:
    """Return a plan with every option that `--print-plan` states."""
    system = PlannedSystem("A", ("a.jsonl",), "model")
    options = ScoreOptions(
        metrics=("em",), parameters={"em.scale": "0-100"}, missing="skip"
    )
    benchmark = Benchmark("B", options, ("*b*",), ("A",), "bootstrap")
    loaded = LoadedPlan(Plan((system,), (benchmark,), "A"), "csv", ("a.json",))
    return [tomllib.loads(plan_text(loaded))]


def benchmark_scores() -> list[Any]:
    """Return the table of two fixtures as two systems."""
    folder = FIXTURES / "nemo-output" / "valid"
    systems = {"A": f"{folder / 'answers.jsonl'}", "B": f"{folder / 'answers.json'}"}
    given = {"systems": systems, "metrics": ["em"], "baseline": "A"}
    return [score_plan(given).to_dict()]


def statistics() -> list[Any]:
    """Return the statistics of a fixture."""
    path = FIXTURES / "nemo-output" / "valid" / "answers.jsonl"
    return [stats(path).to_dict()]


def scores() -> list[Any]:
    """Return the scores of a fixture, with groups."""
    path = FIXTURES / "nemo-output" / "valid" / "answers.jsonl"
    return [score(path, metrics=("em", "f1"), by=("category",)).to_dict()]


def comparison() -> list[Any]:
    """Return the comparison of two fixtures."""
    folder = FIXTURES / "nemo-output" / "valid"
    paths = folder / "answers.jsonl", folder / "answers.json"
    return [compare_scores(*paths, metrics=("em",)).to_dict()]


#: What mutants of data for each schema are made of.
SEEDS: dict[str, Callable[[], list[Any]]] = {
    "report-1": report,
    "detection-1": detection,
    "baseline-1": baseline,
    "config-1": config,
    "preflight-1": preflight_file,
    "benchmark-scores-1": benchmark_scores,
    "score-plan-1": plan,
    "score-comparison-1": comparison,
    "scores-1": scores,
    "statistics-1": statistics,
} | {
    schema: lambda format_id=format_.id: records_of(format_id)
    for format_ in all_formats().values()
    for dialect in format_.dialects
    for schema in (dialect.schema, dialect.strict)
    if schema
}


def test_every_schema_has_seeds() -> None:
    """The tests below cover every built-in schema."""
    assert set(SEEDS) == set(schema_ids())


@pytest.mark.parametrize("identifier", sorted(SEEDS))
def test_exported_module_agrees_with_the_schema_validator(identifier: str) -> None:
    """The module of every schema accepts exactly the data that the schema accepts."""
    check_agreement(identifier, MUTANTS)


@pytest.mark.long
@pytest.mark.parametrize("identifier", sorted(SEEDS))
def test_exported_module_agrees_on_many_mutants(identifier: str) -> None:
    """So it does on more data that is nearly right."""
    check_agreement(identifier, 10 * MUTANTS)


def check_agreement(identifier: str, count: int) -> None:
    """Assert that the module of a schema agrees on its seeds and `count` mutants."""
    schema_validator = schema_validator_of(built_in_schema(identifier))
    seeds = SEEDS[identifier]()
    for each in (*seeds, *islice(mutants(seeds, seed=7), count)):
        assert is_allowed(identifier, each) is schema_validator.is_valid(each), each


def test_module_stands_alone(tmp_path: Path) -> None:
    """The module runs with the standard library only."""
    (tmp_path / "judge.py").write_text(exported(SMALL), "utf-8")
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import judge\n"
        "judge.validate({'messages': [{'role': 'user', 'content': 'Oi'}]})\n"
        "try: judge.validate({'messages': []})\n"
        "except judge.Invalid as error: print(error, error.name, error.rule)\n"
    )
    done = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-S", "-I", "-c", script, str(tmp_path)],
        capture_output=True,
        check=True,
        text=True,
    )

    reason = "data.messages must contain at least 1 items data.messages minItems\n"
    assert (done.stdout, done.stderr) == (reason, "")


@pytest.mark.parametrize(
    ("value", "expected"), [(1, True), (1.0, True), (1.5, False), (True, False)]
)
def test_integers_are_those_of_the_draft(value: float, expected: bool) -> None:
    """A float without a fraction is an integer, and a boolean is no number."""
    (record,) = rows_in(FIXTURES / "record" / "valid" / "one.json")
    record["outputs"][0]["index"] = value

    assert is_allowed("record", record) is expected


def test_data_is_not_changed() -> None:
    """Validating adds no defaults to the data and returns the same object."""
    for each in records_of("nemo-config"):
        before = json.dumps(each)
        if is_allowed("nemo-config", each):
            assert module_of("nemo-config").validate(each) is each
        assert json.dumps(each) == before


def test_module_names_its_schema() -> None:
    """The head names the schema, and no error repeats it."""
    text = exported(SMALL)
    description = built_in_schema(SMALL)["description"]

    assert SMALL in text.splitlines()[0]
    assert description not in text
    assert "fastjsonschema" not in text
