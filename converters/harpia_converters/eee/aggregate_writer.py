"""The aggregate of scores, one document next to the samples, in either version.

Its members apart from the scores are given by `--set`, or have defaults.
"""

import os
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harpia_converters.eee.versions import Version
from harpia_formats._version import __version__
from harpia_formats.conversion.mapping.field_constants import constants_by_path
from harpia_formats.conversion.mapping.requirements import find_field_path
from harpia_formats.evaluation.metrics import METRICS
from harpia_formats.evaluation.metrics.metric import limits_of
from harpia_formats.evaluation.scoring.measures.metric_score import MetricScore
from harpia_formats.evaluation.scoring.results.answer_rows import ScoreColumn
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.evaluation.scoring.significance.intervals import STANDARD_ERROR
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.exact_json import NOT_JSON, decode
from harpia_formats.model.problem import ConversionError
from harpia_formats.model.vendor_metrics import ScoreError

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
        is_number = fixed.isascii() and fixed.isdigit()
        return fixed if is_number else str(int(time.time()))


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


#: Written for what is not known of the model or of the organization.
_unknown = "unknown"
_library = {"name": "harpia-formats", "version": __version__}


@dataclass(frozen=True, slots=True)
class SamplesFile:
    """The samples file that an aggregate belongs to."""

    evaluation_id: str
    model_id: str
    rows: int
    #: The sha256 of its bytes.
    checksum: str
    #: Its path from the root of the collection, "" if it is in none.
    file_path: str


@dataclass(frozen=True, slots=True)
class ResultContext:
    """What the results of all evaluations are written from."""

    columns: tuple[ScoreColumn, ...]
    scores: Scores
    settings: AggregateSettings
    version: Version
    #: Whether an aggregate has the results of one evaluation only.
    is_only: bool


def result_id_of(name: str, column: ScoreColumn, *, is_only: bool) -> str:
    """Return the `evaluation_result_id` of a score, in its row and in the aggregate.

    It is the metric. Where results of several evaluations may be in one aggregate, it
    has the `name` of its own in front.
    """
    return column.label if is_only else f"{name}:{column.label}"


def aggregate_of(
    samples: SamplesFile,
    results: Mapping[str, tuple[MetricScore, ...]],
    context: ResultContext,
) -> dict[str, Any]:
    """Return the aggregate with `results`, the scores of each evaluation by name."""
    found = [
        _result(name, column, score, context)
        for name, scored in results.items()
        for column, score in zip(context.columns, scored, strict=True)
        if score.value is not None
    ]
    return _around(found, samples, context.settings, context.version)


def empty_aggregate(settings: AggregateSettings, version: Version) -> dict[str, Any]:
    """Return an aggregate with the values given by `--set` and a placeholder score."""
    result = {
        "evaluation_name": "",
        "source_data": _source("", settings),
        "metric_config": {"lower_is_better": False, "score_type": "binary"},
        "score_details": {"score": 0},
    }
    path = settings.values.get("detailed_evaluation_results.file_path", "")
    return _around([result], SamplesFile("", "", 0, "", path), settings, version)


def _around(
    results: list[dict[str, Any]],
    samples: SamplesFile,
    settings: AggregateSettings,
    version: Version,
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "schema_version": version.label,
        "evaluation_id": samples.evaluation_id,
        "retrieved_timestamp": settings.retrieved(samples.evaluation_id),
    }
    if "evaluation_timestamp" in settings.values:
        document["evaluation_timestamp"] = settings.values["evaluation_timestamp"]
    document["source_metadata"] = {
        "source_type": "evaluation_run",
        "source_organization_name": _unknown,
        "evaluator_relationship": "other",
        **settings.members_of("source_metadata"),
    }
    if version.is_closed:
        document["eval_library"] = _library
    document["model_info"] = _model_info(samples, settings, version)
    document["evaluation_results"] = results
    if samples.file_path:
        document["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": samples.file_path,
            "hash_algorithm": "sha256",
            "checksum": samples.checksum,
            "total_rows": samples.rows,
        }
    return document


def _source(name: str, settings: AggregateSettings) -> dict[str, Any]:
    return {
        "dataset_name": name,
        "source_type": "other",
        **settings.members_of("source_data"),
    }


def _model_info(
    samples: SamplesFile, settings: AggregateSettings, version: Version
) -> dict[str, Any]:
    info: dict[str, Any] = {
        "name": samples.model_id.rpartition("/")[2] or samples.model_id,
        "id": samples.model_id,
        **settings.members_of("model_info"),
    }
    if version.is_closed:
        info["additional_details"] = {
            "deployment_type": _unknown,
            "model_availability": _unknown,
            **settings.members_of("model_info.additional_details"),
        }
    return info


def _result(
    name: str, column: ScoreColumn, score: MetricScore, context: ResultContext
) -> dict[str, Any]:
    version = context.version
    return {
        "evaluation_result_id": result_id_of(name, column, is_only=context.is_only),
        "evaluation_name": name,
        "source_data": _source(name, context.settings),
        "metric_config": _metric(column, score, version),
        "score_details": _details(column, score, context.scores),
    }


def _metric(
    column: ScoreColumn, score: MetricScore, version: Version
) -> dict[str, Any]:
    config: dict[str, Any] = {
        "evaluation_description": METRICS[column.metric].summary,
    }
    if version.is_closed:
        config |= {
            "metric_id": column.label,
            "metric_name": column.label,
            "metric_parameters": {
                "signature": score.signature,
                "scale": column.scale,
            },
        }
    least, most = _bounds(column, score)
    unbounded = version.is_closed and column.lower_is_better
    return config | {
        "lower_is_better": column.lower_is_better,
        "score_type": "continuous",
        "min_score": least,
        "max_score": "Infinity" if unbounded else most,
    }


def _bounds(column: ScoreColumn, score: MetricScore) -> tuple[float, float]:
    """Return the ends of the scale, widened to include every score."""
    spread = score.spread
    found = [
        column.bounded(value)
        for value in (score.value, spread.minimum, spread.maximum)
        if value is not None
    ]
    worst, best = limits_of(column.scale)
    return min(worst, *found), max(best, *found)


def _details(column: ScoreColumn, score: MetricScore, scores: Scores) -> dict[str, Any]:
    assert score.value is not None  # noqa: S101 - the caller left out what has none
    details = {
        "signature": score.signature,
        "profile": scores.profile,
        "eval_library": f"{_library['name']} {_library['version']}",
        "unscored": str(score.unscored),
        "questions": str(score.questions),
        **({"interval_remark": score.remark} if score.remark else {}),
    }
    return {
        "score": column.bounded(score.value),
        "details": details,
        "uncertainty": dict(_uncertainty(column, score)),
    }


def _uncertainty(column: ScoreColumn, score: MetricScore) -> Iterator[tuple[str, Any]]:
    deviation = score.spread.deviation
    if score.standard_error is not None:
        yield (
            "standard_error",
            {"value": score.standard_error, "method": STANDARD_ERROR},
        )
    settings = dict(
        part.split(":", 1) for part in score.method.split("|") if ":" in part
    )
    if score.interval is not None:
        lower, upper = score.interval
        yield (
            "confidence_interval",
            {
                "lower": column.bounded(lower),
                "upper": column.bounded(upper),
                "confidence_level": float(settings["level"]),
                "method": score.method,
            },
        )
    if deviation is not None:
        yield "standard_deviation", deviation
    yield "num_samples", score.count
    if "replicates" in settings:
        yield "num_bootstrap_samples", int(settings["replicates"])
