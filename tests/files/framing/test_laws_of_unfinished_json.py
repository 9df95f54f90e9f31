"""Laws of JSON that is not finished: where a value ends, and what is read of a part.

The states and the parts of many small texts are in `cut_inputs.json`.
"""

import json
import sys
from collections.abc import Callable
from importlib.util import find_spec, module_from_spec
from time import process_time
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.framing import unfinished_json
from harpia_formats.files.framing.chunk import Cursor, masked
from harpia_formats.files.framing.unfinished_json import (
    ByteBuffer,
    ValueState,
    error_byte,
    parse_truncated,
    read_value,
    skip_space,
)
from harpia_formats.files.io.reader import BLOCK

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
SPELLINGS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [{}, {"indent": 1}, {"separators": (",", ":"), "ensure_ascii": False}]
)


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
        (10, [1_024]),
        (3_000, [1_024, 4_096]),
        (300_000, [1_024, 4_096, 16_384, 65_536, 262_144, 999_999]),
    ):
        sizes.clear()
        data = b"x[NaN," + b"1" * rest + b"] ,"
        padded = data.ljust(1_000_000)
        assert read_value(padded, 1) == (ValueState.ENDED, len(data) - 1)
        assert sizes == expected
    sizes.clear()
    assert read_value(b"[NaN, 1", 0) == (ValueState.OPEN, 7)
    assert read_value(b"[NaN, x" + b" " * 70_000, 0)[0] is ValueState.BROKEN
    assert sizes == [7, 1_024]


def test_deep_nesting_is_broken() -> None:
    """A value that is nested too deeply for the parser is broken, and no crash."""
    assert read_value(b"[" * 100_000 + b"]" * 100_000 + b",", 0)[0] is ValueState.BROKEN


@given(VALUES, st.text(" \t\r\n", max_size=3), st.sampled_from(",]}:{0"))
def test_value_ends_before_the_next_bytes(value: Any, space: str, behind: str) -> None:
    """The end of any value is found if other bytes follow after white space."""
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, int | float) and not isinstance(value, bool) and not space:
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


def is_part(part: Any, whole: Any) -> bool:
    """Tell whether `part` is `whole` with parts left out or null."""
    if part is None:
        return True
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and is_part(each, whole[key]) for key, each in part.items()
        )
    if isinstance(part, list):
        rest = iter(whole if isinstance(whole, list) else [])
        return all(any(is_part(each, other) for other in rest) for each in part)
    if type(part) is int and type(whole) in {int, float}:
        # The digits of a number may go on behind the end.
        return str(whole).startswith(str(part)) or part == whole
    return bool(part == whole) or (isinstance(whole, float) and isinstance(part, float))


@given(VALUES, SPELLINGS)
def test_whole_document_is_its_own_sketch(value: Any, spelling: dict[str, Any]) -> None:
    """Nothing is left out of a complete document."""
    assert parse_truncated(b" \n" + json.dumps(value, **spelling).encode()) == value


@given(VALUES, SPELLINGS, st.data())
def test_beginning_of_a_document_is_part_of_it(
    value: Any, spelling: dict[str, Any], data: st.DataObject
) -> None:
    """The value of any beginning of a document is part of the document."""
    text = json.dumps(value, **spelling).encode()
    size = data.draw(st.integers(0, len(text)))
    value_read = parse_truncated(text[:size])

    assert is_part(value_read, value)


@given(st.binary(max_size=40) | st.text('[]{}",:aN1 \n\\', max_size=40).map(str.encode))
@example(b'{"a": Infinity, "b": {"c": NaN')
@example(b"[" * 100_000)
@example(b'{"a":' * 100_000)
@example(b'"\\ud800"')
@example(b'{"a": 1' + b"0" * 5_000)
def test_any_bytes_have_a_sketch(data: bytes) -> None:
    """No bytes raise an error."""
    value_read = parse_truncated(data)

    assert value_read is None or type(value_read) in {bool, int, float, str, list, dict}


def test_large_arrays_are_cut_short() -> None:
    """Of a large value that is cut off, a thousand items or members are read."""
    text = b'{"a": [' + b"{}, " * 3_000
    members = b"".join(b'"%d": {},' % each for each in range(3_000))

    assert parse_truncated(text) == {"a": [{}] * 1_000}
    assert parse_truncated(b"[" + b"{}, " * 1_000 + b"]") == [{}] * 1_000
    assert parse_truncated(b"{" + members) == {str(each): {} for each in range(1_000)}


def test_items_that_are_left_out_are_not_all_looked_at() -> None:
    """An array of words that are not JSON is cut short, too, in little time."""
    began = process_time()
    value = parse_truncated(b'{"a": [' + b"NaN, " * 8_000)

    assert value == {"a": []}
    assert process_time() - began < 1


@for_each_case("brackets, item", [(b"[]", b"NaN"), (b"{}", b'"%d": NaN')])
def test_what_is_behind_many_constants_is_read(brackets: bytes, item: bytes) -> None:
    """A long array or object with NaN that ends hides no member behind it."""
    items = b", ".join(item.replace(b"%d", b"%d" % at) for at in range(3_000))
    value = parse_truncated(b'{"a": %c%b%c, "b": 1' % (brackets[0], items, brackets[1]))

    assert list(value) == ["a", "b"]


def test_a_thousand_items_are_read() -> None:
    """Items behind these are left out."""
    assert parse_truncated(b"[" + b"1," * 1_001) == [1] * 1_000


def test_deep_values_are_cut_short() -> None:
    """Of a value that is cut off, eight levels are read."""
    assert parse_truncated(b"[" * 8 + b"1") == [[[[[[[[1]]]]]]]]
    assert parse_truncated(b"[" * 9 + b"1") == [[[[[[[[]]]]]]]]
    value = parse_truncated(b'{"a":' * 9 + b"1")
    for _ in range(8):
        value = value["a"]

    assert value is None


_BYTES = st.text("a\n", max_size=4).map(str.encode)
_BLOCKS = st.lists(_BYTES, max_size=5)


@given(held=_BYTES, blocks=_BLOCKS, size=st.integers(0, 9), grows=st.booleans())
def test_blocks_are_read_until_there_is_enough(
    held: bytes, blocks: list[bytes], size: int, *, grows: bool
) -> None:
    """No block is read that is not needed; growing is by one byte at least."""
    buffer = ByteBuffer(iter(blocks), held)
    enough = max(min(2 * len(held), size), len(held) + 1) if grows else size
    found = buffer.grow(size) if grows else buffer.fill(size)
    left = list(buffer.blocks)
    read = blocks[: len(blocks) - len(left)]

    assert buffer.data == held + b"".join(read)
    assert left == blocks[len(read) :]
    assert found is (len(buffer.data) >= (len(held) + 1 if grows else size))
    assert len(buffer.data) >= enough or not left
    assert not read or len(held + b"".join(read[:-1])) < enough


@given(held=_BYTES, blocks=_BLOCKS, most=st.integers(0, 9))
def test_lines_are_taken_as_far_as_they_are_held(
    held: bytes, blocks: list[bytes], most: int
) -> None:
    """All lines that end in what is held are taken, or those of the next blocks."""
    buffer = ByteBuffer(iter(blocks), held)
    found = buffer.take_lines(most)
    left = list(buffer.blocks)
    read = blocks[: len(blocks) - len(left)]
    before = held + b"".join(read[:-1])

    assert found + buffer.data == held + b"".join(read)
    assert found[-1:] in {b"", b"\n"}
    assert b"\n" not in buffer.data
    assert found or len(held + b"".join(read)) > most or not left
    assert not read or (b"\n" not in before and len(before) <= most)


@given(held=_BYTES, size=st.integers(0, 4))
def test_the_first_bytes_are_taken_or_kept(held: bytes, size: int) -> None:
    """The first bytes are handed out, or all others are put back."""
    size = min(size, len(held))
    taken, kept = (ByteBuffer(iter([b"c"]), held) for _ in range(2))
    kept.put_back(size)

    assert (taken.take(size), taken.data) == (held[:size], held[size:])
    assert (kept.data, b"".join(kept.blocks)) == (held[:size], held[size:] + b"c")


def test_what_is_put_back_comes_in_blocks_of_the_usual_size() -> None:
    """What is not kept comes again before the other blocks."""
    buffer = ByteBuffer(iter([b"c"]), b"a" + bytes(BLOCK) + b"b")
    buffer.put_back(1)

    assert list(buffer.blocks) == [bytes(BLOCK), b"b", b"c"]


@given(
    st.lists(st.text(" \n\t\r", max_size=3), min_size=1),
    st.sampled_from(["", "a ", "\x0b"]),
)
def test_white_space_is_skipped_and_counted(spaces: list[str], behind: str) -> None:
    """The place of the first other byte is given, none where the file ends before."""
    first, *blocks = [each.encode() for each in spaces]
    buffer = ByteBuffer(iter([*blocks, behind.encode()]), first)
    start = Cursor(5, 2, 3)
    place = start.after("".join(spaces).encode()) if behind else None

    assert skip_space(buffer, start) == place
    assert buffer.data == behind.encode()
