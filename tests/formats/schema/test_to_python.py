"""A schema as a Python module: what `schema ID --as-python` prints."""

import csv
import json
import subprocess
import sys
import tomllib
from collections.abc import Callable
from functools import cache, partial
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema_rs
import msgspec
import pytest

import command_runs
from effort import drawn
from fixture_files import ROOT, schema_file
from harpia_formats import compare_scores, score, score_plan, stats, validate
from harpia_formats.api.testing import mutants
from known_formats import FORMATS, row_schema

FIXTURES = ROOT / "fixtures"
ANSWERS = FIXTURES / "nemo-output" / "valid" / "answers.jsonl"
#: Files of users from which mutants are made, named after their schemas.
SEED_FILES = sorted(Path(__file__).with_name("seeds").glob("*.toml"))
#: Number of mutants that are validated by each schema.
MUTANTS = drawn(18)
#: What the schema of the rows of a file has of the schema of the file.
OF_FILE = {"$schema", "title", "version"}
#: A schema whose module is small.
SMALL = "tencent-messages-strict"


@cache
def exported(identifier: str) -> str:
    """Return the text of the module made of a schema."""
    done = command_runs.run("schema", identifier, "--as-python")
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


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


def records_of(format_id: str, _: Path | None = None) -> list[Any]:
    """Return what the fixtures of a format hold."""
    paths = sorted((FIXTURES / format_id).glob("*/*"))
    assert paths, f"no fixtures of {format_id}"
    return [row for each in paths for row in rows_in(each)]


def printed(*arguments: object) -> list[Any]:
    """Return what a command prints as JSON."""
    return [json.loads(command_runs.run(*arguments, "--output-format=json").stdout)]


def baseline(folder: Path) -> list[Any]:
    """Return a baseline of two findings."""
    path = folder / "baseline.json"
    validate(b'{"a": 1, "a": 2}\n{"b": 1e400}', schema=True, write_baseline=path)
    return [json.loads(path.read_bytes())]


def in_file(path: Path, _: Path) -> list[Any]:
    """Return the documents in a file of seeds: each data set is one."""
    document = tomllib.loads(path.read_text("utf-8"))
    if "datasets" not in document:
        return [document]
    return [{"datasets": {key: each}} for key, each in document["datasets"].items()]


def benchmark_scores() -> list[Any]:
    """Return the table of two fixtures as two systems."""
    systems = {"A": f"{ANSWERS}", "B": f"{ANSWERS.with_suffix('.json')}"}
    given = {"systems": systems, "metrics": ["em"], "baseline": "A"}
    return [score_plan(given).to_dict()]


def comparison() -> list[Any]:
    """Return the comparison of two fixtures."""
    paths = ANSWERS, ANSWERS.with_suffix(".json")
    return [compare_scores(*paths, metrics=("em",)).to_dict()]


#: What mutants of data for each schema are made of, given a folder for files.
SEEDS: dict[str, Callable[[Path], list[Any]]] = {
    "report-1": lambda _: printed(
        "validate", min((FIXTURES / "eee@0.2.0" / "invalid").glob("C201-*"))
    ),
    "detection-1": lambda _: printed("detect", FIXTURES / "nemo-output"),
    "baseline-1": baseline,
    "config-1": lambda _: printed("config", __file__, "--isolated"),
    "benchmark-scores-1": lambda _: benchmark_scores(),
    "score-comparison-1": lambda _: comparison(),
    "scores-1": lambda _: [
        score(ANSWERS, metrics=("em", "f1"), by=("category",)).to_dict()
    ],
    "statistics-1": lambda _: [stats(ANSWERS).to_dict()],
    **{path.stem: partial(in_file, path) for path in SEED_FILES},
    **{
        schema: partial(records_of, format_.id)
        for format_ in FORMATS.values()
        for dialect in format_.dialects
        for schema in (dialect.schema, dialect.strict)
        if schema
    },
}


def test_every_schema_has_seeds() -> None:
    """The tests below cover every built-in schema, and every key of preflight files."""
    files = (ROOT / "schemas").glob("*/*.schema.json")
    known = {path.name.removesuffix(".schema.json") for path in files}
    keys = schema_file("preflight-1")["definitions"]["data-set"]["properties"].keys()
    seeds = SEEDS["preflight-1"](Path())

    assert set(SEEDS) == known
    assert {name for each in seeds for name in each["datasets"]} == keys


@pytest.mark.parametrize("identifier", sorted(SEEDS))
def test_exported_module_agrees_with_the_schema_validator(
    identifier: str, tmp_path: Path
) -> None:
    """The module of every schema accepts exactly the data that the schema accepts."""
    check_agreement(identifier, MUTANTS, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("identifier", sorted(SEEDS))
def test_exported_module_agrees_on_many_mutants(
    identifier: str, tmp_path: Path
) -> None:
    """So it does on more data that is nearly right."""
    check_agreement(identifier, 10 * MUTANTS, tmp_path)


def check_agreement(identifier: str, count: int, folder: Path) -> None:
    """Assert that the module of a schema agrees on its seeds and `count` mutants."""
    schema = json.loads(command_runs.run("schema", identifier).stdout)
    whole = schema_file(identifier)
    if schema != whole:  # a format whose own schema is that of its rows
        rows = row_schema(FORMATS[identifier].dialects[0])
        assert schema == {**{key: whole[key] for key in OF_FILE & whole.keys()}, **rows}
    validator = jsonschema_rs.Draft7Validator(schema)
    seeds = SEEDS[identifier](folder)
    for each in (*seeds, *islice(mutants(seeds, seed=7), count)):
        assert is_allowed(identifier, each) is validator.is_valid(each), each


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

    assert SMALL in text.splitlines()[0]
    assert schema_file(SMALL)["description"] not in text
    assert "fastjsonschema" not in text
