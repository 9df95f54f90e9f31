"""Expectations on data sets: numbers of records and findings, age and checksums."""

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from harpia_formats.expectations.outcomes import Limit, Outcome
from harpia_formats.expectations.preflight_plan import DataSet
from harpia_formats.files.io.reader import error_reason
from harpia_formats.files.io.urls import is_url
from harpia_formats.formats.registry import rules_for
from harpia_formats.formats.rules import rules_matching
from harpia_formats.formats.rules.preflight_rules import (
    OTHER_FILE,
    RECORD_COUNT,
    TOO_MANY_FINDINGS,
    TOO_MANY_INVALID,
)
from harpia_formats.model.describe import with_noun
from harpia_formats.model.problem import Severity
from harpia_formats.model.report import FileCount, Group

#: What is expected where the file does not state it.
_LEAST, _NONE = 1, Limit("0", number=0)
#: The outcome of an expectation on numbers of records.
_of_records = partial(
    Outcome,
    code=RECORD_COUNT,
    help="see what is missing or too much, or change the limit",
    hides_values=True,
)


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of a validated data set."""

    #: The files that hold records, or might.
    files: tuple[FileCount, ...]
    groups: tuple[Group, ...]
    #: Documents that accompany the files of records, and hold none.
    documents: tuple[FileCount, ...] = ()

    @property
    def records(self) -> int:
        """Records of all files, with invalid ones."""
        return sum(file.records for file in self.files)


def has_unread_records(data_set: DataSet, counts: Counts) -> bool:
    """Tell whether more records could not be read than the data set may have."""
    limit = data_set.values.get("max-invalid", _NONE)
    has_open = any(file.undetermined for file in counts.files)
    return has_open or not _invalid(limit, counts).is_met


def count_outcomes(
    data_set: DataSet, counts: Counts, last: int | None = None
) -> Iterator[Outcome]:
    """Yield the outcomes of all expectations on counts, in the order of their keys.

    `last` is the number of records of the last run, None if there was none.
    """
    yield _records(data_set, counts)
    for key, compare in _more_records.items():
        if key in data_set.values:
            yield compare(key, data_set.values[key], counts)
    if (limit := data_set.values.get("max-records-change")) is not None:
        yield _change(limit, counts.records, last)
    yield _invalid(data_set.values.get("max-invalid", _NONE), counts)
    if (limit := data_set.values.get("max-warnings")) is not None:
        found = sum(
            group.count for group in counts.groups if group.severity is Severity.WARNING
        )
        yield _findings("max-warnings", ("warning", ""), found, limit, counts)
    for name, limit in data_set.values.get("max-findings", {}).items():
        codes = rules_matching(name, rules_for(asked=[name]))
        found = sum(group.count for group in counts.groups if group.code in codes)
        what = ("finding", f" of {name}")
        outcome = _findings("max-findings", what, found, limit, counts)
        yield replace(outcome, item=name)


def _records(data_set: DataSet, counts: Counts) -> Outcome:
    """Return whether there are records enough: one, if the file does not say more."""
    least: int = data_set.values.get("min-records", _LEAST)
    key = "min-records" if "min-records" in data_set.values else ""
    found = counts.records
    message: tuple[str, ...] = ()
    if found < least:
        records = with_noun(found, "record")
        message = (f"{data_set.name} has {records}, fewer than {least:,}",)
    return _of_records(
        key,
        f"records at least {least:,}",
        f"{found:,}",
        not message,
        messages=message,
        value=least,
    )


def _most(key: str, most: int, counts: Counts) -> Outcome:
    found = counts.records
    message: tuple[str, ...] = ()
    if found > most:
        message = (f"there are {found:,} records, more than {most:,}",)
    return _of_records(
        key,
        f"records at most {most:,}",
        f"{found:,}",
        not message,
        messages=message,
        value=most,
    )


def _change(limit: Limit, found: int, last: int | None) -> Outcome:
    """Return whether the number of records is near that of the last run."""
    shown, message = f"{found:,}; there was no run before", ""
    if last is not None:
        shown = f"{found:,} after {last:,}"
        if not limit.allows(abs(found - last), last):
            than = f"a change of more than {limit.text}"
            message = (
                f"there are {found:,} records after {last:,} of the last run, {than}"
            )
    return _of_records(
        "max-records-change",
        f"records changed by at most {limit.text} since the last run",
        shown,
        not message,
        messages=(message,) if message else (),
        help="see what is missing or too much, or delete the file that `state` names",
        value=limit.stated,
    )


def _least_per_file(key: str, least: int, counts: Counts) -> Outcome:
    return _per_file(key, f"at least {least:,}", least, counts, "fewer", min)


def _most_per_file(key: str, most: int, counts: Counts) -> Outcome:
    return _per_file(key, f"at most {most:,}", most, counts, "more", max)


def _per_file(  # noqa: PLR0913, PLR0917 - the words of two keys that are alike
    key: str,
    bound: str,
    limit: int,
    counts: Counts,
    than: str,
    extreme: Callable[..., int],
) -> Outcome:
    """Return whether each file has records enough, or not too many."""
    wrong = []
    for file in counts.files:
        if extreme(file.records, limit) != limit:
            records = with_noun(file.records, "record")
            wrong.append((file, f"the file has {records}, {than} than {limit:,}"))
    worst = extreme((file.records for file in counts.files), default=0)
    name = "least" if extreme is min else "most"
    found = f"{name} is {worst:,} in {with_noun(len(counts.files), 'file')}"
    return _of_records(
        key,
        f"records of each file {bound}",
        f"{len(wrong):,} of {with_noun(len(counts.files), 'file')} with {than}"
        if wrong
        else found,
        not wrong,
        files=tuple(wrong),
        value=limit,
    )


def _invalid(limit: Limit, counts: Counts) -> Outcome:
    """Return whether there are few invalid records, and no error of a whole file.

    An invalid document next to the records, such as of their results, counts as one.
    """
    invalid = sum(file.invalid for file in counts.files)
    whole = sum(
        group.count
        for group in counts.groups
        if group.severity is Severity.ERROR and group.record is None
    )
    refused = sum(1 for file in counts.documents if file.invalid)
    is_met = limit.allows(invalid, counts.records) and not (whole or refused)
    found = limit.found_text(invalid, counts.records)
    messages: tuple[str, ...] = ()
    if not limit.allows(invalid, counts.records) and not limit.is_zero:
        messages = (f"{found} records are invalid, more than {limit.text}",)
    if whole:
        found += f", and {with_noun(whole, 'error')} of whole files"
    if refused:
        found += f"; {with_noun(refused, 'invalid document')} next to them"
    return Outcome(
        "" if limit is _NONE else "max-invalid",
        f"invalid records at most {limit.text}",
        found,
        is_met,
        TOO_MANY_INVALID,
        messages=messages,
        help="mend the records, or change the limit",
        value=limit.stated,
        hides_values=True,
    )


def _findings(
    key: str, what: tuple[str, str], found: int, limit: Limit, counts: Counts
) -> Outcome:
    """Return whether there are few findings: `what` is their noun and their rule."""
    noun, of_what = what
    is_met = limit.allows(found, counts.records)
    of = "" if limit.share is None else f" for {with_noun(counts.records, 'record')}"
    number = f"{'is' if found == 1 else 'are'} {with_noun(found, noun)}"
    message = f"there {number}{of_what}{of}, more than {limit.text}"
    return Outcome(
        key,
        f"{noun}s{of_what} at most {limit.text}",
        f"{found:,}{of}",
        is_met,
        TOO_MANY_FINDINGS,
        messages=() if is_met else (message,),
        help="mend what they show, or change the limit",
        value=limit.stated,
        hides_values=True,
    )


_more_records: dict[str, Callable[[str, int, Counts], Outcome]] = {
    "max-records": _most,
    "min-records-per-file": _least_per_file,
    "max-records-per-file": _most_per_file,
}


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
    """Return the age that a text states. Raises `ValueError` with the reason."""
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
