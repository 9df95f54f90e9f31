"""Mark the cells of a table that a spreadsheet would run as formulas, and unmark them.

Source: OWASP, "CSV Injection": a cell must not begin with =, +, -, @, a tab or a
carriage return, or their full-width forms. A spreadsheet that takes a semicolon or a
tab for the delimiter, or ends a cell at a line end, sees further beginnings of cells
within a text. At each beginning an apostrophe is written, which spreadsheets take as
the sign of text. Where apostrophes stand there already, one more is written, so that
taking one away gives back the text exactly. Numbers run nothing and stay as they are.
"""

import re

MARK = "'"
#: What makes a formula at the beginning of a cell, behind spaces and quotes.
_STARTS = "=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212"
_begin = r"(?:\A|(?<=[;\t\r\n]))"
_formula = rf"(?='*[ \"\u00a0\u3000]*[{_STARTS}])"
_unmarked = re.compile(f"{_begin}{_formula}")
_marked = re.compile(f"{_begin}{MARK}{_formula}")
_number = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)


def marked(text: str) -> str:
    """Return the text of a cell with a mark where a spreadsheet would run it."""
    if _number.fullmatch(text):
        return text
    return _unmarked.sub(MARK, text)


def unmarked(text: str) -> str:
    """Return the text whose `marked` form is `text`."""
    return _marked.sub("", text)


def would_run(text: str) -> bool:
    """Return whether a spreadsheet would run the text of a cell."""
    is_formula = _unmarked.match(text) is not None and not text.startswith(MARK)
    return is_formula and not _number.fullmatch(text)
