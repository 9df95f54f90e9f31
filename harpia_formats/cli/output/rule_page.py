"""Rules as lines of a list, and as pages with their examples."""

import json
import textwrap
from collections.abc import Iterator

from harpia_formats.rules import Rule
from harpia_formats.text.sanitize import safe

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


def rule_line(rule: Rule, width: int) -> str:
    """Return `rule` as a line of the list of rules, its name padded to `width`."""
    name = f"{rule.name:<{width}}"
    optional = " (--lint)" if rule.lint else ""
    return f"{rule.code}  {name}  {rule.severity.value:<7}  {rule.summary}{optional}\n"


def rule_page(rule: Rule) -> str:
    """Return the page of `rule`: what it says, why, and its examples if it has any."""
    optional = " (only with --lint or --select)" if rule.lint else ""
    lines = [
        f"{rule.code} {rule.name} ({rule.severity.value}){optional}",
        rule.summary,
        *textwrap.wrap(rule.explanation, WIDTH),
    ]
    if not rule.has_example:
        return "\n".join(lines) + "\n"
    circumstances = _circumstances(rule)
    lines += [
        "",
        *_contract_lines(rule),
        f"bad{circumstances}:",
        *_example_lines(rule.bad),
        "good:",
        *_example_lines(rule.good),
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


def _contract_lines(rule: Rule) -> Iterator[str]:
    """Yield the format, schema or companion file that the examples are checked with."""
    if isinstance(rule.validated_as, str):
        yield from ["format:", f"  {rule.validated_as}"]
    elif isinstance(rule.validated_as, dict):
        yield "schema:"
        yield from _example_lines(json.dumps(rule.validated_as).encode())
    if rule.companion:
        yield "checked against:"
        yield from _example_lines(rule.companion)


def _example_lines(example: bytes) -> Iterator[str]:
    """Yield the indented lines of an example, safe to print."""
    text = example.decode("utf-8", "backslashreplace").removesuffix("\n")
    for line in text.split("\n"):
        parts = textwrap.wrap(
            safe(line.translate(_PICTURES), _LONGEST),
            WIDTH - 2,
            subsequent_indent="  ",
            break_on_hyphens=False,
        )
        yield from (f"  {part}".rstrip() for part in parts or [""])
