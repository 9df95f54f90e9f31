"""The format judge-verdicts: what our LLM judge writes, read as scores of answers."""

from collections.abc import Mapping
from typing import Any

from harpia_formats.model.format import Container, Dialect, Format

VERDICTS = "judge-verdicts"

#: Keys that no other format has, beside the result of a verdict.
_keys = frozenset({"attempts", "cached"})


def sign_of(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is the verdict of a judge, or ""."""
    is_verdict = "result" in row and row.keys() >= _keys
    return "`result`, `attempts` and `cached`" if is_verdict else ""


def columns_sign(document: Mapping[str, Any]) -> str:
    """Return by which keys `document` has the verdicts of a judge, or ""."""
    metas = document.get("meta")
    if not isinstance(document.get("results"), list) or not isinstance(metas, list):
        return ""
    first = metas[0] if metas else None
    is_verdict = isinstance(first, Mapping) and first.keys() >= _keys
    return "`results`, and `attempts` and `cached` in `meta`" if is_verdict else ""


FORMAT = Format(
    id=VERDICTS,
    title="The verdicts of an LLM judge: `harpia-formats judge`",
    vendor="any",
    adapter="harpia_converters.hub.verdicts_mapping:VERDICTS",
    dialects=(
        Dialect(VERDICTS, sign_of, one_of=_keys),
        Dialect(
            "judge-verdicts-columns",
            columns_sign,
            "columns",
            container=Container.COLUMNS,
            one_of=frozenset({"results"}),
        ),
    ),
    id_key="record_id",
    ids_repeat=True,
    read_only=True,
)
