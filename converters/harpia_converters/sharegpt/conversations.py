"""The format sharegpt: conversations as lists of turns with `from` and `value`."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_formats.model.format import Dialect, Format, Remark, UnreadFiles

_turn_keys = frozenset({"from", "value"})
#: Keys under which sets for KTO tell whether the last answer is good.
_verdict_keys = ("label", "kto_tag")


def sniff(row: Mapping[str, Any]) -> str:
    """Return the sign that `row` is a conversation of turns, or ""."""
    return "" if _verdict(row) else _sign(row)


def verdict_sign(row: Mapping[str, Any]) -> str:
    """Return by which key a conversation has a verdict for KTO, or ""."""
    return _sign(row) and _verdict(row)


def remarks(row: Any) -> Iterator[Remark]:
    """Return remarks on the turns and on the tools of `row` (G101-G103)."""
    from harpia_converters.sharegpt.turn_checks import turn_remarks  # noqa: PLC0415 - most runs read no such row

    return turn_remarks(row)


def _sign(row: Mapping[str, Any]) -> str:
    turns = row.get("conversations")
    has_turns = isinstance(turns, list) and any(
        isinstance(turn, Mapping) and turn.keys() >= _turn_keys for turn in turns
    )
    return "`from` and `value` in `conversations`" if has_turns else ""


def _verdict(row: Mapping[str, Any]) -> str:
    found = (key for key in _verdict_keys if isinstance(row.get(key), bool))
    return next((f"`{key}`" for key in found), "")


UNREAD = (UnreadFiles("conversations with verdicts for KTO", verdict_sign),)
FORMAT = Format(
    id="sharegpt",
    title="Conversations of a person and a model, turn by turn",
    vendor="ShareGPT",
    adapter="harpia_converters.sharegpt.mapping:SHAREGPT",
    id_key="id",
    ids_repeat=True,
    read_only=True,
    dialects=(
        Dialect(
            "sharegpt",
            sniff,
            remarks=remarks,
            lints="harpia_converters.sharegpt.lints:SHAREGPT",
            one_of=frozenset({"conversations"}),
        ),
    ),
)
