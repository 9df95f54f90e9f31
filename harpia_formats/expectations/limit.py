"""Limits: a number, or a share of a number, that must not be exceeded."""

import re
from dataclasses import dataclass
from fractions import Fraction

_share = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*")
_WHOLE = 100
#: Digits of a share in a message.
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Limit:
    """The most of something that is allowed: a number, or a share of all."""

    #: As it is written, such as "1 %".
    text: str
    number: int | None = None
    share: Fraction | None = None

    @property
    def is_zero(self) -> bool:
        """Whether nothing is allowed."""
        return not (self.number or self.share)

    def allows(self, found: int, total: int) -> bool:
        """Tell whether `found` of `total` are within the limit."""
        if self.share is not None:
            return found <= self.share * total
        assert self.number is not None  # noqa: S101 - it is one or the other
        return found <= self.number

    def found_text(self, found: int, total: int) -> str:
        """Return what was found, such as "5 of 1,204 (0.42 %)"."""
        if self.share is None or not total:
            return f"{found:,} of {total:,}"
        percent = f"{found * _WHOLE / total:.{_DIGITS}g}"
        return f"{found:,} of {total:,} ({percent} %)"


def limit_of(value: object) -> Limit:
    """Return the limit that a value of TOML is. Raises `ValueError` with the reason."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0:
            raise ValueError(f"must be at least 0, not {value}")
        return Limit(f"{value:,}", number=value)
    if isinstance(value, str) and (match := _share.fullmatch(value)):
        share = Fraction(match[1]) / _WHOLE
        if share > 1:
            raise ValueError(f"must be at most 100 %, not {value}")
        return Limit(f"{match[1]} %", share=share)
    hint = ""
    if isinstance(value, float) and 0 <= value < 1:
        hint = f'; a share is written as "{value * _WHOLE:g} %"'
    raise TypeError(hint)
