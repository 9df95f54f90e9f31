"""What can be said of any format: one table of rules, each with its example."""

from dataclasses import dataclass

from harpia_formats.model.problem import Severity


@dataclass(frozen=True, slots=True)
class Rule:
    """Something we say about data: its code, its name and why it matters."""

    #: A family letter and three digits; never reused.
    code: str
    #: Words with hyphens; never reused.
    name: str
    severity: Severity
    #: What the rule says, in one sentence.
    summary: str
    #: Why data that breaks it is a problem, and how to mend it.
    explanation: str
    #: The contents of a file that breaks the rule.
    bad: bytes
    #: The same, mended.
    good: bytes
    #: The schema or the format id that the example is judged by.
    judged_by: dict[str, object] | str | bool = True
    #: Options of the command line that the example needs.
    arguments: tuple[str, ...] = ()
    #: The command that says it.
    command: str = "validate"
    #: What the file of the example is called, where that matters.
    named: str = ""
    #: Whether it is checked only when it is asked for.
    lint: bool = False
    #: The contents of the other file that the example is checked against.
    beside: bytes = b""


class UnknownRule(Exception):  # noqa: N818 - reads as what happened
    """A code, prefix or name that no rule has; carries it and the near ones."""

    def __init__(self, asked: str, near: list[str]) -> None:
        super().__init__(asked, near)
        self.asked = asked
        self.near = near

    def __str__(self) -> str:
        hint = f"; did you mean {' or '.join(self.near)}?" if self.near else ""
        return f"no rule is called {self.asked!r}{hint}"


class NoRuleLeft(Exception):  # noqa: N818 - reads as what happened
    """Every rule that was asked for is left out again; carries what does that."""

    def __init__(self, ignore: list[str]) -> None:
        super().__init__(ignore)
        self.ignore = ignore

    def __str__(self) -> str:
        return f"no rule is left to check: all are ignored by {', '.join(self.ignore)}"


def rules_matching(asked: str, rules: dict[str, Rule]) -> set[str]:
    """Return the codes of the rules with this code, prefix or name.

    Raises `UnknownRule`.
    """
    wanted = asked.strip()
    codes = {
        rule.code
        for rule in rules.values()
        if rule.code.startswith(wanted.upper()) or rule.name == wanted.lower()
    }
    if codes and wanted:
        return codes
    from difflib import get_close_matches  # noqa: PLC0415 - for mistakes only

    known = [*rules, *(rule.name for rule in rules.values())]
    near = get_close_matches(wanted.upper(), known, 2)
    near += get_close_matches(wanted.lower(), known, 2)
    raise UnknownRule(asked, list(dict.fromkeys(near))[:2])


def selected_rules(
    rules: dict[str, Rule], select: list[str], ignore: list[str], *, lint: bool = False
) -> frozenset[str]:
    """Return the codes in force; without `select` the default ones, less `ignore`.

    If `lint`, those are in force too that are not by default.

    Raises `UnknownRule`, and `NoRuleLeft` where nothing would be checked.
    """
    chosen = {code for code, each in rules.items() if lint or not each.lint}
    if select:
        chosen = set().union(*(rules_matching(each, rules) for each in select))
    for each in ignore:
        chosen -= rules_matching(each, rules)
    if not chosen:
        raise NoRuleLeft(ignore)
    return frozenset(chosen)
