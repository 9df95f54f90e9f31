from pathlib import Path

import pytest

from corpora import CORPORA
from harpia_formats import validate
from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.files.parsing.json_fault import FaultKind
from harpia_formats.files.parsing.json_syntax import find_fault
from harpia_formats.files.parsing.locate import duplicates
from harpia_formats.validation.unit.row_checks import RowChecks
from harpia_formats.validation.unit.row_validator import RowValidator

_ROOT = Path(__file__).parents[3]
_SUITE = CORPORA / "JSONTestSuite" / "test_parsing"

pytestmark = pytest.mark.corpora

_SURROGATE, _UTF8, _NUMBER = FaultKind.SURROGATE, FaultKind.UTF8, FaultKind.NUMBER
#: What we make of the texts that the suite leaves open: none if we accept it.
_CHOICES: dict[str, FaultKind | None] = {
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
    "string_utf16BE_no_BOM": FaultKind.SYNTAX,
    "string_utf16LE_no_BOM": FaultKind.SYNTAX,
    "structure_500_nested_arrays": FaultKind.NESTING,
    "structure_UTF-8_BOM_empty_object": FaultKind.SYNTAX,
}


def _texts(prefix: str) -> dict[str, bytes]:
    """Return the texts whose file name has a prefix, by the rest of the name."""
    files = sorted(_SUITE.glob(f"{prefix}_*.json"))
    return {each.stem.removeprefix(f"{prefix}_"): each.read_bytes() for each in files}


def test_all_valid_texts_are_accepted() -> None:
    """The 95 texts that a parser must accept have no fault."""
    texts = _texts("y")

    assert len(texts) == 95
    assert {name: find_fault(text) for name, text in texts.items()} == dict.fromkeys(
        texts
    )


def test_repeated_names_are_found_where_they_are() -> None:
    """Of the valid texts exactly the two with a repeated name give a finding."""
    found = {name for name, text in _texts("y").items() if any(duplicates(text))}

    assert found == {"object_duplicated_key", "object_duplicated_key_and_value"}


def test_all_invalid_texts_are_refused_with_a_place() -> None:
    """The 188 texts that a parser must refuse have a fault inside or at the end."""
    texts = _texts("n")

    assert len(texts) == 188
    for name, text in texts.items():
        fault = find_fault(text)
        assert fault, name
        assert 0 <= fault.start <= fault.end <= len(text), name


def test_open_texts_have_their_documented_verdict() -> None:
    """Each of the 35 texts that parsers may refuse has its documented verdict."""
    found = {name: find_fault(text) for name, text in _texts("i").items()}

    assert {name: each and each.kind for name, each in found.items()} == _CHOICES


def codes_for(text: bytes) -> list[str]:
    """Return the problem codes for `text` as one record of the schema {}."""
    verdict = RowValidator({}, RowChecks()).validate(Chunk(text, Cursor(), [text]))
    return [each.code for each in verdict.findings] or ["blank"] * len(verdict.blank)


def test_the_validator_takes_the_texts_as_records() -> None:
    """As one record each, valid texts pass, and the others have one finding.

    Two are blank: no record at all, so that their file is an empty one.
    """
    valid = {
        name: codes_for(text) for name, text in _texts("y").items() if codes_for(text)
    }
    invalid = {name: codes_for(text) for name, text in _texts("n").items()}

    assert valid == {
        "object_duplicated_key": ["J105"],
        "object_duplicated_key_and_value": ["J105"],
    }
    assert {len(codes) for codes in invalid.values()} == {1}
    blank = {name for name, codes in invalid.items() if codes == ["blank"]}
    assert blank == {"single_space", "structure_no_data"}


@pytest.mark.parametrize("prefix", ["y", "n", "i"])
def test_files_of_the_suite_are_never_a_crash(prefix: str) -> None:
    """As files too, none is a crash, and none that must be refused is accepted."""
    for name, text in _texts(prefix).items():
        report = validate(text, schema=True)

        if prefix == "n":
            assert not report.ok, name
