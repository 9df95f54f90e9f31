"""The fields by which metrics compare documents, and that no document has."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Self

from harpia_formats.evaluation.metrics.documents import has_field
from harpia_formats.evaluation.metrics.metric import Sample
from harpia_formats.evaluation.scoring.computed_metric import ComputedMetric

#: What the documents of each list in a sample are called.
_NOUNS = {
    "retrieved_documents": "retrieved document",
    "ground_truth_documents": "ground-truth document",
}


@dataclass(slots=True)
class UnseenFields:
    """Follows documents until one of each list has each field that is compared."""

    #: The lists and the fields that no document of the list had so far.
    _unseen: set[tuple[str, str]]
    #: The metrics that compare documents by each field.
    _metrics: dict[str, list[str]]
    #: The lists that had a document.
    _filled: set[str] = field(default_factory=set)

    @classmethod
    def of_metrics(cls, measured: Iterable[ComputedMetric]) -> Self | None:
        """Return the fields of metrics of documents, None if there are none."""
        unseen: set[tuple[str, str]] = set()
        names: dict[str, list[str]] = {}
        for metric in measured:
            lists = _NOUNS.keys() & {*metric.measure.needs}
            if lists:
                compared = str(metric.request.parameters.get("field", "content"))
                unseen |= {(one, compared) for one in lists}
                names.setdefault(compared, []).append(metric.request.label)
        return cls(unseen, names) if names else None

    def add(self, sample: Sample) -> None:
        """Look at the documents of an answer."""
        for name, compared in tuple(self._unseen):
            documents = getattr(sample, name)
            if documents and isinstance(documents, list):
                self._filled.add(name)
                if has_field(documents, compared):
                    self._unseen.discard((name, compared))

    def notes(self) -> Iterator[str]:
        """Yield which fields no document has, for people."""
        for compared, metrics in self._metrics.items():
            for name, noun in _NOUNS.items():
                if (name, compared) in self._unseen and name in self._filled:
                    yield (
                        f"no {noun} has {compared}, so that none is right by "
                        f"{', '.join(metrics)}"
                    )
