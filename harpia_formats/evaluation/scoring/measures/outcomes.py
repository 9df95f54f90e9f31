"""The metrics of a run with their parameters, what they need, and their outcomes.

Answers are measured in batches, in this process or in workers, in order.
"""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import InitVar, dataclass, field, replace
from itertools import compress
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar, TypeVarTuple

from msgspec import UNSET

from harpia_formats.conversion.mapping.preparation import filters_of
from harpia_formats.conversion.mapping.stored_choices import likelihoods_of, target_of
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.evaluation.metrics import METRICS, Measure, measure_of
from harpia_formats.evaluation.metrics.label_counts import LabelPair
from harpia_formats.evaluation.metrics.metric import (
    LACKS,
    MetricError,
    Sample,
    Statistics,
    UnscorableError,
    limits_of,
)
from harpia_formats.evaluation.metrics.retrieval import document_of, has_field
from harpia_formats.evaluation.scoring.significance.intervals import LARGEST
from harpia_formats.formats.rules.scoring_rules import (
    NO_ANSWER,
    NO_FIELD,
    NO_REFERENCE,
    UNSCORABLE,
)
from harpia_formats.model.record import Output, Record, Score
from harpia_formats.model.report import FileCount
from harpia_formats.model.vendor_metrics import MetricRequest

if TYPE_CHECKING:  # only large runs import the pool
    from harpia_formats.files.workers.pool import TaskQueue, WorkerPool


_Given = TypeVarTuple("_Given")
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class ComputedMetric:
    """A metric of a run with its parameters, and its names in results."""

    request: MetricRequest
    #: It follows from the request.
    measure: Measure = field(compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the request alone: the functions of a measure cannot be pickled."""
        return computed_metric, (self.request,)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its scores in results."""
        return self.request.names or self.measure.names

    @property
    def leaves_unreadable_out(self) -> bool:
        """Whether it can count an answer that it cannot read as wrong, and does not."""
        metric = METRICS.get(self.request.metric)
        parameters = {} if metric is None else metric.parameters
        given = {**parameters, **self.request.parameters}
        return bool(given.get("unreadable", "wrong") != "wrong")


def computed_metric(request: MetricRequest) -> ComputedMetric:
    """Return the metric of a request with its parameters; raises `MetricError`."""
    if request.unavailable_reason:
        raise MetricError(request.unavailable_reason)
    measure = measure_of(request.metric, request.parameters)
    if request.note:
        signature = f"{measure.signature}|{request.note}"
        measure = replace(measure, signature=signature)
    return ComputedMetric(request, measure)


#: The statistics and the scores of one answer by one metric, or why it has none. For a
#: metric of labels they are its pair of labels, and no scores.
Outcome = tuple[Statistics | LabelPair, tuple[float | None, ...]] | str


class UnreadableOutcome(NamedTuple):
    """The outcome of an answer that a metric cannot read and counts as wrong."""

    statistics: Statistics | LabelPair
    scores: tuple[float | None, ...]


_NO_SAMPLE = Sample()
#: The outcome of an answer that a metric is not about, so that it does not lack it.
NO_SUCH_SCORE = ""

#: A text and a sample that every metric can score.
_ANY = "1 2 3 4 5 6"
_ANY_SAMPLE = Sample(_ANY, [_ANY], [_ANY], [_ANY], [_ANY], [_ANY])


def statistics_width(measure: Measure) -> int:
    """Return the number of statistics of a metric."""
    if measure.question is not None:
        return len(measure.question.missing)
    if measure.labels is not None:
        return len(LabelPair._fields)
    try:
        if measure.of_sample is not None:
            return len(measure.of_sample(_ANY_SAMPLE))
        return len(measure.statistics(_ANY, [_ANY]))
    except UnscorableError:
        # Of a mean they are the sums of its scores and their number.
        return len(measure.names) + 1


@dataclass(slots=True)  # not frozen: then each field is set by a call
class GroupAnswer:
    """One answer with its outcomes, and all that totals and findings need of it."""

    #: The number of its record in the run.
    record_number: int
    #: The digest of its question; b"" of an answer that is not added yet, and whose
    #: question is known only by that number.
    question: bytes
    #: The outcome by each metric.
    outcomes: tuple[Outcome, ...]
    #: Its model, None if it names none.
    model: str | None = None
    #: Whether it has a text or a stored score; if only these count, whether it has one.
    is_given: bool = True
    #: The number of references of its record.
    references: int = 0
    #: The values of the fields by which the answers of a system are grouped.
    key: tuple[str, ...] = ()
    #: The name of its file.
    path: str = ""
    #: Whether another evaluation had the answer, so that it counts in its group only.
    is_repeated: bool = False
    #: The code and the message of what is to be reported, and the model of the answer
    #: if the record has answers of several.
    findings: tuple[tuple[str, str, str], ...] = ()
    #: Whether it is missing and counts as 0.
    is_zero: bool = False
    #: Whether it has no text and holds stored scores.
    is_only_stored: bool = False
    #: The stored scores with which computed ones are compared.
    scores: Sequence[Score] = ()


@dataclass(slots=True)  # not frozen: then each field is set by a call
class ScoredAnswer:
    """One answer as it is read, and its own scores once it is measured."""

    #: The number of its record in the run, from 1.
    record_number: int
    record: Record
    output: Output
    #: The record with its place in the file.
    placed: PlacedRecord
    #: The counts of the file.
    count: FileCount
    #: Whether another evaluation had the answer, so that it counts in its group only.
    is_repeated: bool = False
    #: What metrics get of it.
    sample: Sample = _NO_SAMPLE
    #: What another process made of it; it has read the record, which is not here.
    measured: GroupAnswer | None = None
    #: The scores of each metric, None for each that is missing.
    values: tuple[tuple[float | None, ...], ...] = ()
    #: The statistics of each metric, None if the answer could not be scored.
    statistics: tuple[Statistics | LabelPair | None, ...] = ()


#: The share of a scale by which a score may be beyond it.
_ROUNDING = 1e-9
#: Answers that are measured together.
BATCH = 256
#: Batches of a run that are measured in this process, and seconds of all but the first,
#: for which modules are loaded: small runs start no process, and the beginning of a
#: large file none that ends before its ranges are read.
BATCHES_HERE, SECONDS_HERE = 4, 0.2


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The results of one batch of answers."""

    #: For each metric the outcome of each sample.
    outcomes: list[list[Outcome]]
    #: Seconds that each metric took.
    seconds: list[float]


def measure_batch(
    metrics: Sequence[ComputedMetric], samples: Sequence[Sample]
) -> BatchResult:
    """Return the outcomes of answers by each of `metrics`, and the time of each."""
    outcomes, seconds = [], []
    for metric in metrics:
        start = time.perf_counter()
        outcomes.append(_measured(metric.measure, samples))
        seconds.append(time.perf_counter() - start)
    return BatchResult(outcomes, seconds)


def _measured(measure: Measure, samples: Sequence[Sample]) -> list[Outcome]:
    """Return the outcome of each sample, which is empty if the sample lacks a field."""
    are_whole = [not one.lacking(measure.needs) for one in samples]
    found = iter(_outcomes(measure, list(compress(samples, are_whole))))
    return [next(found) if is_whole else "" for is_whole in are_whole]


def _outcomes(measure: Measure, samples: Sequence[Sample]) -> list[Outcome]:
    """Return the outcomes of samples that have what the metric needs."""
    least, greatest = _limits(measure)
    rounding = greatest * _ROUNDING
    limits = least - rounding, greatest + rounding
    outcomes = [_outcome(measure, one, limits) for one in _statistics(measure, samples)]
    if measure.reads is None:
        return outcomes
    return [
        outcome
        if isinstance(outcome, str) or measure.reads(one)
        else UnreadableOutcome(*outcome)
        for one, outcome in zip(samples, outcomes, strict=True)
    ]


def _tried(find: Callable[[*_Given], _Found], *given: *_Given) -> _Found | str:
    """Return what is found of an answer, or why it cannot be scored."""
    try:
        return find(*given)
    except UnscorableError as error:
        return str(error)


def _limits(measure: Measure) -> tuple[float, float]:
    """Return the least and the greatest score that counts.

    A mean of numbers that its metric says to be on a scale, and are not, would have an
    interval that is wrong.
    """
    return limits_of(measure.scale) if measure.is_bounded else (-LARGEST, LARGEST)


def _outcome(
    measure: Measure,
    statistics: Statistics | LabelPair | str,
    limits: tuple[float, float],
) -> Outcome:
    """Return the outcome of an answer; a score that is not between limits is none.

    By a metric of labels no answer has a score of its own.
    """
    if isinstance(statistics, str):
        return statistics
    if isinstance(statistics, LabelPair):
        return statistics, (None,) * len(measure.names)
    scores = measure.scores(statistics)
    least, greatest = limits
    # A sum is finite only if all of its numbers are, but for an overflow.
    if isfinite(sum(statistics)) and all(
        score is None or least <= score <= greatest for score in scores
    ):
        return statistics, scores
    return "it is no number from {:g} to {:g}".format(*_limits(measure))


def _statistics(
    measure: Measure, samples: Sequence[Sample]
) -> Sequence[Statistics | LabelPair | str]:
    """Return the statistics of samples, or why one has none."""
    if measure.labels is not None:
        pair = measure.labels.reading.pair
        return [_tried(pair, one.answer, one.references) for one in samples]
    if measure.of_sample is not None:
        return [_tried(measure.of_sample, one) for one in samples]
    pairs = [(one.answer or "", one.references) for one in samples]
    if measure.batch is not None:
        # If one answer cannot be scored, they are measured one by one to find it.
        with suppress(UnscorableError):
            return list(measure.batch(pairs))
    return [_tried(measure.statistics, *pair) for pair in pairs]


def zero_outcome(measure: Measure, sample: Sample) -> Outcome:
    """Return the outcome of a sample whose missing answer counts as 0.

    For a pooled metric it is that of an empty answer, which adds the length of the
    references to the sums. For a metric of labels it has no label.
    """
    if measure.question is not None:
        nothing = measure.question.missing
        return nothing, measure.scores(nothing)
    if measure.is_mean:
        nothing = (*((0.0,) * len(measure.names)), 1.0)
        if measure.scores(nothing) == nothing[:-1]:
            return nothing, nothing[:-1]
    empty = sample if measure.labels is not None else sample._replace(answer="")
    return _outcomes(measure, [empty])[0]


@dataclass(slots=True)  # not frozen: then each field is set by a call
class SampleOutcomes:
    """The outcomes of an answer by each metric."""

    outcomes: tuple[Outcome, ...]
    #: The code and the message of what is to be reported.
    findings: tuple[tuple[str, str], ...]
    #: Whether the answer is missing and counts as 0.
    is_zero: bool


#: Returns the outcomes that an answer of a record holds, and what is to be reported.
StoredOutcomes = Callable[[Record, Output], SampleOutcomes]


#: The code of a finding on a field that an answer lacks, if it has its own.
_CODES = {"answer": NO_ANSWER, "references": NO_REFERENCE}


def sample_outcomes(
    sample: Sample,
    measured: Sequence[ComputedMetric],
    columns: Sequence[Iterator[Outcome]],
    may_be_zero: bool,  # noqa: FBT001 - an option of the run
) -> SampleOutcomes:
    """Return the outcomes of an answer whose sample is `sample`.

    `columns` has the computed outcomes of each metric. With `may_be_zero` a missing
    answer counts as 0.
    """
    found: list[Outcome] = []
    lacking: dict[str, list[str]] = {}
    findings: list[tuple[str, str]] = []
    is_zero = False
    for metric, column in zip(measured, columns, strict=True):
        measure, label = metric.measure, metric.request.label
        outcome = next(column)
        if isinstance(outcome, str):
            name = sample.lacking(measure.needs)
            others = tuple(need for need in measure.needs if need != "answer")
            if name == "answer" and may_be_zero and not sample.lacking(others):
                outcome, is_zero = zero_outcome(measure, sample), True
            elif name:
                outcome = LACKS[name]
                lacking.setdefault(name, []).append(label)
            elif outcome != NO_SUCH_SCORE:
                findings.append((UNSCORABLE, f"{label} has no score: {outcome}"))
        found.append(outcome)
    if is_zero:
        findings.append((NO_ANSWER, "there is no answer, which scores 0"))
    for name, labels in lacking.items():
        code, message = _CODES.get(name, NO_FIELD), LACKS[name]
        if code == NO_FIELD:
            need = "needs" if len(labels) == 1 else "need"
            message = f"{message}, which {', '.join(labels)} {need}"
        findings.append((code, message))
    return SampleOutcomes(tuple(found), tuple(findings), is_zero)


class _ThreadMetrics(threading.local):
    """The metrics that a thread of a worker built last."""

    requests: tuple[MetricRequest, ...] = ()
    metrics: tuple[ComputedMetric, ...] = ()


_thread = _ThreadMetrics()


def _measure_in_worker(
    requests: tuple[MetricRequest, ...], columns: Sequence[Sequence[Any]]
) -> BatchResult:
    """Return the outcomes of answers; called in a worker process."""
    if _thread.requests != requests:
        _thread.metrics = tuple(map(computed_metric, requests))
        _thread.requests = requests
    return measure_batch(_thread.metrics, [*map(Sample, *columns)])


@dataclass(slots=True)
class BatchQueue:
    """Submits batches of answers to workers, and delivers their results in order."""

    metrics: tuple[ComputedMetric, ...]
    #: Called with each submitted batch and its result, None if the batch killed two
    #: workers: it is not measured in this process.
    deliver: Callable[[Any, BatchResult | None], None]
    #: The workers; None to measure in this process.
    pool: "WorkerPool | None" = None
    #: Whether workers have other work, after which batches would have to wait.
    is_pool_busy: bool = False
    _batches: int = 0
    _seconds: float = 0.0
    _queue: "TaskQueue[Any] | None" = None

    def add(self, batch: Any, samples: Sequence[Sample]) -> None:
        """Submit a batch, and deliver the oldest one if the pool is full.

        Raises `EngineError`.
        """
        self._batches += 1
        # The first batches are measured here; and so are stored scores and verdicts, of
        # which there is nothing to measure.
        is_early = self._batches <= BATCHES_HERE and self._seconds < SECONDS_HERE
        is_alone = self.pool is None or self.is_pool_busy or is_early
        if is_alone or not samples:
            # Earlier batches must be delivered first.
            self.finish()
            found = measure_batch(self.metrics, samples)
            self._seconds += sum(found.seconds) if self._batches > 1 else 0.0
            self.deliver(batch, found)
            return
        if self._queue is None:
            from harpia_formats.files.workers.pool import TaskQueue  # noqa: PLC0415 - only large runs need it

            assert self.pool is not None  # noqa: S101 - see above
            self._queue = TaskQueue(self.pool)
        requests = tuple(metric.request for metric in self.metrics)
        # As columns, which take less time to send than samples.
        task = _measure_in_worker, (requests, list(zip(*samples, strict=True)))
        self._deliver(self._queue.add(batch, task))

    def finish(self) -> None:
        """Deliver all submitted batches; raises `EngineError`."""
        if self._queue is not None:
            self._deliver(self._queue.rest())

    def _deliver(self, answers: Iterable[tuple[Any, Any]]) -> None:
        for batch, found in answers:
            self.deliver(batch, found if isinstance(found, BatchResult) else None)


# --- What metrics need besides answers and references ---

#: Bytes that a number in a list takes.
_NUMBER = 32
#: The fields of a sample that are lists of documents: the keys under which they are,
#: and what their documents are called. Ragas keeps the passages that should be found
#: next to the contexts.
_DOCUMENTS = {
    "retrieved_documents": (("retrieved_documents",), "retrieved document"),
    "ground_truth_documents": (
        ("ground_truth_documents", "reference_contexts"),
        "ground-truth document",
    ),
}
#: Returns each other field of a sample that is read only if a metric needs it.
_READ: Mapping[str, Callable[[Record, Output], Any]] = {
    "choices": lambda record, _: record.choices or (),
    "contexts": lambda record, _: None if record.contexts is UNSET else record.contexts,
    "correct_answers": lambda record, _: (record.metadata or {}).get("correct_answers"),
    "likelihoods": lambda record, _: likelihoods_of(record),
    "target": lambda record, _: target_of(record),
    "extracted": lambda record, output: (
        unread_filters(record) | extracted_texts(output)
    ),
}


def sample_needs(measured: Iterable[ComputedMetric]) -> frozenset[str]:
    """Return the fields that metrics need; none if only answers and references."""
    return frozenset().union(
        *(
            (*metric.measure.needs, *metric.measure.uses)
            for metric in measured
            if metric.measure.of_sample is not None
        )
    )


def full_sample(
    needs: Collection[str], record: Record, output: Output, pair: Sample
) -> tuple[Sample, int]:
    """Return an answer and references with what else metrics need, and its size.

    That is about the number of characters, the answer and the references left out.
    """
    found = {
        name: read(record, output) for name, read in _READ.items() if name in needs
    }
    size = sum(map(len, found.get("contexts") or ()))
    for name, (keys, _) in _DOCUMENTS.items():
        if name in needs:
            found[name], more = _slim(documents_of(record, output, keys))
            size += more
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
        for keys, _ in _DOCUMENTS.values()
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
            lists = _DOCUMENTS.keys() & {*metric.measure.needs}
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
            for name, (_, noun) in _DOCUMENTS.items():
                if (name, compared) in self._unseen and name in self._filled:
                    yield (
                        f"no {noun} has {compared}, so that none is right by "
                        f"{', '.join(metrics)}"
                    )
