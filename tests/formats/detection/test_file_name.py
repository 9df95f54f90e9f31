import pytest

from cases import for_each_case
from harpia_formats import validate
from harpia_formats.files.framing.container import Layout
from harpia_formats.formats.detection.sample import Sample, misleading_suffix

ROWS = ({"a": 1}, {"a": 2})


@for_each_case(
    "name, layout",
    [
        ("rows.jsonl", Layout.LINES),
        ("rows.ndjson", Layout.ONE_LINE),
        ("rows.json", Layout.ARRAY),
        ("rows.json", Layout.OBJECT),
        ("rows.json", Layout.ONE_LINE),
        ("rows.JSONL.GZ", Layout.LINES),
        ("rows.csv", Layout.TEXT),
        ("rows.txt", Layout.ARRAY),
        ("<stdin>", Layout.ARRAY),
        ("rows.json", Layout.EMPTY),
    ],
)
def test_matching_names_are_no_problem(name: str, layout: Layout) -> None:
    """A name that fits the content, or has no known suffix, is no problem."""
    assert misleading_suffix(name, Sample(layout, ROWS)) is None


@for_each_case(
    "name, layout, held, better",
    [
        ("rows.json", Layout.LINES, "JSON Lines", ".jsonl"),
        ("rows.jsonl", Layout.ARRAY, "a JSON array", ".json"),
        ("rows.jsonl.gz", Layout.OBJECT, "a JSON object", ".json"),
        ("rows.json", Layout.TEXT, "a table", ".csv"),
        ("rows.csv", Layout.LINES, "JSON Lines", ".jsonl"),
    ],
)
def test_misleading_suffix_is_reported(
    name: str, layout: Layout, held: str, better: str
) -> None:
    """A misleading suffix is reported with the right one."""
    found = misleading_suffix(name, Sample(layout, ROWS))

    assert found is not None
    assert found[0].endswith(f"holds {held}")
    assert found[1] == f"call it {better}"


def test_a_broken_document_is_not_taken_for_lines() -> None:
    """A file of lines needs two rows that are JSON to be reported."""
    assert misleading_suffix("rows.json", Sample(Layout.LINES, ROWS[:1])) is None


@pytest.mark.parametrize(
    ("name", "text", "codes"),
    [
        ("a.json", b'{"a": 1}\n{"a": 2}\n', ["J203"]),
        ("a.jsonl", b'[{"a": 1}, {"a": 2}]\n', ["J203"]),
        ("a.jsonl", b'{\n"a": 1\n}\n', ["J203"]),
        ("a.jsonl", b'{\n"a": 1\n}\n{\n"a": 2\n}\n', ["J113"]),
        ("a.json", b'{"a": 1}\n', []),
    ],
)
def test_files_are_read_by_content(
    tmp_path_factory: pytest.TempPathFactory, name: str, text: bytes, codes: list[str]
) -> None:
    """A misleading suffix is a note, and the records are validated."""
    path = tmp_path_factory.mktemp("files") / name
    path.write_bytes(text)
    report = validate(path, schema=True)

    assert [each.code for each in report.problems] == codes
    assert report.files[0].records == text.count(b'"a"')
