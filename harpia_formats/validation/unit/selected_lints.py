"""Select the lints of a dialect by the rules of a run."""

from collections.abc import Mapping
from dataclasses import replace

from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of, dialect_lints
from harpia_formats.formats.rules import Rule
from harpia_formats.formats.rules.hub_lints import hub_lints
from harpia_formats.model.adapter import FieldMapping, FormatAdapter
from harpia_formats.model.column_map import record_path
from harpia_formats.model.format import Container
from harpia_formats.model.lint import Lints, SameMistake
from harpia_formats.model.problem import Severity
from harpia_formats.model.value_path import parse_value_path

#: The severities, the most severe first.
_order = (Severity.ERROR, Severity.WARNING, Severity.NOTE)


def selected_lints(
    variant: FormatVariant | None,
    rules: Mapping[str, Rule],
    columns: Mapping[str, str] | None = None,
) -> Lints | None:
    """Return the lints for rows of a variant that `rules`, by code, need, or None.

    Of two rules that one mistake breaks, the first one is the one that is reported.
    `columns` has the column or key of each field that the user mapped.
    """
    if variant is None:
        found = [hub_lints(None, None, None)]
    else:
        format_, dialect = variant.format, variant.dialect
        adapter = adapter_of(format_) if format_.adapter else None
        if adapter is not None and columns:
            adapter = _mapped_adapter(adapter, variant, columns)
        own = dialect_lints(dialect)
        found = [own, hub_lints(format_, dialect, adapter, without=own.covers)]
    codes = rules.keys()
    rows = tuple(
        lint
        for lints in found
        for lint in lints.rows
        if not codes.isdisjoint(lint.codes)
    )
    across = tuple(
        rule for lints in found for rule in lints.across if rule.code in codes
    )
    files = tuple(lint for lints in found for lint in lints.files if lint.code in codes)
    if not (rows or across or files):
        return None
    return Lints(
        rows,
        across,
        files,
        decisions=tuple(
            each
            for lints in found
            for each in lints.decisions
            if {each.code, each.with_rule or each.code} <= codes
        ),
        same=tuple(
            _more_severe_first(each, rules)
            for lints in found
            for each in lints.same
            if {each.first, each.second} <= codes
        ),
    )


def _more_severe_first(same: SameMistake, rules: Mapping[str, Rule]) -> SameMistake:
    first, second = same.first, same.second
    if _order.index(rules[first].severity) <= _order.index(rules[second].severity):
        return same
    return SameMistake(second, first, lambda two, one, row: same.is_one(one, two, row))


def _mapped_adapter(
    adapter: FormatAdapter, variant: FormatVariant, columns: Mapping[str, str]
) -> FormatAdapter:
    """Return `adapter` with the mapped fields at their places in rows of a variant.

    Rows of a particular format in a dialect that is normalised are checked without the
    map, and so is a field of which only an item is mapped.
    """
    format_, dialect = variant.format, variant.dialect
    fields = adapter.fields
    if dialect.name in adapter.dialect_normalizers:
        if not format_.general:
            return adapter
        fields = ()
    from harpia_formats.model.adapter import COLUMN_FIELDS  # noqa: PLC0415 - only for a map

    known = {field.record_path: field for field in COLUMN_FIELDS}
    known |= {field.record_path: field for field in fields}
    fields = fields or tuple(known.values())
    mapped: list[FieldMapping] = []
    for name, column in columns.items():
        path, field = parse_value_path(column), known[record_path(name)]
        if dialect.container is Container.TABLE:
            mapped.append(replace(field, path=(column,)))
        elif path.selector is None:
            mapped.append(replace(field, path=path.keys))
    paths = set(map(record_path, columns))
    others = (field for field in fields if field.record_path not in paths)
    return replace(adapter, fields=(*others, *mapped), dialect_normalizers={})
