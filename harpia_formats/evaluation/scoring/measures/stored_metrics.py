"""The scores that answers hold already, as metrics of answers and of questions."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from msgspec import UNSET, structs

from harpia_formats.conversion.fill_scores import answer_text
from harpia_formats.conversion.mapping.answer_groups import EVALUATION, MOST
from harpia_formats.conversion.mapping.choices import ReferenceFrom
from harpia_formats.conversion.mapping.requirements import holds_answers
from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.evaluation.metrics import (
    METRICS,
    Measure,
    numbered,
    question_metrics,
)
from harpia_formats.evaluation.metrics.metric import (
    PAIR,
    Parameters,
    Sample,
    Statistics,
    read_parameters,
)
from harpia_formats.evaluation.metrics.question_metrics import Correctness
from harpia_formats.evaluation.scoring.measures.metric_score import Group
from harpia_formats.evaluation.scoring.measures.outcomes import (
    NO_SUCH_SCORE,
    ComputedMetric,
    Outcome,
    SampleOutcomes,
    extracted_text,
)
from harpia_formats.evaluation.scoring.measures.select_metrics import (
    SelectedMetrics,
    check_parameters,
    metric_that_is_read,
    with_parameters,
)
from harpia_formats.evaluation.scoring.options import Missing, ScoreOptions
from harpia_formats.evaluation.scoring.significance.intervals import number_or_none
from harpia_formats.formats.detection.candidates import FormatVariant
from harpia_formats.formats.registry import adapter_of
from harpia_formats.formats.rules.scoring_rules import NO_STORED_NUMBER
from harpia_formats.model.describe import first_of, short_json
from harpia_formats.model.record import Output, Record, Score, metric_of
from harpia_formats.model.report import FileCount
from harpia_formats.model.vendor_metrics import (
    BEST,
    LOWER_IS_BETTER,
    MetricRequest,
    ScoreError,
    ScoreOptionsError,
    declared_scale,
)

#: The metric and the signature of a stored score: which quantity it is.
Key = tuple[str, str]
#: Stands for the signature of the scores of a metric with any signature.
ANY = "\0"
#: The keys in `extra` of records of the columns that no field can hold.
_OF_COLUMNS = ("csv", "parquet")


def is_pooled(name: str, signature: str) -> bool:
    """Tell whether a score of a whole data set is not the mean of those of its rows.

    The signature decides, and the name of the metric without one.
    """
    metric = METRICS.get((signature or name).partition("|")[0])
    return metric is not None and metric.is_pooled


def labels_of(keys: Iterable[Key]) -> dict[Key, str]:
    """Return a name for each metric with a signature: its own if no other has it.

    Else the parts of its signature that others lack stand behind it, or the whole one
    where these are the same.
    """
    by_name: dict[str, list[str]] = {}
    for name, signature in keys:
        by_name.setdefault(name, []).append(signature)
    labels = {}
    for name, signatures in by_name.items():
        if len(signatures) == 1:
            labels[name, signatures[0]] = name
            continue
        parts = [signature.split("|") for signature in signatures]
        common = set(parts[0]).intersection(*parts)
        shown = [
            "|".join(part for part in own if part and part not in common)
            for own in parts
        ]
        for signature, left in zip(signatures, shown, strict=True):
            behind = left if shown.count(left) == 1 else signature
            labels[name, signature] = f"{name}|{behind or 'no more parts'}"
    return labels


#: Scores of answers that are wrong or right.
BINARY = (0.0, 1.0)
#: Values that are neither right nor wrong which an error names.
_SHOWN = 3


@dataclass(slots=True)
class Quantity:
    """The stored scores of one metric with one signature, or with all of them."""

    name: str
    signatures: list[str]
    #: The score of a right answer.
    right: float = field(init=False)
    #: The number of scores that are numbers, and of those that are not.
    numbers: int = 0
    others: int = 0
    #: Whether every number is 0 or 1, as true and false are.
    are_binary: bool = True
    #: Whether every number is true or false, None without a number.
    are_booleans: bool | None = None
    smallest: float = 0.0
    largest: float = 0.0
    #: The first values that are neither right nor wrong.
    unclear: dict[float, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.right = 100.0 if "0-100" in self._declared else 1.0

    @property
    def _declared(self) -> set[str | None]:
        """The scales that its signatures declare, None for one that declares none."""
        return {declared_scale(self.name, one) for one in self.signatures}

    def add(self, score: Score, *, is_zero: bool) -> None:
        """Add a stored score; one that is no number is 0 if `is_zero`."""
        value = number_or_none(score.value)
        if value is None and not is_zero:
            self.others += 1
            return
        self.numbers += 1
        if value is None:
            return
        is_boolean = isinstance(score.value, bool)
        self.are_booleans = is_boolean and self.are_booleans is not False
        self.are_binary &= value in BINARY
        self.smallest = min(self.smallest, value)
        self.largest = max(self.largest, value)
        is_clear = isinstance(score.is_correct, bool) or value in {0.0, self.right}
        if not is_clear and len(self.unclear) < _SHOWN:
            self.unclear[value] = None

    @property
    def is_verdict(self) -> bool:
        """Whether scores are verdicts of a judge."""
        return any(one.partition("|")[0] == "judge" for one in self.signatures)

    @property
    def best(self) -> float:
        """The best score as their values show it, whatever their scale is."""
        return 100.0 if self.largest > 1 else 1.0

    @property
    def scale(self) -> str:
        """The scale of the scores, "any" if it is not known.

        It is known if it is declared, or if they are of wrong and right answers: if all
        are 0 or 1. Verdicts of a judge must be true or false for that, since ratings
        from 1 to 5 may all be 1. A rate of errors has no upper limit, even if none of
        them is above 1.
        """
        declared = self._declared
        scale = declared.pop() if len(declared) == 1 else None
        is_known = self.are_booleans if self.is_verdict else self.are_binary
        is_share = is_known and not self.lower_is_better
        return scale or ("0-1" if is_share else "any")

    @property
    def lower_is_better(self) -> bool:
        """Whether they are a rate of errors, by their name or that of a signature."""
        metrics = {one.partition("|")[0] for one in self.signatures}
        return not LOWER_IS_BETTER.isdisjoint(metrics | {self.name})

    @property
    def is_bounded(self) -> bool:
        """Whether all scores lie on the scale, which rates of errors need not do."""
        best = BEST.get(self.scale)
        is_within = best is not None and self.smallest >= 0 and self.largest <= best
        return is_within and not self.lower_is_better

    def metric(self, label: str) -> ComputedMetric:
        """Return the mean of the scores, with a name for it."""
        signature = " and ".join(filter(None, self.signatures))
        return metric_that_is_read(
            label,
            signature or f"{label}|impl:unknown",
            self.scale,
            is_bounded=self.is_bounded,
            lower_is_better=self.lower_is_better,
        )

    def outcome(self, _: Output, scores: Sequence[Score], *, is_zero: bool) -> Outcome:
        """Return the mean of the scores of an answer; see `add`."""
        found = [number_or_none(score.value) for score in scores]
        values = [value or 0.0 for value in found if is_zero or value is not None]
        if not values:
            return f"the stored {self.name} is no number{_text_of(scores)}"
        mean = sum(values) / len(values)
        return (mean, 1.0), (mean,)


_SPLIT = "metadata.split"
#: What the values of a field are called, by the field.
_nouns = {EVALUATION: "tasks", _SPLIT: "splits"}
#: The values of a field that a note names.
_NAMED = 5


@dataclass(slots=True)
class MixedScores:
    """Collects the tasks and splits of the stored scores of each quantity."""

    #: By the field, the quantity of the scores, and the model.
    _values: dict[tuple[str, Key, str], dict[str, None]] = field(default_factory=dict)

    def add(self, key: Key, record: Record, output: Output, score: Score) -> None:
        """Add a score of an output; `key` is its metric and its signature."""
        task, split = score.evaluation_name, (record.metadata or {}).get("split")
        for name, value in ((EVALUATION, task), (_SPLIT, split)):
            if isinstance(value, str):
                place = name, key, output.model or ""
                values = self._values.setdefault(place, {})
                if len(values) < MOST:
                    values[value] = None

    def notes(self, labels: Mapping[Key, str], by: Sequence[str]) -> Iterator[str]:
        """Yield which of these quantities are a mean over several tasks or splits.

        Quantities of the same tasks are named together; fields in `by` are left out.
        """
        shown: dict[tuple[str, tuple[str, ...]], dict[str, None]] = {}
        for (name, key, _), values in self._values.items():
            if name not in by and key in labels and len(values) > 1:
                shown.setdefault((name, tuple(values)), {})[labels[key]] = None
        for (name, found), metrics in shown.items():
            count = f"{MOST:,} or more" if len(found) >= MOST else f"{len(found):,}"
            more = ", ..." if len(found) > _NAMED else ""
            are = "is a mean" if len(metrics) == 1 else "are means"
            yield (
                f"{first_of([*metrics])} {are} over {count} {_nouns[name]} "
                f"({', '.join(found[:_NAMED])}{more}); `--by {name}` shows each"
            )


@dataclass(frozen=True, slots=True)
class StoredMetric:
    """A metric by one stored quantity."""

    metric: ComputedMetric
    key: Key
    quantity: Quantity
    #: Returns the outcome of an answer; its scores of the quantity are one or more.
    outcome: Callable[[Output, Sequence[Score]], Outcome]

    @property
    def label(self) -> str:
        """Its name in results."""
        return self.metric.request.label

    @property
    def identity(self) -> Key:
        """The name and the signature by which it is compared with that of a system."""
        if self.metric.measure.question is None:
            return self.key
        # It is as well known as that of the scores.
        return self.label, self.key[1] and self.metric.measure.signature


#: How answers are compared that no tool extracted, if `same` does not say.
SAME = "byob"
#: The metric of each name that can be computed of stored scores, with its parameters.
_QUESTIONS: Mapping[
    str, tuple[Callable[[Parameters, Correctness], Measure], Mapping[str, Any]]
] = {
    question_metrics.PASSES_AT_K: (
        question_metrics.pass_at_k_measure,
        {"k": 1, "correct": None},
    ),
    question_metrics.MAJ_AT_K: (
        question_metrics.maj_at_k_measure,
        {"k": 1, "correct": None, "same": SAME},
    ),
}


def is_of_questions(name: str) -> bool:
    """Tell whether a metric called `name` can be computed of stored scores."""
    return numbered(name)[0] in _QUESTIONS


def stored_questions(
    request: MetricRequest,
    found: Mapping[Key, Quantity],
    labels: Mapping[Key, str],
    *,
    is_zero: bool,
) -> tuple[list[StoredMetric], list[str]]:
    """Return a metric of questions, by each stored quantity that tells what is correct.

    With it come notes on the quantities that do not. `labels` has the name of each
    quantity. With `is_zero` a score that is no number is that of a wrong answer. Raises
    `ScoreError` if none tells, and `MetricError` for a bad parameter.
    """
    family, k = numbered(request.metric)
    given = {**request.parameters, **({} if k is None else {"k": k})}
    parameters = read_parameters(family, _QUESTIONS[family][1], given)
    chosen = parameters.values["correct"]
    wanted = [key for key in labels if chosen in {None, key[0], labels[key]}]
    if not wanted:
        raise parameters.wrong("correct", f"one of {', '.join(labels.values())}")
    able = [key for key in wanted if not found[key].unclear]
    if not able:
        shown = "; ".join(
            f"{labels[key]} has {', '.join(map(repr, found[key].unclear))}"
            for key in wanted
        )
        raise ScoreError(
            f"{request.label} needs stored scores that are right or wrong, and these "
            f"are neither: {shown}; without `--stored` {family} is computed of the "
            f"answers, and `--param {family}.threshold=SCORE` says from which score of "
            f"`--param {family}.correct=METRIC` on one is correct"
        )
    notes = [
        f"{request.label} is not computed of {labels[key]}, whose values are neither "
        "right nor wrong"
        for key in wanted
        if key not in able
    ]
    name, is_only = request.label, len(able) == 1
    names = [name if is_only else f"{name} of {labels[key]}" for key in able]
    return [
        _of_quantity(
            replace(request, key=own), parameters, key, found[key], is_zero=is_zero
        )
        for key, own in zip(able, names, strict=True)
    ], notes


def _of_quantity(
    request: MetricRequest,
    parameters: Parameters,
    key: Key,
    quantity: Quantity,
    *,
    is_zero: bool,
) -> StoredMetric:
    """Return the metric of questions by one stored quantity; raises `MetricError`."""
    of = (key[1] or f"{key[0]}|impl:unknown").replace("|", ";")
    correctness = Correctness(
        lambda sample: 0.0,  # noqa: ARG005 - what is correct is stored
        needs=PAIR,
        uses=(),
        signature=f"correct:stored|of:{of}",
        same_answer=None,
    )
    measure = _QUESTIONS[parameters.metric][0](parameters, correctness)
    same = None
    if parameters.metric == question_metrics.MAJ_AT_K:
        same = question_metrics.same_answer_of(parameters, None)

    def outcome(output: Output, scores: Sequence[Score]) -> Outcome:
        score, *others = scores
        if others:
            return f"there are several stored scores called {quantity.name}"
        value = number_or_none(score.value)
        is_correct = score.is_correct
        if not isinstance(is_correct, bool):
            if value is None and not is_zero:
                return f"the stored {quantity.name} is no number"
            is_correct = value == quantity.right
        found: Statistics = (float(is_correct), 1.0)
        if same is not None:
            text = extracted_text(output)
            text = answer_text(output) if text is None else text
            if text is None:
                return "there is no answer to compare with others"
            found = question_metrics.statistics_of(same(Sample(text)), found[0])
        return found, measure.scores(found)

    names = (request.label,) if len(measure.names) == 1 else ()
    metric = ComputedMetric(replace(request, names=names), measure)
    return StoredMetric(metric, key, quantity, outcome)


@dataclass(slots=True)
class StoredMetrics:
    """Collects the stored scores of records, to make a metric of each quantity.

    Scores of one metric with different signatures are different quantities. Raises
    `ScoreError` for options that only computed scores follow.
    """

    options: ScoreOptions
    #: Whether systems are compared: then a score that is no number may count as 0, and
    #: the scores of a metric with several signatures may be one quantity more.
    is_compared: bool = False
    is_forced: bool = False
    found: dict[Key, Quantity] = field(default_factory=dict)
    #: The metrics that were made of them, in their order.
    read: tuple[StoredMetric, ...] = ()
    #: The number of scores.
    scores: int = 0
    _mixed: MixedScores = field(default_factory=MixedScores)
    #: By the name of a metric its scores with all signatures.
    _together: dict[str, Quantity] = field(default_factory=dict)

    def __post_init__(self) -> None:
        options = self.options
        if options.missing == Missing.ZERO and not self.is_compared:
            raise ScoreError(
                "a stored score that is no number never counts as 0: leave out "
                "`--missing zero`"
            )
        given = {
            "--profile": options.profile is not None,
            "--config": options.config is not None,
            "--param": any(
                not is_of_questions(name.split(".")[0]) for name in options.parameters
            ),
            "--skip-unknown": options.skip_unknown,
            "--reference-from gt": options.reference_from == ReferenceFrom.GT,
        }
        refused = next((option for option, is_given in given.items() if is_given), "")
        if refused:
            raise ScoreError(
                f"`--stored` takes scores as they are stored: leave out `{refused}`"
            )

    @property
    def is_zero(self) -> bool:
        """Whether a score that is no number counts as 0."""
        return self.is_compared and self.options.missing == Missing.ZERO

    def check_file(self, variant: FormatVariant, count: FileCount) -> None:
        """Raise `ScoreError` for a file whose format holds no scores."""
        adapter = adapter_of(variant.format)
        if adapter.carries("outputs.scores.value"):
            return
        help_ = "leave it out"
        if holds_answers(adapter):
            help_ += "; without `--stored` scores are computed"
        raise ScoreOptionsError(
            f"{count.path}: {variant.format.id} holds no scores; {help_}"
        )

    def add(self, record: Record) -> None:
        """Add the stored scores of a record."""
        is_zero = self.is_zero
        # Without an output it is not known whether the row is of a wanted model.
        read = with_unread_score(record) if record.outputs else record
        for output in read.outputs:
            for score in output.scores or ():
                if score.value is UNSET:
                    continue
                name, signature = metric_of(score), score.signature or ""
                key = name, signature
                self.scores += 1
                self._mixed.add(key, record, output, score)
                if key not in self.found:
                    self.found[key] = Quantity(name, [signature])
                    together = self._together.setdefault(name, Quantity(name, []))
                    together.signatures.append(signature)
                self.found[key].add(score, is_zero=is_zero)
                if self.is_forced:
                    self._together[name].add(score, is_zero=is_zero)

    def metrics(self, reading: Reading) -> SelectedMetrics:  # noqa: ARG002 - its records were added
        """Return the mean of each quantity that has a number.

        With them it returns the wanted metrics of questions by stored scores. Raises
        `ScoreError` if there is none, or none of the wanted names.
        """
        if not self.found:
            raise ScoreOptionsError(
                "no answer has a stored score; without `--stored` scores are computed"
            )
        labels = labels_of(self.found)
        wanted = set(self.options.metrics)
        questions, notes = self._of_questions(labels)
        chosen = {
            key: one
            for key, one in self.found.items()
            if not wanted or {key[0], labels[key]} & wanted
        }
        read = {key: one for key, one in chosen.items() if one.numbers}
        if not read and not questions:
            count = sum(one.others for one in chosen.values())
            raise ScoreOptionsError(f"none of {count:,} stored scores is a number")
        notes += _notes(chosen, labels)
        if not self.is_compared:
            own = {key: labels[key] for key in read}
            notes += self._mixed.notes(own, self.options.by)
        if self.is_forced:
            names = {name for name, _ in read}
            read |= {
                (name, ANY): one
                for name, one in self._together.items()
                if name in names and len(one.signatures) > 1
            }
        self.read = (
            *(
                StoredMetric(
                    one.metric(labels.get(key, one.name)),
                    key,
                    one,
                    partial(one.outcome, is_zero=self.is_zero),
                )
                for key, one in read.items()
            ),
            *questions,
        )
        measured = tuple(one.metric for one in self.read)
        return SelectedMetrics(measured, notes=tuple(notes))

    def _of_questions(
        self, labels: Mapping[Key, str]
    ) -> tuple[list[StoredMetric], list[str]]:
        """Return the wanted metrics of questions that are not themselves stored.

        With them come notes. Raises `ScoreError` for a wanted name that no stored score
        has, and for a parameter that none of them has.
        """
        known = dict.fromkeys(name for name, _ in labels)
        unused = dict(self.options.parameters)
        found: list[StoredMetric] = []
        notes: list[str] = []
        for name in self.options.metrics:
            if name in known or name in labels.values():
                continue
            if not is_of_questions(name):
                raise ScoreError(
                    f"no stored score is called {name} (there are: {', '.join(known)})"
                )
            request = MetricRequest(name)
            request = with_parameters(unused, self.options.parameters, request)
            questions, more = stored_questions(
                request, self.found, labels, is_zero=self.is_zero
            )
            found += questions
            notes += more
        check_parameters(unused, [questions.metric for questions in found])
        return found, notes

    def held(self, scores: Group) -> dict[str, dict[str, int]]:
        """Return the places of the metrics of which a system has scores.

        They are by name and signature.
        """
        counted = {score.metric for score in scores.scores if score.count}
        found: dict[str, dict[str, int]] = {}
        for at, one in enumerate(self.read):
            name, signature = one.identity
            if one.label in counted:
                found.setdefault(name, {})[signature] = at
        return found

    def check_mean(self, place: int) -> None:
        """Raise `ScoreError` if the mean of the scores at a place is not compared.

        The mean of the pooled scores of rows is not the score of the whole.
        """
        one = self.read[place]
        name = one.identity[0]
        if is_pooled(*one.identity):
            raise ScoreError(
                f"{name} is a score of all answers together, and not the mean of the "
                "stored scores of rows; compare without `--stored`, or name other "
                "metrics with `--metrics`"
            )
        is_share = one.quantity.scale == "0-1"
        if self.is_zero and one.quantity.is_verdict and not is_share:
            raise ScoreError(no_zero(name))

    def outcomes(self, _: Record, output: Output) -> SampleOutcomes:
        """Return the stored scores of an answer, or why one is missing."""
        stored: dict[Key, list[Score]] = {}
        for score in output.scores or ():
            if score.value is not UNSET:
                name = metric_of(score)
                stored.setdefault((name, score.signature or ""), []).append(score)
                if self.is_forced:
                    stored.setdefault((name, ANY), []).append(score)
        outcomes = tuple(
            one.outcome(output, stored[one.key]) if one.key in stored else NO_SUCH_SCORE
            for one in self.read
        )
        reasons = filter(None, (one for one in outcomes if isinstance(one, str)))
        findings = tuple((NO_STORED_NUMBER, reason) for reason in reasons)
        return SampleOutcomes(outcomes, findings, is_zero=False)


def with_unread_score(record: Record) -> Record:
    """Return `record`, with the text of its column `score` as the value of its score.

    Text that is no number, such as `0,5`, is an extra field of rows of any columns.
    """
    if not record.extra:
        return record
    extras = (record.extra.get(vendor) for vendor in _OF_COLUMNS)
    texts = (own.get("score") for own in extras if isinstance(own, dict))
    text = next((text for text in texts if isinstance(text, str)), "")
    outputs = record.outputs or [Output()]
    if not text.strip() or len(outputs) > 1:
        return record
    output = outputs[0]
    given = output.scores or [Score()]
    scores = [
        structs.replace(score, value=text) if score.value is UNSET else score
        for score in given
    ]
    return structs.replace(record, outputs=[structs.replace(output, scores=scores)])


def _text_of(scores: Sequence[Score]) -> str:
    """Return the value of the first score that is text, to end a message, or ""."""
    texts = (score.value for score in scores if isinstance(score.value, str))
    return next((f": {short_json(text)}" for text in texts), "")


def _notes(chosen: Mapping[Key, Quantity], labels: Mapping[Key, str]) -> Iterator[str]:
    """Yield what is not shown, and what is another quantity than its name says."""
    for key, one in chosen.items():
        if not one.numbers:
            yield (
                f"{labels[key]} has no score: none of {one.others:,} stored values "
                "is a number"
            )
        elif is_pooled(one.name, one.signatures[0]):
            yield (
                f"{labels[key]} is the mean of the stored scores of rows, and not the "
                "score of all answers together"
            )


def no_zero(name: str) -> str:
    """Return why a missing verdict called `name` cannot count as 0."""
    return (
        f"a missing verdict cannot count as 0: the scale of {name} is not known to be "
        "from 0 to 1, since its verdicts are not all true or false, and the definition "
        "of the judge declares no minimum of 0 and maximum of 1; leave missing "
        "verdicts out"
    )
