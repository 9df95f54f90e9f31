"""`harpia-formats rule`."""

import json
import sys
import textwrap
from collections.abc import Iterator

from harpia_formats.cli.command_options import Given
from harpia_formats.cli.streams_and_exit_codes import (
    ExitCode,
    UsageError,
    text_writer,
    width_of,
)
from harpia_formats.formats.registry import installed_rules, rules_for
from harpia_formats.formats.rules import Rule, rules_matching
from harpia_formats.model.safe_text import safe
from harpia_formats.model.text_columns import wrapped

#: Columns of a page.
WIDTH = 88
#: Code points of one line of an example.
_LONGEST = 6 * WIDTH
#: A raw tab must not look like an escaped one, which JSON allows: control characters
#: are shown as their Unicode pictures.
_PICTURES = {code: 0x2400 + code for code in range(0x20)}
#: What each command does to a file.
_DONE = {
    "convert": "converted",
    "preflight": "checked",
    "score": "scored",
    "validate": "validated",
}


def rule_line(rule: Rule, width: int, columns: int | None = None) -> str:
    """Return `rule` as a line of the list of rules, its name padded to `width`.

    On a terminal of so many `columns` it is as many lines as it needs.
    """
    name = f"{rule.name:<{width}}"
    optional = " (--lint)" if rule.lint else ""
    start = f"{rule.code}  {name}  {rule.severity.value:<7}  "
    line = f"{start}{rule.summary}{optional}"
    if columns is None:
        return f"{line}\n"
    # Under the summary, unless little of the line is left there.
    indent = len(start) if len(start) <= columns // 2 else len(rule.code) + 2
    return "\n".join(wrapped(line, columns, " " * indent)) + "\n"


def rule_page(rule: Rule, width: int | None = None) -> str:
    """Return the page of `rule`: what it says, why, and its examples if it has any.

    Its lines have at most `WIDTH` columns, fewer on a terminal of less `width`.
    """
    room = min(width or WIDTH, WIDTH)
    optional = " (only with --lint or --select)" if rule.lint else ""
    lines = [
        *_fitted(f"{rule.code} {rule.name} ({rule.severity.value}){optional}", width),
        *_fitted(rule.summary, width, ""),
        *textwrap.wrap(rule.explanation, room, break_on_hyphens=width is None),
    ]
    if not rule.has_example:
        return "\n".join(lines) + "\n"
    circumstances = _circumstances(rule)
    lines += [
        "",
        *_contract_lines(rule, room),
        *_fitted(f"bad{circumstances}:", width),
        *_example_lines(rule.bad, room),
        "good:",
        *_example_lines(rule.good, room),
    ]
    return "\n".join(lines) + "\n"


def _circumstances(rule: Rule) -> str:
    """Return the file name and the options of the examples, "" if any will do."""
    parts = [f"as {rule.file_name}"] if rule.file_name else []
    if rule.is_about_schema:
        is_checked = rule.command == "schema check"
        parts.append("by schema check" if is_checked else "as --schema")
    if rule.arguments:
        parts.append(f"{_DONE[rule.command]} with {' '.join(rule.arguments)}")
    return f" ({', '.join(parts)})" if parts else ""


def _fitted(line: str, width: int | None, indent: str = "  ") -> list[str]:
    """Return a line, broken between words on a terminal of less `width`."""
    return [line] if width is None else wrapped(line, width, indent)


def _contract_lines(rule: Rule, room: int) -> Iterator[str]:
    """Yield the format, schema or companion file that the examples are checked with."""
    if isinstance(rule.validated_as, str):
        yield from ["format:", f"  {rule.validated_as}"]
    elif isinstance(rule.validated_as, dict):
        yield "schema:"
        yield from _example_lines(json.dumps(rule.validated_as).encode(), room)
    if rule.companion:
        yield "checked against:"
        yield from _example_lines(rule.companion, room)


def _example_lines(example: bytes, room: int) -> Iterator[str]:
    """Yield the indented lines of an example, safe to print."""
    text = example.decode("utf-8", "backslashreplace").removesuffix("\n")
    for line in text.split("\n"):
        parts = textwrap.wrap(
            safe(line.translate(_PICTURES), _LONGEST),
            room - 2,
            subsequent_indent="  ",
            break_on_hyphens=False,
        )
        yield from (f"  {part}".rstrip() for part in parts or [""])


def rule(given: Given) -> ExitCode:
    """Explain a rule, with an example that breaks it and one that does not.

    For example:
    - harpia-formats rule C201
    - harpia-formats rule duplicate-key
    - harpia-formats rule --all
    """
    if given.names and given.every:
        raise UsageError("`--all` lists every rule; leave it out to explain the named")
    rules = installed_rules() if given.every else rules_for(asked=given.names or ())
    write, width = text_writer(sys.stdout), width_of(sys.stdout)
    if given.every:
        longest = max(len(rule.name) for rule in rules.values())
        write("".join(rule_line(rule, longest, width) for rule in rules.values()))
        return ExitCode.OK
    if not given.names:
        raise UsageError(
            "no rule is given; name one, such as C201 or duplicate-key, or use `--all`"
        )
    found = [
        code for name in given.names for code in sorted(rules_matching(name, rules))
    ]
    write("\n".join(rule_page(rules[code], width) for code in dict.fromkeys(found)))
    return ExitCode.OK
