import time
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.toml import (
    LARGEST,
    MAX_DEPTH,
    MAX_KEYS,
    TomlLines,
    statements,
    toml_document,
)
from harpia_formats.model.problem import TomlError

#: Statements of each kind, with what ends a statement inside of texts and arrays.
PIECES = (
    "a = 1\n",
    "\n",
    '# it\'s [a] "comment" = {\n',
    '"b=[" = "]#\\"="\n',
    "c.'d' = '''it's\n]'' = [\n'''''\n",
    'e = """\n"" \\""" = \n"""" # x\n',
    "f = [ # [\n  [1.5, 2], {x.y = '['},\n]\n",
    "[t.u]\n",
    "[[v]]\r\n",
    "g = {}\r\n",
)


@given(
    st.permutations(PIECES).flatmap(
        lambda all_: st.integers(0, 10).map(lambda size: all_[:size])
    )
)
def test_each_statement_is_toml_by_itself(pieces: list[str]) -> None:
    """A document is cut where its statements end, whatever is in its texts."""
    text = "".join(pieces)
    tomllib.loads(text)
    found = list(statements(text))

    assert [statement for _, statement in found] == pieces
    assert [line for line, _ in found] == [
        "".join(pieces[:at]).count("\n") + 1 for at in range(len(pieces))
    ]


@given(st.text("ab.=[]{}\"'#\n\\, ", max_size=40))
def test_any_text_is_cut_or_left(text: str) -> None:
    """Text that is no TOML is cut as far as it is some, and no byte is invented."""
    assert text.startswith("".join(statement for _, statement in statements(text)))


def keys(count: int) -> str:
    """Return a document with so many keys, one of which is a table."""
    return "\n".join(["[t]", *(f"k{number} = 1" for number in range(1, count))])


@for_each_case(
    "text, beyond, reason",
    [
        (keys(MAX_KEYS), keys(MAX_KEYS + 1), "line 10001: has more than 10,000 keys"),
        (
            "a = {" + ", ".join(f"k{one} = 1" for one in range(MAX_KEYS - 1)) + "}",
            "a = {" + ", ".join(f"k{one} = 1" for one in range(MAX_KEYS)) + "}",
            "line 1: has more than 10,000 keys",
        ),
        (
            ".".join("a" * MAX_DEPTH) + " = 1",
            "\n" + ".".join("a" * (MAX_DEPTH + 1)) + " = 1",
            "line 2: has keys that are nested more than 20 deep",
        ),
        (
            f"[{'.'.join('a' * (MAX_DEPTH - 3))}]\nb.c = 1",
            f"[{'.'.join('a' * (MAX_DEPTH - 3))}]\nb.c.d = 1",
            "line 2: has keys that are nested more than 20 deep",
        ),
        (
            "a = " + "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1),
            "a = " + "[" * MAX_DEPTH + "]" * MAX_DEPTH,
            "line 1: has keys that are nested more than 20 deep",
        ),
        (
            "#" * LARGEST,
            "#" * (LARGEST + 1),
            "has 1,048,577 bytes, more than the 1,048,576 that are read",
        ),
    ],
)
def test_limits(text: str, beyond: str, reason: str) -> None:
    """A document at a limit is read, and one beyond it is refused with the reason."""
    assert toml_document(text.encode(), "x.toml") == tomllib.loads(text)
    TomlLines(text)
    with pytest.raises(TomlError) as refused:
        toml_document(beyond.encode(), "x.toml")
    assert str(refused.value) == f"x.toml: {reason}"


@pytest.mark.parametrize(
    "text",
    [
        ".".join(["a"] * 200_000) + " = 1",
        "a = [\n" + "[],\n" * 80_000 + "]",
        "\n".join(".".join("a" * 19) + f".k{one} = 1" for one in range(MAX_KEYS)),
        "a = " + "[" * 500_000,
        'a = """' + '"" ' * 300_000,
    ],
)
def test_nothing_hangs(text: str) -> None:
    """Documents that would take minutes to parse are read or refused at once."""
    start = time.process_time()
    try:
        toml_document(text.encode(), "x.toml")
        TomlLines(text)
    except TomlError:
        pass

    assert time.process_time() - start < 20
