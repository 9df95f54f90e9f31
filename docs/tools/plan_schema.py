"""Write the schema of plans from the options that they have.

To bring it up to date: `python docs/tools/plan_schema.py`.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

from harpia_formats.api.option_values import help_of
from harpia_formats.api.options import OF_BENCHMARKS, Option
from harpia_formats.api.plan_file import option_keys
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.significance.paired_tests import TESTS
from harpia_formats.reporters.tables import FORMS

ROOT = Path(__file__).parents[2]
FILE = ROOT / "schemas" / "harpia-formats" / "score-plan-1.schema.json"
_simple = {bool: "boolean", int: "integer", float: "number", str: "string"}
_TEXTS = {
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}, "minItems": 1},
    ]
}


def schema_of_plans() -> dict[str, Any]:
    """Return the schema of plans."""
    keys = option_keys()
    of_benchmarks = {key for key, one in keys.items() if one.field in OF_BENCHMARKS}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "urn:harpia-formats:schema:score-plan:1",
        "title": "plan of harpia-formats score, version 1",
        "description": "What `harpia-formats score --plan` reads. For editors; the "
        "command checks more.",
        "type": "object",
        "required": ["systems"],
        "additionalProperties": False,
        "properties": {
            "systems": _table(
                "The files of each system, by its name.",
                {"anyOf": [*_TEXTS["anyOf"], _system()]},
            ),
            "benchmarks": _table(
                "The files and the metrics of each benchmark, by its name.",
                _benchmark(keys, of_benchmarks),
            ),
            "baseline": {
                "description": "The system from which differences are reported.",
                "type": "string",
            },
            "mean": {
                "description": "Whether the table has the mean over benchmarks.",
                "type": "boolean",
            },
            "output-format": {
                "description": "How the table is printed.",
                "type": "string",
                "enum": [*FORMS],
            },
            "report": {"description": "Reports, as FILE or NAME=FILE.", **_TEXTS},
            "plot": {"description": "Pictures, as FILE or KIND=FILE.", **_TEXTS},
            **_options(keys, keys),
        },
    }


def _table(description: str, members: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "description": description,
        "type": "object",
        "minProperties": 1,
        "additionalProperties": members,
    }


def _system() -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["files"],
        "additionalProperties": False,
        "properties": {
            "files": _TEXTS,
            "model": {
                "description": "The model whose answers are meant, of several.",
                "type": "string",
            },
        },
    }


def _benchmark(keys: Mapping[str, Option], names: Iterable[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "files": {
                "description": "Patterns of the files of a system with its answers.",
                **_TEXTS,
            },
            "systems": {
                "description": "The systems that have answers; all if not given.",
                **_TEXTS,
            },
            "test": {
                "description": "The test of differences.",
                "type": "string",
                "enum": [*TESTS],
            },
            **_options(keys, names),
        },
    }


def _options(keys: Mapping[str, Option], names: Iterable[str]) -> dict[str, Any]:
    types = {one.name: one.type for one in fields(ScoreOptions)}
    wanted = set(names)
    return {
        key: {"description": help_of(one), **_of_key(key, types[one.field])}
        for key, one in keys.items()
        if key in wanted
    }


def _of_key(key: str, kind: Any) -> dict[str, Any]:
    if key == "parameters":
        return {"type": "object", "additionalProperties": {"type": "object"}}
    return _of_type(kind)


def _of_type(kind: Any) -> dict[str, Any]:
    origin, arguments = get_origin(kind), get_args(kind)
    if isinstance(kind, UnionType):
        found = [_of_type(one) for one in arguments if one is not type(None)]
        found = [one for place, one in enumerate(found) if one not in found[:place]]
        return found[0] if len(found) == 1 else {"anyOf": found}
    if origin is tuple:
        return _TEXTS
    if origin is Mapping:
        return {"type": "object", "additionalProperties": {"type": "string"}}
    return {"type": _simple.get(kind, "string")}


def schema_text() -> str:
    """Return the text of the file of the schema."""
    return json.dumps(schema_of_plans(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(schema_text(), encoding="utf-8")
