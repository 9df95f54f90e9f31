"""Whether what a preflight file expects of records can be checked in a format."""

from collections.abc import Iterator
from itertools import islice

from harpia_formats.conversion.mapping.requirements import find_field_path
from harpia_formats.conversion.reading.companions import is_companion_format
from harpia_formats.conversion.reading.mapped_keys import MappedKeys
from harpia_formats.expectations.plan import DataSet, Stated
from harpia_formats.expectations.table import BY_NAME
from harpia_formats.files.io.exclude import Exclusion
from harpia_formats.formats.detection.detect_files import detect_files
from harpia_formats.formats.detection.mapped_format import FREE_COLUMN_FORMATS
from harpia_formats.formats.registry import (
    adapter_of,
    all_formats,
    format_of,
    formats_named,
    rules_for,
)
from harpia_formats.formats.rules import Rule, selected_rules
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.format import Format
from harpia_formats.model.problem import Severity
from harpia_formats.model.text.spelling import hint_on

#: The vendor of tables with any columns.
TABLES = FREE_COLUMN_FORMATS[0]
#: Files of a data set whose formats are detected before the run; the others are checked
#: when they are read.
_DETECTED = 20
#: The first letters of rules without which rows cannot be read.
_OF_ROWS = ("J", "S", "C", "V")
#: The first letters of rules that hold for files in any format.
_GENERAL = (*_OF_ROWS, "X")


#: A key that needs records, and where it stands: perhaps with another data set, which
#: is compared with this one.
Asked = tuple[str, Stated]


def asked_by(data_set: DataSet) -> list[Asked]:
    """Return the keys of a data set that need its records."""
    return [(key, data_set.stated(key)) for key in data_set.of_records()]


def check_data_set(data_set: DataSet, needed: list[Asked]) -> None:
    """Check that the `needed` keys can be checked, as far as it is known before a run.

    Raises `PreflightError`.
    """
    _check_findings(data_set)
    formats = list(_formats(data_set)) if _asks_formats(data_set, needed) else []
    _check_vendors(data_set, formats)
    if not needed:
        return
    if "schema" in data_set.values:
        reason = (
            f"cannot be checked: {data_set.name} is validated by a schema, and not in "
            "a format"
        )
        raise needed[0][1].error(reason)
    _check_rules(data_set, needed[0][0])
    is_family = len(formats) > 1 and "format" in data_set.values
    for format_ in () if is_family else formats:
        if not (len(formats) > 1 and is_companion_format(format_.id)):
            check_format(data_set, needed, format_)


def _asks_formats(data_set: DataSet, needed: list[Asked]) -> bool:
    """Tell whether it depends on the formats whether everything can be checked."""
    has_findings = "max-findings" in data_set.values
    return (bool(needed) or has_findings) and "schema" not in data_set.values


def _formats(data_set: DataSet) -> Iterator[Format]:
    """Yield the formats that the files may be in, or are detected to be in."""
    if "format" in data_set.values:
        yield from formats_named(data_set.values["format"])
        return
    excluded = Exclusion(data_set.values.get("exclude", ()))
    delimiter = data_set.values.get("delimiter")
    detected = detect_files(data_set.inputs(), delimiter, excluded)
    found = {one.format for one in islice(detected, _DETECTED) if one.format}
    for name in sorted(found):
        yield format_of(name)


def check_format(data_set: DataSet, needed: list[Asked], format_: Format) -> None:
    """Raise `PreflightError` if a `needed` key cannot be checked in a format."""
    if not format_.adapter:
        reason = (
            f"cannot be checked: {data_set.name} is {format_.id}, a document without "
            "records"
        )
        raise needed[0][1].error(reason)
    adapter = adapter_of(format_)
    mapped = _mapped_paths(data_set, format_)
    for key, stated in needed:
        for paths in BY_NAME[key].needs:
            if not any(adapter.carries(path) or path in mapped for path in paths):
                field = paths[0].removeprefix("outputs.")
                what = "no answers" if field == "text" else f"no {field}"
                reason = (
                    f"cannot be checked: {data_set.name} is {format_.id}, with {what}"
                )
                raise stated.error(reason)
        for name in data_set.values[key] if BY_NAME[key].of_fields else ():
            path = field_path(adapter, name)
            if path is None or not (adapter.carries(path) or path in mapped):
                names = [mapping.name for mapping in adapter.fields]
                hint = hint_on(name, names)
                reason = f"cannot be checked: {format_.id} has no {name}{hint}"
                raise stated.error(reason)


def field_path(adapter: FormatAdapter, name: str) -> str | None:
    """Return the path in records of the field called `name`, None if there is none.

    A table with any columns may have each that is no field.
    """
    if name.startswith(("extra.", "outputs.extra.")):
        return name
    found = find_field_path(name, adapter)
    if found is None and adapter.vendor == TABLES:
        return f"extra.{TABLES}.{name}"
    return found


def _mapped_paths(data_set: DataSet, format_: Format) -> frozenset[str]:
    """Return the paths in records of the fields that are mapped."""
    columns = data_set.values.get("map")
    if not columns:
        return frozenset()
    return frozenset(MappedKeys(columns, (format_,)).record_paths)


def _check_rules(data_set: DataSet, needed: str) -> None:
    """Raise `PreflightError` if rules are left out without which rows are not read."""
    rules = rules_for()
    active = _active(data_set)
    missing = [
        code
        for code, rule in rules.items()
        if code not in active
        and rule.severity is Severity.ERROR
        and code.startswith(_OF_ROWS)
        and not rule.lint
        and rule.command == "validate"
    ]
    if missing:
        key = "select" if "select" in data_set.values else "ignore"
        reason = f"leaves out {missing[0]}, without which records cannot be read for "
        raise data_set.stated(key).error(reason + needed)


def _check_findings(data_set: DataSet) -> None:
    """Raise `PreflightError` for a limit on findings of rules that are not checked."""
    active = _active(data_set)
    for name in data_set.values.get("max-findings", ()):
        rules = rules_for(asked=[name])
        asked = selected_rules(rules, [name], [])
        of_validate = {code for code in asked if rules[code].command == "validate"}
        if of_validate & active:
            continue
        hint = "select it"
        if not of_validate:
            hint = "it is no rule on the files themselves"
        elif any(rules[code].lint for code in of_validate):
            hint = "add lint = true"
        reason = f"cannot be checked: {name} is not checked; {hint}"
        raise data_set.stated("max-findings").error(reason)


def _check_vendors(data_set: DataSet, formats: list[Format]) -> None:
    """Raise `PreflightError` for a limit on findings of a vendor's rules only.

    Files in formats of other vendors never break them.
    """
    vendors = {format_.vendor for format_ in formats}
    for name in data_set.values.get("max-findings", ()) if vendors else ():
        rules = rules_for(asked=[name])
        asked = selected_rules(rules, [name], [])
        of = {_vendor_of(rules[code]) for code in asked}
        if "" not in of and not of & vendors:
            ids = ", ".join(sorted({format_.id for format_ in formats}))
            reason = (
                f"cannot be checked: {name} is of {min(of)}, and the format is {ids}"
            )
            raise data_set.stated("max-findings").error(reason)


def _vendor_of(rule: Rule) -> str:
    """Return the vendor that a rule is about, "" for one on any files."""
    known = all_formats().get(str(rule.validated_as))
    if known is None or rule.code.startswith(_GENERAL):
        return ""
    return known.vendor


def _active(data_set: DataSet) -> frozenset[str]:
    """Return the codes of the rules that are checked in a data set."""
    values = data_set.values
    select, ignore = list(values.get("select", ())), list(values.get("ignore", ()))
    rules = rules_for(asked=[*select, *ignore])
    return selected_rules(rules, select, ignore, lint=values.get("lint", False))
