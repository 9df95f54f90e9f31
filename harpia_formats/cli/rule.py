"""`harpia-formats rule`."""

import sys
import textwrap
from typing import Annotated

import typer

from harpia_formats.cli.guard import UNABLE, complain, guarded, write_to
from harpia_formats.registry import all_rules
from harpia_formats.rules import Rule, rules_matching
from harpia_formats.safe import safe

WIDTH = 88


def rule(
    codes: Annotated[
        list[str] | None,
        typer.Argument(help="Codes, prefixes or names of rules.", show_default=False),
    ] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="List all rules.")] = False,
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
        f"bad{judged}:",
        *_shown(each.bad),
        "good:",
        *_shown(each.good),
    ]
    return "\n".join(lines) + "\n"


def _shown(example: bytes) -> list[str]:
    """Return the lines of an example, what cannot be shown as escapes."""
    text = example.decode("utf-8", "backslashreplace").removesuffix("\n")
    lines = [safe(each, 10 * WIDTH) for each in text.split("\n")]
    return [
        f"  {part}"
        for line in lines
        for part in textwrap.wrap(line, WIDTH - 2, subsequent_indent="  ") or [""]
    ]
