"""Metrics of retrieved documents: MAP, MRR, NDCG and recall."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import isinf, log2
from typing import Any

from harpia_formats.evaluation.metrics.metric import (
    OWN_LIBRARY,
    Measure,
    Metric,
    Parameters,
    Sample,
    UnscorableError,
    is_number,
    sample_mean_measure,
)

#: The defaults of the parameters that all of these metrics have.
DOCUMENT_DEFAULTS = {"field": "content", "retrieved": "documents", "scale": "0-1"}
#: Where retrieved documents are: a list of their own, or the contexts.
_SOURCES = {"documents": "retrieved_documents", "contexts": "contexts"}
_META = "meta."
#: Keys of a document that are no metadata.
_OWN = ("content", "id", "score")
_UNUSED = frozenset(
    "blob content_type dataframe embedding id_hash_keys sparse_embedding".split()
)
#: What is compared of a document; None if it has no such value.
Key = Hashable
#: Returns the score of one record from the keys of its retrieved documents, best first,
#: and those of its ground-truth documents, with the documents themselves.
DocumentScore = Callable[[list[Key], list[Key], Sequence[Any]], float]


def document_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what metrics compare of a document, whose metadata may be among its keys.

    Haystack writes metadata among the other keys, or in `meta`.
    """
    nested = given.get("meta")
    meta = dict(nested) if isinstance(nested, Mapping) else {}
    meta |= {
        key: value
        for key, value in given.items()
        if key != "meta" and key not in _OWN and key not in _UNUSED
    }
    own = {key: given[key] for key in _OWN if given.get(key) is not None}
    return {**own, "meta": meta} if meta else own


def document_measure(
    parameters: Parameters, score: DocumentScore, more: str = ""
) -> Measure:
    """Return the mean of `score` over records, with the parameters of all such metrics.

    `more` is a further part of the signature. Raises `MetricError` for a bad value.
    """
    field = _field(parameters)
    source = parameters.choice("retrieved", tuple(_SOURCES))
    if source == "contexts" and field != "content":
        raise parameters.wrong("field", "content, since contexts are texts alone")
    retrieved_name = _SOURCES[source]

    def score_of(sample: Sample) -> float:
        truth = sample.ground_truth_documents
        found = getattr(sample, retrieved_name)
        try:
            return score(
                _keys(found, field, "retrieved document"),
                _keys(truth, field, "ground-truth document"),
                truth,
            )
        except RecursionError:  # in a cell of a table; also where keys are compared
            reason = f"the {field} of a document is nested too deep"
            raise UnscorableError(reason) from None

    name, needs = parameters.metric, (retrieved_name, "ground_truth_documents")
    signature = f"{name}|{OWN_LIBRARY}{more}|field:{field}|retrieved:{source}"
    return sample_mean_measure(name, signature, score_of, needs, parameters.scale())


def _field(parameters: Parameters) -> str:
    """Return the part of documents that is compared; raises `MetricError`."""
    field = parameters.values["field"]
    is_meta = isinstance(field, str) and field.startswith(_META) and field != _META
    if field in ("content", "id") or is_meta:
        return str(field)
    raise parameters.wrong("field", "content, id or meta.KEY")


def _keys(documents: Any, field: str, noun: str) -> list[Key]:
    """Return what is compared of each document, None for one without it.

    Raises `UnscorableError` for what is no list of documents.
    """
    if not isinstance(documents, Sequence) or isinstance(documents, str):
        raise UnscorableError(f"the {noun}s are not in a list")
    return [_key(document, field, noun) for document in documents]


def _key(document: Any, field: str, noun: str) -> Key:
    if isinstance(document, str):
        return document if field == "content" else None
    if not isinstance(document, Mapping):
        raise UnscorableError(f"a {noun} is neither a text nor an object")
    if field.startswith(_META):
        value: Any = document.get("meta")
        for part in field.removeprefix(_META).split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return hashable(value)
    value = document.get(field)
    if field == "id":
        # Haystack makes an id for a document without one, which no file holds.
        return None if value == "" else hashable(value)
    if not isinstance(value, str | None):
        raise UnscorableError(f"the content of a {noun} is no text")
    return value


def has_field(documents: Sequence[Any], field: str) -> bool:
    """Tell whether a document in a list has what is compared, readable or not."""
    try:
        return any(key is not None for key in _keys(documents, field, "document"))
    except (UnscorableError, RecursionError):
        return True


def hashable(value: Any) -> Key:
    """Return a key that equals another one if both JSON values are equal."""
    if isinstance(value, list | tuple):
        return ("list", *map(hashable, value))
    if isinstance(value, Mapping):
        pairs = ((key, hashable(item)) for key, item in value.items())
        return ("object", frozenset(pairs))
    return value  # type: ignore[no-any-return]  # any other JSON value is a key


def average_precision(
    found: list[Key], truth: list[Key], _: Sequence[Any] = ()
) -> float:
    """Return the average precision of a ranking, 0 if no document is right."""
    left = set(truth) - {None}
    right, total, hits = len(left), 0.0, 0
    for rank, key in enumerate(found, 1):
        if key in left:
            left.remove(key)
            hits += 1
            total += hits / rank
    return total / right if right else 0.0


def reciprocal_rank(found: list[Key], truth: list[Key], _: Sequence[Any] = ()) -> float:
    """Return 1 by the rank of the first right document, 0 if there is none."""
    right = set(truth) - {None}
    return next((1 / rank for rank, key in enumerate(found, 1) if key in right), 0.0)


def ndcg(found: list[Key], truth: list[Key], documents: Sequence[Any]) -> float:
    """Return the NDCG of a ranking, 0 if no document has a gain.

    Raises `UnscorableError` if some ground-truth documents have a score and others do
    not, and for a score that is no number from 0, or too large.
    """
    gains: dict[Key, float] = {}
    for key, gain in zip(truth, _gains(documents), strict=True):
        if key is not None:
            gains[key] = max(gains.get(key, gain), gain)
    ideal = _discounted(sorted(gains.values(), reverse=True))
    if isinf(ideal):
        raise UnscorableError("the scores of ground-truth documents are too large")
    actual = _discounted([gains.pop(key, 0.0) for key in found])
    # Rounding may put the ratio of nearly equal gains slightly above 1.
    return min(actual / ideal, 1.0) if ideal > 0 else 0.0


def _discounted(gains: Sequence[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def _gains(documents: Sequence[Any]) -> list[float]:
    scores = [
        document.get("score") if isinstance(document, Mapping) else None
        for document in documents
    ]
    given = [score for score in scores if score is not None]
    if not given:
        return [1.0] * len(scores)
    if len(given) < len(scores):
        raise UnscorableError(
            "some ground-truth documents have a score, and others have none"
        )
    if not all(is_number(score) and score >= 0 for score in given):
        raise UnscorableError(
            "the score of a ground-truth document is no number of at least 0"
        )
    return [float(score) for score in given]


_NOTHING = {None, ""}
#: Whether any right document was found is scored, or the share that was.
_MODES = ("single_hit", "multi_hit")


def _recall_measure(parameters: Parameters) -> Measure:
    """Return the recall of documents in a mode; raises `MetricError`."""
    mode = parameters.choice("mode", _MODES)

    def recall(found: list[Key], truth: list[Key], _: Sequence[Any]) -> float:
        right = set(truth) - _NOTHING
        hits = len(right.intersection(found))
        if not hits or mode == "single_hit":
            return float(hits > 0)
        return hits / len(right)

    return document_measure(parameters, recall, f"|mode:{mode}")


def _metric(name: str, summary: str, score: DocumentScore) -> Metric:
    """Return a metric that has only the parameters of all metrics of documents."""
    return Metric.of(
        name,
        summary,
        DOCUMENT_DEFAULTS,
        lambda parameters: document_measure(parameters, score),
    )


METRICS = (
    _metric(
        "document-map",
        "The mean average precision of retrieved documents: the precision at the rank "
        "of each ground-truth document, 0 for one that was not retrieved.",
        average_precision,
    ),
    _metric(
        "document-mrr",
        "The mean reciprocal rank of the first ground-truth document among the "
        "retrieved ones, 0 if none was retrieved.",
        reciprocal_rank,
    ),
    _metric(
        "document-ndcg",
        "The mean NDCG of retrieved documents: the gain of each ground-truth document, "
        "discounted by the logarithm of its rank, by that of the best ranking.",
        ndcg,
    ),
    Metric.of(
        "document-recall",
        "The mean recall of retrieved documents: whether any ground-truth document was "
        "retrieved, or with the mode multi_hit the share that was.",
        {"mode": "single_hit", **DOCUMENT_DEFAULTS},
        _recall_measure,
    ),
)
