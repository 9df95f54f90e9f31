"""nemo-output: what a model answered, as in an output.json and in two flat forms."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.nemo.row_checks import (
    FAMILY,
    QUESTION,
    VENDOR,
    sign_of,
    undocumented,
    without_category,
)
from harpia_formats.model.format import Dialect, Format, Remark

NO_MODEL_NAME = "N103"

_nested_keys = frozenset({"input", "response", "llm_name"})
_flat_keys = QUESTION | {"actual_response"}
_reference_keys = frozenset({"input", "reference", "output"})


def sniff(row: Mapping[str, Any]) -> str:
    """Return the sign that `row` is an answer around its question, or ""."""
    question = row.get("input")
    if not isinstance(question, Mapping):
        return sign_of(row, "response", "llm_name")
    signs = [sign_of(row, "input", key) for key in ("response", "llm_name")]
    if sign_of(row, "input"):
        inside = (key for key in ("prompt", "ideal_response") if key in question)
        signs += [f"`input.{key}`" for key in inside]
    return next(filter(None, signs), "")


def sniff_flat(row: Mapping[str, Any]) -> str:
    """Return the sign that `row` is an answer beside its question, or ""."""
    if sniff(row):
        return ""
    signs = (
        sign_of(row, key, "actual_response") for key in ("prompt", "ideal_response")
    )
    return next(filter(None, signs), "")


def sniff_reference(row: Mapping[str, Any]) -> str:
    """Return the sign that `row` is input, reference and output as text, or ""."""
    if isinstance(row.get("input"), Mapping) or sniff(row) or sniff_flat(row):
        return ""
    return sign_of(row, "input", "reference", "output")


def remarks(row: Any) -> Iterator[Remark]:
    """Yield what is tolerated in an answer around its question."""
    if not isinstance(row, Mapping):
        return
    question = row.get("input")
    if isinstance(question, Mapping):
        yield from without_category(question, ("input",))
        yield from undocumented(question, QUESTION, ("input",))
    yield from undocumented(row, _nested_keys)
    if row.get("llm_name") == "":
        yield Remark(
            NO_MODEL_NAME,
            ("llm_name",),
            "llm_name is empty, so nobody knows which model answered",
            'name the model, or write "offline" as NVIDIA does where there was none',
        )


def remarks_flat(row: Any) -> Iterator[Remark]:
    """Yield what is tolerated in an answer beside its question."""
    if isinstance(row, Mapping):
        yield from without_category(row)
        yield from undocumented(row, _flat_keys)


def remarks_reference(row: Any) -> Iterator[Remark]:
    """Yield what is tolerated beside input, reference and output."""
    if isinstance(row, Mapping):
        yield from undocumented(row, _reference_keys)


FORMAT = Format(
    id="nemo-output",
    title="Questions with what a model answered (output.json)",
    vendor=VENDOR,
    family=FAMILY,
    adapter="harpia_converters.nemo.mapping:OUTPUT",
    dialects=(
        Dialect("nemo-output", sniff, strict="nemo-output-strict", remarks=remarks),
        Dialect(
            "nemo-output-flat",
            sniff_flat,
            "flat",
            strict="nemo-output-flat-strict",
            remarks=remarks_flat,
            documented=False,
        ),
        # NVIDIA's page shows it once, but its tables ask for another form.
        Dialect(
            "nemo-output-reference",
            sniff_reference,
            "reference",
            strict="nemo-output-reference-strict",
            remarks=remarks_reference,
            documented=False,
        ),
    ),
)
