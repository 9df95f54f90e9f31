"""What an aggregate says of a run beside its scores: given by `--set`, or usual."""

import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harpia_converters.eee.versions import Form
from harpia_formats.mapping.constants import constants_by_path
from harpia_formats.mapping.requirements import ConversionError, find_field_path
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.exact_json import decode
from harpia_formats.model.metric_profile import ScoreError

#: Places in an aggregate that can be given, in both shapes.
_places = (
    "retrieved_timestamp",
    "evaluation_timestamp",
    *(
        f"source_metadata.{each}"
        for each in (
            "source_name",
            "source_type",
            "source_organization_name",
            "source_organization_url",
            "source_organization_logo_url",
            "evaluator_relationship",
        )
    ),
    *(f"model_info.{each}" for each in ("name", "developer", "inference_platform")),
    *(
        f"source_data.{each}"
        for each in (
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
#: Places that only the shape 0.3.0 has.
_new_places = tuple(
    f"model_info.additional_details.{each}"
    for each in ("deployment_type", "model_availability")
)
#: Places whose values are not text.
_as_json = frozenset({"source_data.url", "source_data.samples_number"})
#: What is worked out, and so not given.
_worked_out = ("value", "is_correct", "metric", "signature", "result_id")
_seconds = re.compile(r"(?:^|/)([0-9]{9,12})$")


@dataclass(frozen=True, slots=True)
class Settings:
    """What was given for a run."""

    #: What records lack, by the path of the field.
    constants: Mapping[str, Any]
    #: What an aggregate says, by its place.
    told: Mapping[str, Any] = field(default_factory=dict)

    def of(self, owner: str) -> dict[str, Any]:
        """Return what was given for the members of an object of an aggregate."""
        start = f"{owner}."
        own = {
            key.removeprefix(start): value
            for key, value in self.told.items()
            if key.startswith(start)
        }
        return {key: value for key, value in own.items() if "." not in key}

    def retrieved(self, evaluation_id: str) -> str:
        """Return when the run was written down, in seconds since 1970.

        The ids of runs mostly end with it. SOURCE_DATE_EPOCH is what builds that can
        be repeated take for the time.
        """
        given = self.told.get("retrieved_timestamp")
        found = _seconds.search(evaluation_id)
        fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
        if given is not None:
            return str(given)
        if found:
            return found[1]
        return fixed if fixed.isdigit() else str(int(time.time()))


def settings_of(
    given: Mapping[str, Any], adapter: FormatAdapter, form: Form
) -> Settings:
    """Return what was given, for rows and for their aggregate; raises `ScoreError`."""
    known = (*_places, *_new_places) if form.is_closed else _places
    told: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, value in given.items():
        place = _place_of(name, known, adapter)
        if place:
            told[place] = _value(place, value)
        else:
            rest[name] = value
    try:
        constants = constants_by_path(adapter, rest)
    except ConversionError as error:
        raise ScoreError(f"{error}; of an aggregate: {', '.join(known)}") from error
    for each in _worked_out:
        if f"outputs.scores.{each}" in constants:
            raise ScoreError(f"{each} of a score is worked out, and not given")
    return Settings(constants, told)


def _place_of(name: str, known: tuple[str, ...], adapter: FormatAdapter) -> str:
    """Return the place in an aggregate that a name means, "" if it means none."""
    if name in known:
        return name
    if find_field_path(name, adapter) is not None:
        return ""
    ends = [place for place in known if place.rpartition(".")[2] == name]
    if len(ends) > 1:
        raise ScoreError(f"{name} may be {' or '.join(ends)}: say which")
    return ends[0] if ends else ""


def _value(place: str, value: Any) -> Any:
    if place not in _as_json or not isinstance(value, str):
        return value
    try:
        value = decode(value.encode())
    except ValueError:
        # An address alone is no JSON.
        return [value] if place.endswith("url") else value
    return value
