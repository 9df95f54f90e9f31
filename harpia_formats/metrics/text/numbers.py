r"""The number that a text gives as its answer, as an exact fraction.

It is read from the first of these that the text has: the last `\boxed{...}`; the last
line behind `####`; what stands behind the last `answer is`, `answer:` or `answer =`
(also `resposta`, `respuesta`); else the whole text. There must be one number, however
often; `the answer is` may also be followed by a number and then by others.
"""

import re
import unicodedata
from collections.abc import Iterator
from fractions import Fraction

#: Digits of the longest number, and the largest power of ten, that are read.
MOST_DIGITS, MOST_POWER = 4000, 400
#: Characters of a text in a message.
SHOWN = 40


class NoNumberError(Exception):
    """A text that gives no number, or several; the text is the reason."""


_superscripts = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_characters = str.maketrans(
    {"−": "-", "⁄": "/", "٫": ".", "٬": ",", "٪": "%", "％": "%", "\u202f": "\u00a0"}  # noqa: RUF001 - other signs of the same meaning
)
_swapped = str.maketrans(".,", ",.")
#: Steps that turn LaTeX into plain text.
_latex = tuple(
    (re.compile(pattern), new)
    for pattern, new in (
        (r"\\(?:text|mathrm|mathbf|textbf|mbox)\s*\{([^{}]*)\}", r" \1 "),
        (r"(?<=\d)(?:\{,\}|\\[,!;:])(?=\d)", ","),
        (r"\\([$%])", r"\1"),
        (r"\\(?:times|cdot)(?![a-zA-Z])", "×"),  # noqa: RUF001 - the sign itself
        (r"(?<=\d)(?=\\[dt]?frac)", " "),
        (r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"\1/\2"),
        (r"\\[dt]?frac\s*(\d)\s*(\d)", r"\1/\2"),
        (r"\\(?:left|right|[()\[\],!;: ])", " "),
    )
)
_body = r"(?:\d|[.,\u00a0'](?=\d))+"
_number = re.compile(
    rf"""
    (?<![\w^])                                    # H2O and x^2 have no number
    (?P<sign>(?<![\w)\]}}])[-+]\s?)?              # 7-3 is no -3
    [$€£¥₹]?\s?(?P<inner>[-+])?
    (?P<body>{_body})
    (?:
        [eE](?P<power>[-+]?\d+)(?!\w)
      | \s*[×x*]\s*10\s*(?:\^|\*\*)?\s*\{{?\s*(?P<raised>[-+⁻]?[\d⁰¹²³⁴-⁹]+)\}}?
      | \s*/\s*(?P<over>{_body})
      | [ ](?P<upper>\d+)/(?P<lower>\d+)
    )?
    (?P<rest>\s?%|[:/]\d|\^\s*\{{?\s*[-\d]|\*\*\s?[-\d]|[⁰¹²³⁴-⁹])?
    """,  # noqa: RUF001 - the sign of multiplication
    re.VERBOSE,
)
_plain = re.compile(
    r"\d+(?:\.\d+)?|\.\d+|\d{1,3}(?:([,\u00a0'])\d{3})(?:\1\d{3})*(?:\.\d+)?"
)
_boxed = re.compile(r"\\f?boxed\s*\{")
_hashes = re.compile(r"####[ \t]*(.*)")
_declared = re.compile(
    r"(?i)\b(?:answer|resposta|respuesta)\b(?:\s+final)?[\s*_]*(?:\bis\b|\bé\b|\bes\b|[:=])"
    r"[\s*_:]*(.*)"
)
_sentence = re.compile(r"[.!?](?:\s|$)")


def number_in(
    text: str, *, decimal: str = ".", hundredths: bool = True, last: bool = False
) -> Fraction:
    """Return the number that a text gives, by the rules of this module.

    `decimal` is the decimal separator, "." or ",", and the other one separates
    thousands. A percentage is in hundredths, or its sign is ignored. With `last` the
    last number counts where the whole text has several. Raises `NoNumberError`.
    """
    plain = text.translate(_characters)
    if decimal == ",":
        plain = plain.translate(_swapped)
    boxed = _last_boxed(plain)
    if boxed is not None:
        return _only(_numbers(boxed, hundredths), r"\boxed{}")
    lines = _hashes.findall(plain)
    if lines:
        return _only(_numbers(lines[-1], hundredths), "the line behind ####")
    lines = _declared.findall(plain)
    if lines and (found := _declared_number(lines[-1], hundredths)) is not None:
        return found
    numbers = list(_numbers(plain, hundredths))
    if last and numbers:
        return numbers[-1]
    return _only(iter(numbers), "it")


def _declared_number(line: str, hundredths: bool) -> Fraction | None:  # noqa: FBT001 - private
    """Return the number at the beginning of a line, else the only one of a sentence.

    It is None if the sentence has no number, so that the whole text is read.
    """
    plain = _without_latex(line)
    match = _number.match(plain.lstrip(" *_$=(≈~"))
    if match:
        return _value(match, hundredths)
    numbers = list(_numbers(_sentence.split(plain, maxsplit=1)[0], hundredths))
    return _only(iter(numbers), "the sentence of the answer") if numbers else None


def _last_boxed(text: str) -> str | None:
    r"""Return what the last `\boxed{...}` holds, None if there is none."""
    starts = [match.end() for match in _boxed.finditer(text)]
    if not starts:
        return None
    depth = 1
    for place in range(starts[-1], len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if not depth:
            return text[starts[-1] : place]
    return text[starts[-1] :]


def _without_latex(text: str) -> str:
    if "\\" in text or "{" in text:
        for pattern, new in _latex:
            text = pattern.sub(new, text)
    return text


def _numbers(text: str, hundredths: bool) -> Iterator[Fraction]:  # noqa: FBT001 - private
    for match in _number.finditer(_without_latex(text)):
        yield _value(match, hundredths)


def _only(numbers: Iterator[Fraction], where: str) -> Fraction:
    """Return the number that all of `numbers` are."""
    found = list(dict.fromkeys(numbers))
    if not found:
        raise NoNumberError(f"there is no number in {where}")
    if len(found) > 1:
        raise NoNumberError(f"there are several numbers in {where}")
    return found[0]


def _value(match: re.Match[str], hundredths: bool) -> Fraction:  # noqa: FBT001 - private
    """Return the value of a number; raises `NoNumberError` if it is more than one."""
    part = match.groupdict()
    rest = (part["rest"] or "").strip()
    value = _decimal(part["body"], match)
    if part["over"]:
        value = _ratio(value, _decimal(part["over"], match), match)
    elif part["upper"]:
        upper, lower = (_decimal(part[name], match) for name in ("upper", "lower"))
        fraction = _ratio(upper, lower, match)
        if fraction >= 1 or value.denominator != 1:
            raise _unreadable(match)
        value += fraction
    power = part["power"] or part["raised"]
    if power:
        exponent = int(power.translate(_superscripts)[:9])
        if abs(exponent) > MOST_POWER:
            raise _unreadable(match)
        value *= Fraction(10) ** exponent
    if rest not in {"", "%"}:
        raise _unreadable(match)
    if rest and hundredths:
        value /= 100
    is_negative = "-" in (part["sign"] or "") + (part["inner"] or "")
    return -value if is_negative else value


def _decimal(body: str, match: re.Match[str]) -> Fraction:
    """Return the value of digits with thousands and decimal separators."""
    if len(body) > MOST_DIGITS or not _plain.fullmatch(body):
        raise _unreadable(match)
    digits = re.sub(r"[^\d.]", "", body)
    if not digits.isascii():
        digits = "".join(
            each if each == "." else str(unicodedata.decimal(each)) for each in digits
        )
    return Fraction(digits)


def _ratio(one: Fraction, other: Fraction, match: re.Match[str]) -> Fraction:
    if not other:
        raise _unreadable(match)
    return one / other


def _unreadable(match: re.Match[str]) -> NoNumberError:
    return NoNumberError(
        f"this is not read as a number: {match.group().strip():.{SHOWN}}"
    )
