"""Faults 20 and 42 to 44: nesting, numbers and repeated keys of JSON, and schemas."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from command_runs import COMMAND, codes, error_lines, report_of, run
from conversion_laws import CONSTANTS
from faults import Injections
from harpia_formats import convert
from harpia_formats.plugins import Container, Format
from known_formats import WRITABLE

_ROW = '{"prompt": "q", "ideal_response": "a", "category": "c", "source": "s"}'
_LEVELS = (199, 200, 201, 1_025, 100_000)
_MOST = 200
#: Says what an interpreter is, if it can run the program.
_CAN_RUN = "import harpia_formats.cli, msgspec, sys; print(sys.version_info[:2])"


def _nested(levels: int, opening: str, *, is_closed: bool) -> str:
    """Return arrays or objects inside each other."""
    closing = "]" if opening == "[" else "}"
    return opening * levels + ("1" + closing * levels if is_closed else "")


def _interpreters() -> Iterator[str]:
    """Yield each Python from 3.11 on that is found and has what the program needs."""
    yield sys.executable
    for minor in range(11, 20):
        found = shutil.which(f"python3.{minor}")
        if not found or minor == sys.version_info.minor:
            continue
        command = [found, "-c", _CAN_RUN]
        tried = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - an interpreter
        if tried.stdout.decode().strip() == f"(3, {minor})":
            yield found


def _write_nested(folder: Path) -> dict[str, int]:
    """Write a file for each depth, with its nested row in line 2; return the depths."""
    levels_of = {}
    for levels in _LEVELS:
        for opening in ("[", '{"a":'):
            for is_closed in (True, False):
                kind = f"{'array' if opening == '[' else 'object'}-{is_closed}"
                text = _nested(levels, opening, is_closed=is_closed)
                member = _nested(levels - 1, opening, is_closed=is_closed)
                end = "}" if is_closed else ""
                inside = f'{_ROW[:-1]}, "more": {member}{end}'
                for name, row in (("row", text), ("member", inside)):
                    path = folder / f"{name}-{kind}-{levels}.jsonl"
                    path.write_text(f"{_ROW}\n{row}\n{_ROW}\n")
                    levels_of[path.name] = levels
    return levels_of


def test_20_deep_nesting(tmp_path: Path, fault: Injections) -> None:
    """On each version of Python a row is too deep from the level 201 on."""
    levels_of = _write_nested(tmp_path)
    options = ("--from", "nemo-input", "--output-format", "json", "--max-problems", "0")
    for interpreter in _interpreters():
        command = [interpreter, *COMMAND[1:], "validate", str(tmp_path), *options]
        result = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - the command is ours
        assert (result.returncode, result.stderr) == (1, b"")
        report = json.loads(result.stdout)
        assert {each["valid"] for each in report["files"]} <= {2, 3}
        found = {
            Path(each["path"]).name
            for each in report["problems"]
            if (each["code"], each["line"]) == ("J108", 2)
        }
        assert found == {name for name in levels_of if levels_of[name] > _MOST}
    fault.add("a row of 201, 1,025 or 100,000 levels", "the finding J108", len(found))
    others = len(levels_of) - len(found)
    fault.add(
        "a row of 199 or 200 levels", "read; an error where it is not closed", others
    )


@pytest.mark.parametrize(
    ("opening", "is_closed"),
    [
        ("[", False),
        pytest.param("[", True, marks=pytest.mark.long),
        pytest.param('{"a":', False, marks=pytest.mark.long),
        pytest.param('{"a":', True, marks=pytest.mark.long),
    ],
)
def test_20_deep_documents(
    opening: str, is_closed: bool, tmp_path: Path, fault: Injections
) -> None:
    """Whatever a file is said to be, 100,000 levels stop no command in the middle."""
    text = _nested(100_000, opening, is_closed=is_closed)
    forms = {
        "one.json": text,
        "rows.json": f"[{_ROW}, {text}]",
        "harpia.json": f'{{"metrics": {text}, "instances": [{text}]}}',
        "haystack.json": f'{{"inputs": {{"questions": [{text}]}}}}',
    }
    for name, form in forms.items():
        (tmp_path / name).write_text(form)
        for words in (
            ("validate", "--fix"),
            ("detect",),
            ("convert", "--to", "record", "-o", tmp_path / "out"),
            ("stats",),
        ):
            result = run(words[0], tmp_path / name, *words[1:])
            wanted = {0, 1, 2} if words[0] == "detect" else {1, 2}
            assert result.returncode in wanted, (name, words)
            assert error_lines(result) or result.returncode != 2, (name, words)
            assert not (tmp_path / "out").exists()
            came_out = f"exit code {result.returncode}"
            fault.add(f"a document of 100,000 levels, {words[0]}", came_out)
        assert (tmp_path / name).read_text() == form


class _Number(str):
    """The text of a number as JSON has it."""

    __slots__ = ()


def _numbers(place: int) -> list[str]:
    """Return numbers at the limits of types, with a spelling that no other place has.

    They are beyond 64 bits, of 21 digits, with a zero at the end, minus zero, with more
    digits than a float, and whole but with an exponent.
    """
    return [
        f"1844674407370955161{place}",
        f"-12345678901234567890{place}",
        f"0.1{place}0",
        f"-0.0{place}e-400",
        f"3.14159265358979{place}2384626433",
        f"1.000{place}E+2",
    ]


def _members(place: int) -> str:
    members = (f'"n{at}": {text}' for at, text in enumerate(_numbers(place)))
    return "{" + ", ".join(members) + "}"


def _records_of_numbers() -> bytes:
    """Return records with the numbers of all places, and long ones as their ids."""
    rows = []
    for number, score in enumerate(_numbers(7)):
        output = (
            f'{{"model": "m", "text": "t", "token_usage": {_members(4)}, '
            f'"performance": {_members(5)}, "extra": {{"acme": {_members(6)}}}, '
            f'"scores": [{{"metric": "m", "value": {score}}}]}}'
        )
        rows.append(
            f'{{"id": 12345678901234567890{number}, "prompt": "p", "system": "s", '
            f'"references": ["r"], "params": {_members(1)}, "metadata": {_members(2)}, '
            f'"extra": {{"acme": {_members(3)}}}, "outputs": [{output}]}}\n'
        )
    return "".join(rows).encode()


def _paths_in(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield each number of a decoded record, with the path of its field."""
    if isinstance(value, _Number):
        yield str(value), path
    elif isinstance(value, list):
        for each in value:
            yield from _paths_in(each, path)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _paths_in(each, f"{path}.{key}" if path else key)


def _container(format_: Format) -> Container:
    return format_.dialects[0].container


def _converted(
    data: bytes, source: str, target: str, **options: Any
) -> tuple[bytes, set[str]]:
    """Return the data in another format, and the paths of what is lost."""
    output = BytesIO()
    options |= {"from_": source, "to": target, "keep_extra": True}
    made = convert(data, output=output, **options)
    lost = {outcome.path for file in made.losses for outcome in file.losses.counts}
    return output.getvalue(), lost


def _seen(data: bytes, source: str) -> dict[str, str]:
    """Return the numbers that are read from data, with the paths of their fields."""
    text, _ = _converted(data, source, "record")
    kinds: dict[str, Any] = {"parse_int": _Number, "parse_float": _Number}
    return {
        number: path
        for line in text.splitlines()
        for number, path in _paths_in(json.loads(line, **kinds))
    }


def _is_named(path: str, lost: set[str]) -> bool:
    """Tell whether a loss is one of the field at `path`, or of what it is in."""
    return any(f"{path}.".startswith(f"{each}.") for each in lost)


@pytest.mark.parametrize("source", WRITABLE)
def test_42_numbers_between_formats(source: str, fault: Injections) -> None:
    """The text of each number is the same in every other format, or it is named."""
    records = _records_of_numbers()
    data, lost = _converted(records, "record", source, constants=CONSTANTS)
    held = _seen(data, source)
    for number, path in _seen(records, "record").items():
        assert number in held or _is_named(path, lost), (number, path)
    fault.add("numbers from a record", "the same text, or a loss is named")

    for target in WRITABLE:
        written, lost = _converted(data, source, target, constants=CONSTANTS)
        after = _seen(written, target)
        for number, path in held.items():
            is_kept = number in after
            assert is_kept or _is_named(path, lost), (target, number, path)
            fault.add("a number", "the same text" if is_kept else "a loss is named")


@pytest.mark.parametrize("number", ["1e400", "-1e309", "1" + "0" * 400 + ".0", "NaN"])
def test_42_numbers_that_no_type_holds(number: str, fault: Injections) -> None:
    """A number beyond a float of 64 bits, or none, is a finding in each format."""
    for name, format_ in WRITABLE.items():
        if _container(format_) is not Container.ROWS:
            continue
        row = f'{{"metadata": {{"n": {number}}}, "prompt": "q", "outputs": []}}'
        found = report_of("-", "--from", name, stdin=row.encode())
        assert {"J106", "J107"} & {each["code"] for each in found["problems"]}, name
        fault.add("a number that no float holds", "a finding")


@pytest.mark.parametrize("depth", [0, 1, 5])
def test_43_keys_that_are_there_twice(depth: int, fault: Injections) -> None:
    """A finding has the place of the second key, wherever the object is."""
    inside = '{"k": 1, "x": {}, "\\u006b": 1}'
    for _ in range(depth):
        inside = f'{{"o": [{inside}]}}'
    row = f'{{"prompt": "q", "outputs": [], "metadata": {{"m": {inside}}}}}'
    text = f'{{"prompt": "k", "outputs": []}}\n{row}\n'
    report = report_of("-", "--from", "record", stdin=text.encode())

    (problem,) = [each for each in report["problems"] if each["code"] == "J105"]
    column = row.index('"\\u006b"') + 1
    pointer = "/metadata/m" + "/o/0" * depth + "/k"
    seen = (problem["line"], problem["column"], problem["pointer"])
    assert seen == (2, column, pointer)
    assert report["files"][0]["valid"] == 1
    fault.add("a key twice in an object", "the finding J105, at the second one")


@pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.long)])
def test_43_keys_that_are_there_twice_in_each_format(
    step: int, tmp_path: Path, fault: Injections
) -> None:
    """A row of any format whose first key is repeated is an error, and not written."""
    record = b'{"id": "1", "prompt": "p", "references": ["r"], "outputs": []}'
    for name, format_ in [*WRITABLE.items()][::step]:
        if name == "parquet" or _container(format_) is Container.TABLE:
            continue
        data, _ = _converted(record, "record", name, constants=CONSTANTS)
        start, key = data.index(b"{") + 1, data.split(b'"')[1]
        text = data[:start] + b'"' + key + b'": 1, ' + data[start:]
        found = run("validate", "-", "--from", name, "--select", "J", stdin=text)
        assert (found.returncode, codes(found)) == (1, ["J105"]), name
        output = tmp_path / "out"
        words = ("--from", name, "--to", "record", "-o", output)
        assert run("convert", "-", *words, stdin=text).returncode == 1
        assert not output.exists()
        fault.add("a key twice in a row, converted", "exit code 1, no output")


_SCHEMAS: dict[str, tuple[dict[str, Any], str, bool]] = {
    "an unknown keyword": ({"requird": ["a"]}, "S401", False),
    "an empty enum": ({"properties": {"b": {"enum": []}}}, "S402", False),
    "a reference to itself": ({"$ref": "#"}, "S406", True),
    "a reference to itself in allOf": ({"allOf": [{"$ref": "#"}]}, "S406", True),
    "two references to each other": (
        {
            "definitions": {
                "a": {"$ref": "#/definitions/b"},
                "b": {"anyOf": [{"$ref": "#/definitions/a"}]},
            },
            "$ref": "#/definitions/a",
        },
        "S406",
        True,
    ),
    "a reference to itself in not": (
        {
            "definitions": {"a": {"not": {"$ref": "#/definitions/a"}}},
            "properties": {"x": {"$ref": "#/definitions/a"}},
        },
        "S406",
        True,
    ),
    "a reference to nothing": ({"$ref": "#/definitions/none"}, "S405", True),
    "a type that there is not": ({"type": "objekt"}, "S404", True),
}


@pytest.mark.parametrize("kind", _SCHEMAS)
def test_44_mistakes_in_schemas(kind: str, tmp_path: Path, fault: Injections) -> None:
    """A mistake is a warning with its place, and what cannot be used is refused."""
    schema, code, is_refused = _SCHEMAS[kind]
    path = tmp_path / "s.json"
    path.write_text(json.dumps(schema))
    (tmp_path / "in.jsonl").write_text('{"a": 1}\n')
    checked = run("schema", "check", path)
    assert checked.returncode == int(is_refused)
    assert code in codes(checked)

    used = run("validate", tmp_path / "in.jsonl", "--schema", path)
    if is_refused:
        assert (used.returncode, used.stdout) == (2, b"")
        assert len(error_lines(used)) == 1
    else:
        assert used.returncode == 0
        assert code in codes(used)
    fault.add(kind, "refused, exit code 2" if is_refused else "a warning")


def test_44_a_schema_that_describes_itself(tmp_path: Path, fault: Injections) -> None:
    """A reference below a property or an item is no loop."""
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#"}, "b": {"type": "null"}},
    }
    path = tmp_path / "s.json"
    path.write_text(json.dumps(schema))
    text = b'{"a": {"a": {"a": {}}}}\n{"a": {"a": {"b": 1}}}\n'
    report = report_of("-", "--schema", path, stdin=text)

    (problem,) = report["problems"]
    assert (problem["line"], problem["pointer"]) == (2, "/a/a/b")
    fault.add("a reference to itself below a property", "validated")
