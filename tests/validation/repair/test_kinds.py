"""Each kind of repair: what it changes, and what it leaves alone."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from harpia_formats import Change

FIXTURES = Path(__file__).parents[3] / "fixtures"
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
        "title": {"type": "string"},
        "kind": {"enum": ["single", "several"]},
        "one": {
            "properties": {key: {"type": "number"} for key in "xyz"},
            "minProperties": 1,
            "dependencies": {"x": ["z"]},
        },
        "owner": {"properties": {"title": {"type": "string"}}, "required": ["title"]},
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
        (b'{"count":"9007199254740992"}', b'{"count":9007199254740992}'),
        (b'{"one":{"x":null,"y":1}}', b'{"one":{"y":1}}'),
        (b'{"title":null,"number":1}', b'{"number":1}'),
        (b'{"titel":"x"}', b'{"title":"x"}'),
        (b'{"titel":null}', b"{}"),
        (b'{"owner":{"titel":"x"}}', b'{"owner":{"title":"x"}}'),
    ],
)
def test_safe_repairs(before: bytes, after: bytes, of_schema: OfSchema) -> None:
    """A number, a null and a key are repaired exactly; two in a row, one by one."""
    assert of_schema(before) == after


@pytest.mark.parametrize(
    "text",
    [
        b'{"number":"1e999"}',
        b'{"count":"9007199254740993"}',
        b'{"number":"-9007199254740993"}',
        b'{"one":{"x":null}}',
        b'{"one":{"x":null,"y":null}}',
        b'{"one":{"x":1,"y":1,"z":null}}',
        b'{"number":"01"}',
        b'{"number":" 1"}',
        b'{"number":"NaN"}',
        b'{"number":true}',
        b'{"sample_id":"7"}',
        b'{"either":true}',
        b'{"unknown":1}',
        b'{"titel":"x","tilte":"y"}',
        b'{"titel":"x","title":"y"}',
        b'{"titel":7}',
        b'{"owner":{"titel":7}}',
        b'{"kind":"singel"}',
        b'{"owner":{"title":null}}',
        b'{"title":null,"title":null}',
        b'{"title":null,}',
        b'{"title":null} x',
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


@pytest.mark.parametrize("rest", [b'{"title":"x"}\n', b"[\n]", b'{"title":null}\n'])
def test_a_byte_order_mark_is_dropped(rest: bytes, of_schema: OfSchema) -> None:
    """The mark goes, whatever follows it."""
    expected = rest.replace(b'"title":null', b"")

    assert of_schema(b"\xef\xbb\xbf" + rest) == expected


@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv", "semicolons.csv"])
def test_a_table_loses_its_mark_by_unsafe_repairs_only(
    name: str, repair: Repairer, tmp_path: Path
) -> None:
    """Spreadsheets know by it that a table is UTF-8; nothing else of it is changed."""
    delimiter = {"rows.csv": b",", "rows.tsv": b"\t", "semicolons.csv": b";"}[name]
    given = b'\xef\xbb\xbfa,b\r\n"1",\r\n'.replace(b",", delimiter)
    path = tmp_path / name
    path.write_bytes(given)

    assert repair(path) == (given, [])
    text, changes = repair(path, unsafe=True)
    assert text == given[3:]
    assert [(change.code, change.record) for change in changes] == [("J201", None)]


def test_every_change_has_its_place_in_the_file_before(
    repair: Repairer, tmp_path: Path
) -> None:
    """Line, column, record, pointer and rule are those of the finding."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes('{"title":"é"}\n\n{"owner":{"é":1,"titel":"x"}}\n'.encode())
    _, changes = repair(path, schema=SCHEMA)

    assert changes == [
        Change(
            *(str(path), 3, 17, 2, "/owner/titel", "S103", "misspelt-key"),
            'renamed "titel" to "title"',
        )
    ]


@pytest.mark.parametrize("selected", [("S103",), ("misspelt-key",)])
def test_only_findings_of_selected_rules_are_repaired(
    selected: tuple[str, ...], repair: Repairer, tmp_path: Path
) -> None:
    """--select and --ignore choose the rules."""
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"number":"1","owner":{"titel":"x"}}')
    text, _ = repair(path, schema=SCHEMA, select=selected)

    assert text == b'{"number":"1","owner":{"title":"x"}}'


#: Documents of each container: rows in a header, columns, and single documents.
DOCUMENTS = (
    "harpia/valid/instancias.json",
    "eee@0.2.0/valid/array.json",
    "eee-aggregate/valid",
    "haystack-run/valid",
    "haystack-evaluator/valid",
    "nemo-results/valid",
    "tencent-manual/valid",
)
_key = re.compile(rb'"([a-z_]{5,})"(?=\s*:)')


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_misspelt_key_is_renamed_wherever_it_is(
    name: str, repair: Repairer, tmp_path: Path
) -> None:
    """The bytes of the valid document are there again, or nothing has changed."""
    source = FIXTURES / name
    if source.is_dir():
        source = min(source.glob("*.json*"), key=lambda one: one.stat().st_size)
    text, restored = source.read_bytes(), 0
    keys = {found[0]: found for found in _key.finditer(text)}
    path = tmp_path / source.name
    for key, found in keys.items():
        wrong = key[:-3] + key[-2:-1] + key[-3:-2] + b'"'
        broken = text[: found.start()] + wrong + text[found.end() :]
        path.write_bytes(broken)
        repaired, changes = repair(path, format=name.split("/", maxsplit=1)[0])

        if changes and not changes[0].what.endswith('to "instances"'):
            assert repaired == text
            restored += 1
        assert changes or repaired == broken
    assert restored
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
