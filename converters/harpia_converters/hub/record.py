"""record: one evaluated sample with all of its outputs, as the hub holds it."""

from collections.abc import Mapping
from typing import Any

from harpia_formats.model.format import Dialect, Format

RECORD = "record"

#: Keys of which a record has at least one beside its outputs.
_company = ("prompt", "messages", "references", "header")
#: Keys that together are an EvalEval row's.
_others = {"interaction_type", "answer_attribution"}


def sign_of(row: Mapping[str, Any]) -> str:
    """Return the sign that `row` is a record of the hub, or ""."""
    if not isinstance(row.get("outputs"), list) or row.keys() >= _others:
        return ""
    beside = next((key for key in _company if key in row), "")
    return f"`outputs` and `{beside}`" if beside else ""


FORMAT = Format(
    id=RECORD,
    title="One evaluated sample with all of its outputs, as the hub holds it",
    vendor="any",
    adapter="harpia_converters.hub.mapping:RECORD",
    results="harpia_converters.hub.results_writer:RESULTS",
    dialects=(Dialect(RECORD, sign_of),),
    id_key="id",
    ids_repeat=True,
)
