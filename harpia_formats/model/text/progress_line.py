"""How far a run has come, as one line of text."""

from harpia_formats.model.text.columns import columns, columns_of

#: The least columns of a bar, and the most.
_LEAST, _MOST = 8, 40
_UNITS = ("bytes", "KB", "MB", "GB", "TB", "PB")
_MINUTE, _HOUR = 60, 3600


def progress_text(done: float, total: float | None, rate: float, unit: str) -> str:
    """Return how much is done, at which rate, and how long the rest takes.

    `rate` is what is done in a second. Bytes are told in larger units, other units as
    they are.
    """
    amount, speed = _amount(done, unit), f"{_amount(rate, unit)}/s"
    if not total:
        return f"{amount}, {speed}"
    share = min(100 * done / total, 100)
    amount = f"{share:.0f} %, {_amount(done, unit, total)}"
    left = max(total - done, 0)
    if not rate:
        return amount
    return f"{amount}, {speed}, {_time(left / rate)} left"


def progress_bar(name: str, share: float | None, text: str, width: int) -> str:
    """Return a line of at most `width` columns: a name, a bar and a text.

    `share` is what is done, from 0 to 1; without it there is no bar. Where there is no
    room, the bar is left out, and then the name.
    """
    room = width - columns(text) - 2
    shown = _end_of(name, max(room - _LEAST - 2, _LEAST))
    length = min(room - columns(shown) - 2, _MOST)
    if share is not None and length >= _LEAST:
        full = round(length * min(max(share, 0), 1))
        return f"{shown}  {'━' * full}{'╌' * (length - full)}  {text}"
    if room >= _LEAST:
        return f"{_end_of(name, room)}  {text}"
    return text if columns(text) <= width else text.partition(",")[0][:width]


def _amount(number: float, unit: str, total: float = 0) -> str:
    """Return a number with its unit; with a total, both in the unit of the total."""
    if unit != "bytes":
        return (
            f"{number:,.0f} of {total:,.0f} {unit}"
            if total
            else f"{number:,.0f} {unit}"
        )
    size, index = max(total, number), 0
    while size >= 1000 and index < len(_UNITS) - 1:  # noqa: PLR2004 - of KB, MB and so on
        size, index = size / 1000, index + 1
    digits, factor = (1 if index else 0), 1000**index
    whole = f"{number / factor:,.{digits}f}"
    if total:
        whole += f" of {total / factor:,.{digits}f}"
    return f"{whole} {_UNITS[index]}"


def _time(seconds: float) -> str:
    """Return a time in seconds, minutes or hours."""
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min {seconds % _MINUTE:02.0f} s"
    return f"{seconds // _HOUR:,.0f} h {seconds % _HOUR // _MINUTE:02.0f} min"


def _end_of(text: str, room: int) -> str:
    """Return the end of a text that fits into `room` columns."""
    if columns(text) <= room:
        return text
    used, start = 1, len(text)
    while start and used + columns_of(text[start - 1]) <= room:
        start -= 1
        used += columns_of(text[start])
    return f"…{text[start:]}"
