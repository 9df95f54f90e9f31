"""Every repair of the table, on mutants: it is validated in its row, and holds there.

What is valid is asked of the reference engine, not of the validator of the repairs.
"""

import itertools
import json
import re
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import harpia_formats
from broken_rows import broken_rows
from cases import for_each_case
from fixture_files import valid_rows
from harpia_formats.model.spelling import is_slip
from harpia_formats.validation.repair.proposals import (
    DELIMITER,
    KINDS,
    MARK,
    PUNCTUATION,
    TABLE_MARK,
)
from json_lines import jsonl, jsonl_rows
from known_formats import FORMATS as KNOWN
from known_formats import bundled_schema

FORMATS = ("eee@0.2.0", "eee@0.2.0-tag", "eee@0.3.0", "nemo-output", "tencent-outputs")
#: The formats, and the schema of a user.
NAMES = ("own", *FORMATS)
#: Rows of a format.
ROWS = 120
#: Rules of EvalEval whose findings are repaired, apart from those of the schema.
OF_VENDOR = {"C201", "E103", "E104", "E109", "E110"}
#: A schema of the user, with bounds that a repair may break.
OWN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "is_correct": {"type": "boolean"},
        "minimum": {"type": "number", "maximum": 0.5},
        "score_1": {"type": "number"},
        "num_turns": {"type": "integer", "minimum": 1},
        "reference": {"type": "string", "minLength": 2},
        "verdict": {"enum": ["correct", "tie"]},
        "nested": {
            "type": "object",
            "properties": {
                "answer_a": {"type": "string"},
                "weight": {"type": "number"},
            },
            "required": ["answer_a"],
            "additionalProperties": False,
        },
    },
    "required": ["is_correct", "reference"],
    "if": {"properties": {"num_turns": {"const": 2}}, "required": ["num_turns"]},
    "then": {"required": ["nested"]},
    "additionalProperties": False,
}
OWN_ROW = {
    "is_correct": True,
    "minimum": 0.25,
    "score_1": 1.5,
    "num_turns": 3,
    "reference": "a text",
    "verdict": "correct",
    "nested": {"answer_a": "x", "weight": 2},
}
_renamed = re.compile(r'renamed ("(?:[^"\\]|\\.)*") to ("(?:[^"\\]|\\.)*")')
Path_ = tuple[str, ...]


@cache
def rows_of(name: str) -> list[Any]:
    """Return valid rows of a format, or of the schema of the user."""
    if name == "own":
        return [OWN_ROW, {key: OWN_ROW[key] for key in ("is_correct", "reference")}]
    return valid_rows(name)


def schema_of(name: str) -> Any:
    """Return the schema of the rows of a format, or that of the user."""
    if name == "own":
        return OWN
    return bundled_schema(KNOWN[name].dialects[0].schema)


def errors_of(schema: Any, row: Any) -> set[tuple[str, Path_]]:
    """Return each failed keyword of the schema, with the path of what it refuses."""
    validator = jsonschema.Draft7Validator(schema)
    found = set()
    for error in validator.iter_errors(row):
        path = tuple(map(str, error.absolute_path))
        paths = [path]
        if error.validator == "required":
            paths = [
                (*path, key)
                for key in error.validator_value
                if key not in error.instance
            ]
        elif error.validator == "additionalProperties":
            known = error.schema.get("properties", {})
            paths = [(*path, key) for key in error.instance if key not in known]
        where = "/".join(map(str, error.absolute_schema_path))
        found |= {(where, one) for one in paths}
    return found


def path_after(change: Any) -> Path_:
    """Return the path of the value that a change is about, after it."""
    steps = change.pointer.split("/")[1:]
    path = [step.replace("~1", "/").replace("~0", "~") for step in steps]
    renamed = _renamed.match(change.what)
    return (*path[:-1], json.loads(renamed[2])) if renamed else tuple(path)


def kind_of(change: Any) -> str:
    """Return the name of the kind of a repair."""
    renamed = _renamed.match(change.what)
    if renamed:
        return "key" if is_slip(*map(json.loads, renamed.groups())) else "other-key"
    if change.code in OF_VENDOR:
        return "vendor"
    if change.what.endswith("which was null"):
        return "null"
    return "number" if change.what.endswith("as a number") else "value"


def check_row(name: str, before: Any, after: Any, changes: list[Any]) -> None:
    """Check that the changes of one row cause no error, and leave valid values."""
    schema = schema_of(name)
    errors = errors_of(schema, after)
    assert errors <= errors_of(schema, before), (before, changes)
    for change in changes:
        path = path_after(change)
        if not change.what.startswith("removed"):
            inside = {one for _, one in errors if one[: len(path)] == path}
            assert not inside, (before, change)
        if change.code in {"E109", "E110"}:
            assert not any("/then/" in where for where, _ in errors), (before, change)


@cache
def repaired(name: str, *, unsafe: bool) -> list[tuple[Any, Any, list[Any]]]:
    """Repair broken rows; return those with changes: before, after, and the changes."""
    rows = broken_rows(rows_of(name), ROWS, seed=len(name) + unsafe)
    options: dict[str, Any] = {"schema": OWN} if name == "own" else {"format": name}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.jsonl")
        path.write_bytes(jsonl(*rows))
        report = harpia_formats.fix(path, unsafe=unsafe, jobs=1, **options)
        after = jsonl_rows(path)
    changes: dict[int, list[Any]] = {}
    for change in report.changes:
        changes.setdefault(change.line, []).append(change)
    return [(rows[at - 1], after[at - 1], found) for at, found in changes.items()]


@pytest.mark.parametrize("unsafe", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_repair_is_valid_in_its_row(name: str, *, unsafe: bool) -> None:
    """No row has an error that it did not have, and what was repaired has none.

    Nothing is counted in a row that breaks a condition, and without unsafe repairs only
    safe ones are made.
    """
    found = repaired(name, unsafe=unsafe)
    assert found
    for before, after, changes in found:
        check_row(name, before, after, changes)
    kinds = {kind_of(change) for _, _, changes in found for change in changes}
    assert unsafe or kinds <= {one.name for one in KINDS if one.is_safe}


def test_every_repair_of_the_table_is_made() -> None:
    """The mutants need all of them, but for those of files, and of what is no JSON."""
    rows = [one for name in NAMES for one in repaired(name, unsafe=True)]
    changes = [change for _, _, found in rows for change in found]

    others = {MARK, TABLE_MARK, DELIMITER, PUNCTUATION}
    of_rows = {kind.name for kind in KINDS if kind not in others}
    assert {kind_of(change) for change in changes} == of_rows
    assert {change.code for change in changes} >= OF_VENDOR


#: A key with a value, and the key that a schema has in its place.
INVERTED = [
    *((f"{prefix}correct", "is_correct") for prefix in ("is_in", "in", "not_", "un")),
    ("maximum", "minimum"),
    ("min_len", "max_len"),
    ("is_unsafe", "is_safe"),
    ("score_2", "score_1"),
    ("answer_a", "answer_b"),
    ("preference", "reference"),
]


@pytest.mark.parametrize(("given", "known"), INVERTED)
@pytest.mark.parametrize("is_required", [False, True])
def test_no_key_is_renamed_to_one_that_means_something_else(
    given: str, known: str, tmp_path: Path, *, is_required: bool
) -> None:
    """By no repair, and no message or help names the one for the other."""
    schema = {
        "properties": {"number": {}, known: {}},
        "required": [known] * is_required,
        "additionalProperties": False,
    }
    path = tmp_path / "rows.jsonl"
    text = json.dumps({"number": 1, given: False})
    path.write_text(text)
    report = harpia_formats.fix(path, schema=schema, unsafe=True).report

    assert path.read_text() == text
    assert report is not None
    for problem in report.problems:
        assert problem.code in {"S101", "S104"}
        assert not (known in problem.help and given in problem.message)
        assert problem.fix is None or problem.fix.kind != "rename-key"


@for_each_case(
    "text, unsafe", itertools.product(["-1", "2.5", "0", "1e3"], [False, True])
)
def test_a_number_that_is_not_allowed_stays_a_text(
    text: str, tmp_path: Path, *, unsafe: bool
) -> None:
    """Without its quotes it would be as wrong, and look right."""
    whole = {"type": "integer", "minimum": 1, "maximum": 100}
    schema = {"properties": {"num_turns": whole}}
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"num_turns": "{text}"}}\n{{"num_turns": "4"}}\n')
    report = harpia_formats.fix(path, schema=schema, unsafe=unsafe)

    assert path.read_text() == f'{{"num_turns": "{text}"}}\n{{"num_turns": 4}}\n'
    assert [change.line for change in report.changes] == [2]


def test_of_several_repairs_only_the_wrong_one_is_not_made(tmp_path: Path) -> None:
    """A rename by which a condition would apply that the row breaks is not made."""
    schema = {
        "properties": {"kind_of": {"const": "a"}, "n": {"type": "number"}},
        "if": {"required": ["kind_of"]},
        "then": {"required": ["other"]},
        "propertyNames": {"enum": ["kind_of", "n", "other"]},
        "additionalProperties": False,
    }
    path = tmp_path / "rows.jsonl"
    path.write_text('{"kind_fo": "a", "n": "1"}\n{"kind_fo": "a", "other": 1}\n')
    harpia_formats.fix(path, schema=schema)

    assert path.read_text() == (
        '{"kind_fo": "a", "n": 1}\n{"kind_of": "a", "other": 1}\n'
    )


def test_the_page_has_every_repair_where_it_belongs() -> None:
    """Safe repairs are in the first table of the page, unsafe ones in the second."""
    page = Path(__file__).parents[3] / "docs" / "how-to" / "fix.md"
    safe, unsafe = page.read_text("utf-8").split("`--unsafe-fixes` adds", maxsplit=1)

    for kind in KINDS:
        assert f"| {kind.summary}" in (safe if kind.is_safe else unsafe)
