"""Preflight files are checked as a whole, and mistakes are named with their line."""

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from cases import for_each_case
from harpia_formats import PreflightError
from harpia_formats.expectations import plugin_expectations
from harpia_formats.expectations.preflight_file import parse_plan
from harpia_formats.expectations.preflight_keys import KEYS, Key, Kind
from harpia_formats.expectations.preflight_plan import Plan
from harpia_formats.files.toml import TomlLines
from harpia_formats.formats.schema.bundled_schemas import schema_text
from harpia_formats.plugins import Expectation, ExpectationCheck
from harpia_formats.reporters.report_file import named_report

START = '[datasets.a]\nfiles = "a.jsonl"\n'
OTHERS = "".join(
    f'\n[datasets.{name}]\nfiles = "{name}.jsonl"\n'
    for name in ("questions", "training")
)
#: What stands above the data sets, on the line of the first one.
TOP = {"max-records-change": 'state = "last.json"\n'}
#: Stands for an expectation of another package.
OWN = Expectation("Nothing.", lambda _: ExpectationCheck())
SCHEMA = json.loads(schema_text("preflight-1"))


def plan_of(text: str, **variables: str) -> Plan:
    """Return the plan of a preflight file."""
    return parse_plan(text.encode(), "folder/p.toml", variables, named_report)


def text_with(key: Key) -> str:
    """Return a preflight file with the example of a key."""
    start = "[datasets.a]\n" if key.name == "files" else START
    more = "max-records = 5000\n" if key.name == "warn" else ""
    return f"{TOP.get(key.name, '')}{start}{key.example}\n{more}{OTHERS}"


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_the_example_of_each_key_is_valid(
    key: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The example of the documents is accepted here, and by the schema for editors."""
    text = text_with(key)

    monkeypatch.setattr(plugin_expectations, "plugin_named", lambda *_: OWN)
    (first, *_) = plan_of(text).data_sets

    assert key.name in first.values
    line = (2 if key.name == "files" else 3) + (key.name in TOP)
    assert first.stated(key.name).line == line
    jsonschema.validate(tomllib.loads(text), SCHEMA)


def test_the_schema_for_editors_has_each_key_with_its_summary() -> None:
    """The schema has all keys, in the order of the table, and says what they are."""
    described = SCHEMA["definitions"]["data-set"]["properties"]

    assert list(described) == [key.name for key in KEYS]
    for key in KEYS:
        assert described[key.name]["description"] == key.summary
    jsonschema.Draft7Validator.check_schema(SCHEMA)


#: Values that no key of a kind has.
WRONG: dict[Kind, list[str]] = {
    Kind.FLAG: ["1", '"yes"'],
    Kind.COUNT: ['"1"', "1.5", "true", "-1"],
    Kind.TEXT: ["1", "[]"],
    Kind.TEXTS: ["1", "[1]", "{}", "[]"],
    Kind.TABLE: ["1", "{ prompt = 1 }", "{}"],
    Kind.LIMIT: ["0.01", "-1", "true", '"1"', '"101 %"', '"-1 %"'],
    Kind.LIMITS: ["1", "{ J202 = true }", "{}"],
    Kind.VALUES: ["1", "{ category = [] }", "{}"],
    Kind.DATA_SETS: ["1", "[1]"],
    Kind.COMPARED: ["1", "[1]", "{}", '{ training = "fuzzy" }', "{ training = 1 }"],
    Kind.NUMBERS: ["1", '{ score = "1" }', "{ score = true }", "{}"],
    Kind.AGE: ["7", '"7"', '"7 years"', '"-1 days"', '"days"'],
    Kind.OWN: ["1", "[]", "{}"],
}


@for_each_case("key", KEYS, ids=lambda key: key.name)
def test_wrong_values_are_refused_with_their_line(key: Key) -> None:
    """A value of another kind is refused here, at its line, and by the schema."""
    for value in WRONG[key.kind]:
        text = text_with(key).replace(key.example, f"\n{key.name} = {value}")
        line = (3 if key.name == "files" else 4) + (key.name in TOP)
        with pytest.raises(PreflightError) as caught:
            plan_of(text)

        assert str(caught.value).startswith(f"folder/p.toml:{line}: datasets.a.")
        assert not jsonschema.Draft7Validator(SCHEMA).is_valid(tomllib.loads(text))


@for_each_case(
    "text, message",
    [
        ("", ":1: datasets: names no data set; write a table for each"),
        ("[datasets]\n", ":1: datasets: names no data set"),
        ("[dataset.a]\n", ":1: dataset: there is no such key; did you mean datasets?"),
        (
            '[a]\nfiles = "x"\n',
            ":1: a: there is no such table; did you mean [datasets.a]?",
        ),
        ("min-records = 1\n", ":1: min-records: is a key of a data set"),
        ("[datasets.a]\n", ":1: datasets.a: names no files"),
        (
            f"{START}min-record = 1\n",
            ":3: datasets.a.min-record: there is no such key; did you mean min-records",
        ),
        (
            f"{START}xyzzy = 1\n",
            ":3: datasets.a.xyzzy: there is no such key; known: files,",
        ),
        (f'{START}format = "nemo-ouput"\n', "did you mean nemo-output"),
        (f'{START}ignore = ["J2O2"]\n', ":3: datasets.a.ignore: no rule is called"),
        (
            f"{START}min-records = 2\n\nmax-records = 1\n",
            ":5: datasets.a.max-records: is less than min-records",
        ),
        (
            f'{START}models = "a"\nallowed-models = "a"\n',
            ":4: datasets.a.allowed-models: cannot be combined",
        ),
        (
            f'{START}schema = "s"\nstrict = true\n',
            ":4: datasets.a.strict: cannot be combined",
        ),
        (
            f'{START}ids-in = "b"\n',
            ":3: datasets.a.ids-in: there is no data set 'b'; known: a",
        ),
        (f'{START}ids-in = "a"\n', ":3: datasets.a.ids-in: names the data set itself"),
        (f'{START}files = "b"\n', ":3: is not TOML: Cannot overwrite a value"),
        ("a = \n", ":1: is not TOML: Invalid value"),
        (f"{START}min-records = 99999999999999999999\n", ""),
        (f"{START}max-invalid = 0.01\n", 'not 0.01; a share is written as "1 %"'),
        (f"{START}max-invalid = 1e-7\n", 'a share is written as "0.00001 %"'),
        (f"{START}max-invalid = -0.0\n", 'a share is written as "0 %"'),
        (f"{START}max-invalid = 0.1234567\n", 'a share is written as "12.34567 %"'),
        ('[datasets]\nfiles = "a"\n', ":2: datasets.files: must be a table"),
        (
            f'{START}with = "${{RUN}}"\n',
            ":3: datasets.a.with: ${RUN} has no value; give it one with `--var RUN",
        ),
        (
            f'[variables]\nRUM = "x"\n{START}with = "${{RUN}}"\n',
            ":5: datasets.a.with: ${RUN} has no value (did you mean ${RUM}?)",
        ),
        (f"[variables]\nRUN = 1\n{START}", ":2: variables.RUN: must be a text, not 1"),
        (
            f'reports = "x.unknown"\n{START}',
            ":1: reports: x.unknown: its suffix is that of no reporter",
        ),
        (
            f'reports = "json=-"\n{START}',
            ":1: reports: a report is written to a file, and - is none",
        ),
        (
            f'{START}files-2 = """\n[datasets.b]\n"""\nlint = 1',
            ":3: datasets.a.files-2: there is no such key",
        ),
    ],
)
def test_mistakes_are_named_with_their_line(text: str, message: str) -> None:
    """A mistake has the file, the line, the key, and what to do about it."""
    if not message:
        assert plan_of(text).data_sets
        return
    with pytest.raises(PreflightError) as caught:
        plan_of(text)

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_variables_have_the_value_given_or_that_of_the_file() -> None:
    """A value that is given wins; one that nothing uses is an error."""
    text = '[variables]\nRUN = "latest"\n[datasets.a]\nfiles = ["${RUN}/x", "y$z"]\n'

    assert plan_of(text).data_sets[0].values["files"] == ("latest/x", "y$z")
    assert plan_of(text, RUN="3").data_sets[0].inputs() == ("folder/3/x", "folder/y$z")
    with pytest.raises(PreflightError, match=r"`--var` RUM: .*; did you mean RUN\?"):
        plan_of(text, RUM="3")


def test_only_names_of_files_may_be_other_bytes_than_utf_8() -> None:
    """Nothing else of such a variable of the command line is met by any data."""
    text = f'{START}exclude = "${{X}}"\nchecksums = {{ "${{X}}" = "md5:{"0" * 32}" }}\n'

    assert plan_of(text, X="\udcff").data_sets[0].values["exclude"] == ("\udcff",)
    for key in ('models = "${X}"', 'required-values = { id = ["${X}"] }'):
        with pytest.raises(PreflightError, match=r":5: .*'a\\udcff' is not UTF-8"):
            plan_of(text + key, X="a\udcff")


def test_keys_of_tables_have_variables() -> None:
    """The files of checksums, and data sets that are named, may depend on a run."""
    checksum = f"md5:{'0' * 32}"
    text = (
        f'[variables]\nRUN = "latest"\n{START}checksums = {{ "${{RUN}}/x" = '
        f'"{checksum}", "1/x" = "{checksum}" }}\nno-prompts-of = {{ "${{OTHER}}" = '
        f'"near" }}\n{OTHERS}'
    )
    values = plan_of(text, OTHER="training").data_sets[0].values

    assert list(values["checksums"]) == ["latest/x", "1/x"]
    assert list(values["no-prompts-of"]) == ["training"]
    with pytest.raises(PreflightError, match=r"\$\{OTHER\} has no value"):
        plan_of(text)
    with pytest.raises(PreflightError, match=r":5: .*two keys are 1/x"):
        plan_of(text, OTHER="training", RUN="1")


def test_paths_start_from_the_folder_of_the_file() -> None:
    """Files, schemas and reports are found from there; URLs are as they are."""
    text = (
        'reports = ["jsonl=out.txt", "out.json"]\n[datasets.a]\n'
        'files = ["x/*.jsonl", "https://h/y", "/z"]\n'
    )
    plan = plan_of(text)

    assert plan.data_sets[0].inputs() == ("folder/x/*.jsonl", "https://h/y", "/z")
    assert plan.reports[1] == "json=folder/out.json"


TOML = '''# a comment
top = 1
[one]
a = [
  1,
  2,  # ] not the end
]
"b c" = """
[no.table]
a = 1
"""
c.d = 2
e = { f = 3, g = { h = 4 } }

[one . "two"]
a = 5
'''


def test_the_line_of_each_key_is_found() -> None:
    """Statements of several lines, dotted and quoted keys have their first line."""
    lines = TomlLines(TOML)
    expected = {
        ("top",): 2,
        ("one",): 3,
        ("one", "a"): 4,
        ("one", "b c"): 8,
        ("one", "c"): 12,
        ("one", "c", "d"): 12,
        ("one", "e", "g", "h"): 13,
        ("one", "two"): 15,
        ("one", "two", "a"): 16,
        ("one", "two", "b"): 15,
        ("none",): 1,
    }

    assert {path: lines.of(path) for path in expected} == expected
    assert lines.offset_of(3) == TOML.index("[one]")


def test_a_byte_order_mark_is_counted() -> None:
    """Lines and columns are those of the text, and offsets are those in the file."""
    text = f"{START}  min-records = 2\n"
    for mark in ("", "\ufeff"):
        place = plan_of(mark + text).data_sets[0].stated("min-records").place()

        assert (place.line, place.column) == (3, 3)
        found = (mark + text).encode()[place.byte_offset :]
        assert found.startswith(b"min-records")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    """The message has the path and the reason."""
    from harpia_formats.expectations.preflight_file import read_plan  # noqa: PLC0415 - beside its use

    values: dict[str, Any] = {}
    with pytest.raises(PreflightError, match=r"p\.toml: no such file"):
        read_plan(str(tmp_path / "p.toml"), values, named_report)
