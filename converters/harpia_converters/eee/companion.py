"""Check a samples file against the aggregate that it belongs to (rules E201-E207)."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harpia_formats.model.format import Companion, FileSummary, Remark, Totals
from harpia_formats.model.numbers import float_of

if TYPE_CHECKING:  # most runs repair nothing
    from harpia_converters.eee.lint.file_counts import Scale
    from harpia_formats.model.repair import Repair

EVALUATION, MODEL, ROWS, CHECKSUM, RESULT = "E201", "E202", "E203", "E204", "E205"
MEAN, BOUNDS, VERDICT = "E206", "E207", "E116"

#: The member of an aggregate that describes its samples file.
_details = "detailed_evaluation_results"
#: What follows the stem in the name of a samples file.
_samples_end = "_samples.jsonl"
#: Hexadecimal digits of a digest, by its algorithm.
_digits = {"md5": 32, "sha256": 64}


@dataclass(frozen=True, slots=True)
class Expected:
    """What an aggregate says of its samples; empty or None where it says nothing."""

    evaluation_id: str
    model_ids: frozenset[str]
    result_ids: frozenset[str]
    result_names: frozenset[str]
    #: The samples file, from the root of the collection.
    file_path: str
    total_rows: int | float | None
    #: Digest of the bytes of the samples file, in lower-case hexadecimal.
    checksum: str
    #: "sha256" or "md5", as given or by the length of the checksum, else empty.
    hash_algorithm: str
    #: Whether it describes a samples file at all.
    has_details: bool
    #: The results that rows can be matched with: the id of each, or the name where it
    #: has none, the score, and the index in the aggregate.
    scores: tuple[tuple[str, float, int], ...] = ()
    #: The least and the largest score of these results, by the same key.
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    #: The metric_config of each result, by its id or name, and the one that all have.
    metrics: Mapping[str, Any] = field(default_factory=dict)
    metric: Any = None

    def scale_for(self, result: str) -> "Scale | None":
        """Return what is said of the scores of a result, None if nothing is."""
        from harpia_converters.eee.lint.file_counts import scale_of  # noqa: PLC0415 - start-up: needed for lints only

        config = self.metrics.get(result, self.metric)
        return None if config is None else scale_of(config)


def expectations_of(aggregate: Mapping[str, Any]) -> Expected:
    """Return what `aggregate`, valid or not, says of its samples."""
    details = aggregate.get(_details)
    found = details if isinstance(details, Mapping) else {}
    rows = found.get("total_rows")
    checksum = _text_in(found, "checksum").lower()
    scores = _scores_of(aggregate.get("evaluation_results"))
    return Expected(
        evaluation_id=_text_in(aggregate, "evaluation_id"),
        model_ids=_texts([aggregate.get("model_info")], "id"),
        result_ids=_texts(aggregate.get("evaluation_results"), "evaluation_result_id"),
        result_names=_texts(aggregate.get("evaluation_results"), "evaluation_name"),
        file_path=_text_in(found, "file_path"),
        total_rows=rows if type(rows) in {int, float} else None,
        checksum=checksum,
        hash_algorithm=_algorithm_of(_text_in(found, "hash_algorithm"), checksum),
        has_details=isinstance(details, Mapping),
        scores=scores,
        bounds=_bounds_of(aggregate.get("evaluation_results"), scores),
        **_metrics_of(aggregate.get("evaluation_results")),
    )


def verdict_remarks(expected: Expected, row: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield a remark if is_correct of a row is not what its score means."""
    from harpia_converters.eee.lint.file_counts import scale_remarks  # noqa: PLC0415 - start-up: needed for lints only

    return scale_remarks(expected.scale_for, row)


def mean_scores(expected: Expected) -> Totals:
    """Return what compares the mean scores of rows with those of the aggregate."""
    from harpia_converters.eee.lint.aggregate_mean import MeanScores  # noqa: PLC0415 - start-up: needed for lints only

    return MeanScores(expected.scores)


def row_remarks(expected: Expected, row: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield a remark for each key of a samples row that differs from the aggregate.

    Keys that either of the two lacks are not compared.
    """
    run = _text_in(row, "evaluation_id")
    if run and run != (expected.evaluation_id or run):
        yield _differs(EVALUATION, "evaluation_id", [expected.evaluation_id])
    model = _text_in(row, "model_id")
    if model and model not in (expected.model_ids or {model}):
        yield _differs(MODEL, "model_id", sorted(expected.model_ids))
    yield from _result_remarks(expected, row)


def file_remarks(expected: Expected, rows: int, digest: str | None) -> Iterator[Remark]:
    """Yield a remark for a row count or checksum that differs from the aggregate.

    `rows` is the number of rows in the samples file, `digest` the digest of its bytes
    by the expected algorithm in hexadecimal, None if it was not computed. The paths are
    places in the aggregate.
    """
    if expected.total_rows is not None and expected.total_rows != rows:
        yield Remark(
            ROWS,
            (_details, "total_rows"),
            f"the samples file has {rows} rows, total_rows says "
            f"{_shown(expected.total_rows)}",
            "one of the two files was changed or cut off: export both again",
        )
    if expected.checksum and digest and expected.checksum != digest.lower():
        yield Remark(
            CHECKSUM,
            (_details, "checksum"),
            f"the samples file has another checksum: {_shown(digest.lower())}",
            "it was changed after the aggregate was written, or belongs to another "
            "aggregate: export both again",
        )


def followed(
    aggregate: Mapping[str, Any], before: str, after: str
) -> "Iterator[Repair]":
    """Yield the repair of a checksum that held before the samples file was repaired.

    `before` and `after` are the digests of the bytes of that file.
    """
    from harpia_formats.model.repair import REPLACE, Repair  # noqa: PLC0415 - start-up: needed for repairs only

    details = aggregate.get(_details)
    checksum = _text_in(details, "checksum") if isinstance(details, Mapping) else ""
    if before != after and checksum.lower() == before:
        what = "wrote the checksum that the samples file has after its repair"
        value = after.upper() if checksum.isupper() else after
        yield Repair(CHECKSUM, REPLACE, (_details, "checksum"), what, value)


def stem_of(name: str) -> str:
    """Return the part that the file names of an aggregate and its samples share, or "".

    It is `X` for `X.json`, `X_aggregate.json` and `X_samples.jsonl`.
    """
    if name.endswith(_samples_end):
        return name.removesuffix(_samples_end)
    stem = name.removesuffix(".json")
    return "" if stem == name else stem.removesuffix("_aggregate") or stem


def samples_names(aggregate_name: str, expected: Expected) -> tuple[str, ...]:
    """Return the possible names of an aggregate's samples file, likeliest first.

    They are names only: the folders in `file_path` are those of the collection, and
    the file is looked for beside the aggregate.
    """
    given = re.split(r"[/\\]", expected.file_path)[-1]
    stem = stem_of(aggregate_name)
    names = (given if given.strip(".") else "", f"{stem}{_samples_end}" if stem else "")
    return tuple(dict.fromkeys(name for name in names if name))


def _result_remarks(expected: Expected, row: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield a remark if `row` names no result of its aggregate."""
    key, known = "evaluation_result_id", expected.result_ids
    if row.get(key) is None:
        key, known = "evaluation_name", expected.result_names
    if not (expected.result_ids or expected.result_names):
        return
    name = _text_in(row, key)
    if name and name not in known:
        yield Remark(
            RESULT,
            (key,),
            f"no result of the aggregate has the {key} {_shown(name)}",
            "give the evaluation_result_id of the result that the row belongs to",
        )


def _differs(code: str, key: str, wanted: list[str]) -> Remark:
    return Remark(
        code,
        (key,),
        f"{key} is not that of the aggregate, {' or '.join(map(_shown, wanted))}",
        "give both files the same value, or check the samples with their own aggregate",
    )


def _shown(value: Any) -> str:
    """Return `value` as short JSON text."""
    from harpia_formats.model.text.describe import short_json  # noqa: PLC0415 - start-up: needed for messages only

    return short_json(value)


def _algorithm_of(given: str, checksum: str) -> str:
    """Return `given` if it is known, else the algorithm for the checksum's length."""
    if given in _digits:
        return given
    fitting = (
        algorithm for algorithm, digits in _digits.items() if len(checksum) == digits
    )
    return next(fitting, "")


def _text_in(owner: Mapping[str, Any], key: str) -> str:
    """Return the text at `key` of `owner`, empty if there is none."""
    value = owner.get(key)
    return value if isinstance(value, str) else ""


def _texts(owners: Any, key: str) -> frozenset[str]:
    """Return the texts at `key` of those `owners` that are objects."""
    found = owners if isinstance(owners, list) else []
    values = [owner.get(key) for owner in found if isinstance(owner, dict)]
    return frozenset([text for text in values if text and isinstance(text, str)])


def _bounds_of(
    results: Any, scores: tuple[tuple[str, float, int], ...]
) -> dict[str, tuple[float, float]]:
    """Return the bounds of the results with these scores, but those that have none."""
    from harpia_converters.eee.lint.aggregate_values import bounds_of  # noqa: PLC0415 - start-up: needed for aggregates only

    found = {key: bounds_of(results[index]) for key, _, index in scores}
    return {key: each for key, each in found.items() if any(map(math.isfinite, each))}


def _bound_remarks(expected: Expected, row: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield a remark if the score of `row` is outside of the bounds of its result."""
    from harpia_converters.eee.lint.aggregate_values import beyond, is_beyond  # noqa: PLC0415 - start-up: needed for aggregates only

    name = _text_in(row, "evaluation_result_id") or _text_in(row, "evaluation_name")
    bounds = expected.bounds.get(name)
    evaluation = row.get("evaluation")
    score: Any = evaluation.get("score") if isinstance(evaluation, Mapping) else None
    number = float_of(score)
    if bounds is not None and number is not None and is_beyond(number, bounds):
        yield beyond(("evaluation", "score"), score, bounds)


def _scores_of(results: Any) -> tuple[tuple[str, float, int], ...]:
    """Return the key, score and index of each result, if no other has its key."""
    found: dict[str, tuple[str, float, int]] = {}
    repeated = set()
    for index, result in enumerate(results if isinstance(results, list) else ()):
        details = result.get("score_details") if isinstance(result, dict) else None
        score: Any = details.get("score") if isinstance(details, dict) else None
        number = float_of(score)
        if number is None:
            continue
        key = _text_in(result, "evaluation_result_id")
        key = key or _text_in(result, "evaluation_name")
        if key in found:
            repeated.add(key)
        found[key] = (key, number, index)
    return tuple(each for key, each in found.items() if key and key not in repeated)


def _metrics_of(results: Any) -> dict[str, Any]:
    """Return the metric_config of each result, and the one that all results have.

    One that results with the same id or name do not share is of neither.
    """
    metrics: dict[str, Any] = {}
    found = results if isinstance(results, list) else []
    for result in found:
        config = result.get("metric_config") if isinstance(result, dict) else None
        if not isinstance(config, dict):
            continue
        for key in ("evaluation_result_id", "evaluation_name"):
            name = _text_in(result, key)
            if name and metrics.setdefault(name, config) != config:
                metrics[name] = {}
    first = next(iter(metrics.values()), None)
    is_one = all(config == first for config in metrics.values())
    return {"metrics": metrics, "metric": first if is_one else None}


def _row_lints(expected: Expected, row: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield remarks on the verdict and the score of a row."""
    yield from verdict_remarks(expected, row)
    if expected.bounds:
        yield from _bound_remarks(expected, row)


def _closing(expected: Expected, seen: FileSummary) -> Iterator[Remark]:
    return file_remarks(expected, seen.records, seen.digest)


def _algorithm(expected: Expected) -> str:
    return expected.hash_algorithm if expected.checksum else ""


#: How the samples formats are checked against their aggregate.
COMPANION = Companion(
    format="eee-aggregate",
    expect=expectations_of,
    remarks=row_remarks,
    closing=_closing,
    closing_there=True,
    algorithm=_algorithm,
    algorithms=tuple(_digits),
    follow=followed,
    file_names=samples_names,
    totals=mean_scores,
    totals_codes=(MEAN,),
    row_lint=_row_lints,
    row_lint_codes=(VERDICT, BOUNDS),
)
