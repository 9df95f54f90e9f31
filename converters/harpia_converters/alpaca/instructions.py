"""The format alpaca: instructions with an input and the expected output."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.model.format import Dialect, Format, Remark, UnreadFiles

INPUT_ALONE, NO_INPUT = "G201", "G202"

#: Keys under which sets for KTO tell whether the output is good.
_verdict_keys = ("label", "kto_tag")
#: Words for an absent input; Stanford's generator leaves out the first one.
_placeholders = frozenset({"<noinput>", "noinput", "no input"})


def sniff(row: Mapping[str, Any]) -> str:
    """Return the sign that `row` is an instruction with its output, or ""."""
    return "" if _verdict(row) else _sign(row)


def verdict_sign(row: Mapping[str, Any]) -> str:
    """Return by which key an instruction has a verdict for KTO, or ""."""
    return _sign(row) and _verdict(row)


def choice_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys an instruction has two outputs for DPO, or ""."""
    is_choice = _is_text(row, "instruction") and "chosen" in row and "rejected" in row
    return "`chosen` and `rejected`" if is_choice else ""


def _sign(row: Mapping[str, Any]) -> str:
    is_pair = _is_text(row, "instruction") and _is_text(row, "output")
    return "`instruction` and `output`" if is_pair else ""


def _verdict(row: Mapping[str, Any]) -> str:
    found = (key for key in _verdict_keys if isinstance(row.get(key), bool))
    return next((f"`{key}`" for key in found), "")


def _is_text(row: Mapping[str, Any], key: str) -> bool:
    return isinstance(row.get(key), str)


def remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the instruction and the input of `row` (G201, G202)."""
    given = row.get("input") if isinstance(row, Mapping) else None
    if not isinstance(given, str) or not given.strip():
        return
    instruction = row.get("instruction")
    if isinstance(instruction, str) and not instruction.strip():
        yield Remark(
            INPUT_ALONE,
            ("instruction",),
            "the instruction is empty, and the input is not",
            "write what is to be done with the input, or move the input here",
        )
    if given.strip().casefold() in _placeholders:
        yield Remark(
            NO_INPUT,
            ("input",),
            "the input says that there is none, and becomes a part of the prompt",
            'write "" if there is no input',
        )


UNREAD = (
    UnreadFiles("instructions with verdicts for KTO", verdict_sign),
    UnreadFiles("instructions with two outputs for DPO", choice_sign),
)
FORMAT = Format(
    id="alpaca",
    title="Instructions with an input and the expected output",
    vendor="Alpaca",
    adapter="harpia_converters.alpaca.mapping:ALPACA",
    read_only=True,
    dialects=(
        Dialect(
            "alpaca",
            sniff,
            remarks=remarks,
            lints="harpia_converters.alpaca.lints:LINTS",
            one_of=frozenset({"instruction"}),
        ),
    ),
)
