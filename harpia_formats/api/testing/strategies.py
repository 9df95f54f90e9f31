"""Hypothesis strategies for records of every shape, for tests of format adapters.

They need Hypothesis, which the extra `test` installs.
"""

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from harpia_formats.formats.registry import adapter_of, readable_formats
from harpia_formats.model.record import Output, Record, Score

#: Texts that are easily changed by a conversion, or taken for another JSON value.
TEXTS: st.SearchStrategy[str] = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            "",
            "a",
            "1",
            "null",
            "x#1",
            'a "b", c',
            "l1\nl2\r\n",
            "\0",
            "ação 模型 😀",
            " x ",
        ]
    ),
)
#: Integers of any size, and numbers that are easily changed by a conversion.
NUMBERS: st.SearchStrategy[Any] = st.one_of(
    st.integers(),
    st.sampled_from([2**64, 10**20, -(10**21), 1.0, -0.0, 0.1, 1e300]),
    st.floats(allow_nan=False, allow_infinity=False),
)
#: The vendors of the built-in record formats.
VENDORS = tuple(
    {adapter_of(format_).vendor: "" for format_ in readable_formats().values()}
)
#: Any JSON value, nested a few levels deep.
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)
    ),
    max_leaves=5,
)
OBJECTS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    TEXTS | st.sampled_from(["epoch", "temperature", "top_p"]), VALUES, max_size=3
)
COUNTS = st.integers(min_value=0, max_value=10**21)


def some(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return a strategy for objects that have any of the optional `fields`."""
    return st.fixed_dictionaries({}, optional=fields)


def messages(last: str = "user") -> st.SearchStrategy[list[dict[str, Any]]]:
    """Return a strategy for chats whose last message has the role `last`."""
    role = st.sampled_from(["system", "user", "assistant", "tool"])
    message = st.fixed_dictionaries(
        {"role": role, "content": TEXTS}, optional={"name": TEXTS}
    )
    end = st.fixed_dictionaries({"role": st.just(last), "content": TEXTS})
    return st.builds(
        lambda chat, turn: [*chat, turn], st.lists(message, max_size=3), end
    )


TOOL_CALL = some(id=TEXTS, name=TEXTS, arguments=OBJECTS)
TURN = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool"])},
    optional={
        "content": st.none() | TEXTS,
        "reasoning": st.none() | TEXTS,
        "tool_calls": st.lists(TOOL_CALL, max_size=2),
        "tool_call_id": TEXTS | st.lists(TEXTS, max_size=2),
    },
)
ATTRIBUTION = st.fixed_dictionaries(
    {
        "turn_idx": st.integers(0, 3),
        "source": st.sampled_from(
            ["output.raw", "interactions[0].content", "turns[1]"]
        ),
        "extracted_value": TEXTS,
        "extraction_method": TEXTS,
        "is_terminal": st.booleans(),
    }
)
SCORES = some(
    metric=TEXTS,
    value=st.none() | st.booleans() | NUMBERS,
    is_correct=st.booleans(),
    evaluation_id=TEXTS,
    evaluation_name=TEXTS,
    result_id=TEXTS,
    signature=TEXTS,
).map(lambda given: Score(**given))
USAGE = st.dictionaries(
    st.sampled_from(
        ["input_tokens", "output_tokens", "total_tokens", "reasoning_tokens"]
    ),
    COUNTS,
    max_size=4,
)
PERFORMANCE = st.dictionaries(
    st.sampled_from(["latency_ms", "time_to_first_token_ms"]),
    st.none() | st.floats(0, 1e6),
    max_size=2,
)
EXTRA = st.dictionaries(
    st.sampled_from([*VENDORS, "other"]),
    st.dictionaries(st.sampled_from(["a", "b"]), VALUES, min_size=1, max_size=2),
    min_size=1,
    max_size=2,
)
OUTPUTS = some(
    model=TEXTS,
    index=st.integers(0, 3),
    formatted_prompt=TEXTS,
    text=st.none() | TEXTS,
    reasoning=st.none() | TEXTS,
    turns=st.lists(TURN, max_size=3),
    interaction_type=st.sampled_from(["single_turn", "multi_turn", "agentic"]),
    attribution=st.lists(ATTRIBUTION, max_size=2),
    scores=st.lists(SCORES, max_size=2),
    token_usage=USAGE,
    performance=PERFORMANCE,
    error=st.none() | TEXTS,
    extra=EXTRA,
).map(lambda given: Output(**given))


def records(
    always: Mapping[str, st.SearchStrategy[Any]] | None = None,
) -> st.SearchStrategy[Record]:
    """Return a strategy for records of every shape that have the fields in `always`."""
    fields: dict[str, st.SearchStrategy[Any]] = {
        "id": TEXTS | st.integers(),
        "prompt": TEXTS,
        "system": TEXTS,
        "messages": messages(),
        "references": st.lists(TEXTS, max_size=3),
        "gt": TEXTS,
        "choices": st.lists(TEXTS, max_size=3),
        "contexts": st.lists(TEXTS, max_size=3),
        "category": TEXTS,
        "source": TEXTS,
        "params": OBJECTS,
        "metadata": OBJECTS,
        "extra": EXTRA,
    }
    needed = {"outputs": st.lists(OUTPUTS, max_size=3), **(always or {})}
    optional = {
        name: strategy for name, strategy in fields.items() if name not in needed
    }
    drawn = st.fixed_dictionaries(needed, optional=optional)
    return drawn.map(lambda given: Record(**given))
