r"""The number that a text gives as its answer, as an exact fraction.

It is read from the first of these that the text has: the last `\boxed{...}`; the last
line behind `####` that is no heading; what stands behind the last phrase such as `the
answer is` (see `harpia_formats.evaluation.metrics.text.answer_phrases`); else the whole
text. There must be one number, however often; a phrase may also be followed by a number
and then by others. A box holds one number, after a name and `=` or not, with a unit or
not. What only begins with a number, as `5x`, `3 to 5` or `1011_2`, is none.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from harpia_formats.evaluation.metrics.text.answer_phrases import (
    UNSPACED,
    WORD,
    Kind,
    Statement,
    is_asked,
    pattern,
    places_of_name,
    sentence_end,
    sentence_start,
    statements,
    without_thoughts,
)

#: Digits of the longest number, and the largest power of ten, that are read.
MOST_DIGITS, MOST_POWER = 4000, 400
#: Characters of a text in a message.
SHOWN = 40


#: What is read behind a phrase.
_SENTENCE = "the sentence of the answer"


class NoNumberError(Exception):
    """A text that gives no number, or several; the text is the reason."""


_superscripts = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
_characters = str.maketrans(
    {"−": "-", "⁄": "/", "٫": ".", "٬": ",", "٪": "%", "％": "%"}  # noqa: RUF001 - other signs of the same meaning
    | dict.fromkeys("\u2007\u2009\u202f", "\u00a0")
    | dict(zip("，：＝＄（）；！＋－～．", ",:=$();!+-~.", strict=True))  # noqa: RUF001 - full-width signs
)
#: Digits in groups of three, as `25 000`.
_spaced_groups = re.compile(
    r"(?<![\d.,'\u00a0^_])(?<!\d )[1-9]\d{0,2}(?: \d{3})+(?![\d/'\u00a0]| \d)"
)
_swapped = str.maketrans(".,", ",.")
#: Stand around what LaTeX has as text: both are white space.
_TEXT, _END = "\x1e", "\x1f"
#: Steps that turn LaTeX into plain text.
_latex = tuple(
    (re.compile(pattern), new)
    for pattern, new in (
        (
            r"\\(?:text|mathrm|mathbf|textbf|mbox|textrm|operatorname)\s*\{([^{}]*)\}",
            rf"{_TEXT}\1{_END}",
        ),
        (r"(?<=\d)(?:\{,\}|\\[,!;:])(?=\d)", ","),
        (r"\\([$%])", r"\1"),
        (r"\\(?:times|cdot)(?![a-zA-Z])", "×"),  # noqa: RUF001 - the sign itself
        (r"(?<=\d)(?=\\[dt]?frac)", " "),
        (r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}", r"\1/\2"),
        (r"\\[dt]?frac\s*(\d)\s*(\d)", r"\1/\2"),
        (r"(?<!~)~(?!~)", " "),
        (r"\\(?:left|right|displaystyle|[()\[\],!;: ])", " "),
    )
)
#: Words that multiply the number before them. `Billion` is another number in German,
#: and `billion` is not.
_powers = {
    12: r"trillions?|billionen|trilhão|trilhões|billón|billones|兆(?![赫瓦字帕欧])",
    9: r"(?-i:billions?)|milliarden?|mrd\.?|bilhão|bilhões",
    8: r"亿|億",
    6: r"million(?:s|en)?|mio\.?|milhão|milhões|millón|millones",
    4: r"万|萬",
    3: r"thousand|tausend|mil|千(?![克米瓦卡焦伏赫帕字])",
    2: r"hundred|百(?!分)",
}
_scale = "|".join(_powers.values())
_power = re.compile("|".join(f"({words})" for words in _powers.values()), re.IGNORECASE)
_percent = r"%|percent\b|per\s+cent\b|prozent\b|por\s*cento\b|por\s+ciento\b|パーセント"
_body = r"(?:\d|[.,\u00a0'](?=\d))+"
_number = re.compile(
    rf"""(?i)
    (?<!{WORD})(?<!\^)                            # H2O and x^2 have no number
    (?:(?P<sign>(?<![)\]}}])[-+])\s?)?            # 7-3 is no -3
    (?:[$€£¥₹]\s?)?(?P<inner>[-+])?
    (?P<body>{_body})
    (?:
        e(?P<power>[-+]?\d+)(?!{WORD})
      | (?<=10)(?<![\d.,\u00a0']10)\s*(?:\^|\*\*)\s*    # 10^3, and no 110^3
        (?:\{{\s*(?P<braced>[-+]?\d+)\s*\}}|(?P<bare>[-+]?\d+))
        (?!\d|[.,]\d|\s*(?:\^|!|/|\*))
      | \s*[×x*]\s*10\s*(?:\^|\*\*)?\s*\{{?\s*(?P<raised>[-+⁻]?[\d⁰¹²³⁴-⁹]+)\}}?
      | \s*/\s*(?P<over>{_body})
      | [ ](?P<upper>\d+)/(?P<lower>\d+)
    )?
    (?P<scale>(?:\s*(?:{_scale})(?!{WORD}))+)?
    (?P<rest>\s*(?:{_percent})|[:/]\d|\^\s*\{{?\s*[-\d]|\*\*[-\d]|[⁰¹²³⁴-⁹])?
    """,  # noqa: RUF001 - the sign of multiplication
    re.VERBOSE,
)
_plain = re.compile(
    r"\d+(?:\.\d+)?|\.\d+|\d{1,3}(?:([,\u00a0'])\d{3})(?:\1\d{3})*(?:\.\d+)?"
)
_functions = r"sin|cos|tan|cot|sec|csc|log|ln|exp|sqrt|pi|mod|theta|root"
#: Units that may follow a number at once; those of one letter need a space.
_units = r"""
    ([kcmdnµμ]m|[kmµμ]g|[mcd]?[lL]|mi|ft|in|yd|lbs?|oz|hrs?|hours?|mins?|secs?|ms|days?
    |km/h|kph|mph|m/s|Hz|[kMG]Hz|[kM]?W|kWh|[kM]?J|kN|[kM]?Pa|mol|[KMGT]B|kcal|cal|dB|eV
    |bar|atm|ppm|cents?|usd|eur|gbp|euros?|dollars?|st|nd|rd|th)
"""
_signs = r"[$€£¥₹₩°¢]"
_months = r"""
    (january|february|march|april|may|june|july|august|september|october|november
    |december)
"""
#: Stands before a number that is no number of its own.
_bound = pattern(rf"""
    (√|±|\+/-|[<>≤≥≠∛]|\\(sqrt|pm|mp|le|leq|ge|geq|lt|gt|ne|neq|{_functions})(?![a-z])
    |\b({_functions}))(_\{{?\w+\}}?)?(\s*\[\d+\])?[\s{{(\[]*$
    |([a-zα-ω]|[)\]}}])\s*[/^*×·÷+-]\s*[({{]?\s*$
    |[a-z]\(\s*$|\b(page|option|question|line|step|part|section|chapter|figure|problem
    |iphone|{_months}) $|n't (think|believe|say) (it|that)?\s*(is )?$
    |(größer|kleiner|höher|länger) als $|\b(quadrat)?wurzel (aus )?$
    |\bra[ií]z (quadrada |cuadrada )?de $|(errad|incorret|incorrect|falsch|wrong)\w* (é
    |es|ist|is) $|(根号|根號|比|等于|誤答は?|不正解は?|错误答案是?)\s*$
    |\b(less|more|fewer|greater|larger|smaller|higher|lower
    |bigger) than (or equal to )?[$€£]?$|\b(at least|at most|up to|over|under|above
    |below|between|not|isn't|minus|negative|plus|times|exceeds?|of|by|in|than|but|near
    |from|twice|double|triple|half|per|after|before) [$€£]?$
    |\b(mindestens|höchstens|weniger als|mehr als|über|unter|zwischen|nicht|mal
    |minus) [$€£]?$|\b(pelo menos|no (máximo|mínimo)|(menos|mais|más|maior|menor
    |mayor) (de|do|que)( que)?|al menos|como (máximo|mínimo)|entre|não|menos|vezes
    |veces) (R?\$)?$|(的|大于|小于|超过|少于|多于|至少|最多|不到|不足|不是|不等于|负|負
    |第|マイナス|少なくとも|高々)\s*$
""")  # noqa: RUF001 - Greek letters, the sign of multiplication
_joiner = r"""
    ([-–—~〜]|\.\.\.?|/|\b(and/or|to|bis|through|until|a|à|até|hasta|or|oder|ou|o|u|and
    |und|e|y)\b|至|到|から|或者?|または|か|和|与|と|、)\s*((maybe|perhaps|possibly|even
    |vielleicht|talvez|quizás?|也许|可能)\s*)?([a-z]\s*=\s*)?
"""  # noqa: RUF001 - dashes
_maybe = r"""
    (\.?\s*\bor|[,;]?\s*(but )?(maybe|perhaps|possibly|vielleicht|talvez|quizás?)
    |\s*\bvs\b\.?|\s*\||;)\s*
"""
_parts = r"""
    ((lakhs?|crores?|mln|bn|tenths?|hundredths?|thousandths?|millionths?|halves|thirds?
    |quarters?|fifths?|hundertstel|tausendstel|zehntel|millionstel|drittel|viertel
    |mil[eé]sim\w+|cent[eé]sim\w+|d[eé]cim\w+|(?-i:Billion))\b|割|分之|分の|[的の](平方
    |立方|倍))
"""
_measures = r"""
    (hours?|hrs?|h|minutes?|mins?|feet|foot|ft|pounds?|lbs?|dollars?|years?|months?
    |weeks?|days?|met(er|re)s?|m|km|kg|degrees?|stunden?|minuten?|tage?|jahre?|horas?
    |minutos?|d[ií]as?|años?|anos?|meses|euros?|reais|pesos)
"""
#: Stands behind a number that is only a part of what is meant.
_continued = pattern(rf"""
    (?![eE]?\s)(?!{_units}(?![a-z])){WORD}|\s*[πΠ√∞±²³]|\s*\+/-|_\s*[\d{{]|[₀-₉]|!(?!=)
    |\s*‰|\+(?!\s*[\dA-Za-z(])|\s*\\(?!circ|degree|approx|quad|qquad|[^a-z])[a-z]+
    |\s*({_functions})\b|\s*\(?\s*(in|im)?\s*(base|basis|binary|octal|hex\w*)\b
    |\s*({WORD}|[二八十]){{0,4}}进制|\s*進[数法]
    |\((?=[^()]{{0,40}}[-+*/^×\d]|\s*[a-z]\s*\))
    |[ \t*$_)}}\]]*\(?\s*{_joiner}[*$_({{\[]*[$€£]?\s?[-+]?\.?\d
    |\s*[×·÷+]\s*[\d(\\a-z$]|\s*\*\s*[\d(]|\*[a-z]\b| x\s*\d| - [a-z]\b
    |\s*/\s*[a-z]\b(?!/)|\s*[<>≤≥≠]| : \d|\.\s*(\\overline|\\dot|\\bar|\(\d)|\s*[¼-¾⅐-⅞]
    |\s*(to the\b|\(\s*mod\b|per \d|and a\b|e mei[ao]\b|y medi[ao]\b|einhalb
    |半)| e(?=\s*[.,;]?\s*$)| {_months}\b|[)\]]\s*_|\s*,?\s*(remainder|rest|resto|余)\b
    |\s*\^\s*\{{?\s*(?!\\circ|\\degree|\\text|st|nd|rd|th)[a-z\\(]
    |\s*(次方|多|より|とは限|角(?!形|度))|\s*{_parts}|[^.,;\n]{{0,20}}\s(more|less
    |fewer) than\b|{_maybe}(maybe )?([a-z]\s*=\s*)?[-+]?[$€£]?\d|,\s*[a-z]\s*=
    |\s*,\s*(or|and|oder|und)?\s*[-+]?\d[\d.,]*\s*([.;,]\s|[)\]}}]|$|\b(or|and|oder|und
    |ou|e|o|y)\b)| (squared|cubed|factorial|times|plus|minus|choose|divided|over|mal
    |vezes|veces|elevado|al cuadrado|ao quadrado|hoch)\b
    |\s*(or (more|less|fewer)|oder (mehr|weniger)|ou (mais|menos)|o (más|menos))\b
    |\s*(以上|以下|以内|未満|未满|多个)|\s*{_measures}\s*,?\s*(and|und|e|y)?\s*\d
    |[{UNSPACED}]{{1,3}}\d|\s*({_scale})\b| [b-df-knp-rtvwxz](?![\w'\u2019./-])
    |\s*(?P<unit>°|\^?\s*\{{?\s*\\circ\s*\}}?|[^\W\d_]{{1,12}})[\s$*_)}}\]]*,?\s*\b(or
    |oder|ou|o|u|to|bis|a|à|até
    |hasta) (maybe |perhaps )?[$*_({{\[]*[-+]?\d++(?>([.,]\d++)*)(\s*(?P=unit)
    |(?=[\s$*_)]*([.;,!]|$)))|\s*(dozens?|dutzend|dúzias?|docenas?|打)\b
    |(\s|\w){{0,10}}(では|じゃ)\s*(ない|なく|ありません)
    |\s*(%|percent)?\s*(,\s*which |,\s*but (that|this|it) )?(is|was|ist) (wrong|not
    |incorrect|falsch|nicht)\b
""")  # noqa: RUF001 - the sign of multiplication
#: A side of an equation before its `=`.
_side = pattern(r"""
    (?-i:(,(?=\d{3})|[\d\s.+\-*/×·÷^(){}$€£%_|]|\\[a-z]+
    |(?<![A-Za-z])[A-Za-z](?![A-Za-z]))*(?<![<>!=])=(?!=))
""")  # noqa: RUF001 - the sign of multiplication
_name_of_value = pattern(r"""
    [\s$]*((the )?(final )?answer\s*(is|:
    |=)?\s*)?([\\A-Za-z∠|'\x1e\x1f ]+(_\{?\w+\}?)?(\([\w,\s]+\))?[|'\s]*(=|≈|\\approx
    |:)\s*)?([\s$=≈]|\\approx)*
""")
_currency = pattern(r"""
    (?-i:\s*((US|R|A|C|CA|AU|HK|NT|S)?(?=\$)|(USD|EUR|GBP|CNY|RMB|BRL|JPY)\s*)?)
""")
#: What may stand in a box behind its number.
_unit_tail = pattern(rf"""
    (?-i:(\s*({_TEXT}(?P<text>[^{_TEXT}{_END}]*){_END}|(?<=[\s\d°]){_units}(?![A-Za-z])
    |(?<=\s)[mgsLlhJNWVKACF](?![A-Za-z])|(?<=\s)(?!({_functions})\b)[A-Za-zÀ-ɏ]{{3,}}
    |\^?\{{?\s*(\\circ|°)\s*\}}?\s*[CFK]?(?![A-Za-z])|\\degree|{_signs}|[{UNSPACED}]++
    |[.,;]\s*$|\$)(\s*/\s*[A-Za-z]+|\s*\^\s*\{{?-?\d\}}?|[²³])*)*\s*)
""")
_no_unit = pattern(rf"""
    {_parts}|\b(or|and|to|in|base|more|less|than|least|most|{_functions}|factorial
    |squared|cubed|times|plus|minus|dozens?|oder|bis|ou|bzw)\b
    |[\dπ√±!<>=+*^]|[或和到至]|以上|以下|进制|進
    |^\s*[a-z]\s*$(?<![mgslhjnwvkacf\s])
""")
#: What a unit may hold that a number may not.
_exponents = re.compile(r"\s*\^?\s*\{?\s*(?:\\circ|°)\s*\}?|\s*\^\s*\{?-?\d\}?")
_hashes = re.compile(r"####[ \t]*(.*)")
#: Stands in a line behind `####` that is a heading, if it is no unit.
_a_word = re.compile(r"[^\W\d_]{2,}")
#: What stands between two boxes of which either is meant.
_or = pattern(r"""
    [\s$.,;*\\()\[\]}]*(\\text\s*\{)?[\s}]*(or|and|oder|und|ou|e|o|y|或|和|か
    |,)?[\s$}\\(\[]*(</answer>)?[\s,]*(or|and)?\s*(\\f?box(ed)?\s*\{|<answer>)
""")
#: Numbers in words, and words for the lack of one.
_in_words = pattern(r"""
    \b(zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen
    |twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|half|quarter
    |unknown|undefined|none|nothing|infinit\w+|impossible|unclear|undetermined
    |unsolvable)\b|\b(null|eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf
    |zwölf|\w+zehn|\w+zig|hundert|tausend|unbekannt|unendlich|keine)\b
    |\b(zero|cero|um|uma|dois|duas|dos|três|tres|quatro|cuatro|cinco|seis|sete|siete
    |oito|ocho|nove|nueve|dez|diez|onze|once|doze|doce|treze|trece|quinze|quince|vinte
    |veinte|trinta|treinta|cem|cien|desconhecid\w+|desconocid\w+|infinit\w+|nenhum\w*
    |ningun\w*|imposs\w+|impos\w+)\b|[一二三四五六七八九十百千两〇零]|未知|无穷|无限
    |不存在|不明
""")


def number_in(text: str, *, decimal: str, hundredths: bool, last: bool) -> Fraction:
    """Return the number that a text gives, by the rules of this module.

    `decimal` is the decimal separator, "." or ",", and the other one separates
    thousands. A percentage is in hundredths, or its sign is ignored. With `last` the
    last number counts where the whole text has several. Raises `NoNumberError`.
    """
    reader = _Reader(decimal == ",", hundredths)
    plain = without_thoughts(text.translate(_characters))
    stated = statements(plain)
    boxes = [one for one in stated if one.kind == Kind.BOX]
    if boxes:
        return reader.boxed(plain, boxes)
    lines = [line for line in _hashes.findall(plain) if not _is_heading(line)]
    if lines:
        return reader.only(_with_groups(lines[-1]), "the line behind ####")
    if stated:
        return reader.declared(plain, stated)
    if last:
        found = reader.last(plain)
        if found is not None:
            return found
    return reader.only(plain, "it", is_stated=True)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads numbers, written with a decimal comma or not."""

    has_comma: bool
    hundredths: bool

    def boxed(self, text: str, boxes: list[Statement]) -> Fraction:
        """Return the number of the last box; raises `NoNumberError`."""
        last = boxes[-1]
        number = self._only_of_box(text[last.start : last.end])
        before = [one for one in boxes[:-1] if _or.fullmatch(text, one.end, last.start)]
        for one in before:
            if self._only_of_box(text[one.start : one.end]) != number:
                raise NoNumberError("there are several boxes with numbers")
        return number

    def _only_of_box(self, content: str) -> Fraction:
        text = _with_groups(_without_latex(content).strip())
        match = _whole_number(text)
        if match is not None:
            return self._value(match)
        numbers = {match["body"] for match in self._matches(text)}
        if not numbers:
            raise NoNumberError(r"there is no number in \boxed{}")
        if len(numbers) > 1:
            raise NoNumberError(r"there are several numbers in \boxed{}")
        raise _unreadable(text)

    def declared(self, text: str, stated: list[Statement]) -> Fraction:
        """Return the number of the last phrase that says what the answer is."""
        for one in reversed(stated):
            if not one.is_stated:
                continue
            if one.is_one_of_several:
                raise NoNumberError(f"there are several numbers in {_SENTENCE}")
            found = self._behind(text, one)
            if _factorial.search(text[max(0, one.end - 1) : one.end + 1]):
                raise _unreadable(text[one.start : one.end + 1])
            if _or_another.match(text, one.end):
                raise NoNumberError(f"there are several numbers behind {_SENTENCE}")
            return found
        raise NoNumberError("what it says is denied, asked, or a condition")

    def _behind(self, text: str, one: Statement) -> Fraction:
        """Return the number behind a phrase, else the only one of its sentence.

        If the sentence has none, so that it announces a number, it is the only one of
        the text behind it.
        """
        sentence = _with_groups(_without_latex(text[one.start : one.end]))
        for place in places_of_name(sentence, 0):
            start = (
                place + len(sentence[place:]) - len(sentence[place:].lstrip(" *_$=(≈~"))
            )
            side = _side.match(sentence, start)
            if side:
                return self._last_side(sentence[start:])
            currency = _currency.match(sentence, start)
            start = start if currency is None else currency.end()
            match = _number.match(sentence, start)
            if match:
                return self._in_context(match)
        first = _number.search(sentence)
        if _in_words.search(sentence, 0, first.start() if first else len(sentence)):
            raise NoNumberError("the number of the answer is not in digits")
        if first:
            return self.only(sentence, _SENTENCE)
        return self.only(text[one.end :], "it")

    def _last_side(self, equation: str) -> Fraction:
        """Return the number behind the last `=`; other numbers alone must equal it."""
        found: list[Fraction] = []
        end = 0
        while side := _side.match(equation, end):
            alone = _number.fullmatch(equation[end : side.end() - 1].strip())
            if alone:
                found.append(self._value(alone))
            end = side.end()
        rest = equation[end:]
        start = len(rest) - len(rest.lstrip(" *_$("))
        match = _number.match(rest, start)
        if match and not _is_product(match):
            found.append(self._in_context(match))
        if not found:
            raise _unreadable(equation)
        return _only(iter(found), _SENTENCE)

    def last(self, text: str) -> Fraction | None:
        """Return the last number of a text, None if it has none."""
        matches = list(self._matches(_without_latex(text)))
        return self._in_context(matches[-1]) if matches else None

    def only(self, text: str, where: str, *, is_stated: bool = False) -> Fraction:
        """Return the only number of a text; raises `NoNumberError`.

        With `is_stated` it must not be asked for, and be in no condition.
        """
        matches = list(self._matches(_without_latex(text)))
        try:
            found = _only(map(self._in_context, matches), where)
        except NoNumberError:
            # That there are several says more than what joins them.
            _only(map(self._value, matches), where)
            raise
        if is_stated and all(map(_is_unstated, matches)):
            raise NoNumberError("the number in it is asked for, or a condition")
        return found

    def _matches(self, text: str) -> Iterator[re.Match[str]]:
        for match in _number.finditer(text):
            if not _raised.search(text[max(0, match.start() - 8) : match.start()]):
                yield match

    def _in_context(self, match: re.Match[str]) -> Fraction:
        """Return a number; raises `NoNumberError` if it is a part of something else."""
        text = match.string
        before = text[max(0, match.start() - 40) : match.start()]
        is_part = _bound.search(before) or _continued.match(text, match.end())
        is_factor = _power_of_ten(match) and _factor.search(before)
        is_begun = match["scale"] and _and_more.match(text, match.end())
        is_periodic = "." in match["body"] and _dots.match(text, match.end())
        is_difference = match["sign"] and _single_letter.search(before)
        if is_part or is_factor or is_begun or is_periodic or is_difference:
            raise _unreadable(text[match.start() : match.end() + 10])
        return self._value(match)

    def _value(self, match: re.Match[str]) -> Fraction:
        """Return the value of a number; raises `NoNumberError` if it has none."""
        part = match.groupdict()
        rest = (part["rest"] or "").strip()
        value = self._decimal(part["body"], match)
        if part["over"]:
            value = _ratio(value, self._decimal(part["over"], match), match)
        elif part["upper"]:
            upper, lower = (
                self._decimal(part[name], match) for name in ("upper", "lower")
            )
            fraction = _ratio(upper, lower, match)
            if fraction >= 1 or value.denominator != 1:
                raise _unreadable(match.group())
            value += fraction
        ten = _power_of_ten(match)
        power = part["power"] or part["raised"] or ten
        if power:
            exponent = int(power.translate(_superscripts)[:9])
            if abs(exponent) > MOST_POWER:
                raise _unreadable(match.group())
            value *= Fraction(10) ** (exponent - 1 if ten else exponent)
        value *= _scale_of(part["scale"] or "")
        is_percentage = bool(rest) and _percentage.fullmatch(rest) is not None
        if rest and not is_percentage:
            raise _unreadable(match.group())
        if is_percentage and self.hundredths:
            value /= 100
        return -value if "-" in (part["sign"], part["inner"]) else value

    def _decimal(self, body: str, match: re.Match[str]) -> Fraction:
        """Return the value of digits with thousands and decimal separators."""
        if self.has_comma:
            body = body.translate(_swapped)
        plain = None if len(body) > MOST_DIGITS else _plain.fullmatch(body)
        # 0,125 has a decimal comma: nothing with thousands begins with 0.
        if not plain or (plain[1] and not int(body[0])):
            raise _unreadable(match.group())
        return Fraction(re.sub(r"[^\d.]", "", body))


_condition = pattern(r"""
    \W*(if|suppose|assuming|wenn|falls|se|si|caso|angenommen)\b|如果|若|假如|もし
""")
#: Stands behind a sentence before another number that is the answer as well.
_or_another = pattern(r"""
    [.!\s]*((that|this|it)('s| is| was) (wrong|incorrect|false|not)|no, that)|[.!\s]*(or
    |no,|(no,? )?wait,?( no,?)?|scratch that\.?|sorry,?
    |(just )?kidding,?( it's)?) (maybe )?[$€£]?[-+]?\d
""")
_single_letter = re.compile(r"(?<![^\W_])[A-Za-z]\s+\Z")
#: Stands before a number that is multiplied, divided, raised, added or subtracted.
_factor = re.compile(r"[\w)\]}]\s*[*×·÷/^+-]\s*\Z")  # noqa: RUF001 - the sign of multiplication
_factorial = re.compile(r"\d!")
_and_more = re.compile(r"(?i)\s*(?:and|und|e|y)?\s*\d")
_dots = re.compile(r"\.\.|…|\\[cl]?dots")
_percentage = re.compile(rf"(?i)(?:{_percent})")
#: Stands before an exponent or index in braces.
_raised = re.compile(r"[\^_]\s*\{?\s*[-+]?\Z")


def _whole_number(text: str) -> re.Match[str] | None:
    """Return the number that a text is, with a name, currency and unit or not."""
    name = _name_of_value.match(text)
    start = 0 if name is None else name.end()
    currency = _currency.match(text, start)
    start = start if currency is None else currency.end()
    match = _number.match(text, start)
    tail = None if match is None else _unit_tail.fullmatch(text, match.end())
    if match is None or tail is None:
        return None
    unit = _exponents.sub("", text[match.end() :]).strip()
    return None if _no_unit.search(unit) else match


def _is_heading(line: str) -> bool:
    """Tell whether a line behind `####` has words that are no unit of its number."""
    text = _with_groups(_without_latex(line).strip(" \t\r*_#"))
    return _a_word.search(text) is not None and _whole_number(text) is None


def _power_of_ten(match: re.Match[str]) -> str | None:
    """Return the exponent of a number such as 10^3, None if it is no such power."""
    exponent: str | None = match["braced"] or match["bare"]
    return exponent


def _is_product(match: re.Match[str]) -> bool:
    """Tell whether a number begins a product or another expression of numbers."""
    return re.match(r"\s*[*×·÷+-]\s*[\d(]", match.string[match.end() :]) is not None  # noqa: RUF001 - the sign of multiplication


def _is_unstated(match: re.Match[str]) -> bool:
    """Tell whether the sentence of a number is a question or begins as a condition."""
    text = match.string
    start = sentence_start(text, match.start())
    end = sentence_end(text, match.end())
    return is_asked(text, end) or _condition.match(text, start) is not None


def _scale_of(words: str) -> int:
    """Return what words such as `million` multiply a number by."""
    powers = tuple(_powers)
    found = (powers[(match.lastindex or 0) - 1] for match in _power.finditer(words))
    return math.prod(10**power for power in found)


def _without_latex(text: str) -> str:
    """Return a text with its LaTeX as plain text."""
    if "\\" in text or "{" in text:
        for step, new in _latex:
            text = step.sub(new, text)
    return text


def _with_groups(text: str) -> str:
    """Return a text of an answer, with groups of three digits as one number.

    It is not done in a whole text, whose numbers may be a list.
    """
    return _spaced_groups.sub(lambda match: match[0].replace(" ", "\u00a0"), text)


def _only(numbers: Iterator[Fraction], where: str) -> Fraction:
    """Return the number that all of `numbers` are."""
    found = list(dict.fromkeys(numbers))
    if not found:
        raise NoNumberError(f"there is no number in {where}")
    if len(found) > 1:
        raise NoNumberError(f"there are several numbers in {where}")
    return found[0]


def _ratio(one: Fraction, other: Fraction, match: re.Match[str]) -> Fraction:
    """Return one number by another one; raises `NoNumberError` if that is 0."""
    if not other:
        raise _unreadable(match.group())
    return one / other


def _unreadable(text: str) -> NoNumberError:
    """Return the error of a text that is not read as a number."""
    shown = text.strip().replace(_TEXT, "").replace(_END, "")
    return NoNumberError(f"this is not read as a number: {shown:.{SHOWN}}")
