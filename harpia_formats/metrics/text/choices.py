r"""The choice that an answer to a multiple-choice question names, by stated rules.

A choice is named by its letter (A, B, C, ...), its text, or its number if it is said
what the number of the first one is. The first of these rules that finds any choice
decides, and must find one choice only:

1. the whole answer is a name: `B`, `(b)`, `**B**`, `Paris`;
2. the last `\boxed{...}` holds a name;
3. a name stands behind `answer is`, `answer:` or `answer =` (also `resposta`,
   `respuesta`), with `option`, `choice` or `letter` between or not;
4. a line begins with a letter and a mark: `B. Paris`, `B) ...`, `(B) ...`;
5. a capital letter stands in brackets or in bold, or behind `option` or `choice`;
6. the text of a choice is among the words of the answer, not as part of a longer one.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from string import ascii_uppercase

#: The names of a choice.
KINDS = ("letter", "text", "index")
#: What may stand around a name.
_AROUND = " \t\r\n*_`\"'“”‘’«».,;:!?()[]{}$"  # noqa: RUF001 - quotation marks
_boxed = re.compile(r"\\f?boxed\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}")
_latex = re.compile(r"\\(?:text|mathrm|mathbf|textbf|mbox)\s*\{([^{}]*)\}")
_declared = re.compile(
    r"(?i)\b(?:answer|resposta|respuesta)\b(?:[ \t]+(?:option|choice))?[\s*_]*"
    r"(?:\bis\b|\bé\b|\bes\b|[:=])[\s*_:]*"
    r"(?:(?:(?:the|a|la)[ \t]+)?(?:option|choice|letter|letra|alternativa)[ \t]+)?"
)
#: What may stand before a name that begins a text.
_before = re.compile(r"[\s*_`\"'“”‘’«»(\[{$]*")  # noqa: RUF001 - quotation marks
_line_label = re.compile(
    r"^[ \t*_#>-]*[(\[]?([A-Za-z]|\d{1,2})[*_]*[).:\]](?=[\s*_]|$)", re.MULTILINE
)
_marked = re.compile(
    r"[(\[]([A-Z])[)\]]"
    r"|\*\*[(\[]?([A-Z])[.):\]]*\*\*"
    r"|(?i:\b(?:option|choice|letter|letra|alternativa))[ \t]+[(\[*]*([A-Z])(?![\w'])"
)
_letter = re.compile(r"([A-Za-z])(?![\w'’-])")  # noqa: RUF001 - an apostrophe
_number = re.compile(r"(\d{1,3})(?![\w]|[.,]\d)")


class NoChoiceError(Exception):
    """An answer that names no choice, or several; the text is the reason."""


@dataclass(frozen=True)
class Choices:
    """The choices of a question."""

    texts: tuple[str, ...]
    #: The number of the first choice, None if numbers name no choice.
    first: int | None = None

    @cached_property
    def _plain(self) -> tuple[str, ...]:
        return tuple(map(_plain, self.texts))

    def in_answer(self, answer: str) -> int:
        """Return the index of the choice that an answer names.

        Raises `NoChoiceError`.
        """
        text = _latex.sub(r"\1", unicodedata.normalize("NFKC", answer))
        rules: tuple[Callable[[str], Iterable[int]], ...] = (
            self.named,
            self._boxed,
            self._declared,
            self._labelled,
            self._marked,
            self._mentioned,
        )
        for rule in rules:
            found = sorted(set(rule(text)))
            if len(found) > 1:
                raise NoChoiceError(
                    f"the answer names several choices: {', '.join(map(_name, found))}"
                )
            if found:
                return found[0]
        raise NoChoiceError("the answer names no choice")

    def named(self, text: str, kinds: Sequence[str] = KINDS) -> set[int]:
        """Return the choices of which the whole text is a name of one of `kinds`."""
        plain = _plain(unicodedata.normalize("NFKC", text))
        found: set[int] = set()
        if "letter" in kinds:
            found |= set(self._of_letter(plain))
        if "index" in kinds:
            found |= set(self._of_number(plain))
        if "text" in kinds:
            found |= {at for at, other in enumerate(self._plain) if other == plain}
        return found

    def _of_letter(self, letter: str) -> Iterator[int]:
        at = ascii_uppercase.find(letter.upper()) if len(letter) == 1 else -1
        if 0 <= at < len(self.texts):
            yield at

    def _of_number(self, digits: str) -> Iterator[int]:
        if self.first is not None and re.fullmatch(r"\d{1,3}", digits):
            at = int(digits) - self.first
            if 0 <= at < len(self.texts):
                yield at

    def _boxed(self, text: str) -> Iterator[int]:
        found = _boxed.findall(text)
        yield from self.named(found[-1]) if found else ()

    def _declared(self, text: str) -> Iterator[int]:
        for match in _declared.finditer(text):
            # The rest of its line may declare another one.
            yield from self._at_start(text[match.end() :].partition("\n")[0])

    def _at_start(self, text: str) -> Iterator[int]:
        """Yield the choices whose names a text begins with; a longer text wins."""
        whole = self.named(text)
        if whole:
            yield from whole
            return
        start = _before.match(text)
        rest = text[start.end() if start else 0 :]
        texts = [at for at in range(len(self.texts)) if self._begins(rest, at)]
        if texts:
            longest = max(len(self._plain[at]) for at in texts)
            yield from (at for at in texts if len(self._plain[at]) == longest)
            return
        letter = _letter.match(rest)
        if letter:
            behind = rest[letter.end() :].lstrip(" ")
            # A small letter before a word may be an article.
            if letter[1].isupper() or not behind[:1].isalnum():
                yield from self._of_letter(letter[1])
        number = _number.match(rest)
        if number:
            yield from self._of_number(number[1])

    def _begins(self, text: str, at: int) -> bool:
        """Tell whether a text begins with the words of a choice, not of one letter."""
        plain = self._plain[at]
        if len(plain) < 2 or not text.casefold().startswith(plain):  # noqa: PLR2004 - said so above
            return False
        return not _continues(plain, text.casefold()[len(plain) :])

    def _labelled(self, text: str) -> Iterator[int]:
        for label in _line_label.findall(text):
            yield from self._of_letter(label)
            yield from self._of_number(label)

    def _marked(self, text: str) -> Iterator[int]:
        for letters in _marked.findall(text):
            yield from self._of_letter("".join(letters))

    def _mentioned(self, text: str) -> Iterator[int]:
        left = " ".join(text.casefold().split())
        order = sorted(range(len(self.texts)), key=lambda at: -len(self._plain[at]))
        for at in order:
            plain = self._plain[at]
            if not plain:
                continue
            found = _words(plain).search(left)
            if found:
                yield at
                # What a longer choice covers is no shorter one.
                left = _words(plain).sub("\n", left)


def choices_of(texts: Sequence[str], first: int | None) -> Choices:
    """Return the choices with these texts; `first` is the number of the first one."""
    return Choices(tuple(texts), first)


@lru_cache(1024)
def _words(plain: str) -> re.Pattern[str]:
    """Return a pattern for a text that is no part of a longer word or number."""
    start = r"(?<![\w])" if plain[0].isalnum() else ""
    end = r"(?![\w]|[.,]\d)" if plain[-1].isalnum() else ""
    return re.compile(f"{start}{re.escape(plain)}{end}")


def _continues(plain: str, behind: str) -> bool:
    """Tell whether the last word or number of a text goes on behind it."""
    return plain[-1].isalnum() and re.match(r"\w|[.,]\d", behind) is not None


def _plain(text: str) -> str:
    """Return a text as it is compared: without case, marks around it, more spaces."""
    folded = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return folded.strip(_AROUND) or folded


def _name(at: int) -> str:
    return ascii_uppercase[at] if at < len(ascii_uppercase) else str(at + 1)
