"""The members of an aggregate beside its scores: given by `--set`, or defaults."""

import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harpia_converters.eee.versions import Version
from harpia_formats.conversion.mapping.constants import constants_by_path
from harpia_formats.conversion.mapping.requirements import find_field_path
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.errors import ConversionError
from harpia_formats.model.exact_json import NOT_JSON, decode
from harpia_formats.model.metric_profile import ScoreError

#: Places in an aggregate that can be given, in both versions.
_places = (
    "retrieved_timestamp",
    "evaluation_timestamp",
    *(
        f"source_metadata.{key}"
        for key in (
            "source_name",
            "source_type",
            "source_organization_name",
            "source_organization_url",
            "source_organization_logo_url",
            "evaluator_relationship",
        )
    ),
    *(f"model_info.{key}" for key in ("name", "developer", "inference_platform")),
    *(
        f"source_data.{key}"
        for key in (
            "dataset_name",
            "source_type",
            "url",
            "hf_repo",
            "hf_split",
            "samples_number",
        )
    ),
    "detailed_evaluation_results.file_path",
)
#: Places that only version 0.3.0 has.
_new_places = tuple(
    f"model_info.additional_details.{key}"
    for key in ("deployment_type", "model_availability")
)
#: Places whose values are not text.
_json_places = frozenset({"source_data.url", "source_data.samples_number"})
#: Fields of a score that are computed, and so cannot be given.
_computed = ("value", "is_correct", "metric", "signature", "result_id")
_seconds = re.compile(r"(?:^|/)([0-9]{9,12})$")


@dataclass(frozen=True, slots=True)
class AggregateSettings:
    """The values that `--set` gives for a run."""

    #: Values of fields that records lack, by the path of the field.
    constants: Mapping[str, Any]
    #: Values in the aggregate, by their place in it.
    values: Mapping[str, Any] = field(default_factory=dict)

    def members_of(self, owner: str) -> dict[str, Any]:
        """Return the values given for members of the object at the place `owner`."""
        start = f"{owner}."
        own = {
            key.removeprefix(start): value
            for key, value in self.values.items()
            if key.startswith(start)
        }
        return {key: value for key, value in own.items() if "." not in key}

    def retrieved(self, evaluation_id: str) -> str:
        """Return when the run was recorded, as text of seconds since 1970.

        The value given, else the number at the end of `evaluation_id`, else
        SOURCE_DATE_EPOCH (the variable for reproducible builds), else now.
        """
        given = self.values.get("retrieved_timestamp")
        found = _seconds.search(evaluation_id)
        fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
        if given is not None:
            return str(given)
        if found:
            return found[1]
        return fixed if fixed.isdigit() else str(int(time.time()))


def settings_of(
    given: Mapping[str, Any], adapter: FormatAdapter, version: Version
) -> AggregateSettings:
    """Return `given`, parted into values for rows and for their aggregate.

    Raises `ScoreError` for a name that neither has, and for one that is computed.
    """
    known = (*_places, *_new_places) if version.is_closed else _places
    values: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, value in given.items():
        place = _place_of(name, known, adapter)
        if place:
            values[place] = _value(place, value)
        else:
            rest[name] = value
    try:
        constants = constants_by_path(adapter, rest)
    except ConversionError as error:
        raise ScoreError(f"{error}; in an aggregate: {', '.join(known)}") from error
    for computed in _computed:
        if f"outputs.scores.{computed}" in constants:
            raise ScoreError(f"{computed} of a score is computed, and cannot be given")
    return AggregateSettings(constants, values)


def _place_of(name: str, known: tuple[str, ...], adapter: FormatAdapter) -> str:
    """Return the place in an aggregate that `name` is, in full or by its last key.

    "" if it is a field of the rows or unknown. Raises `ScoreError` if it is ambiguous.
    """
    if name in known:
        return name
    if find_field_path(name, adapter) is not None:
        return ""
    ends = [place for place in known if place.rpartition(".")[2] == name]
    if len(ends) > 1:
        raise ScoreError(f"{name} may be {' or '.join(ends)}: say which")
    return ends[0] if ends else ""


def _value(place: str, value: Any) -> Any:
    if place not in _json_places or not isinstance(value, str):
        return value
    try:
        value = decode(value.encode())
    except NOT_JSON:
        # A URL without quotes is not JSON.
        return [value] if place.endswith("url") else value
    return value
