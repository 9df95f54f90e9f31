"""The format record: one evaluated sample with all of its outputs."""

from collections.abc import Mapping
from typing import Any

from harpia_formats.model.format import Dialect, Format

RECORD = "record"

#: Keys of which a record has at least one beside its outputs.
_other_keys = ("prompt", "messages", "references", "header")
#: Keys of an output, of which a record without these has at least one.
_answer_keys = ("text", "scores")
#: Keys by which an EvalEval row is detected.
_eee_keys = {"interaction_type", "answer_attribution"}


def sign_of(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a record, or ""."""
    outputs = row.get("outputs")
    if not isinstance(outputs, list) or row.keys() >= _eee_keys:
        return ""
    if outputs and not any(isinstance(output, Mapping) for output in outputs):
        return ""
    beside = next((key for key in _other_keys if key in row), "")
    beside = beside or _beside_answers(row, outputs)
    return f"`outputs` and `{beside}`" if beside else ""


def _beside_answers(row: Mapping[str, Any], outputs: list[Any]) -> str:
    """Return the key by which a row that asks nothing is a record, or ""."""
    if isinstance(row.get("extra"), Mapping):
        return "extra"
    has_answer = any(
        isinstance(output, Mapping) and any(key in output for key in _answer_keys)
        for output in outputs
    )
    return "id" if has_answer and "id" in row else ""


FORMAT = Format(
    id=RECORD,
    title="One evaluated sample with all of its outputs",
    vendor="any",
    adapter="harpia_converters.hub.mapping:RECORD",
    results="harpia_converters.hub.results_writer:RESULTS",
    dialects=(Dialect(RECORD, sign_of, one_of=frozenset({"outputs"})),),
    id_key="id",
    ids_repeat=True,
)
