"""The lints that the hub makes of rows in any format."""

from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.format import Container, Dialect, Format
from harpia_formats.model.lint import Lints, RowLint
from harpia_formats.rules.across import ID_KIND
from harpia_formats.rules.doubtful_text_lints import TEXT_LINTS
from harpia_formats.rules.formula_cells import FORMULA_LINT
from harpia_formats.rules.id_kinds import id_kind_lint
from harpia_formats.rules.look_alikes import id_lints
from harpia_formats.rules.near_duplicates import near_duplicate_lints
from harpia_formats.rules.sample_lints import sample_lints


def hub_lints(
    format_: Format | None,
    dialect: Dialect | None,
    adapter: FormatAdapter | None,
    without: frozenset[str] = frozenset(),
) -> Lints:
    """Return the lints of rows in a dialect of a format, but for the rules `without`.

    Without an adapter the rows are no records, and without a format they are validated
    by the user's schema.
    """
    if format_ is None or dialect is None:
        return Lints(TEXT_LINTS)
    across = id_lints(format_)
    if format_.id_key and ID_KIND not in without:
        across += (id_kind_lint(ID_KIND, format_.id_key),)
    rows: tuple[RowLint, ...] = TEXT_LINTS
    if dialect.container is Container.TABLE:
        rows += (FORMULA_LINT,)
    if adapter is not None:
        rows += sample_lints(adapter, dialect.name, without)
        normalize = adapter.dialect_normalizers.get(dialect.name)
        across += near_duplicate_lints(adapter, normalize)
    return Lints(rows, across)
