"""The lints of rows of questions and answers (N111-N114)."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from harpia_formats.formats.rules.across import NEAR_DUPLICATE
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import (
    AcrossRows,
    Agreement,
    Disagreement,
    Lints,
    RowLint,
    SameMistake,
)
from harpia_formats.model.problem import Path
from harpia_formats.model.text.describe import short_json

REPEATED_QUESTION, OTHER_MODEL, LIST_AS_TEXT, CATEGORY = "N111", "N112", "N113", "N114"

#: A list of texts, as JSON or Python writes it.
_list_text = re.compile(r"""\s*\[\s*(["']).*\1\s*\]\s*""", re.DOTALL)


def _list_remarks(path: Path) -> Callable[[Any], Iterator[Remark]]:
    """Return what yields a remark if the text at `path` is a list of texts."""

    def remarks(row: Any) -> Iterator[Remark]:
        value = row
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, str) and _list_text.fullmatch(value):
            yield Remark(
                LIST_AS_TEXT,
                path,
                f"the ideal response is a list as text: {short_json(value)}",
                "give one text; NeMo compares the answer with it as it is",
            )

    return remarks


def _is_plain(path: Path) -> Callable[[Any], bool]:
    """Return what tells whether a typed row has no list as text at `path`."""
    keys = [str(key) for key in path]

    def is_clean(row: Any) -> bool:
        value = row
        for key in keys:
            value = getattr(value, key)
        return type(value) is str and not value.lstrip().startswith("[")

    return is_clean


def _bare(value: Any) -> str | None:
    """Return a category without case and spaces around it; None for an empty one."""
    return value.casefold().strip() or None if isinstance(value, str) else None


def _as_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _repeated(found: Disagreement) -> str:
    return f"{found.owner} has the same question and ideal response"


def _other_model(found: Disagreement) -> str:
    return (
        f"the answer is of {short_json(found.value)}, but that of {found.owner} of "
        f"{short_json(found.earlier)}"
    )


def _other_spelling(found: Disagreement) -> str:
    return (
        f"the category is {short_json(found.value)}, but {found.owner} has "
        f"{short_json(found.earlier)}"
    )


def _lints(
    prompt: Path, reference: Path, category: Path | None = None, model: Path = ()
) -> Lints:
    """Return the lints of rows that have a question, and a model, at these paths."""
    identity = (prompt, reference, *([model] if model else ()))
    across = [
        AcrossRows(
            REPEATED_QUESTION,
            Agreement.UNIQUE,
            identity,
            _repeated,
            "remove one of them: NeMo finds the answer to a question by its content",
        )
    ]
    if category:
        across.append(
            AcrossRows(
                CATEGORY,
                Agreement.BY_KEY,
                (category,),
                _other_spelling,
                "spell a category in one way",
                key=(category,),
                value_text=_as_text,
                key_text=_bare,
            )
        )
    if model:
        across.append(
            AcrossRows(
                OTHER_MODEL,
                Agreement.ONE_VALUE,
                (model,),
                _other_model,
                "give each model a file of its own",
            )
        )
    row = RowLint(
        (LIST_AS_TEXT,), _list_remarks(reference), is_clean=_is_plain(reference)
    )
    same = (SameMistake(REPEATED_QUESTION, NEAR_DUPLICATE),)
    return Lints((row,), tuple(across), same=same)


INPUT = _lints(("prompt",), ("ideal_response",), ("category",))
OUTPUT = _lints(
    ("input", "prompt"),
    ("input", "ideal_response"),
    ("input", "category"),
    ("llm_name",),
)
FLAT = _lints(("prompt",), ("ideal_response",), ("category",))
REFERENCE = _lints(("input",), ("reference",))
