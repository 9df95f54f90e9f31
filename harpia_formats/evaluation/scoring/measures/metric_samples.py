"""The input of metrics that need more of a record than an answer and references."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from typing import Any, Self

from msgspec import UNSET

from harpia_formats.conversion.mapping.preparation import filters_of
from harpia_formats.conversion.mapping.stored_choices import likelihoods_of, target_of
from harpia_formats.evaluation.metrics.metric import Sample
from harpia_formats.evaluation.metrics.retrieval import document_of, has_field
from harpia_formats.evaluation.scoring.measures.outcomes import ComputedMetric
from harpia_formats.model.record import Output, Record

#: Bytes that a number in a list takes.
_NUMBER = 32
#: The fields of a sample that are lists of documents, and the keys under which they
#: are. Ragas keeps the passages that should be found next to the contexts.
_DOCUMENTS = {
    "retrieved_documents": ("retrieved_documents",),
    "ground_truth_documents": ("ground_truth_documents", "reference_contexts"),
}


@dataclass(frozen=True, slots=True)
class SampleNeeds:
    """The fields that the metrics of a run need."""

    fields: frozenset[str]

    @property
    def has_filters(self) -> bool:
        """Whether a metric compares what a filter kept, which rows of a tool hold."""
        return "extracted" in self.fields

    @classmethod
    def of_metrics(cls, measured: Iterable[ComputedMetric]) -> Self | None:
        """Return what the metrics need; None if only answers and references."""
        needs = [
            (*metric.measure.needs, *metric.measure.uses)
            for metric in measured
            if metric.measure.of_sample is not None
        ]
        return cls(frozenset().union(*needs)) if needs else None

    def sample_of(
        self, record: Record, output: Output, pair: Sample
    ) -> tuple[Sample, int]:
        """Return an answer and references with what else metrics need, and its size.

        That is about the number of characters, the answer and the references left out.
        """
        found: dict[str, Any] = {}
        if "choices" in self.fields and record.choices:
            found["choices"] = record.choices
        if "contexts" in self.fields and record.contexts is not UNSET:
            found["contexts"] = record.contexts
        size = 0
        for name, keys in _DOCUMENTS.items():
            if name in self.fields:
                found[name], more = _slim(documents_of(record, output, keys))
                size += more
        if "correct_answers" in self.fields and record.metadata is not UNSET:
            found["correct_answers"] = record.metadata.get("correct_answers")
        if "likelihoods" in self.fields:
            found["likelihoods"] = likelihoods_of(record)
        if "target" in self.fields:
            found["target"] = target_of(record)
        if "extracted" in self.fields:
            found["extracted"] = unread_filters(record) | extracted_texts(output)
        size += sum(len(text) for text in found.get("contexts", ()))
        return pair._replace(**found), size


def documents_of(record: Record, output: Output, keys: Sequence[str]) -> Any:
    """Return the documents under the first of `keys`, None if there are none.

    They are in the extra of the answer or of the record, whichever vendor's, or in the
    metadata of the record.
    """
    places: list[Mapping[str, Any]] = []
    for extra in (output.extra, record.extra):
        places += () if extra is UNSET else extra.values()
    if record.metadata is not UNSET:
        places.append(record.metadata)
    found = (place.get(key) for place in places for key in keys)
    return next((documents for documents in found if documents is not None), None)


def holds_documents(record: Record) -> bool:
    """Tell whether a record has retrieved and ground-truth documents."""
    outputs = record.outputs or [Output()]
    return all(
        any(documents_of(record, output, keys) is not None for output in outputs)
        for keys in _DOCUMENTS.values()
    )


def extracted_text(output: Output) -> str | None:
    """Return what the last filter kept of an answer, None if none is named."""
    return next(reversed(extracted_texts(output).values()), None)


def extracted_texts(output: Output) -> dict[str, str]:
    """Return what each filter kept of an answer, as its attributions say."""
    found: dict[str, str] = {}
    for attribution in output.attribution or ():
        if isinstance(attribution, Mapping):
            name, value = map(attribution.get, ("extraction_method", "extracted_value"))
            if isinstance(name, str) and isinstance(value, str):
                found[name] = value
    return found


def unread_filters(record: Record) -> dict[str, None]:
    """Return the filters with a score that kept something else than a text.

    That is in the extra of the record, whichever vendor's.
    """
    extras = () if record.extra is UNSET else record.extra.values()
    keys = (key.partition(",")[0] for extra in extras for key in extra)
    if "filtered_resps" not in keys:
        return {}
    read = {name for output in record.outputs for name in extracted_texts(output)}
    return {name: None for name in filters_of(record.outputs) if name not in read}


def _slim(documents: Any) -> tuple[Any, int]:
    """Return a list of documents without what no metric reads, such as embeddings.

    With it comes about how many characters take as much memory as the list: the record
    is held as it is while it waits, with embeddings if it has any.
    """
    if not isinstance(documents, list):
        return documents, 0
    found, size = [], 0
    for document in documents:
        is_mapping = isinstance(document, Mapping)
        found.append(document_of(document) if is_mapping else document)
        size += sum(map(_weight, document.values() if is_mapping else [document]))
    return found, size


def _weight(value: Any) -> int:
    """Return about how many characters take as much memory as a value."""
    if isinstance(value, str):
        return len(value)
    return _NUMBER * len(value) if isinstance(value, list) else _NUMBER


#: What the documents of each list in a sample are called.
_NOUNS = {
    "retrieved_documents": "retrieved document",
    "ground_truth_documents": "ground-truth document",
}


@dataclass(slots=True)
class UnseenFields:
    """Follows documents until one of each list has each field that is compared."""

    measured: InitVar[Iterable[ComputedMetric]]
    #: The metrics that compare documents by each field.
    _metrics: dict[str, list[str]] = field(default_factory=dict)
    #: The lists and the fields that no document of the list had so far.
    _unseen: set[tuple[str, str]] = field(default_factory=set)
    #: The lists that had a document.
    _filled: set[str] = field(default_factory=set)

    def __post_init__(self, measured: Iterable[ComputedMetric]) -> None:
        for metric in measured:
            lists = _NOUNS.keys() & {*metric.measure.needs}
            if lists:
                compared = str(metric.request.parameters.get("field", "content"))
                self._unseen |= {(one, compared) for one in lists}
                self._metrics.setdefault(compared, []).append(metric.request.label)

    def add(self, sample: Sample) -> None:
        """Look at the documents of an answer."""
        for name, compared in tuple(self._unseen):
            documents = getattr(sample, name)
            if documents and isinstance(documents, list):
                self._filled.add(name)
                if has_field(documents, compared):
                    self._unseen.discard((name, compared))

    def merge(self, other: Self) -> None:
        """Add what another process has seen in the documents of further answers."""
        self._unseen &= other._unseen
        self._filled |= other._filled

    def notes(self) -> Iterator[str]:
        """Yield which fields no document has, for people."""
        for compared, metrics in self._metrics.items():
            for name, noun in _NOUNS.items():
                if (name, compared) in self._unseen and name in self._filled:
                    yield (
                        f"no {noun} has {compared}, so that none is right by "
                        f"{', '.join(metrics)}"
                    )
