"""The table of all settings: their names, what they hold, and what they do."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

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
        options = Options()
        if hasattr(options, self.field):
            value = getattr(options, self.field)
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


#: Every setting, in the order of the documents.
SETTINGS = (
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
        "exclude",
        Kind.TEXTS,
        "Files and folders that are left out.",
        'exclude = ["logs", "old/**/*.json"]',
        _pattern,
    ),
    Setting(
        "select",
        Kind.TEXTS,
        "The only rules that are checked: codes, prefixes or names.",
        'select = ["J", "S", "missing-key"]',
        _rule,
    ),
    Setting(
        "ignore",
        Kind.TEXTS,
        "Rules that are not checked.",
        'ignore = ["J202"]',
        _rule,
    ),
    Setting(
        "lint",
        Kind.FLAG,
        "Whether the optional rules are checked, too.",
        "lint = true",
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
    Setting(
        "strict",
        Kind.FLAG,
        "Whether only what the vendor's document describes is accepted.",
        "strict = true",
    ),
    Setting(
        "assert-formats",
        Kind.FLAG,
        "Whether values that break the keyword `format` of a schema are reported.",
        "assert-formats = true",
    ),
    Setting(
        "delimiter",
        Kind.TEXT,
        "The character between the fields of tables, or its name.",
        'delimiter = "tab"',
        delimiter_named,
    ),
    Setting(
        "skip-unrecognised",
        Kind.FLAG,
        "Whether files in no known format are passed over.",
        "skip-unrecognised = true",
    ),
    Setting(
        "max-row-bytes",
        Kind.COUNT,
        "The bytes that a row may have.",
        "max-row-bytes = 1048576",
        least=1,
    ),
    Setting(
        "row-timeout",
        Kind.NUMBER,
        "The seconds that a row may take with a schema whose references or patterns "
        "can multiply its work.",
        "row-timeout = 2.5",
        least=0.001,
    ),
    Setting(
        "baseline",
        Kind.TEXT,
        "The baseline whose findings are not reported: a path from the folder of the "
        "settings. It is not used beside `--write-baseline`.",
        'baseline = "baseline.json"',
        of_run=True,
    ),
    Setting(
        "error-on-warning",
        Kind.FLAG,
        "Whether a warning makes the exit code 1.",
        "error-on-warning = true",
        of_run=True,
    ),
    Setting(
        "output-format",
        Kind.TEXT,
        "The reporter.",
        'output-format = "concise"',
        reporter_named,
        of_run=True,
    ),
    Setting(
        "report",
        Kind.TEXTS,
        "Files into which the whole report is written beside what is printed, as "
        "`--report` names them: paths from the folder of the settings.",
        'report = ["report.json"]',
        _report_file,
        of_run=True,
    ),
    Setting(
        "redact",
        Kind.FLAG,
        "Whether no value of a record is shown.",
        "redact = true",
        of_run=True,
    ),
    Setting(
        "examples",
        Kind.COUNT,
        "How many findings of the same kind are printed; 0 for all.",
        "examples = 3",
        of_run=True,
    ),
    Setting(
        "max-problems",
        Kind.COUNT,
        "How many findings are printed in total; 0 for all.",
        "max-problems = 100",
        of_run=True,
    ),
    Setting(
        "statistics",
        Kind.FLAG,
        "Whether the number of findings of each rule is added.",
        "statistics = true",
        of_run=True,
    ),
    Setting(
        "jobs",
        Kind.COUNT,
        "The number of worker processes; 0 for one per processor.",
        "jobs = 4",
        of_run=True,
    ),
)
#: The settings by their names.
BY_NAME = {setting.name: setting for setting in SETTINGS}
#: The settings that are options of a validation under the same name.
OPTION_FIELDS = frozenset(field.name for field in fields(Options))
