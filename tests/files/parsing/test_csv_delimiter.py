"""The delimiter of a table: how it is given, and the report where it is another."""

import pytest

from cases import for_each_case
from harpia_formats import OptionError, read, validate


@for_each_case(
    "given_as, delimiter",
    [
        *((";", ";"), ("tab", "\t"), ("TAB", "\t"), ("\\t", "\t"), ("\t", "\t")),
        *(("|", "|"), ("comma", ","), ("semicolon", ";"), ("bar", "|"), ("^", "^")),
    ],
)
def test_delimiter_is_a_character_or_a_name(given_as: str, delimiter: str) -> None:
    """A delimiter is given as itself or by its name."""
    data = f"prompt{delimiter}response\n1{delimiter}2\n".encode()

    assert [each.prompt for each in read(data, format="csv", delimiter=given_as)] == [
        "1"
    ]


@for_each_case("text", ["", ";;", "tabs", '"', "\n", "\r", "\0", "é", "、"])
def test_other_text_is_no_delimiter(text: str) -> None:
    """Several characters, quotes, line ends and others than ASCII are refused."""
    with pytest.raises(OptionError, match="is no delimiter"):
        validate(b"prompt,response\n1,2\n", delimiter=text)


WRITE = (
    "write a semicolon in its place, as fix(unsafe=True) does if it cuts all lines "
    "alike"
)


@for_each_case(
    "delimiter, name, how",
    [
        (",", "comma", 'read the table with delimiter=","'),
        ("\t", "tab", 'read the table with delimiter="tab"'),
        ("|", "vertical bar", 'read the table with delimiter="|"'),
        ("，", "full-width comma", WRITE),
        ("；", "full-width semicolon", WRITE),
        ("、", "ideographic comma", WRITE),
        ("｜", "full-width vertical bar", WRITE),
    ],
)
def test_delimiter_has_a_name_and_a_remedy(delimiter: str, name: str, how: str) -> None:
    """A delimiter other than the expected one is named, with what to do about it."""
    data = f"prompt{delimiter}response\n1{delimiter}2\n".encode()
    (problem,) = validate(data, format="csv", delimiter=";").problems

    assert (problem.code, problem.help) == ("J307", how)
    assert problem.message.startswith(f"a {name} separates the fields of header")
    assert problem.message.endswith("and not a semicolon")


def test_unusual_delimiter_is_quoted() -> None:
    """A delimiter without a name is named by itself."""
    (problem,) = validate(
        b"prompt;response\n1;2\n", format="csv", delimiter="^"
    ).problems

    assert problem.message.endswith("and not a '^'")


def test_fault_names_the_delimiter() -> None:
    """Text behind a closing quote is reported with the name of the delimiter."""
    data = b'prompt;response\n"a"b;c\n'
    (problem,) = validate(data, format="csv", delimiter=";").problems

    assert problem.code == "J301"
    assert "something else than a semicolon" in problem.message
