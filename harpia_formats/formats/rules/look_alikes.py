"""Find ids that look like others, though their bytes differ (X103)."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from harpia_formats.formats.rules.across import LOOK_ALIKE_ID
from harpia_formats.model.format import Format
from harpia_formats.model.lint import AcrossRows, Agreement, Disagreement
from harpia_formats.model.text.describe import short_json

#: Letters of other scripts that look as Latin ones do.
_look_alikes = str.maketrans(
    "АВЕЅІЈКМНОРСТХУаеѕіјорсхуΑΒΕΖΗΙΚΜΝΟΡΤΥΧο",  # noqa: RUF001 - they look alike
    "ABESIJKMHOPCTXYaesijopcxyABEZHIKMNOPTYXo",
)
_invisible = re.compile(
    "[\0-\x1f\x7f\u00ad\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)


def look_alike(value: Any) -> str | None:
    """Return what an id looks like; None for what is no id.

    Ids that differ only in Unicode form (NFC, NFD), width, invisible characters, white
    space or letters of other scripts that look the same, look alike.
    """
    if type(value) is int:
        return str(value)
    if type(value) is not str:
        return None
    if value.isascii() and value.isprintable() and " " not in value:
        return value
    seen = _invisible.sub("", unicodedata.normalize("NFC", value))
    return " ".join(seen.translate(_widths).translate(_look_alikes).split())


def id_lints(format_: Format) -> tuple[AcrossRows, ...]:
    """Return the check of the ids of records in a format."""
    if not format_.id_key:
        return ()
    path = (format_.id_key,)
    return (
        AcrossRows(
            LOOK_ALIKE_ID,
            Agreement.BY_KEY,
            value=(path,),
            value_text=_id_text,
            key=(path,),
            key_text=look_alike,
            are_plain=_are_plain,
            message=_same_look,
            help="give both records the same id, or ids that look different",
        ),
    )


def _are_plain(ids: Sequence[Any]) -> bool:
    """Tell whether ids look as they are, all of them."""
    texts = [each for each in ids if type(each) is str]
    joined = "".join(texts)
    is_plain = joined.isascii() and joined.isprintable() and " " not in joined
    return is_plain and all(type(each) in {str, int} for each in ids)


def _id_text(value: Any) -> str | None:
    if type(value) is int:
        return str(value)
    return value if type(value) is str else None


def _same_look(found: Disagreement) -> str:
    other = f" {short_json(found.earlier)}" if found.earlier else ""
    shown = ascii(found.value)
    same = f"the id{other} of {found.owner}"
    return f"the id {shown} looks like {same}, and differs from it"


class _Widths(dict[int, str]):
    """A table for `str.translate` that gives letters of any width their usual one."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        kind = unicodedata.decomposition(letter).partition(" ")[0]
        is_other = kind in {"<wide>", "<narrow>"}
        found = unicodedata.normalize("NFKC", letter) if is_other else letter
        self[code] = found
        return found


_widths = _Widths()
