"""The lints that the hub makes of rows in any format."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from harpia_formats.formats.rules.cross_record_lints import (
    id_kind_lint,
    id_lints,
    other_reference_lints,
)
from harpia_formats.formats.rules.damaged_values import DAMAGE_LINTS, no_value_lint
from harpia_formats.formats.rules.doubtful_text_lints import (
    FORMULA_LINT,
    MISREAD_LINT,
    TEXT_LINTS,
)
from harpia_formats.formats.rules.json_rules import INVISIBLE
from harpia_formats.formats.rules.near_duplicates import near_duplicate_lints
from harpia_formats.formats.rules.sample_lints import LEAK_DECISION, sample_lints
from harpia_formats.formats.rules.sample_rules import ID_KIND, LOOK_ALIKE_ID
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.format import Container, Dialect, Format, Remark, Remarks
from harpia_formats.model.lint import CaseDecision, Lints, RowLint, SameMistake
from harpia_formats.model.problem import Path

#: The lints of damaged texts in any row.
_damages = (*DAMAGE_LINTS, MISREAD_LINT)


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
        return Lints((*TEXT_LINTS, *_damages, no_value_lint()))
    across = id_lints(format_)
    integers, texts = TEXT_LINTS
    if format_.id_key and ID_KIND not in without:
        across += (id_kind_lint(ID_KIND, format_.id_key),)
    if format_.id_key:
        of_ids = partial(_with_case_of_ids, texts.remarks, (format_.id_key,))
        texts = replace(texts, remarks=of_ids)
    rows: tuple[RowLint, ...] = (integers, texts, *_damages)
    if adapter is None:
        rows += (no_value_lint(),)
    if dialect.container is Container.TABLE:
        rows += (FORMULA_LINT,)
    if adapter is not None:
        rows += sample_lints(adapter, dialect.name, without)
        normalize = adapter.dialect_normalizers.get(dialect.name)
        across += near_duplicate_lints(adapter, normalize)
        across += other_reference_lints(adapter, normalize)
    return Lints(
        rows,
        across,
        decisions=(LEAK_DECISION, _ID_DECISION),
        same=(SameMistake(INVISIBLE, LOOK_ALIKE_ID),),
    )


def _with_case_of_ids(remarks: Remarks, path: Path, row: Any) -> Iterator[Remark]:
    """Yield `remarks` on a row, and a case with those on characters of its id."""
    for each in remarks(row):
        is_of_id = each.code == INVISIBLE and each.path == path
        yield replace(each, case=_OF_ID) if is_of_id else each


_OF_ID = "id"
#: Characters that nobody sees in an id may make it look like another one.
_ID_DECISION = CaseDecision(
    INVISIBLE, (_OF_ID,), lambda *_: (_OF_ID,), with_rule=LOOK_ALIKE_ID
)
