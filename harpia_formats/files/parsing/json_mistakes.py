"""Common mistakes in JSON text: how they look, and how to correct them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from harpia_formats.files.parsing.full_width import PUNCTUATION, QUOTE
from harpia_formats.files.parsing.json_fault import (
    Fault,
    FaultKind,
    end_of_character,
    printable_character,
)


@dataclass(frozen=True, slots=True)
class Mistake:
    """A pattern by which a mistake is recognized, and the message about it."""

    pattern: re.Pattern[bytes]
    message: str
    help: str
    kind: FaultKind = FaultKind.SYNTAX


def mistake(
    pattern: bytes, message: str, help_: str, kind: FaultKind = FaultKind.SYNTAX
) -> Mistake:
    """Return the mistake that is recognized by `pattern` at the place of a fault."""
    return Mistake(re.compile(pattern, re.DOTALL), message, help_, kind)


_QUOTES = (
    mistake(
        rb"'",
        "single quotes do not quote in JSON",
        "use double quotes; Python data is written with json.dumps, not str",
    ),
    mistake(
        rb"\xe2\x80[\x98-\x9f]|\xc2[\xab\xbb]",
        "typographic quotation marks do not quote in JSON",
        'use "',
    ),
    mistake(
        re.escape(QUOTE.encode()),
        "full-width quotation marks do not quote in JSON",
        'use "',
    ),
)
_NOT_SPACE = mistake(
    rb"[\x0b\x0c]|\xc2[\x85\xa0]|\xe2\x80[\x80-\x8b\xa8\xa9\xaf]|\xe3\x80\x80",
    "this character is not white space in JSON",
    "use a plain space",
)
#: Text that follows is one of a string with a quotation mark in it.
_BEFORE_TOKEN = (
    rb"(?=\s*(?:[^\w\s\x80-\xff]|[-\dtfn]|%b))"
    % "|".join(["\u3000", "“", QUOTE, *PUNCTUATION]).encode()
)
_FULL_WIDTH = tuple(
    mistake(
        character.encode() + (_BEFORE_TOKEN if each.plain == "," else b""),
        f"{each.name} is not punctuation in JSON",
        f"write {each.plain}",
    )
    for character, each in PUNCTUATION.items()
)
#: Mistakes that are made at any place.
_ANYWHERE = (
    mistake(
        rb"\xef\xbb\xbf",
        "a byte order mark (U+FEFF) stands in the text",
        "remove it; only the very start of a file may have one",
    ),
    mistake(
        rb"\x00+",
        "a NUL byte stands in the text",
        "remove it, or save the file as UTF-8 if it is UTF-16 or UTF-32",
    ),
    mistake(
        rb"//[^\n]*|/\*.*?\*/|/\*|#[^\n]*",
        "JSON has no comments",
        "remove the comment",
    ),
    _NOT_SPACE,
    *_FULL_WIDTH,
    *_QUOTES,
)
CONSTANT = mistake(
    rb"[-+]?(?i:nan|inf(?:inity)?)(?!\w)",
    "JSON has no NaN and no infinity",
    "write null, or leave the member out",
    FaultKind.CONSTANT,
)
#: Mistakes where a value is expected.
BEFORE_VALUE = (
    CONSTANT,
    mistake(rb"(?i:true)(?!\w)", "JSON spells this word true", "write true"),
    mistake(rb"(?i:false)(?!\w)", "JSON spells this word false", "write false"),
    mistake(
        rb"(?i:null|none|nil|undefined)(?!\w)",
        "JSON spells an absent value null",
        "write null",
    ),
    mistake(
        rb"\+[0-9.][-+.\w]*",
        "a number does not begin with a plus sign",
        "remove the plus sign",
    ),
    mistake(
        rb"\.[0-9][-+.\w]*",
        "a number needs a digit before its decimal point",
        "write 0 before the point",
    ),
    mistake(
        rb"[A-Za-z_$][-.\w$]*",
        "a bare word is not a value",
        "put text in double quotes",
    ),
    *_ANYWHERE,
)
#: Mistakes where the name of a member is expected.
BEFORE_NAME = (
    mistake(
        rb"[A-Za-z_$][-.\w$]*",
        "a member name stands without quotation marks",
        "put the name in double quotes",
    ),
    mistake(
        rb"[-+.]?[0-9][-+.\w]*",
        "a member name is a number",
        "put the name in double quotes",
    ),
    mistake(rb",", "a member is missing before this comma", "remove the comma"),
    mistake(rb":", "a member name is missing before this colon", "write the name"),
    mistake(
        rb"[\[{]",
        "a member name is an array or an object",
        "write a string and a colon before the value",
    ),
    *_ANYWHERE,
)
#: Mistakes where a colon is expected.
BEFORE_COLON = (
    _NOT_SPACE,
    *_FULL_WIDTH,
    mistake(rb"", "a colon is missing between name and value", "write a colon"),
)
#: A letter directly behind a string: there is a quotation mark inside the string.
_INNER_QUOTE = mistake(
    rb'(?<=")[^\s,:"\[\]{}/#]',
    "text follows the closing quotation mark of a string",
    'write \\" for a quotation mark inside a string',
)
#: Mistakes where a comma or a closing bracket is expected.
BEFORE_COMMA = (
    *_ANYWHERE,
    _INNER_QUOTE,
    mistake(
        rb'["\[{]|[-\w]',
        "a comma is missing here",
        "write a comma",
    ),
)
#: Mistakes behind the outermost value.
AFTER_VALUE = (
    *_ANYWHERE,
    _INNER_QUOTE,
    mistake(rb"[\]}]", "this bracket closes nothing", "remove it"),
    mistake(
        rb'["\[{]|[-\w]',
        "more data after the value: a second value begins",
        "put each record on a line of its own, or a comma between them in an array",
    ),
    mistake(
        rb".",
        "more data after the value",
        "put each record on a line of its own, with nothing between them",
    ),
)


def explain(text: bytes, at: int, mistakes: Iterable[Mistake], wanted: str) -> Fault:
    """Return the fault at `at`: the first of `mistakes` found there.

    If it is none of them, the message says that `wanted` was expected.
    """
    for candidate in mistakes:
        if found := candidate.pattern.match(text, at):
            # Patterns match bytes, of which a character has several.
            end = max(found.end(), end_of_character(text, at))
            return Fault(candidate.kind, at, end, candidate.message, candidate.help)
    message = f"found {printable_character(text, at)} instead of {wanted}"
    return Fault(FaultKind.SYNTAX, at, end_of_character(text, at), message)
