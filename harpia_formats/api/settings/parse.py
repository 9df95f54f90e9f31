"""From the text of a settings file to checked settings."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harpia_formats.api.settings import OWN_FILE, PYPROJECT
from harpia_formats.api.settings.table import BY_NAME, Kind, Setting
from harpia_formats.files.toml import (
    described_value,
    toml_document,
    toml_key,
)
from harpia_formats.formats.registry import rules_for
from harpia_formats.formats.rules import selected_rules
from harpia_formats.model.errors import HarpiaFormatsError, TomlError
from harpia_formats.model.text.spelling import hint_on, is_near

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
    """The settings of one file, by their names; only those that it has."""

    #: The file, as messages show it.
    path: str
    #: The absolute path of the folder that patterns and paths start from.
    root: str
    values: Mapping[str, Any]
    #: The names of those that the command line set.
    of_lines: frozenset[str] = frozenset()

    def with_lines(self, lines: "Settings") -> "Settings":
        """Return these settings, with those of the command line in their place."""
        values = {**self.values, **lines.values}
        return Settings(self.path, self.root, values, frozenset(lines.values))


def settings_of_lines(lines: Sequence[str], root: str) -> Settings:
    """Return the settings in lines such as `lint=true`; a bare word is a text.

    Raises `TomlError`.
    """
    values: dict[str, Any] = {}
    for line in lines:
        data = line.encode()
        try:
            toml_document(data, CONFIG)
        except TomlError:
            name, _, value = line.partition("=")
            data = f"{name}={json.dumps(value.strip())}".encode()
        found = parse_settings(data, CONFIG, root, is_pyproject=False)
        values.update(found.values if found else {})
    return Settings(CONFIG, root, values, frozenset(values))


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
