"""Find repeated choices, and answers that are words for no value (V310, V311)."""

import re
from collections.abc import Iterable, Iterator, Sequence

from harpia_formats.formats.rules.sample_texts import PlacedText, SampleTexts
from harpia_formats.formats.rules.samples import NULL_ANSWER, REPEATED_CHOICE
from harpia_formats.model.format import Remark
from harpia_formats.model.text.describe import short_json

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
    """Tell whether a choice is there twice, but for white space at its ends.

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
                f"the choice {short_json(plain)} is there twice",
                "replace one of the two, or leave it out",
            )
        seen.add(plain)
