"""Times that Arrow stores as counts of a unit, as texts in ISO 8601."""

from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

#: The digits of the fraction of a second, by the unit.
_digits = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_epoch = datetime(1970, 1, 1, tzinfo=UTC)
_minute, _hour = 60, 3600


def iso_timestamp(count: int, unit: str, zone: str | None) -> str:
    """Return the text of a point in time, `count` units after 1970 in UTC.

    With the name of a time `zone` it is the time there, with its offset; of a zone that
    is not known here it is the time in UTC. A year that no calendar has room for is
    the count.
    """
    seconds, fraction = divmod(count, 10 ** _digits[unit])
    try:
        moment = _epoch + timedelta(seconds=seconds)
        if zone is not None:
            moment = moment.astimezone(_zone(zone))
    except OverflowError:
        return f"{count}{unit}"
    text = moment.replace(tzinfo=None).isoformat() + _fraction(fraction, unit)
    if zone is None:
        return text
    offset = moment.isoformat()[19:]
    return text + ("Z" if offset == "+00:00" else offset)


def _zone(name: str) -> tzinfo:
    """Return a time zone by its name or its offset, UTC if there is none."""
    if name[:1] in {"+", "-"}:
        return datetime.fromisoformat(f"1970-01-01T00:00:00{name}").tzinfo or UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def iso_time(count: int, unit: str) -> str:
    """Return the text of a time of the day, `count` units after midnight."""
    seconds, fraction = divmod(count, 10 ** _digits[unit])
    minutes, second = divmod(seconds, _minute)
    hour, minute = divmod(minutes, _minute)
    return f"{hour:02}:{minute:02}:{second:02}{_fraction(fraction, unit)}"


def iso_duration(count: int, unit: str) -> str:
    """Return the text of a duration in seconds, such as `PT1.500S`."""
    sign = "-" if count < 0 else ""
    seconds, fraction = divmod(abs(count), 10 ** _digits[unit])
    return f"{sign}PT{seconds}{_fraction(fraction, unit)}S"


def _fraction(fraction: int, unit: str) -> str:
    """Return the fraction of a second with its point, nothing if it is zero."""
    digits = _digits[unit]
    return f".{fraction:0{digits}}" if fraction else ""
