"""Fuzz targets of what configures a run: settings, plans, mappings, schemas."""

import re
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec

from fuzz_target import (
    Target,
    check_refusal,
    every,
    fixture_rows,
    mutated_json,
    split_choice,
    with_choice,
)
from harpia_formats.api.plan_file import load_plan, plan_text
from harpia_formats.api.settings_file import (
    SETTINGS,
    parse_settings,
    settings_of_lines,
)
from harpia_formats.conversion.mapping.field_constants import constants_by_path
from harpia_formats.expectations.preflight_error import PreflightError
from harpia_formats.expectations.preflight_file import parse_plan
from harpia_formats.expectations.preflight_keys import KEYS
from harpia_formats.expectations.preflight_plan import asked_by, check_data_set
from harpia_formats.files.parsing.locate import duplicates
from harpia_formats.formats.registry import adapter_of, writable_formats
from harpia_formats.formats.schema.bundled_schemas import (
    SchemaError,
    schema_ids,
    schema_text,
    schema_validator_of,
)
from harpia_formats.formats.schema.check.find_mistakes import find_mistakes
from harpia_formats.formats.schema.decoder_types import UnsupportedSchemaError
from harpia_formats.formats.schema.typed_decoder import typed_decoder_of
from harpia_formats.formats.schema.user_schema import (
    check_depth,
    check_schema,
    is_bounded,
    is_linear_pattern,
)
from harpia_formats.model.column_map import MapError, parse_column_map
from harpia_formats.model.exact_json import NOT_JSON
from harpia_formats.model.problem import (
    ConversionError,
    PlanError,
    TomlError,
)
from harpia_formats.model.value_path import parse_value_path, value_at
from harpia_formats.model.vendor_metrics import ScoreError
from harpia_formats.reporters.report_file import named_report

_DOCUMENTS = Path(__file__).parents[2] / "docs"
#: A block of TOML, or a file of it that a command writes.
_TOML = re.compile(r"```toml\n(.*?)```|\.toml <<'(\w+)'\n(.*?)\n\2\n", re.DOTALL)
#: Characters of a text in which a pattern is searched.
_LONG = 20_000


def check_settings(data: bytes) -> None:
    """Check that settings are read, or refused."""
    is_pyproject, data = bool(data[:1]) and data[0] % 2 == 1, data[1:]
    name = "pyproject.toml" if is_pyproject else "harpia.toml"
    try:
        found = parse_settings(data, name, "", is_pyproject=is_pyproject)
        assert found is None or isinstance(found.values, dict)
        settings_of_lines(data.decode().split("\n"), "")
    except TomlError as error:
        check_refusal(error)
    except UnicodeDecodeError:
        pass


@cache
def _plan_path() -> str:
    """Return where plans are written to be read."""
    return str(Path(tempfile.mkdtemp(prefix="fuzzing-")) / "plan.toml")


def check_plans(data: bytes) -> None:
    """Check that a plan of scores is read as it is written again, or refused."""
    path = _plan_path()
    Path(path).write_bytes(data)
    try:
        plan = load_plan(path)
        text = plan_text(plan)
    except (PlanError, ScoreError) as error:
        check_refusal(error)
        return
    Path(path).write_text(text, "utf-8")
    assert plan_text(load_plan(path)) == text


def check_expectations(data: bytes) -> None:
    """Check that what a job expects of its data is read, or refused."""
    try:
        plan = parse_plan(data, "job/preflight.toml", {"x": "y"}, named_report)
        for data_set in plan.data_sets:
            check_data_set(data_set, asked_by(data_set))
    except PreflightError as error:
        check_refusal(error)


_WRITABLE = tuple(sorted(writable_formats()))
_RECORD = {"a": 1, "b": {"c": [1, "x"]}, "d": [{"e": None}, 2], "": {"": 0}}


def check_mappings(data: bytes) -> None:
    """Check that expressions of mappings are read, or refused."""
    name, data = split_choice(data, _WRITABLE)
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError:
        return
    try:
        columns = parse_column_map(lines)
        for column in columns.values():
            path = parse_value_path(column)
            path.find(_RECORD)
            value_at(_RECORD, path.keys)
    except (MapError, ValueError) as error:
        check_refusal(error)
    pairs = (line.partition("=") for line in lines)
    try:
        constants_by_path(
            adapter_of(writable_formats()[name]),
            {key: value for key, sign, value in pairs if sign},
        )
    except ConversionError as error:
        check_refusal(error)


def check_schemas(data: bytes) -> None:
    """Check that a user's schema is refused, or gives one verdict however it is asked.

    The first value of the input is the schema, the second one a row.
    """
    schema_data, _, row = data.partition(b"\n")
    try:
        schema = msgspec.json.decode(schema_data)
    except NOT_JSON:
        return
    try:
        check_depth("schema", schema)
        for remark in find_mistakes(schema):
            assert remark.message
        # Any other schema is used in a process that can be killed.
        if is_bounded(schema):
            _check_verdicts(check_schema("schema", schema).schema, row)
    except SchemaError as error:
        check_refusal(error)


def _check_verdicts(schema: Any, row: bytes) -> None:
    """Assert that a typed decoder accepts a row only if it is valid by the schema."""
    try:
        value = msgspec.json.decode(row)
    except NOT_JSON:
        return
    validator = schema_validator_of(schema)
    is_valid = validator.is_valid(value)
    assert is_valid is not any(True for _ in validator.iter_errors(value))
    try:
        decoder = typed_decoder_of(schema)
    except UnsupportedSchemaError:
        return
    if decoder.accept(row) is not None:
        assert is_valid or any(duplicates(row))


def check_patterns(data: bytes) -> None:
    """Check that a pattern that is called linear is searched in linear time."""
    try:
        pattern, _, text = data.decode().partition("\n")
    except UnicodeDecodeError:
        return
    is_linear = is_linear_pattern(pattern)
    schema = {"pattern": pattern}
    assert all(remark.message for remark in find_mistakes(schema))
    if not is_linear or not text:
        return
    try:
        validator = schema_validator_of(schema)
    except (jsonschema_rs.ValidationError, ValueError):
        return
    # The time is limited by whoever runs this.
    validator.is_valid(text * (_LONG // len(text)) + "!")


def _toml_examples(*words: str) -> Iterator[bytes]:
    """Yield the examples of TOML in the documents that contain one of `words`."""
    for path in sorted(_DOCUMENTS.rglob("*.md")):
        for block, _, written in _TOML.findall(path.read_text("utf-8")):
            if any(word in block + written for word in words):
                yield (block or written).encode()


def _settings_seeds() -> list[bytes]:
    """Return the examples of settings, for each of the files that hold them."""
    found = [b"", *(setting.example.encode() for setting in SETTINGS)]
    found += [each.replace(b"[tool.harpia-formats.", b"[") for each in found]
    found += _toml_examples("tool.harpia-formats", "severity", "per-file-ignores")
    return [bytes([at]) + each for each in found for at in (0, 1)]


def _plan_seeds() -> list[bytes]:
    """Return the examples of plans of scores."""
    whole = b"[systems]\nA = 'a*'\n[benchmarks.B]\nfiles = 'b*'\nmetrics = ['em']\n"
    options = (
        *(b"missing = 'skip'\n", b"profile = 'harpia'\n", b"seed = 3\nlevel = 0.9\n"),
        *(b"report = ['json=a.json']\n", b"plot = ['a.svg']\nmean = 'macro'\n"),
        *(
            b"map = {prompt = 'q'}\n",
            b"parameters.em.strip = true\n",
            b"baseline='A'\n",
        ),
    )
    examples = _toml_examples("[benchmarks", "[systems", "metrics")
    return [whole, *(option + whole for option in options), *examples]


def _expectation_seeds() -> list[bytes]:
    """Return the examples of what jobs expect."""
    head = b'[datasets.a]\nfiles = "a.jsonl"\nformat = "nemo-output"\n'
    stated = [key.example.encode() for key in KEYS]
    return [*_toml_examples("[datasets"), *(head + line + b"\n" for line in stated)]


def _mapping_seeds() -> list[bytes]:
    """Return mappings of columns and constants, for some formats."""
    texts = (
        *(b"prompt=question\nid=a.b", b"response=b[c.0]", b"references=d[e]"),
        *(b'model=org/m\nparams={"a": 1}', b"id=[x", b"score=1e400"),
        b"id=a" + b"[b" * 1000 + b"]" * 1000,
    )
    names = every(6, (name.encode() for name in _WRITABLE))
    return [
        with_choice(name.decode(), _WRITABLE, text) for name in names for text in texts
    ]


def _schema_seeds() -> list[bytes]:
    """Return small schemas, each with a row."""
    rows = [*every(4, fixture_rows("nemo-output", "valid", most=500)), b"1", b'"a"']
    schemas: list[Any] = [
        True,
        {"type": ["integer", "null"], "minimum": 1, "multipleOf": 0.1},
        {"properties": {"a": {"$ref": "#/definitions/b"}}, "definitions": {"b": {}}},
        {
            "type": "object",
            "properties": {
                "id": {"type": "string", "minLength": 1},
                "n": {"type": "number", "exclusiveMaximum": 3},
                "e": {"enum": [1, "a", None]},
                "k": {"const": {"a": [1.0]}},
                "l": {"type": "array", "items": {"type": "boolean"}, "maxItems": 2},
            },
            "required": ["id"],
            "additionalProperties": False,
        },
        {"allOf": [{"if": {"properties": {"a": {"const": "x"}}}, "then": {}}]},
        {"oneOf": [{"type": "string"}, {"type": "object"}], "not": {"const": 1}},
        {"patternProperties": {"^a": {"format": "date"}}, "dependencies": {"a": ["b"]}},
        {"contains": {"$id": "#x"}, "propertyNames": {"pattern": "^[a-z]+$"}},
        {"items": [{"type": "null"}], "additionalItems": {"uniqueItems": True}},
    ]
    own = [b'{"id": "a", "n": 1.0, "l": [true]}', b"[null, [1, 1.0]]"]
    small = [schema_text(name) for name in schema_ids()]
    bundled = [
        msgspec.json.format(text, indent=-1) for text in small if len(text) < 2000
    ]
    pairs = [(text, row) for text in bundled for row in rows[:1]]
    written = map(msgspec.json.encode, schemas)
    pairs += [(text, row) for text in written for row in (*rows, *own)]
    return [text + b"\n" + row for text, row in pairs]


def _mutated_schema(data: bytes, seed: int) -> bytes:
    """Return a schema and a row of which one is edited."""
    return mutated_json(data, seed, prefix=0)


def _pattern_seeds() -> list[bytes]:
    """Return patterns, each with a text in which it is searched."""
    patterns = (
        *(
            "^a+$",
            "(a+)+$",
            "[^x]{2,5}",
            r"\d+(\.\d+)?",
            "a|b|",
            r"^\p{L}\s*$",
            "(?=a)b",
        ),
        *("(?:a{3}){4}", r"[\w.-]+@x", ".*.*=.*", r"(x)\1", "[]", "[^]", "(?<n>a)"),
    )
    return [f"{one}\n{text}".encode() for one in patterns for text in ("a", "ab=1é")]


_TOML_CODE = "harpia_formats.files.toml"
_SETTINGS_CODE = ("harpia_formats.api.settings_file", _TOML_CODE)
_PLAN_CODE = ("harpia_formats.api.plan_file", _TOML_CODE)
_EXPECTATION_CODE = ("harpia_formats.expectations", _TOML_CODE)
_MAPPING_CODE = (
    *("harpia_formats.model.column_map", "harpia_formats.model.value_path"),
    "harpia_formats.conversion.mapping.field_constants",
)
_SCHEMA_CODE = ("harpia_formats.formats.schema",)
SETTINGS_TARGETS = (
    Target("settings", check_settings, _SETTINGS_CODE, _settings_seeds),
    Target("plans", check_plans, _PLAN_CODE, _plan_seeds),
    Target("expectations", check_expectations, _EXPECTATION_CODE, _expectation_seeds),
    Target("mappings", check_mappings, _MAPPING_CODE, _mapping_seeds),
    Target("schemas", check_schemas, _SCHEMA_CODE, _schema_seeds, _mutated_schema),
    Target("patterns", check_patterns, _SCHEMA_CODE, _pattern_seeds),
)
