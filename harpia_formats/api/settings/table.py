"""The table of all settings: their names, what they hold, and what they do."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

from harpia_formats.api import options
from harpia_formats.api.option_values import help_of
from harpia_formats.files.io.exclude import parts_of
from harpia_formats.files.parsing.csv_delimiter import delimiter_named
from harpia_formats.formats.registry import formats_named, rules_for
from harpia_formats.formats.rules import rules_matching, severity_named
from harpia_formats.reporters import reporter_named
from harpia_formats.validation.options import Options


class Kind(Enum):
    """What the value of a setting is, as messages and documents call it."""

    FLAG = "true or false"
    COUNT = "a whole number"
    NUMBER = "a number"
    TEXT = "a text"
    TEXTS = "an array of texts"
    TABLE = "a table of texts"
    LISTS = "a table of arrays of texts"


#: The values without settings, of those that are no options of a validation.
_EMPTY: dict[Kind, Any] = {
    Kind.FLAG: False,
    Kind.TEXTS: [],
    Kind.TABLE: {},
    Kind.LISTS: {},
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of the settings."""

    name: str
    kind: Kind
    summary: str
    #: A line of TOML, or several.
    example: str
    #: Raises an exception with the reason for a text that cannot be a value, an item of
    #: an array, or a value of a table.
    check: Callable[[str], object] | None = None
    #: The same for the keys of a table.
    check_key: Callable[[str], object] | None = None
    #: Whether it holds for a whole run, and not for single files.
    of_run: bool = False
    #: The least number.
    least: float = 0

    @property
    def field(self) -> str:
        """The name of the option of a validation that it sets, if there is one."""
        return self.name.replace("-", "_")

    @property
    def default(self) -> Any:
        """The value without settings."""
        plain = Options()
        if hasattr(plain, self.field):
            value = getattr(plain, self.field)
            return list(value) if isinstance(value, tuple) else value
        return _EMPTY.get(self.kind)


def _rule(name: str) -> None:
    rules_matching(name, rules_for(asked=[name]))


def _pattern(pattern: str) -> None:
    if not parts_of(pattern):
        raise ValueError(f"the pattern {pattern!r} names no file")


def _report_file(text: str) -> None:
    from harpia_formats.reporters.report_file import report_file  # noqa: PLC0415 - most settings name none

    report_file(text)


#: What is no option of the command line.
_OWN = (
    Setting(
        "formats",
        Kind.TABLE,
        "The format of the files that match a pattern, as `--format` names it. If "
        "several patterns match a file, the last of them counts.",
        '[tool.harpia-formats.formats]\n"runs/*.jsonl" = "nemo-output"',
        formats_named,
        _pattern,
    ),
    Setting(
        "per-file-ignores",
        Kind.LISTS,
        "Rules that are not checked in the files that match a pattern. All patterns "
        "that match a file count.",
        '[tool.harpia-formats.per-file-ignores]\n"legacy/*" = ["S104", "V"]',
        _rule,
        _pattern,
    ),
    Setting(
        "severity",
        Kind.TABLE,
        "Other severities of rules: `error`, `warning` or `note`. A name or a longer "
        "prefix of a code wins over a shorter one. It selects no rule.",
        '[tool.harpia-formats.severity]\nS104 = "warning"\nJ2 = "note"',
        severity_named,
        _rule,
    ),
)
#: What the value of an option is in TOML, where it is no text.
_kinds = {
    options.FLAG: Kind.FLAG,
    options.WHOLE: Kind.COUNT,
    options.WORKERS: Kind.COUNT,
    options.NUMBER: Kind.NUMBER,
    options.NAMES: Kind.TEXTS,
    options.TEXTS: Kind.TEXTS,
}
_checks: dict[str, Callable[[str], object]] = {
    "delimiter": delimiter_named,
    "exclude": _pattern,
    "ignore": _rule,
    "output-format": reporter_named,
    "report": _report_file,
    "select": _rule,
}
#: The headings of help pages below which options of a whole run stand.
_OF_RUN = {"", "Processes", "Reporting"}


def _setting(option: options.Option) -> Setting:
    """Return the setting that an option is."""
    name = option.words[0].removeprefix("--")
    return Setting(
        name,
        _kinds.get(option.kind, Kind.TEXT),
        help_of(option),
        option.setting,
        _checks.get(name),
        of_run=option.panel in _OF_RUN,
        least=option.least or 0,
    )


_of_options = map(_setting, (one for one in options.OPTIONS if one.setting))
_all = {setting.name: setting for setting in (*_OWN, *_of_options)}
#: Every setting, in the order of the documents.
SETTINGS = tuple(
    _all[name]
    for name in (
        "formats exclude select ignore lint per-file-ignores severity strict "
        "assert-formats delimiter skip-unrecognised max-row-bytes row-timeout baseline "
        "error-on-warning output-format report redact examples max-problems statistics "
        "jobs"
    ).split()
)
#: The settings by their names.
BY_NAME = {setting.name: setting for setting in SETTINGS}
#: The settings that are options of a validation under the same name.
OPTION_FIELDS = frozenset(field.name for field in fields(Options))
