"""Select the lints of a dialect by the rules of a run."""

from collections.abc import Collection

from harpia_formats.detection.candidates import FormatVariant
from harpia_formats.model.lint import Lints
from harpia_formats.registry import dialect_lints


def selected_lints(
    variant: FormatVariant | None, codes: Collection[str]
) -> Lints | None:
    """Return the lints for rows of a variant that the rules `codes` need, or None."""
    found = Lints() if variant is None else dialect_lints(variant.dialect)
    rows = tuple(lint for lint in found.rows if not set(codes).isdisjoint(lint.codes))
    across = tuple(rule for rule in found.across if rule.code in codes)
    return Lints(rows, across) if rows or across else None
