"""The formats eee, in three versions, and eee-aggregate.

A samples file is checked against the aggregate that it belongs to (E201-E207).
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from harpia_converters.eee import versions
from harpia_converters.eee.versions import (
    ID_0_2_0,
    ID_0_2_0_TAG,
    ID_0_3_0,
    IDENTITY_PATHS,
    LABEL_KEY,
    ROW_KEYS,
    VENDOR,
    advise,
    is_record,
    sign_of,
)
from harpia_formats.model.describe import with_noun
from harpia_formats.model.exact_json import float_of
from harpia_formats.model.format import (
    Advice,
    Companion,
    Container,
    Dialect,
    FileSummary,
    Format,
    Remark,
    Totals,
)
from harpia_formats.model.problem import Path

if TYPE_CHECKING:  # most runs repair nothing
    from harpia_converters.eee.file_counts import Scale
    from harpia_formats.model.format import Repair


EVALUATION, MODEL, ROWS, CHECKSUM, RESULT = "E201", "E202", "E203", "E204", "E205"
MEAN, BOUNDS, VERDICT = "E206", "E207", "E116"

#: The member of an aggregate that describes its samples file.
_details = "detailed_evaluation_results"
#: What follows the stem in the name of a samples file.
_samples_end = "_samples.jsonl"
#: Hexadecimal digits of a digest, by its algorithm.
_digits = {"md5": 32, "sha256": 64}


@dataclass(frozen=True)
class Expected:
    """What an aggregate, valid or not, says of its samples; empty where it does not.

    Each is read when it is asked for: of most aggregates only the name of the samples
    file is.
    """

    aggregate: Mapping[str, Any]

    @property
    def _found(self) -> Mapping[str, Any]:
        details = self.aggregate.get(_details)
        return details if isinstance(details, Mapping) else {}

    @property
    def _results(self) -> Any:
        return self.aggregate.get("evaluation_results")

    @cached_property
    def evaluation_id(self) -> str:
        """The id of the run."""
        return _text_in(self.aggregate, "evaluation_id")

    @cached_property
    def model_ids(self) -> frozenset[str]:
        """The id of the model."""
        return _texts([self.aggregate.get("model_info")], "id")

    @cached_property
    def result_ids(self) -> frozenset[str]:
        """The ids of the results."""
        return _texts(self._results, "evaluation_result_id")

    @cached_property
    def result_names(self) -> frozenset[str]:
        """The names of the results."""
        return _texts(self._results, "evaluation_name")

    @property
    def file_path(self) -> str:
        """The samples file, from the root of the collection."""
        return _text_in(self._found, "file_path")

    @property
    def total_rows(self) -> int | float | None:
        """How many rows it has, None if that is not stated."""
        rows = self._found.get("total_rows")
        return rows if type(rows) in {int, float} else None

    @property
    def checksum(self) -> str:
        """Digest of the bytes of the samples file, in lower-case hexadecimal."""
        return _text_in(self._found, "checksum").lower()

    @property
    def hash_algorithm(self) -> str:
        """The algorithm as given, or by the length of the checksum, else empty."""
        return _algorithm_of(_text_in(self._found, "hash_algorithm"), self.checksum)

    @property
    def has_details(self) -> bool:
        """Whether it describes a samples file at all."""
        return isinstance(self.aggregate.get(_details), Mapping)

    @cached_property
    def scores(self) -> tuple[tuple[str, float, int], ...]:
        """The results that rows can be matched with.

        The id of each, or the name where it has none, the score, and the index in the
        aggregate.
        """
        return _scores_of(self._results)

    @cached_property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        """The least and the largest score of these results, by the same key."""
        return _bounds_of(self._results, self.scores)

    @cached_property
    def unknown(self) -> frozenset[str]:
        """Those of these results that may have the score of an unknown level."""
        from harpia_converters.eee.aggregate_checks import has_unknown_level  # noqa: PLC0415 - start-up: needed for aggregates only

        results = self._results
        return frozenset(
            [key for key, _, at in self.scores if has_unknown_level(results[at])]
        )

    @cached_property
    def metrics(self) -> Mapping[str, Any]:
        """The metric_config of each result, by its id or name."""
        return _metrics_of(self._results)

    @cached_property
    def metric(self) -> Any:
        """The metric_config that all results have, None if there is none."""
        configs = [*self.metrics.values()]
        is_one = bool(configs) and all(config == configs[0] for config in configs)
        return configs[0] if is_one else None

    def scale_for(self, result: str) -> "Scale | None":
        """Return the description of the scores of a result, None if there is none."""
        from harpia_converters.eee.file_counts import scale_of  # noqa: PLC0415 - start-up: needed for lints only

        config = self.metrics.get(result, self.metric)
        return None if config is None else scale_of(config)


def verdict_remarks(expected: Expected, row: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield a remark if is_correct of a row is not what its score means."""
    from harpia_converters.eee.file_counts import scale_remarks  # noqa: PLC0415 - start-up: needed for lints only

    return scale_remarks(expected.scale_for, row)


def mean_scores(expected: Expected) -> Totals:
    """Return what compares the mean scores of rows with those of the aggregate."""
    from harpia_converters.eee.aggregate_checks import MeanScores  # noqa: PLC0415 - start-up: needed for lints only

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
            f"the samples file has {with_noun(rows, 'row')}, total_rows says "
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
    from harpia_formats.model.format import REPLACE, Repair  # noqa: PLC0415 - start-up: needed for repairs only

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
    the file is looked for next to the aggregate.
    """
    given = expected.file_path.replace("\\", "/").rpartition("/")[2]
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
    from harpia_formats.model.describe import short_json  # noqa: PLC0415 - start-up: needed for messages only

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
    from harpia_converters.eee.aggregate_checks import bounds_of  # noqa: PLC0415 - start-up: needed for aggregates only

    found = {key: bounds_of(results[index]) for key, _, index in scores}
    return {key: each for key, each in found.items() if any(map(math.isfinite, each))}


def _bound_remarks(expected: Expected, row: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield a remark if the score of `row` is outside of the bounds of its result."""
    from harpia_converters.eee.aggregate_checks import UNKNOWN, beyond, is_beyond  # noqa: PLC0415 - start-up: needed for aggregates only

    name = _text_in(row, "evaluation_result_id") or _text_in(row, "evaluation_name")
    bounds = expected.bounds.get(name)
    evaluation = row.get("evaluation")
    score: Any = evaluation.get("score") if isinstance(evaluation, Mapping) else None
    number = float_of(score)
    if bounds is None or number is None or not is_beyond(number, bounds):
        return
    if number != UNKNOWN or name not in expected.unknown:
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
    """Return the metric_config of each result, by its id and its name.

    It is empty where results with the same id or name do not share one.
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
    return metrics


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
    expect=Expected,
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


OLD, NEW = "eee-aggregate@0.2.0", "eee-aggregate@0.3.0"

#: The last `schema_version` of documents that may be of the old version.
_last_old = (0, 2, 0)
#: Keys of a metric that the old version does not have.
_metric_keys = tuple(
    f"metric_{name}" for name in ("id", "name", "kind", "unit", "parameters")
)
#: Keys that say how a model is run; the old version does not have them.
_deployment_keys = ("deployment_type", "model_availability")
_version = re.compile(r"([0-9]{1,4})\.([0-9]{1,4})\.([0-9]{1,4})$")


def aggregate_sign(document: Mapping[str, Any], version: str) -> str:
    """Return by which keys `document` is an aggregate of `version`, or ""."""
    kind = _kind_of(document)
    if not kind or is_record(document):
        return ""
    found, sign = _version_of(document)
    return f"{kind} {sign}" if found == version else ""


def _kind_of(document: Mapping[str, Any]) -> str:
    """Return by which keys `document` is an aggregate, or ""."""
    if "evaluation_results" in document:
        return "`evaluation_results`"
    if {"source_metadata", "model_info"} <= document.keys():
        return "`source_metadata` and `model_info`"
    return ""


def _version_of(document: Mapping[str, Any]) -> tuple[str, str]:
    """Return the schema id of an aggregate's version, and what it is detected by."""
    key = next(_new_keys_in(document), "")
    if key:
        return NEW, f"with `{key}`"
    label = _label_of(document)
    if label > _last_old:
        return NEW, f"under the label {'.'.join(map(str, label))}"
    return OLD, "without `eval_library`"


def _new_keys_in(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys of `document` that only the new version has."""
    if "eval_library" in document:
        yield "eval_library"
    details = _object_in(_object_in(document, "model_info"), "additional_details")
    yield from (name for name in _deployment_keys if name in details)
    results = document.get("evaluation_results")
    # Of the old version, we write ids of results; nobody else does.
    has_old_label = () < _label_of(document) <= _last_old
    for result in results if isinstance(results, list) else ():
        if isinstance(result, Mapping):
            if "evaluation_result_id" in result and not has_old_label:
                yield "evaluation_result_id"
            metric = _object_in(result, "metric_config")
            yield from (key for key in _metric_keys if key in metric)


def _object_in(owner: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the object at `key` of `owner`, or an empty one."""
    value = owner.get(key)
    return value if isinstance(value, Mapping) else {}


def _label_of(document: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the numbers of `schema_version`, empty if it is no version."""
    label = document.get("schema_version")
    found = _version.search(label) if isinstance(label, str) else None
    return tuple(map(int, found.groups())) if found else ()


def advise_on_aggregate(branch: str, path: Path, record: Any) -> Advice | None:  # noqa: ARG001 - the signature of `Advise`
    """Return the help for a metric at `path` that has no score_type.

    The condition of 0.2.0 that asks for levels also holds for such a metric.
    """
    owner = record
    for step in path:
        owner = owner[step]
    if isinstance(owner, Mapping) and "score_type" not in owner:
        return Advice(
            "C101",
            'give score_type "binary" or "continuous" if the score has no levels: '
            "without score_type this version of the schema requires levels",
        )
    return None


def _dialect(version: str, name: str) -> Dialect:
    sniff = partial(aggregate_sign, version=version)
    return Dialect(
        version,
        sniff,
        name=name,
        container=Container.DOCUMENT,
        one_of=frozenset({"evaluation_results", "source_metadata"}),
        lints="harpia_converters.eee.aggregate_checks:LINTS",
    )


AGGREGATE_FORMAT = Format(
    id="eee-aggregate",
    title="The scores of one model in one run, which its samples belong to",
    vendor=VENDOR,
    dialects=(_dialect(NEW, ""), _dialect(OLD, "0.2.0")),
    advise=advise_on_aggregate,
)


V0_2_0_FORMAT = Format(
    id=ID_0_2_0,
    title="The instance-level schema of February 2026: one reference, `interactions`",
    id_key="sample_id",
    vendor=VENDOR,
    adapter="harpia_converters.eee.mapping:V0_2_0",
    results="harpia_converters.eee.results_writer:V0_2_0",
    unsafe_repairs="harpia_converters.eee.repairs:with_interactions",
    family="eee",
    dialects=(
        Dialect(
            ID_0_2_0,
            partial(sign_of, version=ID_0_2_0),
            one_of=ROW_KEYS,
            lints="harpia_converters.eee.lints:LINTS_0_2_0",
            label_key=LABEL_KEY,
            labels=versions.V0_2_0.labels | versions.FIRST_LABELS,
        ),
    ),
    id_with=IDENTITY_PATHS,
    companion=COMPANION,
    advise=partial(advise, turns="interactions"),
)


V0_2_0_TAG_FORMAT = Format(
    id=ID_0_2_0_TAG,
    title="The schema under the git tag v0.2.0: text or lists, `interactions`",
    id_key="sample_id",
    vendor=VENDOR,
    adapter="harpia_converters.eee.mapping:V0_2_0_TAG",
    results="harpia_converters.eee.results_writer:V0_2_0_TAG",
    unsafe_repairs="harpia_converters.eee.repairs:with_interactions",
    family="eee",
    dialects=(
        Dialect(
            ID_0_2_0_TAG,
            partial(sign_of, version=ID_0_2_0_TAG),
            one_of=ROW_KEYS,
            lints="harpia_converters.eee.lints:LINTS_0_2_0_TAG",
            label_key=LABEL_KEY,
            labels=versions.V0_2_0_TAG.labels,
        ),
    ),
    id_with=IDENTITY_PATHS,
    companion=COMPANION,
    advise=partial(advise, turns="interactions"),
)


V0_3_0_FORMAT = Format(
    id=ID_0_3_0,
    aliases=("eee@0.2.1", "eee@0.2.2", "eee@0.2.3"),
    title="The schema of 0.2.1 to 0.3.0: lists, `messages`, no other keys",
    id_key="sample_id",
    vendor=VENDOR,
    adapter="harpia_converters.eee.mapping:V0_3_0",
    results="harpia_converters.eee.results_writer:V0_3_0",
    unsafe_repairs="harpia_converters.eee.repairs:with_messages",
    family="eee",
    dialects=(
        Dialect(
            ID_0_3_0,
            partial(sign_of, version=ID_0_3_0),
            one_of=ROW_KEYS,
            lints="harpia_converters.eee.lints:LINTS_0_3_0",
            label_key=LABEL_KEY,
            labels=versions.V0_3_0.labels,
        ),
    ),
    id_with=IDENTITY_PATHS,
    companion=COMPANION,
    advise=partial(advise, turns="messages"),
)
