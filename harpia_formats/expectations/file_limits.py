"""Expectations on files as they are stored: their age and their checksums."""

import hashlib
import os
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harpia_formats.expectations.outcome import Outcome
from harpia_formats.expectations.plan import DataSet
from harpia_formats.files.io.reader import error_reason
from harpia_formats.files.io.urls import is_url
from harpia_formats.formats.rules.preflight import OTHER_FILE
from harpia_formats.model.report import FileCount
from harpia_formats.model.text.words import with_noun

_SECONDS = {"minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
_age = re.compile(r"\s*([0-9]{1,6}(?:\.[0-9]{1,6})?)\s*([a-z]+?)s?\s*")
_BLOCK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Age:
    """The greatest age of a file."""

    #: As it is written, such as "7 days".
    text: str
    seconds: float


def age_of(text: str) -> Age:
    """Return the age that a text says. Raises `ValueError` with the reason."""
    match = _age.fullmatch(text)
    if match is None or match[2] not in _SECONDS:
        known = ", ".join(f"{unit}s" for unit in _SECONDS)
        raise ValueError(
            f'{text!r} is no age; write a number and a unit, such as "7 days" '
            f"(known: {known})"
        )
    seconds = float(match[1]) * _SECONDS[match[2]]
    if not seconds:
        raise ValueError("must be more than 0")
    return Age(" ".join(text.split()), seconds)


def file_outcomes(data_set: DataSet, files: Sequence[FileCount]) -> Iterator[Outcome]:
    """Yield the outcomes of all expectations on the files of a data set.

    Nothing is known of them where there are no files: they were not read.
    """
    if (age := data_set.values.get("max-age")) is not None:
        yield _age_outcome(age, files)
    for name, checksum in data_set.values.get("checksums", {}).items():
        yield _checksum_outcome(data_set, name, checksum, files)


def _age_outcome(age: Age, files: Sequence[FileCount]) -> Outcome:
    """Return whether no file is older."""
    old, unknown, oldest = list[tuple[FileCount, str]](), "", 0.0
    for file in files:
        try:
            changed = _stored(file.path).stat().st_mtime
        except OSError as error:
            unknown = f"{file.path}: the age is not known: {error_reason(error)}"
            continue
        seconds = time.time() - changed
        oldest = max(oldest, seconds)
        if seconds > age.seconds:
            text = (
                f"the file was changed {_in_words(seconds)} ago, more than {age.text}"
            )
            old.append((file, text))
    found = f"the oldest was changed {_in_words(oldest)} ago"
    if old:
        found = f"{len(old):,} of {with_noun(len(files), 'file')} older"
    is_met = None if unknown and not old else not old
    return Outcome(
        "max-age",
        f"files changed at most {age.text} ago",
        unknown if is_met is None else found,
        is_met if files else None,
        OTHER_FILE,
        files=tuple(old),
        help="make the file anew, or change the limit",
        value=age.text,
        hides_values=True,
        unknown=unknown,
    )


def _checksum_outcome(
    data_set: DataSet, name: str, checksum: str, files: Sequence[FileCount]
) -> Outcome:
    """Return whether a file has a checksum."""
    algorithm, _, wanted = checksum.partition(":")
    path = data_set.located(name)
    file = next((one for one in files if _is_same(one.path, path)), None)
    is_met, unknown, message, found = None, "", "", f"{algorithm}:"
    if file is not None:
        try:
            digest = _digest(path, algorithm)
        except OSError as error:
            found = unknown = f"{name}: no checksum is known: {error_reason(error)}"
        else:
            is_met, found = digest == wanted.lower(), f"{algorithm}:{digest}"
            if not is_met:
                message = f"the file has the checksum {found}, not {checksum}"
    elif files:
        found = f"no file of {data_set.name} is {name}"
        is_met = False
    return Outcome(
        "checksums",
        f"checksum of {name} {checksum}",
        found,
        is_met,
        OTHER_FILE,
        files=((file, message),) if file is not None and message else (),
        messages=(found,) if file is None and is_met is False else (),
        help="take the right version of the file, or change the checksum",
        value=checksum,
        item=name,
        hides_values=True,
        unknown=unknown,
    )


def _is_same(shown: str, path: str) -> bool:
    """Tell whether two paths name one file."""
    if is_url(shown) or is_url(path):
        return shown == path
    return os.path.realpath(shown) == os.path.realpath(path)


def _stored(path: str) -> Path:
    """Return the path of a file. Raises `OSError` for what is no regular one."""
    if is_url(path):
        raise OSError(None, "it is a URL")
    found = Path(path)
    if found.exists() and not found.is_file():
        raise OSError(None, "it is not a regular file")
    return found


def _digest(path: str, algorithm: str) -> str:
    """Return the checksum of a file, read in blocks. Raises `OSError`."""
    digest = hashlib.new(algorithm, usedforsecurity=False)
    with _stored(path).open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _in_words(seconds: float) -> str:
    """Return a time in its largest unit of which there are two or more."""
    for unit in reversed(_SECONDS):
        if seconds >= 2 * _SECONDS[unit]:
            return with_noun(int(seconds // _SECONDS[unit]), unit)
    return "less than 2 minutes"
