"""The lints of samples find in many rows at once what they find in each."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from harpia_formats.formats.registry import adapter_of, all_formats
from harpia_formats.formats.rules.sample_faults import is_leaked, possible_leaks
from harpia_formats.formats.rules.sample_lints import sample_lints

WORDS = [
    *("Too Many Requests", "429", "<|im_end|>", "[/INST]", "a b", "Straße", "STRASSE"),
    *("红楼梦", "红", "《红楼梦》", "K", "\u212a", "\0", "\n", "\u2003", "\xa0", "  "),
    *("(b)", "_", ".", ",", "Rate limit reached", "long enough to be no chance"),
    *("null", "None"),
]
texts = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join),
    st.lists(st.sampled_from(WORDS), max_size=5).map("".join),
)
many = st.one_of(texts, st.lists(texts, max_size=3))


class Asked(msgspec.Struct):
    """The input of a typed row."""

    raw: str
    reference: str | list[str]
    choices: list[str] | msgspec.UnsetType | None = msgspec.UNSET


class Given(msgspec.Struct):
    """The output of a typed row."""

    raw: str | list[str]


class Message(msgspec.Struct):
    """A turn of a typed row."""

    role: str
    content: str


class Sample(msgspec.Struct):
    """A row as the typed decoder reads it, as far as the lints look at it."""

    input: Asked
    output: Given | None = None
    interactions: list[Message] | msgspec.UnsetType | None = msgspec.UNSET
    messages: list[Message] | msgspec.UnsetType | None = msgspec.UNSET


turns = st.sampled_from(
    [msgspec.UNSET, None, [Message("assistant", "429 bad gateway")]]
)
rows = st.builds(
    Sample,
    st.builds(
        Asked,
        texts,
        many,
        st.one_of(
            st.none(),
            st.just(msgspec.UNSET),
            st.lists(st.sampled_from(["a", "b", "a "])),
        ),
    ),
    st.one_of(st.builds(Given, many), st.builds(Given, texts), st.none()),
    interactions=turns,
)


@given(st.lists(rows, min_size=1, max_size=6))
def test_all_rows_that_are_not_clean_are_suspects(given_rows: list[Any]) -> None:
    """Every row on which there is a remark is found among many."""
    eee = all_formats()["eee@0.2.0"]
    lint, *_ = sample_lints(adapter_of(eee))
    assert lint.suspects is not None
    suspects = lint.suspects(given_rows)
    if suspects is not None:
        for number, row in enumerate(given_rows):
            if number not in suspects:
                assert not list(lint.remarks(msgspec.to_builtins(row)))


@given(st.lists(st.tuples(texts, texts), max_size=5))
def test_all_leaks_are_possible_leaks(pairs: list[tuple[str, str]]) -> None:
    """No reference that is in its prompt is passed over."""
    references, prompts = [one for one, _ in pairs], [other for _, other in pairs]
    leaked = [
        place
        for place, (reference, prompt) in enumerate(pairs)
        if is_leaked(reference, [prompt], [])
    ]
    assert set(leaked) <= set(possible_leaks(references, prompts))
