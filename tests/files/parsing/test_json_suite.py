"""The texts of the JSON Parsing Test Suite, as records and as files."""

import pytest

from corpora import CORPORA
from harpia_formats import Problem, validate

_SUITE = CORPORA / "JSONTestSuite" / "test_parsing"

pytestmark = pytest.mark.corpora

_SURROGATE, _UTF8, _NUMBER = "J104", "J103", "J107"
#: What we make of the texts that the suite leaves open: none if we accept it.
_CHOICES: dict[str, str | None] = {
    "number_double_huge_neg_exp": None,
    "number_huge_exp": _NUMBER,
    "number_neg_int_huge_exp": _NUMBER,
    "number_pos_double_huge_exp": _NUMBER,
    "number_real_neg_overflow": _NUMBER,
    "number_real_pos_overflow": _NUMBER,
    "number_real_underflow": None,
    "number_too_big_neg_int": None,
    "number_too_big_pos_int": None,
    "number_very_big_negative_int": None,
    "object_key_lone_2nd_surrogate": _SURROGATE,
    "string_1st_surrogate_but_2nd_missing": _SURROGATE,
    "string_1st_valid_surrogate_2nd_invalid": _SURROGATE,
    "string_UTF-16LE_with_BOM": _UTF8,
    "string_UTF-8_invalid_sequence": _UTF8,
    "string_UTF8_surrogate_U+D800": _UTF8,
    "string_incomplete_surrogate_and_escape_valid": _SURROGATE,
    "string_incomplete_surrogate_pair": _SURROGATE,
    "string_incomplete_surrogates_escape_valid": _SURROGATE,
    "string_invalid_lonely_surrogate": _SURROGATE,
    "string_invalid_surrogate": _SURROGATE,
    "string_invalid_utf-8": _UTF8,
    "string_inverted_surrogates_U+1D11E": _SURROGATE,
    "string_iso_latin_1": _UTF8,
    "string_lone_second_surrogate": _SURROGATE,
    "string_lone_utf8_continuation_byte": _UTF8,
    "string_not_in_unicode_range": _UTF8,
    "string_overlong_sequence_2_bytes": _UTF8,
    "string_overlong_sequence_6_bytes": _UTF8,
    "string_overlong_sequence_6_bytes_null": _UTF8,
    "string_truncated-utf-8": _UTF8,
    "string_utf16BE_no_BOM": "J101",
    "string_utf16LE_no_BOM": "J101",
    "structure_500_nested_arrays": "J108",
    "structure_UTF-8_BOM_empty_object": "J101",
}


def _texts(prefix: str) -> dict[str, bytes]:
    """Return the texts whose file name has a prefix, by the rest of the name."""
    files = sorted(_SUITE.glob(f"{prefix}_*.json"))
    return {each.stem.removeprefix(f"{prefix}_"): each.read_bytes() for each in files}


def _problems(text: bytes) -> tuple[bytes, tuple[Problem, ...]]:
    """Return a file with a text as the value of its one record, and its problems."""
    data = b'{"a":%b}' % text
    return data, validate(data, schema=True).problems


def test_valid_texts_are_accepted_and_repeated_names_found() -> None:
    """Of the 95 texts that a parser must accept, two have a repeated name."""
    texts = _texts("y")
    found = {name: _problems(text)[1] for name, text in texts.items()}

    assert len(texts) == 95
    assert {
        name: [each.code for each in them] for name, them in found.items() if them
    } == {
        "object_duplicated_key": ["J105"],
        "object_duplicated_key_and_value": ["J105"],
    }


def test_all_invalid_texts_are_refused_with_a_place() -> None:
    """The 188 texts that a parser must refuse have a fault inside or at the end."""
    texts = _texts("n")

    assert len(texts) == 188
    for name, text in texts.items():
        data, problems = _problems(text)
        # A line feed in four of them begins another row, with a fault of its own.
        assert 1 <= len(problems) <= 1 + text.count(b"\n"), name
        for each in problems:
            assert 0 <= (each.place.byte_offset or 0) <= len(data), name


def test_open_texts_have_their_documented_verdict() -> None:
    """Each of the 35 texts that parsers may refuse has its documented verdict."""
    found = {name: _problems(text)[1] for name, text in _texts("i").items()}

    assert {
        name: (them[0].code if them else None) for name, them in found.items()
    } == _CHOICES


@pytest.mark.parametrize("prefix", ["y", "n", "i"])
def test_files_of_the_suite_are_never_a_crash(prefix: str) -> None:
    """As files too, none is a crash, and none that must be refused is accepted."""
    for name, text in _texts(prefix).items():
        report = validate(text, schema=True)

        if prefix == "n":
            assert not report.ok, name
