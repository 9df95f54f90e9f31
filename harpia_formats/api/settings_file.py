"""The table of all settings, and the settings that a file of them holds."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any

from harpia_formats.api import options
from harpia_formats.api.option_values import help_of
from harpia_formats.api.options import OWN_FILE, PYPROJECT
from harpia_formats.files.io.discovery import parts_of
from harpia_formats.files.parsing.csv_delimiter import delimiter_named
from harpia_formats.files.toml import (
    described_value,
    toml_document,
    toml_key,
)
from harpia_formats.formats.registry import formats_named, rules_for
from harpia_formats.formats.rules import rules_matching, selected_rules, severity_named
from harpia_formats.model.problem import HarpiaFormatsError, TomlError
from harpia_formats.model.spelling import hint_on, is_near
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
        "The format of the files that match a pattern, as `--from` names it. If "
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
#: Limits of memory and time, which data must not raise by settings next to it.
_LIMITS = {"max-row-bytes", "row-timeout"}


def _setting(option: options.Option) -> Setting:
    """Return the setting that an option is."""
    name = option.words[0].removeprefix("--")
    return Setting(
        name,
        _kinds.get(option.kind, Kind.TEXT),
        help_of(option),
        option.setting,
        _checks.get(name),
        of_run=option.panel in _OF_RUN or name in _LIMITS,
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


#: Where settings of the command line are, as messages show it.
CONFIG = "--config"
#: The path of the table of settings in a `pyproject.toml`.
_TABLE = ("tool", "harpia-formats")
#: The types of the values of settings that are no arrays or tables.
_types: dict[Kind, tuple[type, ...]] = {
    Kind.FLAG: (bool,),
    Kind.COUNT: (int,),
    Kind.NUMBER: (int, float),
    Kind.TEXT: (str,),
}


@dataclass(frozen=True, slots=True, eq=False)
class Settings:
    """The settings that one file has, by their names."""

    #: The file, as messages show it.
    path: str
    #: The absolute path of the folder that patterns and paths start from.
    root: str
    values: Mapping[str, Any]
    #: The names of those that the command line set.
    of_lines: frozenset[str] = frozenset()
    #: The absolute path of the folder that these start from.
    root_of_lines: str = ""

    def root_of(self, name: str) -> str:
        """Return the folder that the patterns of a setting start from."""
        return self.root_of_lines if name in self.of_lines else self.root

    def with_lines(self, lines: "Settings") -> "Settings":
        """Return these settings, overridden by those of the command line."""
        values = {**self.values, **lines.values}
        names = frozenset(lines.values)
        return Settings(self.path, self.root, values, names, lines.root)


def settings_of_lines(lines: Sequence[str], root: str) -> Settings:
    """Return the settings in lines such as `lint=true`; a bare word is a string.

    The last value of a setting counts, of a table that of each key. Raises
    `TomlError`.
    """
    values: dict[str, Any] = {}
    for line in lines:
        # What is not UTF-8 in an argument is refused where it is decoded.
        data = line.encode("utf-8", "surrogatepass")
        try:
            toml_document(data, CONFIG)
        except TomlError:
            name, _, value = line.partition("=")
            text = json.dumps(value.strip(), ensure_ascii=False)
            data = f"{name}={text}".encode("utf-8", "surrogatepass")
        found = parse_settings(data, CONFIG, root, is_pyproject=False)
        for name, value in found.values.items() if found else ():
            is_table = isinstance(value, dict)
            values[name] = values.get(name, {}) | value if is_table else value
    return Settings(CONFIG, root, values, frozenset(values), root)


def parse_settings(
    data: bytes, path: str, root: str, *, is_pyproject: bool
) -> Settings | None:
    """Return the settings in the bytes of a file, None if a `pyproject.toml` has none.

    Raises `TomlError` for text that is no TOML, unknown keys, and values of a wrong
    type or without a meaning.
    """
    document = toml_document(data, path)
    if is_pyproject:
        _check_table_names(document, path)
    table: Any = document
    for part in _TABLE if is_pyproject else ():
        if not isinstance(table, dict) or part not in table:
            return None
        table = table[part]
    prefix = ".".join(_TABLE) if is_pyproject else ""
    if not isinstance(table, dict):
        raise TomlError(path, prefix, f"must be a table, not {described_value(table)}")
    values = {}
    for name, value in table.items():
        place = f"{prefix}.{toml_key(name)}".lstrip(".")
        setting = BY_NAME.get(name)
        if setting is None:
            raise TomlError(path, place, _unknown(name, is_pyproject=is_pyproject))
        values[name] = _checked(value, setting, path, place)
    _check_selection(values, path, prefix)
    return Settings(path, root, values)


def _check_table_names(document: dict[str, Any], path: str) -> None:
    """Raise `TomlError` for a table whose name is near that of the settings."""
    outer, own = _TABLE
    for prefix, table in (("", document), *document.items()):
        if not isinstance(table, dict) or (prefix and not _is_like(prefix, outer)):
            continue
        for name, value in table.items():
            is_own = prefix == outer and name == own
            if isinstance(value, dict) and not is_own and _is_like(name, own):
                place = f"{prefix and toml_key(prefix) + '.'}{toml_key(name)}"
                reason = "no settings are read from there; did you mean [{}]?"
                raise TomlError(path, place, reason.format(".".join(_TABLE)))


def _is_like(name: str, right: str) -> bool:
    """Return whether a name is the right one, or a misspelling of it."""
    return name == right or is_near(name, right)


def _unknown(name: str, *, is_pyproject: bool) -> str:
    """Return what is wrong with a key that is no setting."""
    if name == "tool" and not is_pyproject:
        return (
            f"there is no such setting; the keys of {OWN_FILE} stand at its top, "
            f"without the table [tool.harpia-formats] of {PYPROJECT}"
        )
    return f"there is no such setting{hint_on(name, BY_NAME)}"


def _checked(value: Any, setting: Setting, path: str, place: str) -> Any:
    """Return the value of a setting. Raises `TomlError`."""
    if setting.kind in {Kind.TABLE, Kind.LISTS}:
        return _checked_table(value, setting, path, place)
    if setting.kind is Kind.TEXTS:
        return _checked_list(value, setting, path, place, setting.kind)
    is_flag = isinstance(value, bool)
    if is_flag != (setting.kind is Kind.FLAG) or not isinstance(
        value, _types[setting.kind]
    ):
        raise _wrong_type(value, setting.kind, path, place)
    if isinstance(value, str):
        _check(value, setting.check, path, place)
    elif isinstance(value, (int, float)) and not value >= setting.least:
        reason = f"must be at least {setting.least}, not {value}"
        raise TomlError(path, place, reason)
    return value


def _checked_table(value: Any, setting: Setting, path: str, place: str) -> Any:
    """Return the table of a setting. Raises `TomlError`."""
    if not isinstance(value, dict):
        raise _wrong_type(value, setting.kind, path, place)
    found: dict[str, Any] = {}
    for key, member in value.items():
        own = f"{place}.{toml_key(key)}"
        _check(key, setting.check_key, path, own)
        if setting.kind is Kind.LISTS:
            found[key] = _checked_list(member, setting, path, own, Kind.TEXTS)
            continue
        if not isinstance(member, str):
            raise _wrong_type(member, Kind.TEXT, path, own)
        _check(member, setting.check, path, own)
        found[key] = member
    return found


def _checked_list(
    value: Any, setting: Setting, path: str, place: str, kind: Kind
) -> tuple[str, ...]:
    """Return the items of an array of texts. Raises `TomlError`."""
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise _wrong_type(value, kind, path, place)
    for item in value:
        _check(item, setting.check, path, place)
    return tuple(value)


def _check(value: str, check: Any, path: str, place: str) -> None:
    """Raise `TomlError` with the reason for which `check` refuses a value."""
    if check is None:
        return
    try:
        check(value)
    except (HarpiaFormatsError, ValueError) as error:
        raise TomlError(path, place, str(error)) from error


def _check_selection(values: Mapping[str, Any], path: str, prefix: str) -> None:
    """Raise `TomlError` if `ignore` leaves no rule to check."""
    select, ignore = list(values.get("select", ())), list(values.get("ignore", ()))
    if not ignore:
        return
    rules = rules_for(asked=[*select, *ignore])
    try:
        selected_rules(rules, select, ignore, lint=values.get("lint", False))
    except HarpiaFormatsError as error:
        raise TomlError(path, f"{prefix}.ignore".lstrip("."), str(error)) from error


def _wrong_type(value: Any, kind: Kind, path: str, place: str) -> TomlError:
    return TomlError(path, place, f"must be {kind.value}, not {described_value(value)}")
