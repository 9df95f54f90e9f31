import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import command_runs
from cases import for_each_case
from fixture_files import valid_files
from harpia_formats import validate
from json_lines import jsonl_rows
from known_formats import bundled_schema

SCHEMAS = Path(__file__).parents[3] / "schemas"
FIXTURES = Path(__file__).parents[3] / "fixtures"
#: Runs `harpia-formats schema` with arguments.
run = partial(command_runs.run, "schema")


@for_each_case(
    "arguments, name",
    [
        ("eee@0.2.0", "eee@0.2.0"),
        ("eee@0.2.2", "eee@0.3.0"),
        ("nemo-output", "nemo-output"),
        ("nemo-output --strict", "nemo-output-strict"),
        ("nemo-output --dialect flat", "nemo-output-flat"),
        ("nemo-output --dialect flat --strict", "nemo-output-flat-strict"),
        ("eee-aggregate --dialect 0.2.0", "eee-aggregate@0.2.0"),
        ("eee@0.3.0 --strict", "eee@0.3.0"),
        ("nemo-output-flat", "nemo-output-flat"),
        ("report-1", "report-1"),
        ("detection-1", "detection-1"),
    ],
)
def test_schema_is_printed_as_it_is(arguments: str, name: str) -> None:
    """A format, an alias or a schema gives the very bytes of a file in schemas/."""
    result = run(*arguments.split())

    assert (result.returncode, result.stderr) == (0, b"")
    (file,) = SCHEMAS.glob(f"*/{name}.schema.json")
    assert result.stdout == file.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "folder", "name"),
    [
        ("harpia-output", "harpia-output", "two-metrics.json"),
        ("harpia --dialect instances", "harpia", "H101-camel-array.json"),
    ],
)
def test_schema_of_rows_is_that_of_a_row(
    tmp_path: Path, arguments: str, folder: str, name: str
) -> None:
    """If the records of a dialect are rows, its schema is that of a row."""
    path = tmp_path / "row.json"
    path.write_bytes(run(*arguments.split()).stdout)
    report = validate(FIXTURES / folder / "valid" / name, schema=path)

    assert report.ok
    assert report.files[0].records > 1


def test_module_is_printed() -> None:
    """With --as-python the validator of the schema is printed, the same each time."""
    words = ("tencent-messages", "--strict", "--as-python")
    first, second = (run(*words) for _ in range(2))
    module: dict[str, Any] = {}
    exec(first.stdout, module)  # noqa: S102 - what the command prints is ours
    row = jsonl_rows(valid_files("tencent-messages")[0])[0]

    assert (first.returncode, first.stdout) == (0, second.stdout)
    assert b"the schema tencent-messages-strict of harpia-formats" in first.stdout
    assert module["validate"](row) == row
    with pytest.raises(module["Invalid"]):
        module["validate"]({})


@for_each_case(
    "arguments, words",
    [
        ("nemo-outptu", "did you mean nemo-output?"),
        ("../pyproject", "no format is called '../pyproject'"),
        ("nemo", "name one of them: nemo-input, nemo-output"),
        ("nemo-output --dialect flta", "did you mean flat"),
        ("nemo-input --dialect flat", "nemo-input has no dialect called 'flat'"),
        ("report-1 --strict", "report-1 is a schema"),
        ("nemo-output-flat --dialect flat", "nemo-output-flat is a schema"),
    ],
)
def test_unknown_names_are_one_line(arguments: str, words: str) -> None:
    """An unknown format, dialect or schema ends with 2 and lists the known ones."""
    result = run(*arguments.split())

    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr.startswith(b"error: ")
    assert result.stderr.count(b"\n") == 1
    assert words in result.stderr.decode()


def test_every_file_among_the_schemas_can_be_asked_for() -> None:
    """The ids are those of the files in schemas/, each with a draft-07 schema."""
    files = list(SCHEMAS.glob("*/*.schema.json"))

    assert files == list(SCHEMAS.glob("*/*"))
    for file in files:
        found = bundled_schema(file.name.removesuffix(".schema.json"))
        assert found == json.loads(file.read_bytes())
        assert "draft-07" in found["$schema"]
