"""The aggregate of scores, one document beside the samples, in either version.

The signature of a score is in `score_details.details`, and in version 0.3.0 also in
`metric_config.metric_parameters`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harpia_converters.eee.aggregate_settings import AggregateSettings
from harpia_converters.eee.versions import Version
from harpia_formats._version import __version__
from harpia_formats.evaluation.metrics import METRICS
from harpia_formats.evaluation.metrics.metric import limits_of
from harpia_formats.evaluation.scoring.intervals import STANDARD_ERROR
from harpia_formats.evaluation.scoring.metric_score import MetricScore
from harpia_formats.evaluation.scoring.results.columns import ScoreColumn
from harpia_formats.evaluation.scoring.scores import Scores

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
                "lower": lower,
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
