import json
import sys
from collections.abc import Callable
from importlib.util import find_spec, module_from_spec
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.framing import unfinished_json
from harpia_formats.files.framing.chunk import masked
from harpia_formats.files.framing.unfinished_json import (
    ValueState,
    error_byte,
    read_value,
)

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@for_each_case(
    "data, at, expected",
    [
        (b"[1, 2]", 1, (ValueState.ENDED, 2)),
        (b'{"a": 1}  , 2', 0, (ValueState.ENDED, 10)),
        (b'{"a": 1}\n\n{', 0, (ValueState.ENDED, 10)),
        (b"12", 0, (ValueState.WHOLE, 2)),
        (b'"a" \n', 0, (ValueState.WHOLE, 5)),
        (b"", 0, (ValueState.OPEN, 0)),
        (b'{"a": ', 0, (ValueState.OPEN, 6)),
        (b'["x', 0, (ValueState.OPEN, 3)),
        (b"tru, 1", 0, (ValueState.BROKEN, 6)),
        (b"NaN", 0, (ValueState.WHOLE, 3)),
        (b'{"a": [-Infinity]} , 1', 0, (ValueState.ENDED, 19)),
        (b'{"a": Infini', 0, (ValueState.OPEN, 12)),
        (b'{"a": NaNs}', 0, (ValueState.BROKEN, 11)),
        (rb'{"a": "\\", "b": NaN} ]', 0, (ValueState.ENDED, 22)),
        (b'{"a": "NaN"; NaN}', 0, (ValueState.BROKEN, 17)),
        (b"1, ]", 2, (ValueState.BROKEN, 4)),
    ],
)
def test_state_of_a_value(
    data: bytes, at: int, expected: tuple[ValueState, int]
) -> None:
    """A value is whole, ended by what follows, cut off, or broken."""
    assert read_value(data, at) == expected


def test_a_value_with_a_constant_is_read_in_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a long text, four times as much is read each time until the value ends."""
    sizes: list[int] = []

    def noted(text: bytes) -> bytes:
        sizes.append(len(text))
        return masked(text)

    monkeypatch.setattr(unfinished_json, "masked", noted)
    for rest, expected in (
        (10, [65_536]),
        (70_000, [65_536, 262_144]),
        (300_000, [65_536, 262_144, 999_999]),
    ):
        sizes.clear()
        data = b"x[NaN," + b"1" * rest + b"] ,"
        padded = data.ljust(1_000_000)
        assert read_value(padded, 1) == (ValueState.ENDED, len(data) - 1)
        assert sizes == expected
    sizes.clear()
    assert read_value(b"[NaN, 1", 0) == (ValueState.OPEN, 7)
    assert read_value(b"[NaN, x" + b" " * 70_000, 0)[0] is ValueState.BROKEN
    assert sizes == [7, 65_536]


def test_deep_nesting_is_broken() -> None:
    """A value that is nested too deeply for the parser is broken, and no crash."""
    assert read_value(b"[" * 100_000 + b"]" * 100_000 + b",", 0)[0] is ValueState.BROKEN


@given(VALUES, st.text(" \t\r\n", max_size=3), st.sampled_from(",]}:{0"))
def test_value_ends_before_the_next_bytes(value: Any, space: str, behind: str) -> None:
    """The end of any value is found if other bytes follow after white space."""
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, int) and not isinstance(value, bool) and not space:
        space = " "
    data = b"[" + (text + space).encode()

    assert read_value(data + behind.encode(), 1) == (ValueState.ENDED, len(data))
    assert read_value(data, 1) == (ValueState.WHOLE, len(data))


@given(VALUES.filter(lambda each: isinstance(each, str | list | dict)), st.data())
def test_value_that_is_cut_off_is_open(value: Any, data: st.DataObject) -> None:
    """A string, array or object without its end is open at any length."""
    text = json.dumps(value).encode()
    size = data.draw(st.integers(0, len(text) - 1))

    assert read_value(text[:size], 0) == (ValueState.OPEN, size)


@pytest.mark.parametrize(
    ("message", "byte"),
    [
        ("JSON is malformed: trailing characters (byte 17)", 17),
        ("Input data was truncated", sys.maxsize),
    ],
)
def test_byte_that_a_message_names(message: str, byte: int) -> None:
    """A message without a byte offset yields an offset that is never reached."""
    assert error_byte(message) == byte


def loaded_with(words: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the module, loaded with a parser whose messages are `words` of ours."""
    usual = msgspec.json.Decoder

    class Reworded:
        """A decoder whose errors have other messages."""

        def __init__(self, *arguments: Any) -> None:
            self._decode = usual(*arguments).decode

        def decode(self, data: bytes) -> Any:
            try:
                return self._decode(data)
            except msgspec.DecodeError as error:
                raise msgspec.DecodeError(words(str(error))) from None

    monkeypatch.setattr(msgspec.json, "Decoder", Reworded)
    spec = find_spec("harpia_formats.files.framing.unfinished_json")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_words_of_the_parser_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    """A release of the parser with other messages gives the same states and places."""

    def other_words(message: str) -> str:
        for old, new in (("trailing characters", "extra data"), ("(byte ", "at <")):
            message = message.replace(old, new)
        return message.replace(")", "> of it").replace("Input data was", "Was")

    module = loaded_with(other_words, monkeypatch)
    for data in (b'{"a": 1}  , 2', b"12", b'{"a": ', b'["x', b"tru, 1", b"1 ]"):
        state, place = module.read_value(data, 0)
        assert (state.name, place) == (
            (found := read_value(data, 0))[0].name,
            found[1],
        )


@pytest.mark.parametrize(
    "words", ["", "not JSON", "not JSON (byte 1)", "not JSON (byte 40)"]
)
def test_a_parser_that_names_no_places_is_not_used(
    words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release whose messages say nothing is refused when it is imported."""
    with pytest.raises(ImportError, match="msgspec"):
        loaded_with(lambda _: words, monkeypatch)
