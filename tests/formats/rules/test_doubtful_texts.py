"""The quick searches for doubtful numbers and texts never pass over one."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.formats.rules.doubtful_text_lints import (
    MISREAD_LINT,
    TEXT_LINTS,
    misdecoded,
)

INTEGERS, TEXTS = TEXT_LINTS
SPECIAL = "\u200b\u2066\ufeff\ufffd\0é\xc3\xa9\xe2€™… f2"
texts = st.text(st.one_of(st.sampled_from(SPECIAL), st.characters(codec="utf-8")))
numbers = st.one_of(
    st.integers(), st.integers(10**14, 10**19), st.floats(allow_nan=False)
)
values = st.recursive(
    st.one_of(numbers, texts, st.none()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(texts, inner)),
    max_leaves=8,
)


@given(values, st.booleans(), st.integers(0, 20))
def test_what_is_doubtful_is_searched_for(
    value: Any, is_ascii: bool, before: int
) -> None:
    """A row with a remark is found, escaped or not, wherever it stands."""
    text = json.dumps(value, ensure_ascii=is_ascii)
    for lint in (INTEGERS, TEXTS):
        if any(True for _ in lint.remarks(value)):
            assert lint.text is not None
            assert lint.text.search(b" " * before + text.encode())
            assert lint.text.search(text.replace("\\uf", "\\uF").encode())


#: Chinese in UTF-8 that was read as GBK, and in GBK that was read as Latin-1; letters
#: and marks read as Chinese characters; and what may stand next to these.
MISREAD = (
    "中文数据".encode().decode("gbk", "ignore"),
    "数据".encode("gbk").decode("latin-1"),
    *("na茂ve", "it鈥檚", "锟斤拷"),
    *("数", "é", "ö", "\\", '"', "\n", "😺", "a", " "),
)


@given(st.lists(st.sampled_from(MISREAD)).map("".join), st.booleans())
def test_what_was_misread_is_searched_for(text: str, is_ascii: bool) -> None:
    """A row with misread characters is found, escaped or not, next to any others."""
    data = json.dumps(text, ensure_ascii=is_ascii)
    if any(True for _ in MISREAD_LINT.remarks(text)):
        assert MISREAD_LINT.text is not None
        assert MISREAD_LINT.text.search(data.encode())
        assert MISREAD_LINT.text.search(data.replace("\\u951f", "\\u951F").encode())


@for_each_case(
    "text, is_found",
    [
        ("1234567890123456", True),
        ("-1234567890123456", True),
        ("123456789012345", False),
        ("1234567890123456.5", False),
        ("1234567890123456e2", False),
        ('"a1234567890123456"', False),
        ('["a1234567890123456", 1234567890123456]', True),
        ('{"a": 0.1234567890123456}', False),
    ],
)
def test_long_integers_are_distinguished_from_other_digits(
    text: str, is_found: bool
) -> None:
    """Digits in a float, in a word or too few of them are no long integer."""
    assert INTEGERS.text is not None
    assert INTEGERS.text.search(text.encode()) is is_found


@for_each_case(
    "text",
    [
        "«AMANH\xc3» disse ele.",
        "AMANH\xc3…",
        "AMANH\xc3—disse",
        "“É”, respondeu.",
        "“\xc3”",
        "Il dit : « un café\xa0».",
        "um café…”",
    ],
)
def test_written_marks_are_not_taken_for_misdecoded_text(text: str) -> None:
    """Letters with quotes, dashes and spaces after them are what was written."""
    assert misdecoded(text) is None


@for_each_case(
    "text, wrong, meant",
    [
        ("caf\xc3\xa9", "\xc3\xa9", "é"),
        ("CORA\xc3‡\xc3ƒO", "\xc3‡", "Ç"),
        ("JOS\xc3‰", "\xc3‰", "É"),
        ("COMPREENS\xc3\u2019O", "\xc3\u2019", "\xd2"),
        ("vou \xc3\xa0 praia", "\xc3\xa0", "à"),
        ("TOTAL\xc2\xa0: 3", "\xc2\xa0", "\xa0"),
        ("3 \xc3\u2014 4", "\xc3\u2014", "\xd7"),
        ("it\xe2€™s", "\xe2€™", "\u2019"),
        ("«AMANH\xc3» e caf\xc3\xa9", "\xc3\xa9", "é"),
    ],
)
def test_misdecoded_text_is_found(text: str, wrong: str, meant: str) -> None:
    """What no writer would put together is found, and what was meant by it."""
    assert misdecoded(text) == (wrong, meant)


@for_each_case(
    "text, is_found",
    [
        ("ภาษา\u200bไทย", False),
        ("ភាសា\u200bខ្មែរ\u200b\u200bនេះ", False),
        ("ພາສາ\u200bລາວ", False),
        ("ภาษาไทย\u200b", True),
        ("\u200bภาษาไทย", True),
        ("ภาษา\u200b yes", True),
        ("ภาษา\u200bไทย and ye\u200bs", True),
        ("ภาษา\u200bไทย\ufeff", True),
        ("ye\u200bs", True),
        ("答\u200b案", True),
    ],
)
def test_zero_width_spaces_separate_words_of_some_scripts(
    text: str, *, is_found: bool
) -> None:
    """Between letters of scripts without spaces they are meant, elsewhere not."""
    found = [remark.code for remark in TEXTS.remarks({"answer": text})]

    assert found == ["J208"] * is_found
