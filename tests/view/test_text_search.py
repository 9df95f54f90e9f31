"""Rows are found by texts, however they are spelt, by expressions, and by fields."""

import json
import time
import warnings
from collections.abc import Iterator

import pytest

from harpia_formats import HarpiaFormatsError
from ready_session import Session, viewed

ROWS = [
    {"id": 1, "prompt": "Café au lait", "metadata": {"level": "hard", "n": 3}},
    {"id": 2, "prompt": 'a "quoted" word', "metadata": {"level": "easy", "n": 3.0}},
    {"id": 3, "prompt": "line\nbreak 😀", "tags": [{"name": "x"}, {"name": "y"}]},
    {"id": 4, "prompt": "CAFÉ", "metadata": {"level": None}},
]
#: Texts with punctuation that a writer may escape.
ESCAPED = ("1 < 2", "<", "a_b", "it's", "&", "x=y")
TABLE = b'id,prompt,level\n1,"a ""quoted"" word",hard\n2,b,easy\n'
#: What is in no record: the end of a row and the beginning of the next.
TWO = b'{"prompt": "a"}\n{"prompt": "b"}\n'
LATIN = b"id,prompt,output\n1,caf\xe9,b\n2,tea,b\n"


def escapes_of(text: str) -> bytes:
    """Return rows with a text as it is, with escapes, and with `&` as an escape."""
    escaped = "".join(
        c if c.isalnum() or c == " " else f"\\u{ord(c):04X}" for c in text
    )
    spelt = (text, escaped, escaped.replace("\\u003C", "\\u003c"), "none \\u0026")
    return "".join(f'{{"input": "{one}"}}\n' for one in spelt).encode()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Yield a session over the rows with escapes and without, and over the others."""
    folder = tmp_path_factory.mktemp("searched")
    spelt = (
        "".join(f"{json.dumps(row, ensure_ascii=ascii_)}\n" for row in ROWS).encode()
        for ascii_ in (True, False)
    )
    files = {f"{at}.jsonl": data for at, data in enumerate(spelt)}
    files |= {"table.csv": TABLE, "two.jsonl": TWO, "latin.csv": LATIN}
    files |= {f"e{at}.jsonl": escapes_of(text) for at, text in enumerate(ESCAPED)}
    for name, data in files.items():
        (folder / name).write_bytes(data)
    with viewed(*(folder / name for name in files)) as session:
        yield session


def found(session: Session, file: int, **query: str) -> list[int]:
    """Return the numbers of the rows that a search in a file finds."""
    asked = {"file": str(file), "count": "100", **query}
    end = time.monotonic() + 60
    while not (rows := session.rows(asked))["complete"]:
        assert time.monotonic() < end
        time.sleep(0.01)
    return [row["record"] for row in rows["rows"]]


@pytest.mark.parametrize("file", [0, 1])
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"text": "café"}, [1, 4]),
        ({"text": "Café", "case": "1"}, [1]),
        ({"text": '"quoted"'}, [2]),
        ({"text": "line\nbreak"}, [3]),
        ({"text": "😀"}, [3]),
        ({"text": "au (la)?it", "regex": "1"}, [1]),
        ({"text": r"^\{\"id\": 3", "regex": "1"}, [3]),
        ({"text": "nothing"}, []),
        ({"field": "metadata.level", "is": "hard"}, [1]),
        ({"field": "metadata.level"}, [1, 2, 4]),
        ({"field": "metadata.level", "is": "null"}, [4]),
        ({"field": "metadata.n", "is": "3"}, [1]),
        ({"field": "tags.name", "is": "y"}, [3]),
        ({"text": "café", "field": "id", "is": "4"}, [4]),
    ],
)
def test_search(
    session: Session, file: int, query: dict[str, str], expected: list[int]
) -> None:
    """A text is found with escapes and without, in either case unless case counts."""
    assert found(session, file, **query) == expected


def test_search_in_a_table(session: Session) -> None:
    """A quote in a cell is doubled, and a column is a field."""
    assert found(session, 2, text='"quoted"') == [1]
    assert found(session, 2, field="level", **{"is": "easy"}) == [2]
    assert found(session, 2, field="no", **{"is": "easy"}) == []


def test_a_literal_over_two_rows_is_in_none(session: Session) -> None:
    """What the end of a row and the beginning of the next make is not found."""
    assert found(session, 3, text="}\n{", case="1") == []


@pytest.mark.parametrize("text", ["(", "[a", "a{2,1}", "(?P<x"])
def test_no_regular_expression(session: Session, text: str) -> None:
    """A wrong expression is an error that says why."""
    with pytest.raises(HarpiaFormatsError, match="no regular expression"):
        found(session, 0, text=text, regex="1")


def test_a_nested_set_warns_of_nothing(session: Session) -> None:
    """What a later Python may read otherwise is looked for without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found(session, 0, text="[[a]never", regex="1") == []


@pytest.mark.parametrize("text", ESCAPED)
@pytest.mark.parametrize("heeds_case", ["", "1"])
def test_escapes_of_ascii(session: Session, text: str, heeds_case: str) -> None:
    """Punctuation is found where a writer escapes it, in digits of either case."""
    expected = [1, 2, 3, 4] if text == "&" else [1, 2, 3]
    file = 5 + ESCAPED.index(text)
    assert found(session, file, text=text, case=heeds_case) == expected


def test_cells_that_are_not_utf_8(session: Session) -> None:
    """A search for a value goes on behind a row that is not UTF-8."""
    assert found(session, 4, field="output", **{"is": "b"}) == [2]
