"""Lints of rows of `nemo-output`, under the codes of rules that exist.

What the lints of formats are looked for by is tested with these, which are few, and of
which each kind of agreement between rows has one.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pytest

from harpia_formats.model.lint import (
    AcrossRows,
    Agreement,
    Disagreement,
    FileLint,
    FileRemark,
    Lints,
    RowLint,
)
from harpia_formats.plugins import Remark
from harpia_formats.validation.merge import across_rows
from harpia_formats.validation.unit import selected_lints

#: The codes of `LINTS`.
CODES = ("N103", "E301", "E303", "E304", "E305")


def message_of(found: Disagreement) -> str:
    """Say which value is unlike which earlier one."""
    return f"{found.value} after {found.earlier} in {found.owner}"


def across(code: str, agreement: Agreement, **given: Any) -> AcrossRows:
    """Return a rule across rows with the message of this module."""
    return AcrossRows(code, agreement, message=message_of, **given)


def empty_answer(row: Any) -> Iterator[Remark]:
    """Remark on a row without an answer."""
    if type(row) is dict and not row.get("response"):
        yield Remark("N103", ("response",), "there is no answer")


#: Lints under the codes of rules that exist, and of which no other is selected.
LINTS = Lints(
    (
        RowLint(
            ("N103",),
            empty_answer,
            is_clean=lambda row: bool(row.response),
            takes_refused=True,
        ),
    ),
    (
        across("E301", Agreement.ONE_VALUE, value=(("llm_name",),)),
        across(
            "E304", Agreement.BY_KEY, key=(("input", "prompt"),), value=(("response",),)
        ),
        across("E305", Agreement.UNIQUE, value=(("input", "source"),)),
        across("E303", Agreement.ONE_TYPE, value=(("extra",),)),
    ),
)


def fail_at_one(row: Any) -> Iterator[Remark]:
    """Fail at one answer, and find nothing in others."""
    if row["response"] == "answer 1":
        raise KeyError("lost")
    yield from ()


#: A lint that fails at the row with the answer "answer 1".
FAILING = Lints((RowLint(("N103",), fail_at_one),))
#: Rows whose source is "" are not compared by it.
SOURCES = Lints(
    (),
    (
        across(
            "E305",
            Agreement.UNIQUE,
            value=(("input", "source"),),
            value_text=lambda source: source or None,
            concerns_none=lambda columns: not any(columns[0]),
        ),
    ),
)

#: Rows whose value at "extra" is not that of the first row.
EXTRAS = Lints((), (across("E301", Agreement.ONE_VALUE, value=(("extra",),)),))
#: Rows of mt-bench-answers with the same time.
TIMES = Lints((), (across("E305", Agreement.UNIQUE, value=(("tstamp",),)),))
#: Rows with sources that differ in case only are equal.
LOOSE = Lints(
    (),
    (
        across(
            "E305",
            Agreement.UNIQUE,
            value=(("input", "source"),),
            prepare=lambda source: source.lower() if type(source) is str else source,
        ),
    ),
)


def seldom_named(counts: Mapping[str, int], _: Any) -> Iterator[FileRemark]:
    """Remark on each model that has one answer of a file."""
    for name in (name for name, count in counts.items() if count == 1):
        remark = Remark("N103", ("llm_name",), f"one answer is of {name}")
        yield FileRemark(remark, partial(is_named, name))


def is_named(name: str, row: Any) -> bool:
    """Tell whether a row is the answer of a model."""
    return bool(row["llm_name"] == name)


#: Files with one answer of a model.
SELDOM = Lints(
    files=(
        FileLint(
            "N103", (("llm_name",),), lambda columns: Counter(columns[0]), seldom_named
        ),
    )
)


def use_lints(patch: pytest.MonkeyPatch, lints: Lints = LINTS) -> None:
    """Have the rows of each format looked at with these lints, and no others."""
    patch.setattr(selected_lints, "dialect_lints", lambda _: lints)


def remember(patch: pytest.MonkeyPatch, count: int) -> None:
    """Have so many keys of rows remembered by name, and the others by digests."""
    patch.setattr(across_rows, "NAMED", count)
