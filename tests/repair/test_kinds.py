"""Each kind of repair: what it changes, and what it leaves alone."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harpia_formats.io.part_file import PARTIAL
from harpia_formats.repair.result import Change

#: Returns the bytes of a file after its repair by `SCHEMA`.
OfSchema = Callable[..., bytes]
#: Repairs a file; returns its bytes then, and the changes.
Repairer = Callable[..., tuple[bytes, list[Change]]]
SCHEMA = {
    "properties": {
        "number": {"type": "number"},
        "count": {"type": ["integer", "null"]},
        "either": {"type": ["number", "string"]},
        "sample_id": {"type": "number"},
        "name": {"type": "string"},
        "kind": {"enum": ["single", "several"]},
        "owner": {"properties": {"name": {"type": "string"}}, "required": ["name"]},
    },
    "additionalProperties": False,
}


@pytest.fixture
def of_schema(repair: Repairer, tmp_path: Path) -> Callable[..., bytes]:
    """Return what gives the bytes of a file after its repair by `SCHEMA`."""

    def run(text: bytes, *, unsafe: bool = False) -> bytes:
        path = tmp_path / "rows.jsonl"
        path.write_bytes(text)
        return repair(path, unsafe=unsafe, schema=SCHEMA)[0]

    return run


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'{"number":"1.0"}', b'{"number":1.0}'),
        (b'{"number":"1e2"}', b'{"number":1e2}'),
        (b'{"number":"-0"}', b'{"number":-0}'),
        (b'{"count":"12345678901234567890123"}', b'{"count":12345678901234567890123}'),
        (b'{"name":null,"number":1}', b'{"number":1}'),
        (b'{"nmae":"x"}', b'{"name":"x"}'),
        (b'{"nmae":null}', b"{}"),
        (b'{"owner":{"nmae":"x"}}', b'{"owner":{"name":"x"}}'),
    ],
)
def test_safe_repairs(before: bytes, after: bytes, of_schema: OfSchema) -> None:
    """A number, a null and a key are repaired exactly; two in a row, one by one."""
    assert of_schema(before) == after


@pytest.mark.parametrize(
    "text",
    [
        b'{"number":"1e999"}',
        b'{"number":"01"}',
        b'{"number":" 1"}',
        b'{"number":"NaN"}',
        b'{"number":true}',
        b'{"sample_id":"7"}',
        b'{"either":true}',
        b'{"unknown":1}',
        b'{"nmae":"x","naem":"y"}',
        b'{"nmae":"x","name":"y"}',
        b'{"kind":"singel"}',
        b'{"owner":{"name":null}}',
        b'{"name":null,"name":null}',
        b'{"name":null,}',
        b'{"name":null} x',
    ],
)
def test_what_is_not_safe_stays(text: bytes, of_schema: OfSchema) -> None:
    """What may mean several things, would lose a value, or is broken, is left alone."""
    assert of_schema(text) == text


def test_a_misspelt_value_is_written_only_by_unsafe_repairs(
    of_schema: OfSchema,
) -> None:
    """The one allowed value near the text takes its place."""
    text = b'{"kind":"singel"}'

    assert of_schema(text, unsafe=True) == b'{"kind":"single"}'


@pytest.mark.parametrize("rest", [b'{"name":"x"}\n', b"[\n]", b'{"name":null}\n'])
def test_a_byte_order_mark_is_dropped(rest: bytes, of_schema: OfSchema) -> None:
    """The mark goes, whatever follows it."""
    expected = rest.replace(b'"name":null', b"")

    assert of_schema(b"\xef\xbb\xbf" + rest) == expected


def test_a_table_loses_its_mark_only(repair: Repairer, tmp_path: Path) -> None:
    """Nothing else of a table is changed."""
    path = tmp_path / "rows.csv"
    path.write_bytes(b'\xef\xbb\xbfa,b\r\n"1",\r\n')
    text, changes = repair(path)

    assert text == b'a,b\r\n"1",\r\n'
    assert [(change.code, change.record) for change in changes] == [("J201", None)]


def test_every_change_has_its_place_in_the_file_before(
    repair: Repairer, tmp_path: Path
) -> None:
    """Line, column, record, pointer and rule are those of the finding."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes('{"name":"é"}\n\n{"owner":{"é":1,"nmae":null}}\n'.encode())
    _, changes = repair(path, schema=SCHEMA)

    assert changes == [
        Change(
            *(str(path), 3, 17, 2, "/owner/nmae", "S103", "misspelt-key"),
            'renamed "nmae" to "name"',
        )
    ]


@pytest.mark.parametrize("selected", [("S103",), ("misspelt-key",)])
def test_only_findings_of_selected_rules_are_repaired(
    selected: tuple[str, ...], repair: Repairer, tmp_path: Path
) -> None:
    """--select and --ignore choose the rules."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"number":"1","owner":{"nmae":"x"}}')
    text, _ = repair(path, schema=SCHEMA, select=selected)

    assert text == b'{"number":"1","owner":{"name":"x"}}'


def test_a_column_and_the_document_around_it_are_repaired(
    repair: Repairer, tmp_path: Path
) -> None:
    """Of a document its rows and its other members are repaired."""
    fixture = Path(__file__).parents[2] / "fixtures" / "harpia" / "valid"
    path = tmp_path / "rows.json"
    source = min(fixture.glob("*.json"))
    document: dict[str, Any] = json.loads(source.read_bytes())
    text = json.dumps(document, indent=2)
    path.write_text(text)

    assert repair(path)[0] == text.encode()
    assert not list(tmp_path.glob(f"*{PARTIAL}"))
