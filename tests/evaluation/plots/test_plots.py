"""Charts: what is drawn, what is said, and that both are text for an HTML page."""

from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.evaluation.plots import (
    STYLE,
    Bar,
    Bin,
    Interval,
    LengthCounts,
    bars,
    histogram,
    intervals,
)
from harpia_formats.model.bins import index_of, low_of

#: All text that XML can hold, which is the parser of these tests.
_text = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff")
)


def _parsed(chart: str) -> ET.Element:
    return ET.fromstring(chart)  # noqa: S314 - our own text


def _numbers(chart: ET.Element) -> list[list[str | None]]:
    """Return the cells of the table of a chart."""
    return [[cell.text for cell in row] for row in chart.iterfind(".//tbody/tr")]


def test_a_histogram_has_a_bar_for_each_bin_and_its_numbers() -> None:
    """A bar is as high as its count; an empty bin has none."""
    chart = _parsed(
        histogram("h", "Rows", [Bin(0, 2, 5), Bin(2, 4, 0), Bin(4, 6, 10)], "bytes")
    )
    heights = [float(one.attrib["height"]) for one in chart.iterfind(".//rect")]
    assert heights == [70.0, 140.0]
    # The counts stand beside the bars, not on them.
    starts = [float(one.attrib["x"].rstrip("%")) for one in chart.iterfind(".//rect")]
    counts = [text for text in chart.iter("text") if text.get("text-anchor") == "end"]
    assert [text.text for text in counts][:3] == ["0", "5", "10"]
    assert {text.attrib["x"] for text in counts[:3]} == {f"{min(starts):g}%"}
    assert _numbers(chart) == [["0", "2", "5"], ["4", "6", "10"]]


@pytest.mark.parametrize(
    ("bins", "sentence"),
    [
        ([], "Rows: no rows"),
        ([Bin(0, 2, 0)], "Rows: no rows"),
        ([Bin(5, 6, 7)], "Rows: 7 rows, 5 bytes"),
        ([Bin(5, 6, 1)], "Rows: 1 row, 5 bytes"),
        ([Bin(0.5, 0.5, 3)], "Rows: 3 rows, 0.5 bytes"),
    ],
)
def test_numbers_in_one_bin_are_said(bins: list[Bin], sentence: str) -> None:
    """A single bar would show nothing."""
    chart = histogram("h", "Rows", bins, "bytes", noun="rows")
    assert _parsed(chart).text == sentence


def test_bars_start_at_zero_and_differ_by_kind() -> None:
    """The length is the share of the longest, the class that of its kind."""
    chart = _parsed(
        bars("b", "Rules", [Bar("S101", 8, "error"), Bar("X1", 2, "warning")])
    )
    assert chart.find("p") is None
    found = [(one.attrib["class"], one.attrib["width"]) for one in chart.iter("rect")]
    assert found == [("error", "100%"), ("warning", "25%")]


def test_a_legend_says_what_the_kinds_of_bars_are() -> None:
    """Only kinds that are drawn are in it; the table says them, too."""
    kinds = {"error": "lost", "warning": "changed", "note": "other"}
    rows = [Bar("a", 8, "error"), Bar("b", 2, "warning")]
    chart = _parsed(bars("b", "Fields", rows, kinds=kinds))
    legend = chart.find("p")
    assert legend is not None
    assert "".join(legend.itertext()).split() == ["lost", "changed"]
    assert _numbers(chart) == [["a", "8", "lost"], ["b", "2", "changed"]]


def test_bars_behind_the_last_drawn_are_in_the_table() -> None:
    """The title says how many are drawn, and the table has all."""
    rows = [Bar(f"r{at}", 30 - at) for at in range(25)]
    chart = _parsed(bars("b", "Rules", rows, most=20))
    assert len(list(chart.iter("rect"))) == 20
    assert len(_numbers(chart)) == 25
    assert chart[0].text == "Rules (first 20 of 25)"


@pytest.mark.parametrize(
    ("rows", "sentence"), [([], "R: nothing"), ([Bar("a", 1234)], "R: a: 1,234")]
)
def test_one_bar_is_said(rows: list[Bar], sentence: str) -> None:
    """A single bar would show nothing."""
    assert _parsed(bars("b", "R", rows)).text == sentence


def test_intervals_of_differences_mark_zero() -> None:
    """The axis includes 0, also if no interval does."""
    rows = [Interval("bleu", 2.0, 1.0, 3.0), Interval("chrf", 1.0, remark="one")]
    chart = _parsed(intervals("i", "Differences", rows, zero=True))
    zero = chart.find(".//line[@class='zero']")
    assert zero is not None
    assert float(zero.attrib["x1"].rstrip("%")) < 5
    assert len(chart.findall(".//circle")) == 2
    assert _numbers(chart)[1] == ["chrf", "1.0000", "none", "none", "one"]


def test_vertical_lines_are_not_at_labels_of_rows() -> None:
    """Their dashes repeat with the rows, and each begins below the label of its row."""
    rows = [Interval(f"row {at}", at - 1.0, at - 2.0, at + 1.0) for at in range(3)]
    chart = _parsed(intervals("i", "D", rows, zero=True))
    first, second = (float(one.attrib["y"]) for one in chart.findall("svg/svg")[:2])
    lines = [
        one.attrib for one in chart.iter("line") if "stroke-dasharray" in one.attrib
    ]

    assert {line["class"] for line in lines} == {"grid", "zero"}
    for line in lines:
        dashes = list(map(float, line["stroke-dasharray"].split()))
        assert sum(dashes) == second - first
        label_height = float(line["y1"]) - first
        assert dashes[-1] >= label_height > 12


def test_an_axis_has_the_whole_scale() -> None:
    """Of shares it begins at 0 and ends at 1, and says so."""
    chart = _parsed(intervals("i", "em", [Interval("a", 0.5, 0.4, 0.6)], scale=(0, 1)))
    dot = chart.find(".//circle")
    assert dot is not None
    assert dot.attrib["cx"] == "50%"
    texts = {text.text: text.attrib["x"] for text in chart.iter("text")}
    assert (texts["0"], texts["1"]) == ("0%", "100%")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1.7e308])
def test_a_number_that_no_axis_can_have_is_in_the_table(value: float) -> None:
    """It does not move the other rows."""
    rows = [Interval("a", value, value, 1.7e308), Interval("b", 1.0, 0.5, value)]
    chart = _parsed(intervals("i", "D", rows))
    assert len(chart.findall(".//circle")) == 1
    assert str(_numbers(chart)[0][1]).startswith(f"{value:.4f}"[:100])


def test_a_hollow_dot_is_drawn_as_such() -> None:
    """It differs by its shape, so that prints in grey show it."""
    rows = [Interval("a", 1.0, 0, 2), Interval("b", 0.5, -1, 2, is_hollow=True)]
    chart = _parsed(intervals("i", "D", rows))
    found = [one.attrib["class"] for one in chart.iter("circle")]
    assert found == ["mark", "hollow"]


def test_rows_without_a_number_are_said() -> None:
    """There is no axis without a number."""
    rows = [Interval("a", None, remark="nothing")]
    assert _parsed(intervals("i", "D", rows)).text == "D: no row has a number"
    assert _parsed(intervals("i", "D", [])).text == "D: no row has a number"


@given(_text, st.floats(-1e9, 1e9), st.floats(0, 1e6))
def test_any_label_stays_text(label: str, value: float, width: float) -> None:
    """A chart is well-formed whatever its labels and numbers are."""
    rows = [Interval(label, value, value - width, value + width), Interval("b", 0.0)]
    chart = _parsed(intervals("i", label, rows, zero=True))
    assert len(chart.findall(".//circle")) == 2
    _parsed(bars("b", label, [Bar(label, 3, label), Bar(label, 2)]))
    _parsed(histogram("h", label, [Bin(0, 1, 2), Bin(1, 2, 1)], label))


def test_every_drawing_has_a_name_and_a_description() -> None:
    """A screen reader reads both, found by ids that exist."""
    chart = _parsed(bars("b", "Rules", [Bar("a", 2), Bar("b", 1)]))
    drawing = chart.find("svg")
    assert drawing is not None
    assert drawing.attrib["role"] == "img"
    ids = {one.attrib.get("id"): one.text for one in drawing}
    labels = [ids[name] for name in drawing.attrib["aria-labelledby"].split()]
    assert labels == ["Rules", "2 bars, the longest a with 2."]


@given(st.integers(0, 2**70))
def test_a_length_is_in_its_bin(length: int) -> None:
    """The bins of lengths have no gaps and do not overlap."""
    at = index_of(length)
    assert low_of(at) <= length < low_of(at + 1)


@given(st.lists(st.integers(0, 10**6)), st.lists(st.integers(0, 10**6)))
def test_counts_of_parts_add_up(left: list[int], right: list[int]) -> None:
    """The counts of two parts together are those of the whole."""
    one, other, whole = LengthCounts(), LengthCounts(), LengthCounts()
    for length in left:
        one.add(length)
        whole.add(length)
    for length in right:
        other.add(length)
        whole.add(length)
    one.add_all(other)
    assert one == whole
    assert sum(each.count for each in one.bins()) == one.total == len(left + right)


def test_every_variable_has_a_light_and_a_dark_value() -> None:
    """Dark mode replaces each colour."""
    light, dark = STYLE.split("@media screen and (prefers-color-scheme: dark)")
    names = {line.split(":")[0].strip() for line in light.splitlines() if "--" in line}
    assert names
    for name in names:
        assert f"{name}:" in dark.split(".plot {", maxsplit=1)[0]
