r"""Find patterns that are invalid, or that Python, Rust and ECMA read differently.

JSON Schema demands the regular expressions of ECMA-262. Validators in Python search
with `re`, those in Rust with engines that are near to ECMA. In Python `\d`, `\w`, `\s`
and `\b` are about all of Unicode, and `$` also matches before a newline at the end.
"""

import re
from collections.abc import Iterator
from typing import Any

import jsonschema_rs

from harpia_formats.formats.schema.check.checked_schema import SchemaContext
from harpia_formats.model.describe import short_json
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path

INVALID, DIALECT, CLASSES, END = "S420", "S421", "S422", "S423"
#: Characters of a pattern that is looked at.
_LONGEST = 10_000
#: An escape, a class of characters, the opening of a group, or an anchor. The end of a
#: text that no newline is before is the same everywhere.
_token = re.compile(
    r"\(\?!\\n\)\$|\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|k<[^>]*>|c[A-Za-z]|.)"
    r"|\[\^?\]?(?:\\.|\[:[a-z]+:\]|[^\]\\])*\]"
    r"|\(\?(?:P[<=>]|<[=!]|[=!:>#]|<|\(|R|[a-zA-Z^-]+[:)])"
    r"|[*+?}]\+|\$"
)
#: What ECMA writes unlike Python.
_ecma_only = re.compile(
    r"\\k<(?P<name>\w+)>|\\[pP]\{[^}]*\}|\\u\{[^}]*\}|\\c[A-Za-z]"
    r"|\\.|\(\?<[=!]?|\[(?P<negated>\^?)(?P<members>(?:\\.|[^\]\\])*)\]",
    re.DOTALL,
)
#: What is read differently, each with who reads it how.
_differing = {
    r"\A": r"\A is the start in Python and Rust, and the letter A in ECMA: write ^",
    r"\Z": r"\Z is the end in Python only: write $",
    r"\z": r"\z is the end in Rust only: write $",
    r"\G": r"\G is not in ECMA",
    r"\Q": r"\Q...\E quotes text in neither Python nor ECMA",
    r"\h": r"\h is not in ECMA: write [ \t]",
    r"\R": r"\R is not in ECMA: write \r?\n",
    r"\a": r"\a is the bell in Python and Rust, and the letter a in ECMA",
    r"\e": r"\e is not in ECMA",
    "(?P<": "(?P<name> is not in ECMA: write ( or (?:",
    "(?P=": "(?P=name) is not in ECMA",
    "(?P>": "(?P>name) is not in ECMA",
    "(?<": "(?<name> is not in Python: write ( or (?:",
    "(?>": "(?> is not in ECMA",
    "(?#": "(?#comment) is not in ECMA",
    "(?(": "(?( is not in ECMA",
    "(?R": "(?R) is not in ECMA",
}
#: Forms of tokens that are read differently.
_forms = (
    (re.compile(r"\[\^?\]"), "is empty in ECMA, and not closed in Python"),
    (re.compile(r"\[.*\[:.*", re.DOTALL), "has a class of POSIX, unlike in ECMA"),
    (re.compile(r"\\(?:[pP]\{.*|c[A-Za-z]|k<.*)"), "is not in Python"),
    (re.compile(r"\\u\{.*"), "is not in Python, which wants four digits"),
    (re.compile(r"[*+?}]\+"), "is not in ECMA"),
    (re.compile(r"\(\?[a-zA-Z^-]+[:)]"), "is not in ECMA"),
)
#: Classes that are of Unicode in Python, with what ECMA reads.
_classes = {"d": "[0-9]", "w": "[A-Za-z0-9_]"}


def pattern_remarks(context: SchemaContext) -> Iterator[Remark]:
    """Yield what is wrong with the patterns of a schema."""
    for path, node in context.nodes:
        own = context.own(node)
        pattern = own.get("pattern")
        if isinstance(pattern, str):
            yield from _remarks_on(pattern, (*path, "pattern"), at_key=False)
        named = own.get("patternProperties")
        for key in named if isinstance(named, dict) else ():
            yield from _remarks_on(key, (*path, "patternProperties", key), at_key=True)


def _remarks_on(pattern: str, path: Path, *, at_key: bool) -> Iterator[Remark]:
    shown = short_json(pattern)
    if len(pattern) > _LONGEST:
        return
    in_python, in_rust = _fault_in_python(pattern), not _is_in_rust(pattern)
    tokens = _token.findall(pattern)
    reasons = list(dict.fromkeys(filter(None, map(_difference, tokens))))
    if in_python and in_rust and _is_in_ecma(pattern):
        reasons = reasons or ["ECMA has it, and neither Python nor Rust does"]
    elif in_python and in_rust:
        message = f"the pattern {shown} is not a regular expression: {in_python}"
        yield Remark(INVALID, path, message, at_key=at_key)
        return
    if not reasons and (in_python or in_rust):
        where = f"in Python ({in_python})" if in_python else "in Rust"
        reasons = [f"it is no regular expression {where}"]
    if reasons:
        message = (
            f"the pattern {shown} is not the same everywhere: {'; '.join(reasons)}"
        )
        help_ = "write it in the part of ECMA-262 that all engines share"
        yield Remark(DIALECT, path, message, help_, at_key=at_key)
    letters = dict.fromkeys(_class_letters(tokens))
    if letters:
        named = ", ".join(f"\\{letter}" for letter in letters)
        message = (
            f"the pattern {shown} matches more in Python: {named} there is about "
            "all of Unicode, and in ECMA about ASCII only"
        )
        instead = [
            f"{_classes[letter]} for \\{letter}"
            for letter in letters
            if letter in _classes
        ]
        help_ = f"write {', '.join(instead)}" if instead else ""
        yield Remark(CLASSES, path, message, help_, at_key=at_key)
    if "$" in tokens:
        message = (
            f"the pattern {shown} matches more in Python: $ there is also before a "
            "newline at the end"
        )
        help_ = "write (?!\\n)$ if a newline must be refused"
        yield Remark(END, path, message, help_, at_key=at_key)


def _difference(found: str) -> str:
    """Return who reads a token of a pattern how, "" if all read it alike."""
    for form, who in _forms:
        if form.fullmatch(found):
            return f"{found} {who}"
    return _differing.get(found, "")


def _class_letters(tokens: list[str]) -> Iterator[str]:
    """Yield the letters of the classes that are of Unicode in Python."""
    for token in tokens:
        for letter in re.findall(r"\\(.)", token, re.DOTALL):
            if letter in "dDwW" or (letter in "bB" and not token.startswith("[")):
                yield letter


def _fault_in_python(pattern: str) -> str:
    """Return why `re` does not compile a pattern, "" if it does."""
    import warnings  # noqa: PLC0415 - only for schemas that are checked

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return str(error)
    return ""


def _is_in_ecma(pattern: str) -> bool:
    """Return whether Python compiles a pattern after what ECMA writes otherwise.

    It may take a pattern for one of ECMA that is none.
    """
    return not _fault_in_python(_ecma_only.sub(_in_python, pattern))


def _in_python(found: re.Match[str]) -> str:
    """Return how Python writes what ECMA writes otherwise; lengths may differ."""
    name, members = found["name"], found["members"]
    if name is not None:
        return f"(?P={name})"
    if members is None:
        other = {"(?<": "(?P<", "(?<=": "(?=", "(?<!": "(?!"}
        one = found[0]
        return other.get(one, "x" if len(one) > len(r"\d") else one)
    if not members:
        return r"[\s\S]" if found["negated"] else "(?!)"
    # Next to a class of characters a hyphen is itself in ECMA.
    members = re.sub(r"(?<=\\[dDwWsS])-|-(?=\\[dDwWsS])", r"\-", members)
    return f"[{found['negated']}{members}]"


def _is_in_rust(pattern: str) -> bool:
    """Return whether the schema engine, written in Rust, takes a pattern."""
    schema: dict[str, Any] = {"pattern": pattern}
    try:
        jsonschema_rs.Draft7Validator(schema, offline=True)
    except (jsonschema_rs.ValidationError, ValueError):
        return False
    return True
