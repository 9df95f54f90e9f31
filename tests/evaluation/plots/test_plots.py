"""Bars and intervals in cells: where marks are, and that labels stay text."""

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.evaluation.plots import (
    EMBEDDED_STYLE,
    STYLE,
    Axis,
    Interval,
    axis_of,
    bar,
    interval_table,
)

#: All text that XML can hold, which is the parser of these tests.
_text = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff")
)


def _parts(drawn: str) -> list[tuple[str, int]]:
    """Return the looks of the parts of an axis, each with where it starts."""
    found, place = [], 0
    for part in ET.fromstring(drawn):  # noqa: S314 - our own text
        digits = re.findall(r"\b[tu](\d+)", part.attrib["class"])
        found.append((re.sub(r"\b[tu]\d+ ?", "", part.attrib["class"]), place))
        place += int(digits[0]) * 10 + int(digits[1]) if digits else 0
    return found


@for_each_case(
    "share, classes",
    [(0, "t0 u0"), (1e-9, "t0 u1"), (0.25, "t2 u5"), (1, "t10 u0"), (7, "t10 u0")],
)
def test_a_bar_is_as_wide_as_its_share(share: float, classes: str) -> None:
    """A share above 0 can be seen, and its look is that of its kind."""
    assert bar(share, "note") == (f'<i class="plot"><i class="{classes} note"></i></i>')


def test_every_width_has_a_class() -> None:
    """The style has all digits, on a page of its own and in a notebook."""
    for share in range(101):
        ten, unit = re.findall(r"\b[tu]\d+", bar(share / 100))
        for style in (STYLE, EMBEDDED_STYLE):
            assert f".{ten}{{" in style
            assert f".{unit}{{" in style


def test_a_dot_is_at_the_number_and_a_line_over_the_interval() -> None:
    """Differences have a line at 0, and hollow dots look otherwise."""
    axis = Axis(-1.0, 1.0, has_zero=True)
    row = Interval(0.5, 0.2, 0.8)

    assert _parts(axis.drawn(row)) == [
        *(("", 0), ("zero", 50), ("", 50), ("reach", 60), ("dot", 75), ("reach", 75))
    ]
    hollow = Interval(0.0, -1.0, 0.4, is_hollow=True)
    assert _parts(axis.drawn(hollow)) == [
        *(("reach", 0), ("zero", 50), ("dot hollow", 50), ("reach", 50))
    ]


def test_an_axis_has_the_whole_scale_or_little_more_than_its_rows() -> None:
    """That of differences holds 0; rows alike have an axis, too."""
    row = Interval(2.0, 1.0, 3.0)

    assert axis_of([row], (0, 100)) == Axis(0, 100)
    assert axis_of([Interval(1.5)], (0, 1)) == Axis(0, 1.5)
    with_zero = axis_of([row], zero=True)
    assert with_zero.low < 0
    assert 3 < with_zero.high < 3.2
    assert axis_of([Interval(2.0)]) == Axis(1.8, 2.2)
    assert axis_of([]) == Axis(-1.0, 1.0)


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), -1.7e308])
def test_a_number_that_no_axis_can_have_is_not_drawn(value: float | None) -> None:
    """It does not move the other rows, and is in the text."""
    rows = [Interval(value, value, 1.7e308), Interval(1.0, 0.5, value)]

    assert axis_of(rows) == axis_of([Interval(1.0, 0.5)])
    assert axis_of(rows).drawn(rows[0]) == ""
    text = "none" if value is None else f"{value:.4f}"[:100]
    assert f"<td>{text}" in interval_table("D", rows)


def test_of_many_rows_the_first_are_shown() -> None:
    """How many more there are is reported."""
    rows = [Interval(at, label=f"row {at}") for at in range(50)]
    table = interval_table("D", rows, meaning="Hollow dots are parts.")

    assert table.count("<tr>") == 41
    assert "and 10 more" in table
    assert "<small>Hollow dots are parts.</small>" in table


@given(_text, st.floats(-1e9, 1e9), st.floats(0, 1e6))
def test_any_label_stays_text(label: str, value: float, width: float) -> None:
    """A table is well-formed whatever its labels and numbers are."""
    rows = [Interval(value, value - width, value + width, label, label=label)]
    table = ET.fromstring(interval_table(label, rows, zero=True))  # noqa: S314 - our own text

    assert {part.tag for part in table.iter()} <= {
        *("table", "caption", "thead", "tbody", "tr", "td", "th", "i")
    }
