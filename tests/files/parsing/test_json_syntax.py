import itertools
import json
import random
import string
import sys
import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.files.io.reader import DEPTH_LIMIT
from harpia_formats.files.parsing import json_syntax
from harpia_formats.files.parsing.json_fault import Fault, FaultKind
from harpia_formats.files.parsing.json_syntax import find_fault

_ROWS = tuple(
    json.dumps(
        {
            "id": 17,
            "model": "größe/7b",
            "scores": [1, -2.5, 3e-07, None, True, False],
            "answer": 'line\n"quoted" \\ and 😀\t',
            "params": {"stop": [], "extra": {}, "seed": -0.0, "max": 2**70},
        },
        ensure_ascii=each,
    ).encode()
    for each in (True, False)
)
_PIECES = (
    *(bytes([each]) for each in range(256)),
    *(rb"\u0000", rb"\ud83d\ude00", rb"\uD83D\uDe00", rb"\ud83d", rb"\ude00"),
    *(rb"\ud83d\u", rb"\u12", rb"\x", rb"\/", rb"\'"),
    *(b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b"\xe2\x80\xa8", b"\xc2\xa0"),
    *(b"\xef\xbb\xbf", b"\xf0\x9f\x98", b"\xf0\x9f\x98\x80"),
    *(b"NaN", b"-Infinity", b"true", b"nul", b"None", b"//", b"/*", b"[]", b"{}"),
    *(b"1e400", b"-1e400", b"1e-400", b"0e99999999999", b"1e0000308", b"1e309"),
    *(b"1.7976931348623158e308", b"1.7976931348623159e308", b"01", b"-0", b".5", b"5."),
    *(b"9" * 309 + b".0", b"0." + b"0" * 400 + b"1e700", b"1" * 4299, b"1" * 4301),
    *(b'"a":1', b',"a":1', b",1", b'"b"', b"\\" * 3),
)


def _is_accepted(text: bytes) -> bool:
    """Return the verdict of the parser."""
    try:
        msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _check(text: bytes) -> None:
    """Check that scanner and parser agree, and that a fault has a place."""
    fault = find_fault(text)

    assert (fault is None) == _is_accepted(text), text
    if fault:
        assert 0 <= fault.start <= fault.end <= len(text), text
        assert fault.end > fault.start or fault.start == len(text), text
        assert fault.message, text


def _mutated(text: bytes, rng: random.Random) -> bytes:
    """Return a text with up to three small changes."""
    data = bytearray(text)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        at, other = sorted(rng.randint(0, len(data)) for _ in range(2))
        change = rng.randrange(6)
        if change == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif change == 1:
            del data[at : at + rng.randint(1, 3)]
        elif change == 2:
            data[at:at] = rng.choice(_PIECES)
        elif change == 3:
            data[at : at + rng.randint(1, 3)] = rng.choice(_PIECES)
        elif change == 4:
            data[at:at] = data[at:other][:30]
        elif rng.random() < 0.3:
            del data[other:]
    return bytes(data)


def _check_mutants(count: int, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - mutants need a seed, not secrecy
    for _ in range(count):
        _check(_mutated(rng.choice(_ROWS), rng))


def test_scanner_agrees_with_the_parser_on_mutants() -> None:
    """The scanner accepts exactly those of some thousand damaged rows that parse."""
    _check_mutants(5_000, seed=1)


@pytest.mark.long
def test_scanner_agrees_with_the_parser_on_many_mutants() -> None:
    """The scanner accepts exactly those of many damaged rows that parse."""
    _check_mutants(200_000, seed=2)


@given(st.lists(st.sampled_from(_PIECES), max_size=8).map(b"".join))
def test_scanner_agrees_with_the_parser_on_fragments(text: bytes) -> None:
    """Texts made of JSON fragments have a fault exactly if they do not parse."""
    for each in (text, b"[" + text + b"]", b'"' + text + b'"', b'{"' + text + b'":1}'):
        _check(each)


@given(st.text("-+.0123456789eE_", min_size=1, max_size=12))
def test_scanner_agrees_with_the_parser_on_numbers(number: str) -> None:
    """A text like a number has a fault exactly if it does not parse."""
    _check(number.encode())
    _check(f'{{"a": {number}}}'.encode())


@given(
    st.integers(0, 10**25),
    st.integers(0, 700),
    st.integers(-700, 700) | st.integers(-(10**20), 10**20),
)
def test_scanner_agrees_with_the_parser_on_overflow(
    digits: int, zeros: int, exponent: int
) -> None:
    """A float has a fault exactly if it overflows in the parser."""
    _check(f"{digits}{'0' * zeros}e{exponent}".encode())
    _check(f"-0.{'0' * zeros}{digits}E{exponent:+}".encode())


@for_each_case("sign, length", itertools.product(["", "-"], [4299, 4300, 4301]))
def test_scanner_agrees_with_the_parser_on_long_integers(
    sign: str, length: int
) -> None:
    """An integer has a fault exactly if it is too long for the parser."""
    _check(f"{sign}{'1' * length}".encode())


def test_a_lower_digit_limit_of_the_interpreter_is_obeyed() -> None:
    """If the interpreter converts fewer digits, longer integers have a fault."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        for each in ("1" * 640, "-" + "1" * 640, "1" * 641):
            _check(each.encode())
        fault = find_fault(b"1" * 641)
    finally:
        sys.set_int_max_str_digits(before)

    assert fault
    assert fault.kind is FaultKind.NUMBER


def test_an_interpreter_without_a_digit_limit_refuses_no_more() -> None:
    """If the interpreter converts any number of digits, the limit is our own."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        _check(b"1" * 4300)
        assert find_fault(b"1" * 4301)
    finally:
        sys.set_int_max_str_digits(before)


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_the_depth_limit_is_exact(opening: bytes, closing: bytes) -> None:
    """As many levels as the limit are accepted, and one more is refused."""
    within = opening * (DEPTH_LIMIT - 1) + b"[1]" + closing * (DEPTH_LIMIT - 1)
    beyond = opening * DEPTH_LIMIT + b"[1]" + closing * DEPTH_LIMIT

    fault = find_fault(beyond)

    assert find_fault(within) is None
    assert find_fault(beyond, depth_limit=DEPTH_LIMIT + 1) is None
    assert fault
    assert (fault.kind, fault.start) == (FaultKind.NESTING, DEPTH_LIMIT * len(opening))


_SYNTAX = [
    ("", 0, 0, "the text is empty"),
    (" \n", 0, 2, "white space only"),
    ("[1,]", 2, 3, "a comma follows the last entry"),
    ('{"a":1 , }', 7, 8, "a comma follows the last entry"),
    ("[1 2]", 3, 4, "a comma is missing"),
    ('{"a":1 "b":2}', 7, 8, "a comma is missing"),
    ('{"a" 1}', 5, 6, "a colon is missing"),
    ('{"a"}', 4, 5, "a name but no value"),
    ('{"a":}', 5, 6, "a name but no value"),
    ('{"a":,}', 5, 6, "a name but no value"),
    ("[,1]", 1, 2, "a value is missing"),
    ('{,"a":1}', 1, 2, "a member is missing"),
    ("{:1}", 1, 2, "a member name is missing"),
    ("{[1]:1}", 1, 2, "a member name is an array or an object"),
    ("['a']", 1, 2, "single quotes"),
    ("{'a':1}", 1, 2, "single quotes"),
    ("[“a”]", 1, 4, "typographic quotation marks"),
    ("{＂a＂:1}", 1, 4, "full-width quotation marks"),
    ('{"a"：1}', 4, 7, "a full-width colon"),
    ('{"a"　:1}', 4, 7, "not white space"),
    ('{"a" "b"}', 5, 6, "a colon is missing"),
    ("[1，2]", 2, 5, "a full-width comma"),
    ("[1、 2]", 2, 5, "an ideographic comma"),
    ('["a"，“b”]', 4, 7, "a full-width comma"),
    ('["a"，b"]', 4, 7, "text follows the closing quotation mark"),
    ('{"a":1｝', 6, 9, "a full-width brace"),
    ("［1]", 0, 3, "a full-width bracket"),
    ("[【1】]", 1, 4, "a lenticular bracket"),
    ("{a:1}", 1, 2, "without quotation marks"),
    ("{1:1}", 1, 2, "a member name is a number"),
    ("[1] // x", 4, 8, "no comments"),
    ("/* x */1", 0, 7, "no comments"),
    ("[1, # x\n2]", 4, 7, "no comments"),
    ("[012]", 1, 4, "needless zero"),
    ("[+1]", 1, 3, "plus sign"),
    ("[.5]", 1, 3, "a digit before its decimal point"),
    ("[-.5]", 1, 4, "a digit before its decimal point"),
    ("5.", 0, 2, "a digit after its decimal point"),
    ("[1e+]", 1, 4, "a digit in its exponent"),
    ("[0x1F]", 1, 5, "decimal numbers only"),
    ("[1_000]", 1, 6, "underscores"),
    ("[2024-01-01]", 1, 11, "a date is not a number"),
    ("[1.2.3]", 1, 6, "this is not a number"),
    ("[-]", 1, 2, "a minus sign has no number"),
    (r'["\x41"]', 2, 4, "a backslash before x"),
    (r'["\é"]', 2, 5, "a backslash before U+00E9"),
    (r'["\'"]', 2, 4, "a backslash before '"),
    (r'["\u12"]', 2, 4, "four hexadecimal digits"),
    ('["a "b" c"]', 5, 6, "text follows the closing quotation mark"),
    ('{"a":1}{"a":2}', 7, 8, "a second value begins"),
    ("1,", 1, 2, "more data after the value"),
    ("[1]]", 3, 4, "closes nothing"),
    ("]", 0, 1, "closes nothing"),
    ("[True]", 1, 5, "true"),
    ("[FALSE]", 1, 6, "false"),
    ("[None]", 1, 5, "null"),
    ("[undefined]", 1, 10, "null"),
    ("[hello]", 1, 6, "a bare word"),
    ("\ufeff{}", 0, 3, "byte order mark"),
    ("[\x00\x00]", 1, 3, "NUL"),
    ("[\xa01]", 1, 3, "not white space"),
    ("[1;2]", 2, 3, "found ; instead of a comma or ]"),
    ("[é]", 1, 3, "found U+00E9 instead of a value"),
    ("[\ufffd]", 1, 4, "found U+FFFD instead of a value"),
    ('["a"é]', 4, 6, "text follows the closing quotation mark"),
    ("1é", 1, 3, "more data after the value"),
    ("{]", 1, 2, "] closes the object that starts at byte 0"),
    ("[1}", 2, 3, "} closes the array that starts at byte 0"),
]


@for_each_case("text, start, end, message", _SYNTAX)
def test_mistakes_are_named(text: str, start: int, end: int, message: str) -> None:
    """A common mistake is marked exactly and explained."""
    fault = find_fault(text.encode())

    assert fault
    assert (fault.kind, fault.start, fault.end) == (FaultKind.SYNTAX, start, end)
    assert message in fault.message


_OTHERS = [
    (rb'"a\ud800b"', FaultKind.SURROGATE, 2, 8),
    (rb'"\udc00\ud800"', FaultKind.SURROGATE, 1, 7),
    (rb'"\ud800\n"', FaultKind.SURROGATE, 1, 7),
    (b"[NaN]", FaultKind.CONSTANT, 1, 4),
    (b"[-Infinity]", FaultKind.CONSTANT, 1, 10),
    (b"inf", FaultKind.CONSTANT, 0, 3),
    (b"[1e400]", FaultKind.NUMBER, 1, 6),
    (b"[" + b"1" * 4301 + b"]", FaultKind.NUMBER, 1, 4302),
    (b'"a\tb"', FaultKind.CONTROL, 2, 3),
    (b'"a\x01b"', FaultKind.CONTROL, 2, 3),
    (b'"\xff"', FaultKind.UTF8, 1, 2),
    (b'"\xed\xa0\x80"', FaultKind.UTF8, 1, 2),
    (b'["\xff",}', FaultKind.UTF8, 2, 3),
    (b"[1]\xe2\x82", FaultKind.UTF8, 3, 5),
    (b'[NaN,"\xff"]', FaultKind.CONSTANT, 1, 4),
    (b"[" * 100_000 + b"\xff", FaultKind.NESTING, 200, 201),
]


@for_each_case("text, kind, start, end", _OTHERS)
def test_the_first_fault_decides(
    text: bytes, kind: FaultKind, start: int, end: int
) -> None:
    """A fault has the kind and place of the first error in the text."""
    fault = find_fault(text)

    assert fault
    assert (fault.kind, fault.start, fault.end) == (kind, start, end)


_CUT = [
    (b"[1", 0, "an array"),
    (b'[{"a":1,', 1, "an object"),
    (b'{"a', 1, "a string"),
    (b'["a\\', 1, "a string"),
    (b'["a\\u12', 1, "a string"),
    (b'["a\\ud83d', 1, "a string"),
    (b'["a\\ud83d\\ude', 1, "a string"),
    (b'["a\xe2\x82', 1, "a string"),
    (b"[1.", 1, "a number"),
    (b"[-", 1, "a number"),
    (b"[1, 2e+", 4, "a number"),
    (b"[tru", 1, "a word"),
]


@for_each_case("text, opened, what", _CUT)
def test_fault_of_truncated_text_names_the_open_value(
    text: bytes, opened: int, what: str
) -> None:
    """The fault of a truncated text names the innermost open value."""
    fault = find_fault(text)

    assert fault
    assert (fault.kind, fault.start, fault.opened) == (
        FaultKind.TRUNCATED,
        len(text),
        opened,
    )
    assert f"inside {what} that starts at byte {opened}" in fault.message


def test_every_cut_of_a_row_is_truncated() -> None:
    """A row cut anywhere inside its braces is truncated, and has no other fault."""
    for row in _ROWS:
        kinds = {_kind_of(row[:size]) for size in range(1, len(row))}

        assert kinds == {FaultKind.TRUNCATED}


def _kind_of(text: bytes) -> FaultKind | None:
    fault = find_fault(text)
    return fault.kind if fault else None


def test_messages_are_one_plain_line() -> None:
    """Messages are one plain line without a final stop, for any text."""
    rng = random.Random(3)  # noqa: S311 - mutants need a seed, not secrecy
    mutants = (_mutated(rng.choice(_ROWS), rng) for _ in range(2_000))
    texts = [*mutants, *(bytes([each]) for each in range(256))]
    printable = set(string.printable) - set("\n\r\t\v\f")
    for fault in filter(None, map(find_fault, texts)):
        for each in (fault.message, fault.help):
            assert set(each) <= printable
            assert not each.endswith(".")
            assert len(each) < 100


def test_backslash_before_a_wrong_byte_names_the_byte() -> None:
    """A byte that is no character is not called one."""
    fault = find_fault(b'["\\\xff"]')

    assert fault
    assert (fault.start, fault.end) == (2, 4)
    assert fault.message == "a backslash before the byte 0xFF is not an escape in JSON"


def test_open_value_is_named_by_its_place_in_the_file() -> None:
    """The message about an open value can have another offset in it."""
    fault = find_fault(b'[1,{"a":1,')

    assert fault
    assert fault.message_with(103) == (
        "the text ends inside an object that starts at byte 103"
    )


def test_a_fault_is_a_value() -> None:
    """Equal texts have equal faults."""
    expected = Fault(
        FaultKind.SYNTAX,
        2,
        3,
        "} closes the array that starts at byte 0",
        "write ], or remove the bracket",
        opened=0,
    )

    assert find_fault(b"[1}") == expected


@for_each_case(
    "text",
    [
        b'["' + b"x" * 5_000_000 + b'"]',
        b'["' + rb"\n" * 2_500_000 + b'"]',
        b'["' + rb"\n" * 2_500_000,
        b"[" + b" " * 5_000_000 + b",",
        b"[1." + b"0" * 5_000_000 + b"]",
        b"/*" * 2_500_000,
        b"[" * 5_000_000,
    ],
)
def test_long_tokens_cost_little(text: bytes) -> None:
    """Five megabytes in a few tokens take less than a second."""
    began = time.process_time()
    find_fault(text)

    assert time.process_time() - began < 1


@pytest.mark.parametrize("depth", [3, 5, DEPTH_LIMIT])
@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=3),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner),
    ),
    st.integers(0, 2**32),
)
def test_fault_of_a_long_text_is_that_of_single_steps(
    depth: int, value: object, seed: int
) -> None:
    """Passing over several entries at once finds the same fault as one at a time."""
    chance = random.Random(seed)  # noqa: S311 - for tests
    text = json.dumps([value, {"a": value, "b": [value]}, value], indent=seed % 3)
    data = text.encode()
    for _ in range(seed % 4):
        at, end = sorted(chance.choices(range(len(data) + 1), k=2))
        data = data[:at] + chance.choice(_PIECES) + data[min(end, at + seed % 2) :]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_syntax, "_LONG", 0)
        fast = find_fault(data, depth_limit=depth)
        patch.setattr(json_syntax, "_LONG", sys.maxsize)

        assert fast == find_fault(data, depth_limit=depth)


@pytest.mark.parametrize(
    ("half", "message"),
    [
        (rb"\ud83d", "the first half of a surrogate pair has no second half"),
        (rb"\uDBFF", "the first half of a surrogate pair has no second half"),
        (rb"\ude00", "the second half of a surrogate pair has no first half"),
        (rb"\uDfff", "the second half of a surrogate pair has no first half"),
    ],
)
def test_halves_of_a_pair_are_distinguished(half: bytes, message: str) -> None:
    """The fault says which half of a surrogate pair there is, and where."""
    fault = find_fault(b'["a' + half + b' and more"]')

    assert fault is not None
    assert (fault.kind, fault.message) == (FaultKind.SURROGATE, message)
    assert (fault.start, fault.end) == (3, 9)
