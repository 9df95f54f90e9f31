from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.model.report import FileCount
from harpia_formats.validation.merge.file_merge import Outcomes
from harpia_formats.validation.unit.findings import FIRST_RECORD, RecordSet

OUTCOMES = st.lists(st.tuples(st.booleans(), st.integers(1, 40)), max_size=60)


def bits_of(numbers: set[int]) -> bytes:
    """Return a set of record numbers as bits."""
    found = RecordSet()
    for number in numbers:
        found.add(number)
    return bytes(found.bits)


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 20)), max_size=40))
def test_each_record_is_counted_once(notes: list[tuple[bool, int]]) -> None:
    """A record is invalid, undetermined or neither, however often it is noted."""
    count = FileCount("a", records=20)
    outcomes = Outcomes(count)
    for is_invalid, number in notes:
        if is_invalid:
            outcomes.add_invalid(number)
        else:
            outcomes.add(b"", FIRST_RECORD, number - 1)
    invalid = {number for is_invalid, number in notes if is_invalid}
    unknown = {number for _, number in notes} - invalid

    assert (count.invalid, count.undetermined) == (len(invalid), len(unknown))
    assert count.valid == 20 - len(invalid | unknown)


@given(OUTCOMES, OUTCOMES, st.integers(0, 70))
def test_results_of_units_add_up(
    first: list[tuple[bool, int]], second: list[tuple[bool, int]], before: int
) -> None:
    """Units give the counts and sets of one unit, wherever they begin or overlap."""
    units, whole = Outcomes(FileCount("a")), Outcomes(FileCount("a"))
    sets: list[tuple[set[int], set[int]]] = []
    for part, start in ((first, 0), (second, before)):
        invalid = {number for is_invalid, number in part if is_invalid}
        unknown = {number for is_invalid, number in part if not is_invalid}
        units.add(bits_of(invalid), bits_of(unknown), start)
        sets.append(
            ({start + each for each in invalid}, {start + each for each in unknown})
        )
    invalid, unknown = (set().union(*each) for each in zip(*sets, strict=True))
    whole.add(bits_of(invalid), bits_of(unknown), 0)

    assert units.count == whole.count
    assert units.count.invalid == len(invalid)
    assert units.count.undetermined == len(unknown - invalid)
    assert {each for each in range(200) if each in units.invalid} == invalid
    assert {each for each in range(200) if each in units.undetermined} == unknown


@given(st.sets(st.integers(1, 40)), st.sets(st.integers(1, 40)), st.data())
def test_accepted_records_are_known(
    invalid: set[int], undetermined: set[int], data: st.DataObject
) -> None:
    """Records are valid if none of them is invalid or without a verdict."""
    outcomes = Outcomes(FileCount("a"))
    for number in invalid:
        outcomes.invalid.add(number)
    for number in undetermined:
        outcomes.undetermined.add(number)
    before, count = data.draw(st.integers(0, 45)), data.draw(st.integers(0, 45))
    asked = set(range(before + 1, before + count + 1))

    assert outcomes.are_valid(before, count) == asked.isdisjoint(invalid | undetermined)
