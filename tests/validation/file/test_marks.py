from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.model.report import FileCount
from harpia_formats.validation.file.outcomes import Marks, Numbers, Outcomes

NUMBERS = st.lists(st.integers(1, 200), max_size=30)


@given(NUMBERS)
def test_marks_are_a_set(numbers: list[int]) -> None:
    """Exactly the numbers that were added are in it, in whatever order they came."""
    marks = Marks()
    for each in numbers:
        marks.add(each)

    assert {each for each in range(300) if each in marks} == set(numbers)


def test_marks_need_a_bit_for_each_record() -> None:
    """A million records need an eighth of a megabyte."""
    marks = Marks()
    marks.add(1_000_000)

    assert len(marks.bits) == 125_001


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 20)), max_size=40))
def test_each_record_is_counted_once(notes: list[tuple[bool, int]]) -> None:
    """A record is invalid, undetermined or neither, however often it is noted."""
    count = FileCount("a", records=20)
    outcomes = Outcomes(count)
    for wrong, number in notes:
        (outcomes.note_wrong if wrong else outcomes.note_open)(number)
    invalid = {number for wrong, number in notes if wrong}
    unknown = {number for _, number in notes} - invalid

    assert (count.invalid, count.undetermined) == (len(invalid), len(unknown))
    assert count.valid == 20 - len(invalid | unknown)


@given(st.integers(0, 9), st.lists(st.booleans(), min_size=1, max_size=20))
def test_blank_rows_have_no_number(before: int, blank: list[bool]) -> None:
    """Records are numbered on from those before, past the blank rows."""
    numbers = Numbers(before, [row for row, each in enumerate(blank) if each])
    records = [row for row, each in enumerate(blank) if not each]
    expected = range(before + 1, before + 1 + len(records))

    assert [numbers.of(each) for each in records] == list(expected)


@given(NUMBERS, NUMBERS, st.integers(0, 70))
def test_sets_add_up(first: list[int], second: list[int], before: int) -> None:
    """Another set is added with all its numbers larger by what came before."""
    one, other = Marks(), Marks()
    for each in first:
        one.add(each)
    for each in second:
        other.add(each)
    one.add_all(bytes(other.bits), before)

    expected = {*first, *(each + before for each in second)}
    assert {each for each in range(400) if each in one} == expected


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 40)), max_size=60))
def test_records_judged_elsewhere_are_counted_alike(
    notes: list[tuple[bool, int]],
) -> None:
    """What is noted of some records elsewhere counts as if it was noted here."""
    here, there = Outcomes(FileCount("a")), Outcomes(FileCount("a"))
    whole = Outcomes(FileCount("a"))
    for is_wrong, number in notes:
        part, own = (here, number) if number <= 20 else (there, number - 20)
        (part.note_wrong if is_wrong else part.note_open)(own)
        (whole.note_wrong if is_wrong else whole.note_open)(number)
    here.add(bytes(there.wrong.bits), bytes(there.open.bits), 20)

    assert here.count == whole.count
