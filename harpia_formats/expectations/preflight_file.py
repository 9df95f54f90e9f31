"""Parse a preflight file into a plan, with the values of its variables (${NAME})."""

import math
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from harpia_formats.expectations.data_set_limits import Age, age_of
from harpia_formats.expectations.outcomes import limit_of
from harpia_formats.expectations.plugin_expectations import own_expectation
from harpia_formats.expectations.preflight_error import PreflightError
from harpia_formats.expectations.preflight_keys import (
    BY_NAME,
    DATA_SETS,
    LIMIT_KEYS,
    RELATIONS,
    REPORTS,
    STATE,
    TOP,
    VARIABLES,
    Key,
    Kind,
)
from harpia_formats.expectations.preflight_plan import (
    IN_PYTHON,
    DataSet,
    Places,
    Plan,
    Stated,
    located,
)
from harpia_formats.expectations.record_limits import Comparison
from harpia_formats.files.io.reader import error_reason, read_side_input
from harpia_formats.files.io.urls import is_url
from harpia_formats.files.toml import (
    described_value,
    toml_document,
    toml_key,
)
from harpia_formats.model.problem import HarpiaFormatsError, TomlError
from harpia_formats.model.safe_text import is_utf_8
from harpia_formats.model.spelling import hint_on, nearest

_variable = re.compile(r"\$\{([^{}]*)\}")
#: Names above the keys that are texts, such as those of `datasets.NAME.checksums`.
_ABOVE_TEXTS = 3
#: Keys with names of files, which may be any bytes.
_PATHS = {"files", "schema", "with", "exclude", "checksums"}


def used_variables(document: Mapping[str, Any]) -> list[str]:
    """Return the names of the variables in a document, each once."""
    rest = {key: value for key, value in document.items() if key != VARIABLES}
    texts = _texts_of(rest, 0)
    return list(
        dict.fromkeys(name for text in texts for name in _variable.findall(text))
    )


def with_variables(
    document: Mapping[str, Any], values: Mapping[str, str], places: Places
) -> dict[str, Any]:
    """Return a document with the `values` of variables in its texts.

    Raises `PreflightError` for a variable without a value.
    """
    return {
        key: value if key == VARIABLES else _filled(value, values, places, (key,))
        for key, value in document.items()
    }


def _filled(
    value: Any, values: Mapping[str, str], places: Places, path: tuple[str, ...]
) -> Any:
    """Return the value at `path` with the values of variables in its texts."""
    if isinstance(value, dict):
        found: dict[str, Any] = {}
        for key, member in value.items():
            inner = (*path, key)
            are_texts = len(path) >= _ABOVE_TEXTS
            name = _filled(key, values, places, inner) if are_texts else key
            if name in found:
                raise places.of(inner).error(f"two keys are {name}")
            found[name] = _filled(member, values, places, inner)
        return found
    if isinstance(value, list):
        return [_filled(item, values, places, path) for item in value]
    if not isinstance(value, str):
        return value

    def value_of(match: re.Match[str]) -> str:
        name = match[1]
        if name in values:
            return values[name]
        near = nearest(name, values)
        hint = f" (did you mean ${{{near}}}?)" if near else ""
        reason = (
            f"${{{name}}} has no value{hint}; give it one with `--var {name}=VALUE`"
        )
        raise places.of(path).error(reason)

    return _variable.sub(value_of, value)


def _texts_of(value: Any, above: int) -> Iterator[str]:
    """Yield the texts in a value that has so many names above it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts_of(item, above)
    elif isinstance(value, dict):
        if above >= _ABOVE_TEXTS:
            yield from value
        for member in value.values():
            yield from _texts_of(member, above + 1)


_at_line = re.compile(r" \(at line ([0-9]+), column [0-9]+\)$")
_line = re.compile(r"line ([0-9]+)")

#: Returns the name of the reporter and the file of `[NAME=]FILE`; raises
#: `HarpiaFormatsError` for a reporter that does not exist.
ReportOf = Callable[[str], tuple[str, str]]


def read_plan(path: str, variables: Mapping[str, str], report_of: ReportOf) -> Plan:
    """Return the plan in the file at `path`. Raises `PreflightError`."""
    from pathlib import Path  # noqa: PLC0415 - the name is that of a path as text

    try:
        data = read_side_input(Path(path))
    except OSError as error:
        raise PreflightError(path, 0, "", error_reason(error)) from error
    return parse_plan(data, path, variables, report_of)


def parse_plan(
    data: bytes, path: str, variables: Mapping[str, str], report_of: ReportOf
) -> Plan:
    """Return the plan in the bytes of a file. Raises `PreflightError`.

    Its paths start from the folder of `path`.
    """
    try:
        document = toml_document(data, path)
    except TomlError as error:
        raise _with_line(error) from error
    places = Places(path, data)
    return _plan(document, places, path, variables, report_of)


def plan_of_values(
    values: Mapping[str, Any], variables: Mapping[str, str], report_of: ReportOf
) -> Plan:
    """Return the plan that is given as values, as TOML would hold them.

    Its paths start from the working folder. Raises `PreflightError`.
    """
    document = _plain(values, ())
    return _plan(document, Places(IN_PYTHON, b""), IN_PYTHON, variables, report_of)


def _plain(value: Any, path: tuple[str, ...]) -> Any:
    """Return a value with paths as texts and sequences as lists.

    Raises `PreflightError` for what TOML cannot hold.
    """
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise _not_toml(f"the key {key!r} is not a text", path)
        return {key: _plain(member, (*path, key)) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, path) for item in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if not isinstance(value, (str, bool, int, float)):
        raise _not_toml(f"cannot be of the type {type(value).__name__}", path)
    return value


def _not_toml(reason: str, path: tuple[str, ...]) -> PreflightError:
    return PreflightError(IN_PYTHON, 0, ".".join(map(toml_key, path)), reason)


def _plan(
    document: dict[str, Any],
    places: Places,
    path: str,
    variables: Mapping[str, str],
    report_of: ReportOf,
) -> Plan:
    """Return the plan of a document, checked but for the files that it names."""
    for name, value in document.items():
        if name not in TOP:
            raise places.of((name,)).error(_unknown_table(name, value))
    document = with_variables(document, _values_of(document, variables, places), places)
    found = document.get(DATA_SETS)
    if not isinstance(found, dict) or not found:
        reason = "names no data set; write a table for each, such as [datasets.answers]"
        raise places.of((DATA_SETS,)).error(reason)
    root = os.path.dirname(path)  # noqa: PTH120 - links are not resolved
    data_sets = tuple(_data_set(name, found, places, root) for name in found)
    state = _state(document, places, root)
    for one in data_sets if not state else ():
        if (key := "max-records-change") in one.values:
            reason = (
                "needs a file that keeps the numbers of records; add a line such as "
                'state = "preflight.state.json" above the data sets'
            )
            raise one.stated(key).error(reason)
    reports = _reports(document, places, root, report_of)
    return Plan(path, data_sets, reports, state)


def _state(document: Mapping[str, Any], places: Places, root: str) -> str:
    """Return the path of the file of the last run, "" if there is none."""
    if STATE not in document:
        return ""
    value, stated = document[STATE], places.of((STATE,))
    if not isinstance(value, str):
        raise _wrong_type(stated, value, Kind.TEXT)
    _check(value, BY_NAME["with"].check, stated)
    if is_url(value):
        raise stated.error("must be a path, not a URL")
    return located(value, root)


def _with_line(error: TomlError) -> PreflightError:
    """Return the error of text that is no TOML with the line in its usual place."""
    match = _at_line.search(error.reason) or _line.fullmatch(error.place)
    line = int(match[1]) if match else 0
    reason = _at_line.sub("", error.reason)
    if not error.path.endswith(".toml"):
        reason += "; if it is data, write a preflight file for it with `--init`"
    return PreflightError(error.path, line, "", reason)


def _unknown_table(name: str, value: Any) -> str:
    """Return what is wrong with a key at the top of a preflight file."""
    near = nearest(name, TOP)
    if near:
        return f"there is no such key; did you mean {near}?"
    if isinstance(value, dict) and "files" in value:
        return f"there is no such table; did you mean [{DATA_SETS}.{name}]?"
    if name in BY_NAME:
        return f"is a key of a data set; write it below [{DATA_SETS}.NAME]"
    return f"there is no such key; known: {', '.join(TOP)}"


def _values_of(
    document: dict[str, Any], given: Mapping[str, str], places: Places
) -> dict[str, str]:
    """Return the values of variables: the `given` ones, else those of the file."""
    stated = document.get(VARIABLES, {})
    if not isinstance(stated, dict):
        raise _wrong_type(places.of((VARIABLES,)), stated, Kind.TABLE)
    for name, value in stated.items():
        if not isinstance(value, str):
            raise _wrong_type(places.of((VARIABLES, name)), value, Kind.TEXT)
    used = used_variables(document)
    for name in given:
        if name not in used and name not in stated:
            hint = hint_on(name, dict.fromkeys((*used, *stated)))
            reason = f"`--var` {name}: the file has no ${{{name}}}{hint}"
            raise PreflightError(places.of(()).path, 0, "", reason)
    return {**stated, **given}


def _reports(
    document: Mapping[str, Any], places: Places, root: str, report_of: ReportOf
) -> tuple[str, ...]:
    """Return the reports that are written, as `NAME=FILE` from the working folder."""
    stated, found = places.of((REPORTS,)), []
    for text in _texts(document.get(REPORTS, []), BY_NAME["files"], stated):
        try:
            name, file = report_of(text)
        except HarpiaFormatsError as error:
            raise stated.error(str(error)) from error
        found.append(f"{name}={located(file, root)}")
    return tuple(found)


def _data_set(
    name: str, tables: Mapping[str, Any], places: Places, root: str
) -> DataSet:
    """Return a data set, checked but for the files that it names."""
    table = tables[name]
    own = places.of((DATA_SETS, name))
    if not isinstance(table, dict):
        hint = f"write it as the table [{DATA_SETS}.NAME] with its files"
        known = nearest(name, BY_NAME) or (name if name in BY_NAME else "")
        hint = f"{known} is a key of a data set; {hint}" if known else hint
        raise own.error(f"must be a table, not {described_value(table)}; {hint}")
    stated = places.of_data_set(name, table)
    values: dict[str, Any] = {}
    for key, value in table.items():
        known_key = BY_NAME.get(key)
        if known_key is None:
            raise stated[key].error(_unknown_key(key))
        for text in () if key in _PATHS else _texts_of(value, _ABOVE_TEXTS):
            if not is_utf_8(text):
                raise stated[key].error(f"{text!r} is not UTF-8, as all data is")
        values[key] = _checked(value, known_key, stated[key])
    if "files" not in values:
        raise own.error('names no files; add a line such as files = "data/*.jsonl"')
    _check_combination(values, stated)
    _check_relations(name, values, tables, stated)
    _check_warnings(values, stated)
    return DataSet(name, values, stated, root)


def _unknown_key(name: str) -> str:
    near = nearest(name, BY_NAME)
    known = f"did you mean {near}?" if near else f"known: {', '.join(BY_NAME)}"
    return f"there is no such key; {known}"


def _check_combination(values: Mapping[str, Any], stated: Mapping[str, Stated]) -> None:
    """Raise `PreflightError` for keys that contradict each other."""
    if "schema" in values:
        for key in ("format", "strict", "with", "map"):
            if key in values:
                reason = "cannot be combined with schema: files are in a format, or not"
                raise stated[key].error(reason)
    for suffix in ("", "-per-file"):
        least, most = (
            values.get(f"min-records{suffix}"),
            values.get(f"max-records{suffix}"),
        )
        if least is not None and most is not None and least > most:
            reason = f"is less than min-records{suffix}, which is {least:,}"
            raise stated[f"max-records{suffix}"].error(reason)
    for name, most in values.get("max-values", {}).items():
        least = values.get("min-values", {}).get(name, most)
        if least > most:
            reason = f"{name}: {most} is less than min-values has, which is {least}"
            raise stated["max-values"].error(reason)
    for key in ("required-models", "allowed-models"):
        if key in values and "models" in values:
            raise stated[key].error("cannot be combined with models, which says both")


def _check_warnings(values: Mapping[str, Any], stated: Mapping[str, Stated]) -> None:
    """Raise `PreflightError` for a warning of what is not expected, or must be met."""
    known = {key.name for key in LIMIT_KEYS if key.name != "warn"} & values.keys()
    for name in values.get("warn", ()):
        key, _, item = name.partition(".")
        if key == "max-invalid":
            reason = "max-invalid cannot only warn: records with errors are not read"
            raise stated["warn"].error(reason)
        if key not in known:
            near = nearest(key, known)
            hint = f"; did you mean {near}?" if near else ""
            raise stated["warn"].error(f"{key} is not stated in this data set{hint}")
        if item and not (
            BY_NAME[key].has_members
            and isinstance(values[key], (dict, tuple))
            and item in values[key]
        ):
            raise stated["warn"].error(f"{key} has no member {item}")


def _check_relations(
    name: str,
    values: Mapping[str, Any],
    tables: Mapping[str, Any],
    stated: Mapping[str, Stated],
) -> None:
    """Raise `PreflightError` for a relation to a data set that there is not."""
    for key in RELATIONS:
        for other in values.get(key, ()):
            if other not in tables:
                near = nearest(other, tables)
                hint = (
                    f"did you mean {near}?" if near else f"known: {', '.join(tables)}"
                )
                raise stated[key].error(f"there is no data set {other!r}; {hint}")
            if other == name:
                raise stated[key].error("names the data set itself")


def _checked(value: Any, key: Key, stated: Stated) -> Any:
    """Return the value of a key. Raises `PreflightError`."""
    kind = key.kind
    if kind in _checked_by_key:
        return _checked_by_key[kind](value, key, stated)
    if kind in _checked_alone:
        return _checked_alone[kind](value, stated)
    wanted = {Kind.FLAG: bool, Kind.COUNT: int, Kind.TEXT: str}[kind]
    if type(value) is not wanted:
        raise _wrong_type(stated, value, kind)
    if type(value) is int and value < key.least:
        raise stated.error(f"must be at least {key.least}, not {value}")
    if type(value) is str:
        _check(value, key.check, stated)
    return value


def _compared(value: Any, key: Key, stated: Stated) -> dict[str, Comparison]:
    """Return names of data sets with how prompts are compared."""
    if not isinstance(value, dict):
        return dict.fromkeys(_texts(value, key, stated), Comparison.EXACT)
    if not value:
        raise stated.error("is empty, so that nothing is named")
    found = {}
    for name, how in value.items():
        if how not in tuple(Comparison):
            near = nearest(how, tuple(Comparison)) if isinstance(how, str) else ""
            hint = (
                f"did you mean {near}?" if near else "known: " + ", ".join(Comparison)
            )
            shown = described_value(how) if not isinstance(how, str) else repr(how)
            raise stated.error(f"{name} cannot be compared by {shown}; {hint}")
        found[name] = Comparison(how)
    return found


def _age(value: Any, stated: Stated) -> Age:
    """Return an age. Raises `PreflightError`."""
    if not isinstance(value, str):
        raise _wrong_type(stated, value, Kind.AGE)
    try:
        return age_of(value)
    except ValueError as error:
        raise stated.error(str(error)) from error


def _own(value: Any, stated: Stated) -> dict[str, Any]:
    """Return the expectations of other packages, each with what it checks by."""
    if not isinstance(value, dict):
        raise _wrong_type(stated, value, Kind.OWN)
    if not value:
        raise stated.error("is empty, so that nothing is named")
    return {name: own_expectation(name, one, stated) for name, one in value.items()}


def _texts(value: Any, key: Key, stated: Stated) -> tuple[str, ...]:
    """Return one text or several. Raises `PreflightError`."""
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(one, str) for one in items):
        raise _wrong_type(stated, value, key.kind)
    may_be_empty = key.name in RELATIONS or stated.key[-1] == REPORTS
    if not items and not may_be_empty:
        raise stated.error("is empty, so that nothing is named")
    for item in items:
        _check(item, key.check, stated)
    return tuple(dict.fromkeys(items))


def _limit(value: Any, stated: Stated) -> Any:
    """Return a limit. Raises `PreflightError`."""
    try:
        return limit_of(value)
    except ValueError as error:
        raise stated.error(str(error)) from error
    except TypeError as error:
        wrong = _wrong_type(stated, value, Kind.LIMIT)
        raise stated.error(f"{wrong.reason}{error}") from error


def _table(value: Any, key: Key, stated: Stated) -> dict[str, Any]:
    """Return a table of texts, limits or arrays. Raises `PreflightError`."""
    if not isinstance(value, dict):
        raise _wrong_type(stated, value, key.kind)
    if not value:
        raise stated.error("is empty, so that nothing is named")
    found: dict[str, Any] = {}
    for name, member in (_dotted(value) if key.of_fields else value).items():
        _check(name, key.check_key, stated)
        if key.kind is Kind.LIMITS:
            found[name] = _limit(member, stated)
        elif key.kind is Kind.VALUES:
            found[name] = _values(name, member, stated)
        elif key.kind is Kind.NUMBERS:
            found[name] = _number(name, member, stated)
        elif isinstance(member, str):
            _check(member, key.check, stated)
            found[name] = member
        else:
            raise _wrong_type(stated, member, Kind.TEXT)
    return found


def _number(name: str, value: Any, stated: Stated) -> int | float:
    """Return a bound of numbers. Raises `PreflightError`."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or (isinstance(value, float) and not math.isfinite(value)):
        reason = f"{name} must be a finite number, not {described_value(value)}"
        raise stated.error(reason)
    number: int | float = value
    return number


def _dotted(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Return the members of nested tables: metadata.language is a table in TOML."""
    found: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, dict) and value:
            found |= _dotted(value, f"{before}{name}.")
        else:
            found[f"{before}{name}"] = value
    return found


def _values(name: str, value: Any, stated: Stated) -> list[Any]:
    """Return the values that a field may have. Raises `PreflightError`."""
    items = value if isinstance(value, list) else [value]
    if not items:
        raise stated.error(f"{name} is empty, so that nothing is named")
    if not all(isinstance(one, (str, int, float)) for one in items):
        kind = "an array of texts, numbers, true and false"
        raise stated.error(f"{name} must be {kind}, not {described_value(value)}")
    return items


def _check(value: str, check: Any, stated: Stated) -> None:
    """Raise `PreflightError` with the reason for which `check` refuses a value."""
    if check is None:
        return
    try:
        check(value)
    except (HarpiaFormatsError, ValueError) as error:
        raise stated.error(str(error)) from error


def _wrong_type(stated: Stated, value: Any, kind: Kind) -> PreflightError:
    return stated.error(f"must be {kind.value}, not {described_value(value)}")


_checked_by_key: dict[Kind, Callable[[Any, Key, Stated], Any]] = {
    Kind.COMPARED: _compared,
    Kind.TEXTS: _texts,
    Kind.DATA_SETS: _texts,
    Kind.TABLE: _table,
    Kind.LIMITS: _table,
    Kind.VALUES: _table,
    Kind.NUMBERS: _table,
}
_checked_alone: dict[Kind, Callable[[Any, Stated], Any]] = {
    Kind.AGE: _age,
    Kind.OWN: _own,
    Kind.LIMIT: _limit,
}
