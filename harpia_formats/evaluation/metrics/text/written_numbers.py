"""Numbers that Python does not read: in other signs, digits, fractions, or Chinese.

Source: the numbers of match() of inspect_ai 0.3.285, which has no comma in them.
"""

import re
import unicodedata

_MINUS, _PLUS = "−﹣－-", "+＋﹢"  # noqa: RUF001 - other signs of the same meaning
_signs = re.compile(rf"[\s负負正{_PLUS}{_MINUS}]*")
_minus = re.compile(f"[负負{_MINUS}]")
_inner_sign = re.compile(f"(?<![eE])[{_PLUS}{_MINUS}]")
_separators = re.compile(r"[\s，﹐、٬'’ʼ＇]+")  # noqa: RUF001 - other marks of the same meaning
_plain = str.maketrans(f"{_MINUS}{_PLUS}٫．", "----+++..")  # noqa: RUF001 - see above
_small = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
#: A number with a small raised one behind it, which is its power.
_power = re.compile(
    r"(?s)(.+?)([⁻⁺][⁰¹²³⁴-⁹]+|(?<![⁰¹²³⁴-⁹⁻⁺])[⁰¹²³⁴-⁹]+)"
    + _separators.pattern[:-1]
    + "*"
)
_digits = re.compile("[0-9]")
_float = re.compile(r"[0-9.eE+-]+")

_DIGITS = dict(zip("零〇○一二三四五六七八九", (0, 0, *range(10)), strict=True)) | dict(
    zip("壹贰貳叁參肆伍陆陸柒捌玖两兩幺", map(int, "122334566789221"), strict=True)
)
_TENS = {"廿": 20, "卅": 30, "卌": 40}
#: What multiplies a digit before it, and what multiplies all digits since the last one.
_UNITS = dict(zip("十拾百佰千仟", (10, 10, 100, 100, 1000, 1000), strict=True))
_LARGE = dict(zip("万萬亿億兆", (10**4, 10**4, 10**8, 10**8, 10**12), strict=True))
_WORDS = {*_TENS, *_UNITS, *_LARGE}
_CHINESE = {*_WORDS, *_DIGITS, *"点點"}


def written_number(text: str) -> float | None:
    """Return the number that a text is, None if it is none.

    Signs before it are of what is raised to a power: `-2²` is 4.
    """
    if text.isascii() and not _digits.search(text):  # as most words
        return None
    text = text.strip()
    bare = _signs.sub("", text, count=1)
    power = None
    value = unicodedata.numeric(bare, None) if len(bare) == 1 else None
    if value is None:
        power = _power.fullmatch(bare)
        value = _with_fraction(bare if power is None else power[1].rstrip())
    if value is None:
        return None
    if len(_minus.findall(text[: len(text) - len(bare)])) % 2:
        value = -value
    try:
        return (
            value if power is None else float(value ** int(power[2].translate(_small)))
        )
    except (ArithmeticError, ValueError):
        return None


def _with_fraction(text: str) -> float | None:
    """Return the value of a number with a fraction such as ½ at its end, or without."""
    found = [at for at, each in enumerate(text) if 0 < unicodedata.numeric(each, 0) < 1]
    if not found:
        return _without_fraction(text)
    head, tail = text[: found[0]].strip(), text[found[0] + 1 :]
    whole = _without_fraction(head) if head else 0.0
    if whole is None or _separators.sub("", tail):
        return None
    return whole + unicodedata.numeric(text[found[0]])


def _without_fraction(text: str) -> float | None:
    value = None if _CHINESE.isdisjoint(text) else _chinese(text)
    if value is None:
        value = _in_digits(text)
    if value is None and len(text) == 1:
        value = unicodedata.numeric(text, None)
    return value


def _in_digits(text: str) -> float | None:
    """Return the value of digits of any script, with a point and `e` or without."""
    plain = _separators.sub("", text).translate(_plain)
    digits = ((each, _digit(each)) for each in plain)
    plain = "".join(each if digit is None else f"{digit}" for each, digit in digits)
    if _inner_sign.search(text) or not _float.fullmatch(plain):
        return None
    try:
        return float(plain)
    except ValueError:
        return None


def _digit(character: str) -> int | None:
    digit = unicodedata.digit(character, None)
    return _DIGITS.get(character) if digit is None else digit


def _chinese(text: str) -> float | None:
    """Return the value of Chinese digits and units, with a point or without."""
    point = next((each for each in "点點．." if each in text), "点")  # noqa: RUF001 - a full-width point
    whole, _, part = "".join(text.split()).partition(point)
    digits = [_digit(each) for each in part]
    value = _chinese_whole(whole)
    if value is None or None in digits:
        return None
    fraction, share = 0.0, 0.1
    for digit in digits:
        fraction += (digit or 0) * share
        share /= 10
    return value + fraction


def _chinese_whole(text: str) -> float | None:
    digits = [_digit(each) for each in text]
    if _WORDS.isdisjoint(text):
        is_number = None not in digits
        return float("".join(map(str, digits)) or 0) if is_number else None
    total = section = number = 0
    for each, digit in zip(text, digits, strict=True):
        if each in _TENS:
            section += _TENS[each]
        elif each in _UNITS:
            section, number = section + (number or 1) * _UNITS[each], 0
        elif each in _LARGE:
            total, section, number = total + (section + number) * _LARGE[each], 0, 0
        elif digit is None:
            return None
        elif each not in "零〇○":
            number = digit
    return float(total + section + number)
