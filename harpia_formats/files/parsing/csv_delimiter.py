"""The character that separates the fields of a table."""

from harpia_formats.model.problem import OptionError

COMMA, TAB = ",", "\t"
#: Characters that are usual as delimiters, and their names.
DELIMITERS = {COMMA: "comma", ";": "semicolon", TAB: "tab", "|": "vertical bar"}
#: Characters of full width that are written in place of a delimiter. No table is read
#: with one of them.
WIDE_DELIMITERS = {
    "，": "full-width comma",
    "；": "full-width semicolon",
    "、": "ideographic comma",
    "｜": "full-width vertical bar",
}
#: Names that a delimiter can be given by, apart from the character itself.
_by_name = {"tab": TAB, "\\t": TAB, "comma": COMMA, "semicolon": ";", "bar": "|"}
_not_allowed = '"\r\n\0'


def delimiter_named(text: str) -> str:
    """Return the delimiter that the user gave as a character or a name, such as `tab`.

    Raises `OptionError` if it is neither a name nor one ASCII character, or if it has a
    meaning of its own in a table.
    """
    found = _by_name.get(text.casefold(), text)
    if len(found) != 1 or not found.isascii() or found in _not_allowed:
        raise OptionError(
            f"{text!r} is no delimiter: give one ASCII character such as ';', or tab"
        )
    return found


def named(delimiter: str) -> str:
    """Return the name of a delimiter, or the character itself in quotes."""
    wide = WIDE_DELIMITERS.get(delimiter, repr(delimiter))
    return DELIMITERS.get(delimiter, wide)


def shown_delimiter(delimiter: str) -> str:
    """Return a delimiter as it is written on a command line."""
    return "tab" if delimiter == TAB else f"'{delimiter}'"


def how_to_read(delimiter: str, expected: str) -> str:
    """Return how a table is read that has one delimiter in place of the expected one.

    It is the end of a sentence that begins with "to read it, …".
    """
    if delimiter not in WIDE_DELIMITERS:
        return f"read the table with `--delimiter {shown_delimiter(delimiter)}`"
    return (
        f"write a {named(expected)} in its place, as `validate --unsafe-fixes` does if "
        "it cuts all lines alike"
    )
