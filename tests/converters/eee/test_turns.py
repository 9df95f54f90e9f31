"""Turns with the usual keys are converted as turns with any keys are."""

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_converters.eee import versions
from harpia_converters.eee.fields import read_attribution, write_attribution
from harpia_converters.eee.turns import read_turn, read_turns, write_turn, write_turns
from harpia_converters.eee.versions import Version
from harpia_formats.api.testing.strategies import TEXTS, TOOL_CALL, VALUES
from harpia_formats.model.exact_json import encode
from harpia_formats.plugins import ChangedValue

ALL = [versions.V0_2_0, versions.V0_2_0_TAG, versions.V0_3_0]
TEXT = TEXTS | st.none()
CALLS = st.none() | st.lists(TOOL_CALL | VALUES, max_size=2) | VALUES
BESIDE = {"tool_call_id": TEXTS, "reasoning": TEXT, "x": VALUES}
IN_ROW = st.lists(
    st.fixed_dictionaries(
        {
            "turn_idx": st.integers(0, 2) | st.sampled_from([0.0, 1.0]),
            "role": TEXTS,
            "content": TEXT,
            "reasoning_trace": TEXT,
            "tool_calls": st.none() | st.lists(TOOL_CALL, max_size=2),
        },
        optional=BESIDE,
    ),
    max_size=3,
)
IN_RECORD = st.lists(
    st.fixed_dictionaries(
        {
            "role": TEXTS | VALUES,
            "content": TEXT | VALUES,
            "reasoning": TEXT | VALUES,
            "tool_calls": CALLS,
        },
        optional={"turn_idx": VALUES, "tool_call_id": VALUES, "x": VALUES},
    ),
    max_size=3,
)


@given(IN_ROW)
def test_usual_turns_are_read_as_any_are(turns: list[dict[str, Any]]) -> None:
    """A turn of a row is read the same way, whether it has the usual keys or not."""
    expected = [read_turn(place, turn) for place, turn in enumerate(turns)]

    assert encode(read_turns(turns)) == encode(expected)


@pytest.mark.parametrize("version", ALL)
@given(IN_RECORD)
def test_usual_turns_are_written_as_any_are(
    version: Version, turns: list[dict[str, Any]]
) -> None:
    """A turn of a record is written, and noted as changed, whatever its keys are."""
    ones = [write_turn(place, turn, version) for place, turn in enumerate(turns)]
    plain = [one.value if type(one) is ChangedValue else one for one in ones]
    written = write_turns(turns, version)

    assert (type(written) is ChangedValue) == any(
        type(one) is ChangedValue for one in ones
    )
    assert encode(plain) == encode(
        written.value if type(written) is ChangedValue else written
    )


@for_each_case(
    "version, source",
    itertools.product(
        ALL, ["output.raw", "turns[0]", "/turns[0]", "//turns[", "/x", "", "turn"]
    ),
)
def test_sources_come_back(version: Version, source: str) -> None:
    """A source of a row is the same again after it was in a record."""
    step = {
        "turn_idx": 0,
        "source": source,
        "extracted_value": "a",
        "extraction_method": "b",
        "is_terminal": True,
    }
    own = {**step, "source": f"{version.turns}[0]"}
    steps = [step, own]

    assert write_attribution(read_attribution(steps, version), version) == steps
    assert steps == [step, own]
