"""Tell records of a dialect from those of other tools that look the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harpia_formats.detection.candidates import FormatChoice, FormatVariant


@dataclass(frozen=True, slots=True)
class RivalFiles:
    """Files of another tool that some records are, or may be."""

    title: str
    #: By which keys they are the other tool's, "" if they may be the format's.
    sign: str = ""


def rival_of_choice(rows: Sequence[Any], choice: FormatChoice) -> RivalFiles | None:
    """Return the other tool that may have written `rows`, None if there is none.

    A record with a sign that only the chosen format has settles it for the file; if
    there is none, one with a sign that only the other tool has does.
    """
    dialect = choice.variant.dialect
    if not dialect.rivals:
        return None
    objects = [row for row in rows if isinstance(row, Mapping)]
    if any(dialect.own_sign(row) for row in objects):
        return None
    found = signed_rival(objects, [choice.variant])
    return found or RivalFiles(dialect.rivals[0].title)


def signed_rival(
    rows: Sequence[Any], variants: Sequence[FormatVariant]
) -> RivalFiles | None:
    """Return the tool whose sign a row has, of the rivals of `variants`."""
    rivals = [rival for variant in variants for rival in variant.dialect.rivals]
    for row in rows if rivals else ():
        for rival in rivals if isinstance(row, Mapping) else ():
            sign = rival.sign(row)
            if sign:
                return RivalFiles(rival.title, sign)
    return None
