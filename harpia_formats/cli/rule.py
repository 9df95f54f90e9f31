"""`harpia-formats rule`."""

import json
import sys
import textwrap
from typing import Annotated

import typer

from harpia_formats.cli.guard import UNABLE, complain, guarded, write_to
from harpia_formats.registry import all_rules
from harpia_formats.rules import Rule, rules_matching
from harpia_formats.text.sanitize import safe

WIDTH = 88
#: Code points of one line of an example.
LONGEST = 6 * WIDTH
#: A raw tab must not look like an escaped one, which JSON allows.
_PICTURES = {each: 0x2400 + each for each in range(0x20)}


def rule(
    codes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RULES",
            help="Codes, prefixes or names of rules.",
            show_default=False,
        ),
    ] = None,
    *,
    every: Annotated[
        bool, typer.Option("--all", metavar="", help="List all rules.")
    ] = False,
) -> None:
    """Explain a rule, with an example that breaks it and one that does not."""
    with guarded():
        rules = all_rules()
        write = write_to(sys.stdout)
        if every:
            longest = max(len(each.name) for each in rules.values())
            write("".join(_line(each, longest) for each in rules.values()))
            return
        if not codes:
            complain("name a rule, such as C201 or duplicate-key, or ask for --all")
            raise SystemExit(UNABLE)
        found = [code for each in codes for code in sorted(rules_matching(each, rules))]
        write("\n".join(page(rules[code]) for code in dict.fromkeys(found)))


def _line(each: Rule, longest: int) -> str:
    name = f"{each.name:<{longest}}"
    return f"{each.code}  {name}  {each.severity.value:<7}  {each.summary}\n"


def page(each: Rule) -> str:
    """Return what there is to say about a rule."""
    parts = [
        f"{each.code} {each.name} ({each.severity.value}){_when(each)}",
        each.summary,
        *textwrap.wrap(each.explanation, WIDTH),
    ]
    circumstances = _circumstances(each)
    lines = [
        *parts,
        "",
        *_judge_of(each),
        *_beside(each),
        f"bad{circumstances}:",
        *_shown(each.bad),
        "good:",
        *_shown(each.good),
    ]
    return "\n".join(lines) + "\n"


def _when(each: Rule) -> str:
    return " (only with --lint or --select)" if each.lint else ""


#: What a command does to a file.
_done = {"convert": "converted", "score": "scored", "validate": "validated"}


def _circumstances(each: Rule) -> str:
    """Return what the examples are called and validated with, where that matters."""
    parts = [f"as {each.file_name}"] if each.file_name else []
    if each.arguments:
        parts.append(f"{_done[each.command]} with {' '.join(each.arguments)}")
    return f" ({', '.join(parts)})" if parts else ""


def _judge_of(each: Rule) -> list[str]:
    """Return what the examples are judged by, where it is more than JSON."""
    if isinstance(each.validated_as, str):
        return ["format:", f"  {each.validated_as}"]
    if isinstance(each.validated_as, dict):
        return ["schema:", *_shown(json.dumps(each.validated_as).encode())]
    return []


def _beside(each: Rule) -> list[str]:
    """Return the other file that the examples are checked against, if there is one."""
    return ["checked against:", *_shown(each.companion)] if each.companion else []


def _shown(example: bytes) -> list[str]:
    """Return the lines of an example, what cannot be shown as pictures or escapes."""
    text = example.decode("utf-8", "backslashreplace").removesuffix("\n")
    lines = [safe(each.translate(_PICTURES), LONGEST) for each in text.split("\n")]
    return [part for each in lines for part in _wrapped(each)]


def _wrapped(line: str) -> list[str]:
    parts = textwrap.wrap(
        line, WIDTH - 2, subsequent_indent="  ", break_on_hyphens=False
    )
    return [f"  {each}".rstrip() for each in parts or [""]]
