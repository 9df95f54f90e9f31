"""Select the lints of a dialect by the rules of a run."""

from collections.abc import Collection

from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.model.lint import Lints
from harpia_formats.registry import adapter_of, dialect_lints
from harpia_formats.rules.hub_lints import hub_lints


def selected_lints(
    variant: FormatVariant | None, codes: Collection[str]
) -> Lints | None:
    """Return the lints for rows of a variant that the rules `codes` need, or None."""
    if variant is None:
        found = [hub_lints(None, None, None)]
    else:
        format_, dialect = variant.format, variant.dialect
        adapter = adapter_of(format_) if format_.adapter else None
        own = dialect_lints(dialect)
        found = [own, hub_lints(format_, dialect, adapter, without=own.covers)]
    rows = tuple(
        lint
        for lints in found
        for lint in lints.rows
        if not set(codes).isdisjoint(lint.codes)
    )
    across = tuple(
        rule for lints in found for rule in lints.across if rule.code in codes
    )
    return Lints(rows, across) if rows or across else None
