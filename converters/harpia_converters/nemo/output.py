"""The format nemo-output: answers to questions, as in output.json or flat."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.nemo.detection import FAMILY, VENDOR, sign_of
from harpia_converters.nemo.row_checks import (
    QUESTION_KEYS,
    category_remarks,
    key_remarks,
)
from harpia_formats.model.format import Dialect, Format, Remark

NO_MODEL_NAME = "N103"

#: The least keys of an answer and its question by which it is detected: tools that
#: have nothing to do with evaluation write `input.prompt`, and `input` and `response`.
_fewest = 2
_nested_keys = frozenset({"input", "response", "llm_name"})
_flat_keys = QUESTION_KEYS | {"actual_response"}
_reference_keys = frozenset({"input", "reference", "output"})


def sniff(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is an answer with its question in `input`, or ""."""
    question = row.get("input")
    if not isinstance(question, Mapping):
        return sign_of(row, "response", "llm_name")
    answer = [key for key in ("response", "llm_name") if key in row]
    inside = [key for key in ("prompt", "ideal_response") if key in question]
    if len(answer) + len(inside) < _fewest or not sign_of(row, "input"):
        return ""
    return f"`input` and `{answer[0]}`" if answer else f"`input.{inside[-1]}`"


def sniff_flat(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is an answer beside its question, or ""."""
    if sniff(row):
        return ""
    signs = (
        sign_of(row, key, "actual_response") for key in ("prompt", "ideal_response")
    )
    return next(filter(None, signs), "")


def sniff_reference(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is an input, a reference and an output, or ""."""
    if isinstance(row.get("input"), Mapping) or sniff(row) or sniff_flat(row):
        return ""
    return sign_of(row, "input", "reference", "output")


def remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on an answer with its question in `input` (N101-N103)."""
    if not isinstance(row, Mapping):
        return
    question = row.get("input")
    if isinstance(question, Mapping):
        yield from category_remarks(question, ("input",))
        yield from key_remarks(question, QUESTION_KEYS, ("input",))
    yield from key_remarks(row, _nested_keys)
    if row.get("llm_name") == "":
        yield Remark(
            NO_MODEL_NAME,
            ("llm_name",),
            "llm_name is empty, so the model that answered is not known",
            'give the name of the model, or "offline" as NVIDIA does without a model',
        )


def remarks_flat(row: Any) -> Iterator[Remark]:
    """Yield remarks on an answer beside the keys of its question (N101, N102)."""
    if isinstance(row, Mapping):
        yield from category_remarks(row)
        yield from key_remarks(row, _flat_keys)


def remarks_reference(row: Any) -> Iterator[Remark]:
    """Yield remarks on keys beside input, reference and output (N102)."""
    if isinstance(row, Mapping):
        yield from key_remarks(row, _reference_keys)


FORMAT = Format(
    id="nemo-output",
    title="Questions with what a model answered (output.json)",
    vendor=VENDOR,
    family=FAMILY,
    adapter="harpia_converters.nemo.mapping:OUTPUT",
    dialects=(
        Dialect(
            "nemo-output",
            sniff,
            strict="nemo-output-strict",
            remarks=remarks,
            lints="harpia_converters.nemo.row_lints:OUTPUT",
            one_of=frozenset({"input", "llm_name"}),
        ),
        Dialect(
            "nemo-output-flat",
            sniff_flat,
            "flat",
            strict="nemo-output-flat-strict",
            remarks=remarks_flat,
            lints="harpia_converters.nemo.row_lints:FLAT",
            documented=False,
            one_of=frozenset({"actual_response"}),
        ),
        # NVIDIA's page shows it once, but its tables describe other keys.
        Dialect(
            "nemo-output-reference",
            sniff_reference,
            "reference",
            strict="nemo-output-reference-strict",
            remarks=remarks_reference,
            lints="harpia_converters.nemo.row_lints:REFERENCE",
            documented=False,
            one_of=frozenset({"reference"}),
        ),
    ),
)
