"""Laws of relations of data sets, whose keys are in memory or on disk."""

from collections.abc import Iterable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from effort import examples
from harpia_formats import FileCount, Record
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.expectations.outcomes import RecordFindings
from harpia_formats.expectations.relations import RELATIONS, Keys
from harpia_formats.files.framing.chunk import Cursor


class Row:
    """A record with an id and a prompt, as a reading hands it over."""

    def __init__(self, number: int, id_: int, prompt: int) -> None:
        self.record = Record(id=id_, prompt=str(prompt))
        self.number = number
        self.id_key = "id"
        self.row_id = id_
        self.start = Cursor()


def keys_of(name: str, rows: Iterable[tuple[int, int]]) -> Keys:
    """Return the keys of a data set with these ids and prompts."""
    keys = Keys(name, 0)
    keys.ids()
    keys.prompts()
    count = FileCount(name)
    for number, (id_, prompt) in enumerate(rows, start=1):
        row: Any = Row(number, id_, prompt)
        placed: PlacedRecord = row
        keys.take(placed, count)
    return keys


def numbers(findings: RecordFindings | None) -> list[tuple[str, int]]:
    """Return the file and the number of each record that was found."""
    assert findings is not None
    files = findings._files.values()  # noqa: SLF001 - what the law is about
    return sorted(
        (file.count.path, number) for file in files for number, *_ in file.examples
    )


ROWS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), max_size=8)


@given(ROWS, ROWS, st.sampled_from([1, 1000]))
@examples(20)
def test_relations_are_those_of_sets(
    left: list[tuple[int, int]], right: list[tuple[int, int]], held: int
) -> None:
    """Each relation holds, and finds records, as the algebra of sets says."""
    own, other = keys_of("own", left), keys_of("other", right)
    ids, other_ids = {i for i, _ in left}, {i for i, _ in right}
    prompts, other_prompts = {p for _, p in left}, {p for _, p in right}
    by_id: dict[int, set[int]] = {}
    for id_, prompt in right:
        by_id.setdefault(id_, set()).add(prompt)
    expected = {
        "ids-in": ids <= other_ids,
        "same-ids-as": ids == other_ids,
        "prompts-in": prompts <= other_prompts,
        "no-prompts-of": not prompts & other_prompts and bool(left and right),
        "same-prompts-as": bool(ids & other_ids)
        and all(p in by_id[i] for i, p in left if i in by_id),
    }

    found = {
        key: relation.outcome(key, own, other, held)
        for key, relation in RELATIONS.items()
    }

    assert {key: one.is_met for key, one in found.items()} == expected
    assert numbers(found["ids-in"].records) == [
        ("own", number) for number, (i, _) in enumerate(left, 1) if i not in other_ids
    ]
    assert numbers(found["no-prompts-of"].records) == [
        ("own", number) for number, (_, p) in enumerate(left, 1) if p in other_prompts
    ]
    own.close()
    other.close()
