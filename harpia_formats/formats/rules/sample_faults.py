"""Find leaked references, repeated choices, and answers that stand for no value."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from string import punctuation

import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.formats.rules.lazy_pattern import lazy_pattern
from harpia_formats.formats.rules.row_texts import PlacedText, SampleTexts
from harpia_formats.formats.rules.sample_rules import NULL_ANSWER, REPEATED_CHOICE
from harpia_formats.model.column import Column, as_column
from harpia_formats.model.describe import short_json
from harpia_formats.model.format import Remark

#: The longest reference that is not looked for: it occurs by chance.
SHORT = 3
_ascii_words = lazy_pattern(r"[0-9A-Za-z]+")
_words = lazy_pattern(r"[^\W_]+")
#: Bytes that are no part of a word, and each byte in lower case, white space as " ".
_mark_bytes = bytes(
    byte for byte in range(128) if not chr(byte).isalnum() and byte != ord("_")
)
_white_space = b"\t\n\v\f\r\x1c\x1d\x1e\x1f"
_plain_bytes = (
    bytes(range(256))
    .lower()
    .translate(bytes.maketrans(_white_space, b" " * len(_white_space)))
)
#: White space beyond ASCII. Most of it differs in the last byte only, of which that of
#: the first one stands for all: those few searches take a fifth of the time of one for
#: each, and what begins alike and is no white space is rarely all that differs.
_wide_space, _ogham_space = "\u3000".encode(), "\u1680".encode()
_last_bytes = bytes(
    {space.encode()[-1] for space in "\x85\xa0\u2028\u2029\u202f\u205f"}
    | {*range(0x80, 0x8B)}
)
_as_first_space = bytes.maketrans(_last_bytes, b"\x80" * len(_last_bytes))
_first_spaces = (b"\xc2\x80", b"\xe2\x80\x80")
#: The first bytes of letters beyond ASCII that case folding may change.
_cased_bytes = bytes([*range(0xC2, 0xE0), 0xE1, 0xEA, *range(0xF0, 0xF5)])
#: What others of them begin with, where later bytes are as in `_rough_bytes`.
_cased_starts = (b"\xe2\x84", b"\xe2\xa1", b"\xef\xa1", b"\xef\xbc\xa1")
_rough_bytes = bytes(
    0xA1 if byte in range(0xA1, 0xBB) else 0x84 if byte in range(0x84, 0xA1) else byte
    for byte in range(256)
)
#: Letters of scripts that put no spaces between words begin here.
_spaced_until, _spaced_again, _unspaced = "\u0e00", "\u10a0", "\u1780"


def is_leaked(reference: str, prompts: Iterable[str], choices: Iterable[str]) -> bool:
    """Return whether a reference of some length is in a prompt and not in a choice.

    It must be there as whole words, but for case, white space and marks around it.
    """
    if not any(may_leak(reference, prompt) for prompt in prompts):
        return False
    wanted = _normal_reference(reference)
    if len(wanted) <= SHORT or any(wanted in _spaced(choice) for choice in choices):
        return False
    return any(_has_words(wanted, _spaced(prompt)) for prompt in prompts)


def may_leak(reference: str, prompt: str) -> bool:
    """Return whether a reference may be in a prompt: quickly, and maybe wrongly so."""
    if len(reference) <= SHORT:
        return False
    if not reference.isascii():
        return _may_hold(prompt, reference)
    last = reference.lower().split()[-1:]
    word = last[0].strip(punctuation) if last else ""
    if prompt.isascii():
        text = prompt.lower()
        if word not in text:
            return False
        wanted = _normal_reference(reference)
        return wanted in text or (" " in wanted and _may_be_spread(wanted, text))
    data = prompt.encode("utf-8", "surrogatepass").lower()
    if word.encode() not in data:
        return False
    wanted = _normal_reference(reference)
    return wanted.encode() in data or (
        " " in wanted and _may_be_spread(wanted, prompt.lower())
    )


def possible_leaks(references: Sequence[str], prompts: Sequence[str]) -> list[int]:
    """Return the places of references that may be in the prompt of the same place.

    There are few others among them than those for which `may_leak` is true.
    """
    wanted, asked = _wanted_in(references), _plain_texts(prompts)
    everywhere = [*range(len(references))]
    if wanted is None or asked is None:
        return everywhere
    parts = stringzilla.Str(asked).split(b"\0")
    if not len(wanted) == len(parts) == len(references):  # a text has a NUL
        return everywhere
    found = map(stringzilla.find, parts, wanted)
    places = [place for place, at in enumerate(found) if at >= 0]
    return [place for place in places if len(references[place]) > SHORT]


def _wanted_in(references: Sequence[str]) -> list[bytes] | None:
    """Return what is looked for in prompts; None if a text is no UTF-8."""
    is_ascii = as_column(references).is_ascii
    if not is_ascii:
        references = list(map(without_marks, references))
    data = _plain_texts(references)
    if data is None:
        return None
    texts = data.split(b"\0")
    return [text.strip(_mark_bytes) for text in texts] if is_ascii else texts


def _plain_texts(texts: Sequence[str]) -> bytes | None:
    """Return texts without case, with one space for all white space, as `_spaced` does.

    There is a NUL between them. None if one of them is no UTF-8. To look at all of them
    at once takes less than half of the time.
    """
    try:
        data = _joined_bytes(texts)
    except UnicodeEncodeError:  # a surrogate without its pair
        return None
    if not data.isascii():
        if _may_have_case(data):
            data = stringzilla.utf8_uncased_fold(data)
        data = _with_spaces(_with_spaces(data, _wide_space), _ogham_space)
        data = stringzilla.translate(data, _as_first_space)
        for space in _first_spaces:
            data = _with_spaces(data, space)
    data = stringzilla.translate(data, _plain_bytes)
    while stringzilla.find(data, b"  ") >= 0:
        data = _with_spaces(data, b"  ")
    return data


def _joined_bytes(texts: Sequence[str]) -> bytes:
    if isinstance(texts, Column) and not texts.is_ascii:
        return b"\0".join(texts.encoded)
    return "\0".join(texts).encode()


def _may_have_case(data: bytes) -> bool:
    """Tell whether case folding may change a letter beyond ASCII in UTF-8.

    In Chinese texts it changes none, and takes ten times as long as this.
    """
    if stringzilla.find_first_of(data, _cased_bytes) >= 0:
        return True
    rough = stringzilla.translate(data, _rough_bytes)
    return any(stringzilla.find(rough, start) >= 0 for start in _cased_starts)


def _with_spaces(data: bytes, instead: bytes) -> bytes:
    """Return `data` with a space for each of some bytes.

    This takes a tenth of the time of `bytes.replace`.
    """
    if stringzilla.find(data, instead) < 0:
        return data
    return b" ".join(stringzilla.Str(data).split(instead))


def _may_be_spread(wanted: str, text: str) -> bool:
    """Return whether words may be in a text with other white space between them."""
    has_other = any(
        space in text for space in ("\n", "  ", "\t", "\r", "\xa0", "\u3000")
    )
    return has_other and all(word in text for word in wanted.split())


def _may_hold(prompt: str, reference: str) -> bool:
    """Return whether a reference with other letters than ASCII may be in a prompt."""
    word, has_case = _probe(reference)
    if not has_case:
        return word in prompt
    if prompt.isascii():
        return word in prompt.lower()
    return word.encode() in prompt.encode("utf-8", "surrogatepass").lower()


@lru_cache(maxsize=4096)
def _probe(reference: str) -> tuple[str, bool]:
    """Return a part that must be in a prompt, and whether its case does not matter.

    It is the longest run of ASCII letters and digits, in lower case, else the longest
    run of letters without case, else nothing.
    """
    words = _ascii_words.findall(reference)
    if words:
        return max(words, key=len).lower(), True
    longest = max(_words.findall(reference), key=len, default="")
    has_case = not longest.lower() == longest.upper() == longest.casefold()
    return ("", True) if has_case else (longest, False)


@lru_cache(maxsize=4096)
def _normal_reference(text: str) -> str:
    return _normal(text)


def _normal(text: str) -> str:
    return _spaced(without_marks(text))


def without_marks(text: str) -> str:
    """Return a text without the marks around it, which are no letters and digits.

    This takes a third of the time of an expression, which also looks at marks inside.
    """
    begin, end = 0, len(text)
    while begin < end and not (text[begin].isalnum() or text[begin] == "_"):
        begin += 1
    while begin < end and not (text[end - 1].isalnum() or text[end - 1] == "_"):
        end -= 1
    return text[begin:end]


def _spaced(text: str) -> str:
    """Return a text without case, with one space for all white space."""
    folded = text.casefold()
    if folded.isascii() and folded.isprintable() and "  " not in folded:
        return folded  # it has no other white space than single spaces
    return " ".join(folded.split())


def _has_words(wanted: str, text: str) -> bool:
    """Return whether `wanted` occurs in `text` where no word goes on around it."""
    start = text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not (_joined(before, wanted[0]) or _joined(wanted[-1], after)):
            return True
        start = text.find(wanted, start + 1)
    return False


def _joined(one: str, other: str) -> bool:
    return _in_word(one) and _in_word(other)


def _in_word(letter: str) -> bool:
    """Return whether a letter is part of a word that spaces separate from others."""
    return letter.isalnum() and (
        letter < _spaced_until or _spaced_again <= letter < _unspaced
    )


#: What programs in Python, JavaScript and SQL write for no value.
_null_words = frozenset(
    {"null", "NULL", "None", "NaN", "nan", "undefined", "[object Object]"}
)
#: Characters of the longest answer that is looked up.
LONGEST_WORD = 20


def is_null_word(answer: str) -> bool:
    """Tell whether an answer is only a word for no value."""
    return len(answer) <= LONGEST_WORD and answer.strip() in _null_words


def has_repeated(choices: Sequence[str], references: Sequence[str] = ()) -> bool:
    """Tell whether a choice is repeated, but for white space at its ends.

    Choices that are all references are the answers to a question without choices, as
    in files from HELM: they may be alike.
    """
    found = set(map(str.strip, choices))
    if len(found) == len(choices):
        return False
    return not found <= set(map(str.strip, references))


def has_word(word: str, texts: Iterable[str]) -> bool:
    """Tell whether one of some texts has a word, in any case of letters."""
    plain = re.escape(word.strip())
    pattern = re.compile(rf"(?<!\w){plain}(?!\w)", re.IGNORECASE)
    return any(map(pattern.search, texts))


def value_remarks(texts: SampleTexts) -> Iterator[Remark]:
    """Yield a remark for each repeated choice and each answer that is no value."""
    references = [text for _, text in texts.references]
    if has_repeated([text for _, text in texts.choices], references):
        yield from _of_choices(texts.choices)
    placed = (*texts.prompts, *texts.references, *texts.choices)
    for path, answer in texts.answers:
        word = answer.strip()
        if is_null_word(answer) and not has_word(word, (text for _, text in placed)):
            yield Remark(
                NULL_ANSWER,
                path,
                f"the answer is only {short_json(word)}, as programs write no value",
                "ask the model again, or leave the row out if it has no answer",
            )


def _of_choices(choices: Iterable[PlacedText]) -> Iterator[Remark]:
    seen: set[str] = set()
    for path, choice in choices:
        plain = choice.strip()
        if plain in seen:
            yield Remark(
                REPEATED_CHOICE,
                path,
                f"the choice {short_json(plain)} is repeated",
                "replace one of the two, or leave it out",
            )
        seen.add(plain)
