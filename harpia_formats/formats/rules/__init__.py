"""The type of a rule, and how the rules of a run are selected by code or name."""

from collections.abc import Mapping
from dataclasses import dataclass

from harpia_formats.model.problem import HarpiaFormatsError, OptionError, Severity

#: Where the newest release of the documentation has the page of each rule.
_PAGES = "https://harpia-formats.github.io/harpia-formats/latest/reference/rules/"
#: Letters and digits of the codes of built-in rules; plug-ins have two letters or more.
_LENGTH = 4


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of problem in data: its code, its name, and an example."""

    #: A family letter and three digits; never reused.
    code: str
    #: Words with hyphens; never reused.
    name: str
    severity: Severity
    #: What the rule requires, in one sentence.
    summary: str
    #: Why data that breaks it is a problem, and how to mend it.
    explanation: str
    #: The contents of a file that breaks the rule.
    bad: bytes
    #: The same contents, corrected.
    good: bytes
    #: What the example is validated against: a schema, or the id of a format.
    validated_as: dict[str, object] | str | bool = True
    #: Options of the command line that the example needs.
    arguments: tuple[str, ...] = ()
    #: The command that reports it.
    command: str = "validate"
    #: The file name that the example needs, "" if any will do.
    file_name: str = ""
    #: Whether it is checked only with `--lint` or when it is selected.
    lint: bool = False
    #: The contents of the companion file that the example is checked against.
    companion: bytes = b""
    #: Whether it is reported, too, where files are read as records: of those warnings
    #: and notes that say that the records are not all, or not what was written.
    in_reading: bool = False
    #: Whether the examples are schemas that the user gives, and not data.
    is_about_schema: bool = False

    @property
    def has_example(self) -> bool:
        """Whether data can break the rule: V902 is broken by our code only."""
        return self.bad != self.good


class UnknownRule(HarpiaFormatsError):  # noqa: N818 - part of the public API by this name
    """A code, prefix or name that no rule has; carries it and similar ones."""

    hides_values = True

    def __init__(self, asked: str, near: list[str]) -> None:
        super().__init__(asked, near)
        self.asked = asked
        self.near = near

    def __str__(self) -> str:
        hint = "; `harpia-formats rule --all` lists them"
        if self.near:
            hint = f"; did you mean {' or '.join(self.near)}?"
        return f"no rule is called {self.asked!r}{hint}"


class NoRuleLeft(HarpiaFormatsError):  # noqa: N818 - part of the public API by this name
    """All selected rules are ignored; carries the selectors that ignore them."""

    hides_values = True

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
    prefix, name = wanted.upper(), wanted.lower()
    codes = {
        rule.code
        for rule in rules.values()
        if rule.code.startswith(prefix) or rule.name == name
    }
    if codes and wanted:
        return codes
    from difflib import get_close_matches  # noqa: PLC0415 - only to report a mistake

    known = [*rules, *(rule.name for rule in rules.values())]
    near = get_close_matches(prefix, known, 2)
    near += get_close_matches(name, known, 2)
    raise UnknownRule(asked, list(dict.fromkeys(near))[:2])


def selected_rules(
    rules: dict[str, Rule], select: list[str], ignore: list[str], *, lint: bool = False
) -> frozenset[str]:
    """Return the codes of the rules that `select` names, less those of `ignore`.

    Without `select` they are the default rules, and with `lint` all rules. Raises
    `UnknownRule`, and `NoRuleLeft` if no rule remains.
    """
    selected = {code for code, rule in rules.items() if lint or not rule.lint}
    if select:
        selected = set().union(*(rules_matching(name, rules) for name in select))
    for name in ignore:
        selected -= rules_matching(name, rules)
    if not selected:
        raise NoRuleLeft(ignore)
    return frozenset(selected)


def severity_named(name: str) -> Severity:
    """Return the severity called `name`. Raises `OptionError` if there is none."""
    if name in tuple(Severity):
        return Severity(name)
    hint = "; to skip a rule, ignore it" if name == "off" else ""
    raise OptionError(f"a severity is one of {', '.join(Severity)}, not {name!r}{hint}")


def changed_severities(
    rules: dict[str, Rule], severity: Mapping[str, str]
) -> dict[str, Severity]:
    """Return the severity of each rule that `severity` names, by its code.

    Its keys are codes, prefixes or names of rules; the longest prefix of a code wins,
    a whole code or name over any prefix. Raises `UnknownRule`, and `OptionError` for a
    value that is no severity.
    """
    ranked: list[tuple[int, str, Severity]] = []
    for asked, level in severity.items():
        found = severity_named(level)
        for code in rules_matching(asked, rules):
            prefix = asked.strip().upper()
            rank = len(prefix) if code.startswith(prefix) else len(code)
            ranked.append((rank, code, found))
    ranked.sort(key=lambda one: one[0])
    return {code: level for _, code, level in ranked}


def rule_url(code: str) -> str:
    """Return the address of the documentation of the built-in rule `code`.

    It is "" for a code that only a plug-in can have.
    """
    if len(code) != _LENGTH or not (code[0].isupper() and code[1:].isdecimal()):
        return ""
    return f"{_PAGES}{code}.html"
