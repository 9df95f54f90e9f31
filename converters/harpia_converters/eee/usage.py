"""Token usage, times and metadata of a record, made valid for a row."""

from functools import lru_cache
from typing import Any

from msgspec import UNSET

from harpia_converters.eee.turns import texts_in
from harpia_converters.eee.versions import (
    TEXT_ONLY,
    Version,
    is_amount,
    is_count,
)
from harpia_formats.model.adapter import ChangedValue
from harpia_formats.model.exact_json import encode
from harpia_formats.model.field_fates import Fate, FieldFate, FieldFates

_counts = ("input_tokens", "output_tokens", "total_tokens")
_more_counts = (
    "input_tokens_cache_write",
    "input_tokens_cache_read",
    "reasoning_tokens",
)
_times = ("latency_ms", "time_to_first_token_ms", "generation_time_ms")
_details = "additional_details"


def write_usage(usage: dict[str, Any]) -> Any:
    """Return token usage without invalid counts; `UNSET` if it lacks a required one."""
    get = usage.get
    for key in _counts:
        count = get(key)
        # Most counts are integers, which need no call.
        if (type(count) is not int or count < 0) and not is_count(count):
            return ChangedValue(UNSET, f"left out: it has no count of {key}")
    wrong = []
    for key in _more_counts:
        count = get(key)
        if count is not None and not is_count(count):
            wrong.append(key)
    return _without(usage, wrong) if wrong else usage


def _without(members: dict[str, Any], keys: list[str]) -> Any:
    if not keys:
        return members
    left = {key: value for key, value in members.items() if key not in keys}
    return ChangedValue(left, f"without {', '.join(keys)}")


def write_performance(times: dict[str, Any], version: Version) -> Any:
    """Return the times of an output, in milliseconds, without invalid values."""
    wrong = []
    for name in _times:
        time = times.get(name)
        if time is not None and not is_amount(time):
            wrong.append(name)
    details = times.get(_details)
    if not version.is_closed or details is None:
        return _without(times, wrong)
    if type(details) is not dict:
        return _without(times, [*wrong, _details])
    if wrong or texts_in(details) is not details:
        times = {**times, _details: texts_in(details)}
        return ChangedValue(
            {key: value for key, value in times.items() if key not in wrong},
            f"{_details} as text",
        )
    return times


def written_metadata(metadata: Any, version: Version, fates: FieldFates) -> Any:
    """Return the metadata of a record, with values as text if the version asks it.

    It is `metadata` itself if nothing is changed.
    """
    if (
        metadata is UNSET
        or not version.is_closed
        or TEXT_ONLY.issuperset(map(type, metadata.values()))
    ):
        return metadata
    texts = {}
    for key, value in metadata.items():
        if type(value) is str:
            texts[key] = value
            continue
        fates.entries.append(_as_json_text(key))
        # Most are integers, whose text needs no encoder.
        is_int = type(value) is int
        texts[key] = str(value) if is_int else encode(value).decode()
    return texts


@lru_cache(1_000)
def _as_json_text(key: str) -> FieldFate:
    """Return the fate of a member of the metadata that becomes JSON text."""
    return FieldFate(Fate.CHANGED, f"metadata.{key}", "as JSON text")
