"""The lints of RAGAS's samples: one kind of sample in a file (D11)."""

from typing import Any

from harpia_formats.model.lint import AcrossRows, Agreement, Disagreement, Lints

MIXED_KINDS = "D111"


def _kind(value: Any) -> str | None:
    """Return what `user_input` is, in words; None if it is neither of the two."""
    if isinstance(value, str):
        return "a single question"
    return "a conversation" if isinstance(value, list) else None


def _message(found: Disagreement) -> str:
    return f"this sample is {found.value}, but {found.owner} is {found.earlier}"


RAGAS = Lints(
    across=(
        AcrossRows(
            MIXED_KINDS,
            Agreement.ONE_VALUE,
            (("user_input",),),
            _message,
            "put single questions and conversations into files of their own",
            value_text=_kind,
            takes_typed=True,
        ),
    )
)
