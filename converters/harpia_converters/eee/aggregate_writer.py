"""The aggregate of scores: one document beside the samples, in either shape.

The signature of a score is in `score_details.details`, and in the shape 0.3.0 in
`metric_config.metric_parameters`, too.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from harpia_converters.eee.aggregate_settings import Settings
from harpia_converters.eee.versions import Form
from harpia_formats._version import __version__
from harpia_formats.metrics import METRICS
from harpia_formats.scoring.results.columns import ScoreColumn
from harpia_formats.scoring.scores import MetricScore, Scores

#: What is not known of a model or of who asked it.
_unknown = "unknown"
_library = {"name": "harpia-formats", "version": __version__}


@dataclass(frozen=True, slots=True)
class Run:
    """What is known of the samples."""

    evaluation_id: str
    model_id: str
    rows: int
    #: The sha256 of their bytes.
    checksum: str
    #: Their file from the root of the collection, "" where it is in none.
    file_path: str


@dataclass(frozen=True, slots=True)
class Told:
    """What is said of all scores alike."""

    columns: tuple[ScoreColumn, ...]
    scores: Scores
    settings: Settings
    form: Form


def name_of(name: str, column: ScoreColumn, form: Form, *, is_only: bool) -> str:
    """Return the `evaluation_name` of a score, which rows and results have alike.

    Where a row can name its result otherwise, it is that of the evaluation.
    """
    return name if form.is_closed or is_only else f"{name}/{column.label}"


def result_id_of(name: str, column: ScoreColumn) -> str:
    """Return the `evaluation_result_id` of a score."""
    return f"{name}:{column.label}"


def aggregate_of(
    run: Run, results: Mapping[str, tuple[MetricScore, ...]], told: Told
) -> dict[str, Any]:
    """Return the aggregate of the scores of each evaluation, by the name of that."""
    found = [
        _result(name, column, score, told)
        for name, scored in results.items()
        for column, score in zip(told.columns, scored, strict=True)
        if score.value is not None
    ]
    return _around(found, run, told.settings, told.form)


def empty_aggregate(settings: Settings, form: Form) -> dict[str, Any]:
    """Return an aggregate with all that was given for it, and with no real score."""
    result = {
        "evaluation_name": "",
        "source_data": _source("", settings),
        "metric_config": {"lower_is_better": False, "score_type": "binary"},
        "score_details": {"score": 0},
    }
    path = settings.told.get("detailed_evaluation_results.file_path", "")
    return _around([result], Run("", "", 0, "", path), settings, form)


def _around(
    results: list[dict[str, Any]], run: Run, settings: Settings, form: Form
) -> dict[str, Any]:
    document: dict[str, Any] = {
        "schema_version": form.label,
        "evaluation_id": run.evaluation_id,
        "retrieved_timestamp": settings.retrieved(run.evaluation_id),
    }
    if "evaluation_timestamp" in settings.told:
        document["evaluation_timestamp"] = settings.told["evaluation_timestamp"]
    document["source_metadata"] = {
        "source_type": "evaluation_run",
        "source_organization_name": _unknown,
        "evaluator_relationship": "other",
        **settings.of("source_metadata"),
    }
    if form.is_closed:
        document["eval_library"] = _library
    document["model_info"] = _model_info(run, settings, form)
    document["evaluation_results"] = results
    if run.file_path:
        document["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": run.file_path,
            "hash_algorithm": "sha256",
            "checksum": run.checksum,
            "total_rows": run.rows,
        }
    return document


def _source(name: str, settings: Settings) -> dict[str, Any]:
    return {
        "dataset_name": name,
        "source_type": "other",
        **settings.of("source_data"),
    }


def _model_info(run: Run, settings: Settings, form: Form) -> dict[str, Any]:
    info: dict[str, Any] = {
        "name": run.model_id.rpartition("/")[2] or run.model_id,
        "id": run.model_id,
        **settings.of("model_info"),
    }
    if form.is_closed:
        info["additional_details"] = {
            "deployment_type": _unknown,
            "model_availability": _unknown,
            **settings.of("model_info.additional_details"),
        }
    return info


def _result(
    name: str, column: ScoreColumn, score: MetricScore, told: Told
) -> dict[str, Any]:
    form = told.form
    own: dict[str, Any] = {}
    if form.is_closed:
        own["evaluation_result_id"] = result_id_of(name, column)
    return {
        **own,
        "evaluation_name": name_of(name, column, form, is_only=len(told.columns) == 1),
        "source_data": _source(name, told.settings),
        "metric_config": _metric(column, score, form),
        "score_details": _details(column, score, told.scores),
    }


def _metric(column: ScoreColumn, score: MetricScore, form: Form) -> dict[str, Any]:
    config: dict[str, Any] = {
        "evaluation_description": METRICS[column.metric].summary,
    }
    if form.is_closed:
        config |= {
            "metric_id": column.label,
            "metric_name": column.label,
            "metric_parameters": {
                "signature": column.signature,
                "scale": column.scale,
            },
        }
    least, most = _bounds(column, score)
    unbounded = form.is_closed and column.lower_is_better
    return config | {
        "lower_is_better": column.lower_is_better,
        "score_type": "continuous",
        "min_score": least,
        "max_score": "Infinity" if unbounded else most,
    }


def _bounds(column: ScoreColumn, score: MetricScore) -> tuple[float, float]:
    """Return the ends of the scale, and beyond them where scores are there."""
    spread = score.spread
    found = [
        column.bounded(value)
        for value in (score.value, spread.minimum, spread.maximum)
        if value is not None
    ]
    return min(0.0, *found), max(column.best, *found)


def _details(column: ScoreColumn, score: MetricScore, scores: Scores) -> dict[str, Any]:
    assert score.value is not None  # noqa: S101 - the caller left out what has none
    details = {
        "signature": column.signature,
        "profile": scores.profile,
        "eval_library": f"{_library['name']} {_library['version']}",
        "unscored": str(score.unscored),
    }
    return {
        "score": column.bounded(score.value),
        "details": details,
        "uncertainty": dict(_uncertainty(column, score, scores)),
    }


def _uncertainty(
    column: ScoreColumn, score: MetricScore, scores: Scores
) -> Iterator[tuple[str, Any]]:
    deviation = score.spread.deviation
    if score.is_mean and deviation is not None:
        error = deviation / math.sqrt(score.spread.count)
        method = "standard deviation of the population / sqrt(num_samples)"
        yield "standard_error", {"value": error, "method": method}
    drawn = dict(
        part.split(":", 1) for part in scores.resampling.split("|") if ":" in part
    )
    if score.interval is not None:
        lower, upper = score.interval
        yield (
            "confidence_interval",
            {
                "lower": lower,
                "upper": column.bounded(upper),
                "confidence_level": float(drawn["level"]),
                "method": scores.resampling,
            },
        )
    if deviation is not None:
        yield "standard_deviation", deviation
    yield "num_samples", score.count
    if score.interval is not None:
        yield "num_bootstrap_samples", int(drawn["replicates"])
