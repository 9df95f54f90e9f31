"""Full-width punctuation of rows and tables: what is repaired, and what is left."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import command_runs
from effort import examples
from harpia_formats import Change, fix

#: Repairs a file; returns its bytes then, and the changes.
Repairer = Callable[..., tuple[bytes, list[Change]]]
SCHEMA = {
    "properties": {"a": {"type": "string"}, "b": {"type": "array"}},
    "required": ["a"],
    "additionalProperties": False,
}
#: What may stand in place of punctuation.
WIDE = {",": ",，、", ":": ":：", "[": "[［【", "]": "]］】", "{": "{｛", "}": "}｝"}
TEXTS = st.text(alphabet='a，：“”＂[]{}\u3000"\\\n', max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner),
    max_leaves=8,
)


def widened(value: Any, data: st.DataObject) -> str:
    """Return a value as JSON with punctuation of any width outside of its strings."""

    def one(character: str) -> str:
        return data.draw(st.sampled_from(WIDE[character]))

    space = data.draw(st.sampled_from(["", " ", "\u3000"]))
    if isinstance(value, dict):
        members = [
            widened(key, data) + one(":") + space + widened(item, data)
            for key, item in value.items()
        ]
        return one("{") + "".join(_between(members, one)) + one("}")
    if isinstance(value, list):
        items = [widened(item, data) for item in value]
        return one("[") + "".join(_between(items, one)) + one("]")
    text = json.dumps(value, ensure_ascii=False)
    is_free = isinstance(value, str) and not set(value) & set('“”＂"\\\n')
    if is_free and data.draw(st.booleans()):
        mark, end = data.draw(st.sampled_from([("“", "”"), ("＂", "＂")]))
        return f"{mark}{value}{end}"
    return text


def _between(parts: list[str], one: Callable[[str], str]) -> list[str]:
    """Return parts with a comma of any width between them."""
    return [
        part + (one(",") if at + 1 < len(parts) else "")
        for at, part in enumerate(parts)
    ]


def mended(text: str) -> bytes:
    """Return rows after a good one as unsafe repairs leave them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.jsonl")
        path.write_text(f'{{"r":0}}\n{text}\n', encoding="utf-8")
        fix(path, unsafe=True, schema={"properties": {"r": {}}})
        return path.read_bytes().split(b"\n", 1)[1]


@examples(25)
@given(VALUES, st.data())
def test_text_inside_of_strings_never_changes(value: Any, data: st.DataObject) -> None:
    """Whatever punctuation of a value is wide, its value comes back as it was."""
    assert json.loads(mended(widened({"r": value}, data))) == {"r": value}


@examples(25)
@given(VALUES)
def test_json_stays_as_it_is(value: Any) -> None:
    """In JSON nothing is changed, whatever its strings hold."""
    text = json.dumps({"r": value}, ensure_ascii=False)

    assert mended(text) == f"{text}\n".encode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a"："x，y：“z”"，"b"：[]}', '{"a":"x，y：“z”","b":[]}'),
        ("｛“a”：“x”｝", '{"a":"x"}'),
        ('{＂a＂:"x"、\u3000"b":【1，［2］】}', '{"a":"x", "b":[1,[2]]}'),
        ('{“a”："x"，"b":["1"，"2"]}', '{"a":"x","b":["1","2"]}'),
    ],
)
def test_rows_are_repaired_by_unsafe_fixes_only(
    before: str, after: str, repair: Repairer, tmp_path: Path
) -> None:
    """Punctuation becomes that of JSON; the repair is one change of the row."""
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"a":"first"}}\n{before}\n', encoding="utf-8")

    assert repair(path, schema=SCHEMA)[1] == []
    text, changes = repair(path, unsafe=True, schema=SCHEMA)
    assert text.decode() == f'{{"a":"first"}}\n{after}\n'
    assert [(one.code, one.line, one.record) for one in changes] == [("J101", 2, 2)]


@pytest.mark.parametrize(
    "text",
    [
        '{"a"："x"，"c":1}',
        '{"a"：1}',
        '{"b"：[]}',
        '{"a"："x"，"a":"y"}',
        '{"a"："x"，}',
        '{"a"："x"y"}',
        "{“a”：“x“y””}",
        '{“a”：“x"y”}',
        '{"a"："x"',
        '{"a"："x"；"b":[]}',
        "{\"a\"：'x'}",
        '{"a": "x，"b": []}',
    ],
)
def test_row_in_which_anything_else_is_wrong_is_left(
    text: str, repair: Repairer, tmp_path: Path
) -> None:
    """What is invalid, ambiguous or broken after the repair stays as it was."""
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{text}\n", encoding="utf-8")

    assert repair(path, unsafe=True, schema=SCHEMA) == (f"{text}\n".encode(), [])


def test_other_repairs_follow(repair: Repairer, tmp_path: Path) -> None:
    """A null that may be left out is, in a row whose punctuation was repaired."""
    path = tmp_path / "rows.jsonl"
    path.write_text('{"a"："x"，"b"：null}\n', encoding="utf-8")
    text, changes = repair(path, unsafe=True, schema=SCHEMA)

    assert text == b'{"a":"x"}\n'
    assert [one.code for one in changes] == ["J101", "S102"]


def test_format_is_recognised_by_the_repaired_rows(
    repair: Repairer, tmp_path: Path
) -> None:
    """A file that has such rows only is in the format of what they become."""
    path = tmp_path / "rows.jsonl"
    path.write_text('{"prompt"："a"，"outputs"：[]}\n' * 3, encoding="utf-8")
    text, changes = repair(path, unsafe=True)

    assert text == b'{"prompt":"a","outputs":[]}\n' * 3
    assert len(changes) == 3


def test_rows_that_nothing_validates_are_left(repair: Repairer, tmp_path: Path) -> None:
    """In no known format it is not known whether the row is valid then."""
    path = tmp_path / "rows.jsonl"
    path.write_text('{"x"：1}\n', encoding="utf-8")

    assert repair(path, unsafe=True)[1] == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("prompt，references\n你好？，“x”\n", "prompt,references\n你好？,“x”\n"),
        (
            'prompt，references\r\n"a，b"，c\r\n\r\n',
            'prompt,references\r\n"a，b",c\r\n\r\n',
        ),
        ("prompt，references\n，a, b\n", 'prompt,references\n,"a, b"\n'),
        (
            "prompt，references\na, b，，\n".replace("，，", "，"),
            'prompt,references\n"a, b",\n',
        ),
        ('prompt；references\n"a\n；b"；c', 'prompt,references\n"a\n；b",c'),
    ],
)
def test_tables_are_repaired(
    before: str, after: str, repair: Repairer, tmp_path: Path
) -> None:
    """Delimiters become commas; fields keep their text, in quotes if need be."""
    path = tmp_path / "rows.csv"
    path.write_bytes(before.encode())

    assert repair(path)[1] == []
    text, changes = repair(path, unsafe=True)
    assert text.decode() == after
    assert [(one.code, one.record) for one in changes] == [("J307", None)]


@pytest.mark.parametrize(
    "text",
    [
        "prompt，references\na，b\nc\n",
        "prompt，references\na，b\nc，d，e\n",
        'prompt，references\na，"b\n',
        'prompt，references\na，b "c"\n',
        "prompt;references\na;b\n",
    ],
)
def test_table_with_an_uneven_line_is_left(
    text: str, repair: Repairer, tmp_path: Path
) -> None:
    """Where one line has more or fewer fields, commas may be those of texts."""
    path = tmp_path / "rows.csv"
    path.write_bytes(text.encode())

    assert repair(path, unsafe=True) == (text.encode(), [])


@pytest.mark.parametrize("comma", ["，", ";"])
def test_long_table_is_never_written_in_part(comma: str, tmp_path: Path) -> None:
    """Though validation ends at the header, all of a file or stream is written."""
    header = f"prompt{comma}references\n".encode()
    line = f"{'a' * 1000}{comma}b\n".encode()
    table, output = tmp_path / "table.csv", tmp_path / "out.csv"
    table.write_bytes(header + line * 2000)
    expected = table.read_bytes().replace("，".encode(), b",")
    arguments = ("--format", "csv", "--unsafe-fixes", "--overwrite", "-o", str(output))
    for name, data in ((str(table), b""), ("-", table.read_bytes())):
        output.unlink(missing_ok=True)
        done = command_runs.run("validate", name, *arguments, stdin=data)

        assert done.returncode == (1 if comma == ";" else 0)
        assert output.read_bytes() == expected


def test_repairs_are_the_same_in_several_processes(tmp_path: Path) -> None:
    """Rows are repaired in worker processes as in one."""
    path = tmp_path / "rows.jsonl"
    row = {"prompt": "a" * 2000, "outputs": []}
    good = json.dumps(row).encode() + b"\n"
    path.write_bytes((good + good.replace(b'": ', '"：'.encode())) * 2000)
    outputs = [tmp_path / f"{jobs}.jsonl" for jobs in (1, 2)]
    for jobs, output in enumerate(outputs, start=1):
        arguments = ("--unsafe-fixes", "-o", str(output), "--jobs", str(jobs))
        assert command_runs.run("validate", str(path), *arguments).returncode == 0

    first, second = (output.read_bytes() for output in outputs)
    assert first == second
    assert first.count(b'"prompt"') == first.count(b"\n") == 4000
    assert "：".encode() not in first
