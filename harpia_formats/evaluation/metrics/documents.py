"""Retrieved documents and ground-truth documents, for the metrics that compare them.

A document is a text or an object with `content`, `id`, `meta` and `score`, as Haystack
writes it.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from harpia_formats.evaluation.metrics.library import OWN_LIBRARY
from harpia_formats.evaluation.metrics.mean import sample_mean_measure
from harpia_formats.evaluation.metrics.metric import Measure, Sample, UnscorableError
from harpia_formats.evaluation.metrics.parameters import Parameters

#: The defaults of the parameters that all of these metrics have.
DEFAULTS = {"field": "content", "retrieved": "documents", "scale": "0-1"}
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

    Haystack writes metadata beside the other keys, or in `meta`.
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
    name: str, parameters: Parameters, score: DocumentScore, more: str = ""
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
        return score(
            _keys(found, field, "retrieved document"),
            _keys(truth, field, "ground-truth document"),
            truth,
        )

    signature = f"{name}|{OWN_LIBRARY}{more}|field:{field}|retrieved:{source}"
    needs = (retrieved_name, "ground_truth_documents")
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
    try:
        return [_key(document, field, noun) for document in documents]
    except RecursionError:
        reason = f"the {field} of a {noun} is nested too deep"
        raise UnscorableError(reason) from None


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
    except UnscorableError:
        return True


def hashable(value: Any) -> Key:
    """Return a key that equals another one if both JSON values are equal."""
    if isinstance(value, list | tuple):
        return ("list", *map(hashable, value))
    if isinstance(value, Mapping):
        pairs = ((key, hashable(item)) for key, item in value.items())
        return ("object", frozenset(pairs))
    return value  # type: ignore[no-any-return]  # any other JSON value is a key
