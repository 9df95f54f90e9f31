"""`harpia-formats rule`."""

import sys

from harpia_formats.cli.exit_codes import ExitCode, UsageError
from harpia_formats.cli.options.given import Given
from harpia_formats.cli.output.rule_page import rule_line, rule_page
from harpia_formats.cli.output.streams import text_writer
from harpia_formats.cli.output.terminal import width_of
from harpia_formats.formats.registry import installed_rules, rules_for
from harpia_formats.formats.rules import rules_matching


def rule(given: Given) -> ExitCode:
    """Explain a rule, with an example that breaks it and one that does not.

    For example:
    - harpia-formats rule C201
    - harpia-formats rule duplicate-key
    - harpia-formats rule --all
    """
    if given.names and given.every:
        raise UsageError("--all lists every rule; leave it out to explain the named")
    rules = installed_rules() if given.every else rules_for(asked=given.names or ())
    write, width = text_writer(sys.stdout), width_of(sys.stdout)
    if given.every:
        longest = max(len(rule.name) for rule in rules.values())
        write("".join(rule_line(rule, longest, width) for rule in rules.values()))
        return ExitCode.OK
    if not given.names:
        raise UsageError(
            "no rule is given; name one, such as C201 or duplicate-key, or use --all"
        )
    found = [
        code for name in given.names for code in sorted(rules_matching(name, rules))
    ]
    write("\n".join(rule_page(rules[code], width) for code in dict.fromkeys(found)))
    return ExitCode.OK
