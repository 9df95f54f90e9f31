"""Rules across rows compare of many rows at once what they compare of each."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harpia_converters.eee import versions
from harpia_converters.eee.lints import across_rules_of
from harpia_formats.validation.dedup.identity import member_at
from harpia_formats.validation.unit.across_values import TextReader

texts = st.sampled_from(["a", "b", "1", "-1", "-", "²", "(a)", "a_b"])
rows = st.fixed_dictionaries(
    {
        "evaluation_id": texts,
        "model_id": texts,
        "evaluation_name": texts,
        "sample_id": st.one_of(texts, st.integers(-1, 2)),
        "input": st.fixed_dictionaries(
            {"raw": texts, "reference": st.one_of(texts, st.lists(texts, max_size=2))}
        ),
    },
    optional={
        "sample_hash": st.one_of(texts, st.none()),
        "evaluation_result_id": st.one_of(texts, st.none()),
        "metadata": st.dictionaries(st.just("epoch"), st.one_of(texts, st.none())),
    },
)
#: Some rows that differ, or one several times.
lists = st.one_of(
    st.lists(rows, min_size=1, max_size=4),
    st.builds(lambda row, count: [row] * count, rows, st.integers(1, 3)),
)


@given(lists)
def test_columns_are_compared_as_rows_are(given_rows: list[dict[str, Any]]) -> None:
    """Every rule makes the same pairs of digests both ways, once at least."""
    for rule in across_rules_of(versions.V0_2_0):
        reader = TextReader(rule)
        columns = [
            [member_at(row, path) for row in given_rows]
            for path in (*rule.key, *rule.value)
        ]
        found = reader._of_columns(columns)  # noqa: SLF001 - the quick way
        together = [each for each in found if each is not None]
        singly = [each for each in map(reader.of_value, given_rows) if each is not None]
        assert set(together) == set(singly)
        if rule.code == "E307":  # rows that must differ are all counted
            assert sorted(reader.digests(together)) == sorted(reader.digests(singly))
