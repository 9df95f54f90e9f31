"""`harpia-formats rule`."""

import json
import sys
import textwrap
from typing import Annotated

import typer

from harpia_formats.cli.guard import UNABLE, complain, guarded, write_to
from harpia_formats.registry import all_rules
from harpia_formats.rules import Rule, rules_matching
from harpia_formats.safe import safe

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
            write("".join(_line(each) for each in rules.values()))
            return
        if not codes:
            complain("name a rule, such as C201 or duplicate-key, or ask for --all")
            raise SystemExit(UNABLE)
        found = [code for each in codes for code in sorted(rules_matching(each, rules))]
        write("\n".join(page(rules[code]) for code in dict.fromkeys(found)))


def _line(each: Rule) -> str:
    return f"{each.code}  {each.name:<22} {each.severity.value:<8} {each.summary}\n"


def page(each: Rule) -> str:
    """Return what there is to say about a rule."""
    parts = [
        f"{each.code} {each.name} ({each.severity.value})",
        each.summary,
        *textwrap.wrap(each.explanation, WIDTH),
    ]
    options = "".join(f" {option}" for option in each.arguments)
    judged = f" (validated with{options})" if options else ""
    lines = [
        *parts,
        "",
        *_judge_of(each),
        f"bad{judged}:",
        *_shown(each.bad),
        "good:",
        *_shown(each.good),
    ]
    return "\n".join(lines) + "\n"


def _judge_of(each: Rule) -> list[str]:
    """Return what the examples are judged by, where it is more than JSON."""
    if isinstance(each.judged_by, str):
        return ["format:", f"  {each.judged_by}"]
    if isinstance(each.judged_by, dict):
        return ["schema:", *_shown(json.dumps(each.judged_by).encode())]
    return []


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
