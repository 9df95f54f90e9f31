"""Golden examples in files: rows as records, and records as rows with their losses.

Each file in `golden/FORMAT` is about one behaviour, which its name states. Each line of
it is an example, which is checked by what it has:

- a `row`, or a valid `fixture`, and the `record` that it is read as, or a list of them,
  and the codes of its `problems`;
- a `record`, the `row` that it is written as and its `losses`, or the code, the message
  and the help with which it is `refused`;
- a `row`, the codes of its `problems`, and of those that a `strict` validation finds;
- `answers`, as records or as a file of their vendor, and the `results` of their scores;
- a `row` and its `signs`: the dialects of its vendor that it is detected as, with why;
- a `row` and the `findings` of all rules, lints among them, each with code and place,
  and `(key)` where not a value is marked, but its key; if there is a `companion`, it is
  the content of the file that the row belongs to.

A row is a JSON value, or the text of a file that is none, such as a table; `options`
are those of `convert`, or of `score`.
"""

import json
import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import pytest

from harpia_formats import Problem, ValidationFailed, convert, score, validate
from known_formats import FORMATS
from problem_codes import codes_of

GOLDEN = Path(__file__).parent / "golden"
FIXTURES = Path(__file__).parents[2] / "fixtures"
FILES = sorted(GOLDEN.glob("*/*"))


class Example(msgspec.Struct, forbid_unknown_fields=True):
    """A line of a file; `row` and `record` are kept as they are spelt."""

    row: msgspec.Raw = msgspec.Raw()
    record: msgspec.Raw = msgspec.Raw()
    fixture: str = ""
    options: dict[str, Any] = {}
    problems: list[str] = []
    strict: list[str] | None = None
    answers: msgspec.Raw = msgspec.Raw()
    results: msgspec.Raw = msgspec.Raw()
    signs: dict[str, str] | None = None
    findings: list[str] | None = None
    companion: msgspec.Raw = msgspec.Raw()
    losses: list[str] | None = None
    refused: tuple[str, str, str] | None = None


def file_of(value: msgspec.Raw) -> bytes:
    """Return the content of the file that a member of an example stands for."""
    data = bytes(value)
    return json.loads(data).encode() if data.startswith(b'"') else data


def source_of(name: str, example: Example) -> bytes | Path:
    """Return the content or the path of what is read."""
    if example.fixture:
        return FIXTURES / name / "valid" / example.fixture
    return file_of(example.row)


def exact(data: bytes) -> Any:
    """Return what JSON says, to the spelling of numbers and the order of keys."""
    try:
        return json.loads(
            data, parse_int=repr, parse_float=repr, object_pairs_hook=tuple
        )
    except ValueError:
        return data


def losses_of(report: Any) -> list[str]:
    """Return what became of each field that did not arrive as it was."""
    outcomes = [each for file in report.losses for each in file.losses.counts]
    return sorted(
        f"{each.outcome.name.lower()} {each.path}: {each.how}".removesuffix(": ")
        for each in outcomes
    )


def check_reading(name: str, example: Example) -> None:
    """Assert that a row is read as its record, with its problems."""
    output, given = BytesIO(), source_of(name, example)
    convert(given, format=name, to="record", output=output)
    found, record = output.getvalue().splitlines(), bytes(example.record)
    expected = exact(record) if record.startswith(b"[") else [exact(record)]

    assert [exact(each) for each in found] == expected
    assert codes_of(validate(given, format=name)) == example.problems


def check_verdict(name: str, example: Example) -> None:
    """Assert that validation finds the problems of a row, also the strict one."""
    data = file_of(example.row)

    assert codes_of(validate(data, format=name)) == example.problems
    assert codes_of(validate(data, format=name, strict=True)) == example.strict


def check_results(name: str, example: Example) -> None:
    """Assert that the scores of answers are written so, as what they are detected."""
    output, options = BytesIO(), {"replicates": 0, **example.options}
    score(bytes(example.answers), to=name, output=output, **options)
    written = output.getvalue()

    assert exact(written) == exact(bytes(example.results))
    assert validate(written, strict=True, lint=True, ignore=("J204",)).problems == ()
    assert validate(written).files[0].format == name


def check_signs(name: str, example: Example) -> None:
    """Assert that a row is detected as dialects of its vendor, and no others."""
    vendor, row = FORMATS[name].vendor, json.loads(bytes(example.row))
    dialects = {
        f"{format_.id} {each.name}".strip(): each
        for format_ in FORMATS.values()
        if format_.vendor == vendor
        for each in format_.dialects
    }
    signs = {key: each.sniff(row) for key, each in dialects.items()}

    assert {key: sign for key, sign in signs.items() if sign} == example.signs


def check_findings(name: str, example: Example) -> None:
    """Assert what all rules find in a row, and where."""
    data, options = file_of(example.row), example.options
    with tempfile.TemporaryDirectory() as folder:
        if example.companion != msgspec.Raw():
            options = {"companion": Path(folder) / "companion.json"}
            options["companion"].write_bytes(bytes(example.companion))
        report = validate(data, format=name, lint=True, max_problems=0, **options)
    lines = data.decode().splitlines()

    assert [finding_of(each, lines) for each in report.problems] == example.findings


def finding_of(problem: Problem, lines: list[str]) -> str:
    """Return the code and the place of a problem, and whether it is at a key."""
    place = problem.place
    behind = lines[place.line - 1][place.end_column - 1 :].lstrip()
    at_key = " (key)" if behind.startswith(":") else ""
    return f"{problem.code} {place.pointer}".strip() + at_key


def check_writing(name: str, example: Example) -> None:
    """Assert that a record is written as its row, with its losses, and no others."""
    output, data = BytesIO(), bytes(example.record)
    report = convert(data, format="record", to=name, output=output, **example.options)

    assert exact(output.getvalue()) == exact(file_of(example.row))
    assert losses_of(report) == example.losses
    assert validate(output.getvalue(), format=name).ok


def check_refusal(name: str, example: Example) -> None:
    """Assert that a record is refused with its problem, and that nothing is written."""
    output, data = BytesIO(), bytes(example.record)
    with pytest.raises(ValidationFailed) as failed:
        convert(data, format="record", to=name, output=output, **example.options)
    (problem,) = failed.value.report.problems

    assert (problem.code, problem.message, problem.help) == example.refused
    assert output.getvalue() == b""


def check_of(example: Example) -> Callable[[str, Example], None]:
    """Return the check of an example, by what it has."""
    checks = {
        "strict": check_verdict,
        "results": check_results,
        "signs": check_signs,
        "findings": check_findings,
        "refused": check_refusal,
        "losses": check_writing,
    }
    absent = (None, msgspec.Raw())
    found = (
        each for key, each in checks.items() if getattr(example, key) not in absent
    )
    return next(found, check_reading)


@pytest.mark.parametrize(
    "path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_examples_hold(path: Path) -> None:
    """Each example in a file is detected, validated, read, written or scored so."""
    lines = path.read_bytes().splitlines()
    for line in lines:
        example = msgspec.json.decode(line, type=Example)
        check_of(example)(path.parent.name, example)

    assert lines
