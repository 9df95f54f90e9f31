from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.validation.unit.findings import RecordNumbers, RecordSet

NUMBERS = st.lists(st.integers(1, 200), max_size=30)


@given(NUMBERS)
def test_record_set_is_a_set(numbers: list[int]) -> None:
    """Exactly the numbers that were added are in it, in whatever order they came."""
    records = RecordSet()
    for number in numbers:
        records.add(number)

    assert {number for number in range(300) if number in records} == set(numbers)


def test_record_set_needs_a_bit_for_each_record() -> None:
    """A million records need an eighth of a megabyte."""
    records = RecordSet()
    records.add(1_000_000)

    assert len(records.bits) == 125_001


@given(st.integers(0, 9), st.lists(st.booleans(), min_size=1, max_size=20))
def test_blank_rows_have_no_number(before: int, blank: list[bool]) -> None:
    """Records are numbered on from those before, past the blank rows."""
    numbers = RecordNumbers(
        before, [row for row, is_blank in enumerate(blank) if is_blank]
    )
    records = [row for row, is_blank in enumerate(blank) if not is_blank]
    expected = range(before + 1, before + 1 + len(records))

    assert [numbers.of(row) for row in records] == list(expected)
