"""The agreement of two raters: judges, or a judge and labels that records hold.

It has two scores: `agreement`, the share of equal labels, and `kappa`. Their intervals
are by question.
"""

from array import array
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, groupby, islice, zip_longest
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.mapping.questions import question_key
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.evaluation.metrics.label_counts import (
    LONGEST,
    MOST_LABELS,
    POWERS,
    LabelPair,
    LabelReading,
)
from harpia_formats.evaluation.metrics.label_metrics import (
    kappa,
    label_measure,
    shown_labels,
)
from harpia_formats.evaluation.metrics.metric import OWN_LIBRARY, mean_measure
from harpia_formats.evaluation.scoring.answers import (
    distinct_names,
    field_value,
    reading_of,
    source_name,
)
from harpia_formats.evaluation.scoring.measures.answer_sums import (
    AnswerStore,
    GroupTotals,
)
from harpia_formats.evaluation.scoring.measures.metric_score import Group
from harpia_formats.evaluation.scoring.measures.outcomes import (
    ComputedMetric,
    GroupAnswer,
    Outcome,
)
from harpia_formats.evaluation.scoring.measures.question_scores import FEW_REFERENCES
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.evaluation.scoring.scoring_run import score_redaction
from harpia_formats.evaluation.scoring.significance.bootstrap import unavailable_reason
from harpia_formats.evaluation.scoring.system_answers import (
    QuestionTable,
    match_questions,
)
from harpia_formats.files.io.inputs import Input, refuse_repeated_streams
from harpia_formats.model.describe import with_noun
from harpia_formats.model.problem import Problem
from harpia_formats.model.record import Output, Record, metric_of
from harpia_formats.model.report import Report
from harpia_formats.model.vendor_metrics import (
    MetricRequest,
    ScoreError,
    ScoreOptionsError,
)
from harpia_formats.validation.redaction import (
    errors_shown,
    problems_shown,
    redaction_of,
)

#: The number of a label that is missing.
NO_LABEL = -1
#: Fields of records that may hold a label, and those with members that may.
_FIELDS = ("references", "gt", "category", "source")
_OPEN = ("metadata", "params", "extra")
_ANSWERS = "outputs."
_ANSWER_FIELDS = ("text", "reasoning", "extra")
#: Names of values that an error lists.
_LISTED = 20


@dataclass(slots=True)
class LabelNumbers:
    """The numbers of labels and of answers within a question, common to two raters."""

    labels: dict[str, int] = field(default_factory=dict)
    #: The model and the index of an answer, None where it has none; None for no answer.
    answers: dict[tuple[str | None, int | None] | None, int] = field(
        default_factory=dict
    )


@dataclass(slots=True)
class RaterLabels:
    """The labels of one rater: of a value of verdicts, or of a field of records."""

    name: str
    path: str
    #: The labels that count; all if there are none.
    given: frozenset[str]
    numbers: LabelNumbers
    #: Of each label the number of its unit, its own and that of its answer. Units are
    #: questions, or the records of an input that has the labels of both raters.
    units: "array[int]" = field(default_factory=lambda: array("q"))
    labels: "array[int]" = field(default_factory=lambda: array("q"))
    answers: "array[int]" = field(default_factory=lambda: array("q"))
    #: How the verdicts were made.
    signatures: dict[str, None] = field(default_factory=dict)
    _known: dict[str, None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise `ScoreOptionsError` for a field of answers that can hold no label."""
        first = self.path.removeprefix(_ANSWERS).partition(".")[0]
        if self.path.startswith(_ANSWERS) and first not in _ANSWER_FIELDS:
            known = ", ".join(f"{_ANSWERS}{one}" for one in _ANSWER_FIELDS)
            raise ScoreOptionsError(
                f"{self.path} holds no labels (fields that do: {known})"
            )

    @property
    def is_of_record(self) -> bool:
        """Whether a label is of a record, and so of all of its answers."""
        return self.path in _FIELDS or self.path.partition(".")[0] in _OPEN

    def add(self, unit: int, record: Record) -> None:
        """Add the labels of a record of the unit with this number."""
        for output, value in self._values(record):
            key: tuple[str | None, int | None] | None = None
            if output is not None:
                index = output.index if isinstance(output.index, int) else None
                key = (output.model or None, index)
            answers = self.numbers.answers
            self.units.append(unit)
            self.answers.append(answers.setdefault(key, len(answers)))
            self.labels.append(self._number_of(value))

    def _number_of(self, value: Any) -> int:
        label = label_of(value)
        if label is None or (self.given and label not in self.given):
            return NO_LABEL
        labels = self.numbers.labels
        if label not in labels and len(labels) > MOST_LABELS:
            return NO_LABEL  # `check` raises
        return labels.setdefault(label, len(labels))

    def _values(self, record: Record) -> Iterator[tuple[Output | None, Any]]:
        """Yield the value of each answer, or of the record if it is a field of that."""
        if self.is_of_record:
            yield None, field_value(record, self.path)
            return
        outputs: list[Output | None] = [*record.outputs] or [None]
        for output in outputs:
            if output is None:
                yield None, None
            elif self.path.startswith(_ANSWERS):
                yield output, field_value(output, self.path.removeprefix(_ANSWERS))
            else:
                yield output, self._verdict(record, output)

    def _verdict(self, record: Record, output: Output) -> Any:
        """Return the value of a verdict: a score of the answer, or a text with it."""
        for score in output.scores or []:
            if metric_of(score) == self.path:
                if isinstance(score.signature, str):
                    self.signatures[score.signature] = None
                is_given = score.value is not UNSET
                return score.value if is_given else score.is_correct
            self._know(metric_of(score))
        texts = field_value(record, "extra.judge.result")
        if not isinstance(texts, dict):
            return None
        if self.path not in texts:
            for name in texts:
                self._know(name)
        return texts.get(self.path)

    def _know(self, name: str) -> None:
        if len(self._known) < _LISTED:
            self._known[name] = None

    def check(self) -> None:
        """Raise `ScoreError` if these are no labels of one rater."""
        if len(self.signatures) > 1:
            ways = " and ".join(self.signatures)
            raise ScoreError(
                f"{self.name}: the verdicts called {self.path} were made in several "
                f"ways, and are not those of one judge: {ways}"
            )
        if len(self.numbers.labels) > MOST_LABELS:
            raise ScoreOptionsError(
                f"{self.path} has more than {MOST_LABELS} labels: these are texts or "
                "numbers without classes, not labels; `--labels A,B,C` names the labels"
            )
        if all(label == NO_LABEL for label in self.labels):
            hint = f" (there are: {', '.join(self._known)})" if self._known else ""
            of_given = "of the named labels " if self.given else ""
            raise ScoreError(
                f"{self.name}: no record has a label {of_given}in {self.path}{hint}; "
                "`--field` names another value of verdicts or another field"
            )


def label_of(value: Any) -> str | None:
    """Return the label in a value, None for a value that is no label.

    It is a text without the space around it, a number, or 1 for true and 0 for false. A
    list with one member has its label.
    """
    if isinstance(value, list):
        return label_of(value[0]) if len(value) == 1 else None
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, int | float):
        is_whole = isinstance(value, int) or value.is_integer()
        return str(int(value)) if is_whole else repr(value)
    if not isinstance(value, str):
        return None
    found = value.strip()
    return found if 0 < len(found) <= LONGEST else None


@dataclass(slots=True)
class LabelPairs:
    """Pairs the labels of two raters: iterate once, then read the counts.

    Labels are paired by unit, and by the model and the index of the answer where
    all answers of both raters have one; several labels with equal ones in their order.
    A label of a record is paired with those of all of its answers.
    """

    raters: Sequence[RaterLabels]
    #: For each unit the place of its question among those that both raters have.
    places: Sequence[int]
    #: Whether units are records, of which a question may have several.
    are_records: bool
    #: Of each rater how many answers the other one does not have.
    alone: list[int] = field(default_factory=lambda: [0, 0])
    #: Of each rater how many answers that both have are without a label.
    empty: list[int] = field(default_factory=lambda: [0, 0])

    def __iter__(self) -> Iterator[tuple[int, LabelPair | None]]:
        """Yield for each answer the place of its question and both of its labels.

        They are in the order of the places. There is no pair if a label is missing.
        """
        names = list(self.raters[0].numbers.labels)
        own, keys, labels = self._own_numbers(), array("q"), array("q")
        width = len(self.places) if self.are_records else 1
        for rater in self.raters:
            labels += rater.labels
            for unit, answer in zip(rater.units, rater.answers, strict=True):
                place = int(self.places[unit]) * width + unit % width
                keys.append(place * len(own) + own[answer])
        of_first = len(self.raters[0].labels)
        order = sorted(range(len(keys)), key=keys.__getitem__)
        for key, of_key in groupby(order, keys.__getitem__):
            sides: tuple[list[int], list[int]] = ([], [])
            for at in of_key:
                sides[at >= of_first].append(labels[at])
            most = max(map(len, sides))
            both = (
                mine * most if rater.is_of_record and len(mine) == 1 else mine
                for rater, mine in zip(self.raters, sides, strict=True)
            )
            for pair in zip_longest(*both):
                is_whole = self._is_whole(pair)
                found = LabelPair(*map(names.__getitem__, pair)) if is_whole else None
                yield key // (len(own) * width), found

    def _own_numbers(self) -> list[int]:
        """Return for each number of an answer that of the parts which are compared."""
        answers = self.raters[0].numbers.answers
        known = [one for one in answers if one is not None]
        is_whole = any(rater.is_of_record for rater in self.raters)
        by_model = not is_whole and all(model is not None for model, _ in known)
        by_index = not is_whole and all(index is not None for _, index in known)
        found: dict[tuple[object, object], int] = {}
        return [
            found.setdefault((by_model and model, by_index and index), len(found))
            for model, index in (one or (None, None) for one in answers)
        ]

    def _is_whole(self, pair: Sequence[int | None]) -> bool:
        """Tell whether a pair has both labels, and count what is missing."""
        for side, label in enumerate(pair):
            self.alone[1 - side] += label is None
            self.empty[side] += label == NO_LABEL and None not in pair
        return NO_LABEL not in pair and None not in pair


#: The value of verdicts that is compared if none is named.
FIELD = "score"


def fields_of_both(inputs: int, fields: Sequence[str]) -> tuple[str, str]:
    """Return the field of each rater; raises `ScoreOptionsError`."""
    if inputs not in (1, 2):
        raise ScoreOptionsError(
            "name two files with the labels of the same answers, or one file and two "
            "fields with `--field`"
        )
    if len(fields) > 2 or (inputs == 1 and len(fields) != 2):  # noqa: PLR2004 - both are two
        needs = "one file needs" if inputs == 1 else "two raters have at most"
        given = "1 is given" if len(fields) == 1 else f"{len(fields)} are given"
        raise ScoreOptionsError(f"{needs} two fields, and {given} with `--field`")
    first, *others = fields or (FIELD,)
    return first, (*others, first)[0]


def rater_names(sources: Sequence[str], fields: Sequence[str]) -> Sequence[str]:
    """Return what both raters are called: by their inputs, else by their fields."""
    if len(sources) == 1:
        names = list(fields)
    else:
        # Data in memory has names such as <rows>.
        names = distinct_names(
            (None, f"input {number}" if source.startswith("<") else source)
            for number, source in enumerate(sources, 1)
        )
    if names[0] != names[1]:
        return names
    return [f"{name} #{number}" for number, name in enumerate(names, 1)]


def given_labels(labels: Sequence[object]) -> tuple[str, ...]:
    """Return the labels that options name; raises `ScoreOptionsError`."""
    found = [name for one in labels if (name := label_of(one)) is not None]
    is_list = len(set(found)) == len(labels) and len(labels) != 1
    if not is_list or len(found) > MOST_LABELS:
        raise ScoreOptionsError(
            f"labels must be 2 to {MOST_LABELS} different texts or numbers"
        )
    return tuple(found)


FEW_LABELS = "few answers with a label: the interval is approximate"
_NO_PAIR = "a label is missing"
#: Answers that are added up together.
_PART = 2048


def agreement_group(
    pairs: LabelPairs,
    keys: Sequence[bytes],
    metrics: tuple[ComputedMetric, ComputedMetric],
    options: ScoreOptions,
) -> Group:
    """Return the share of equal labels and kappa of all pairs, with their intervals.

    `keys` are the digests of the questions by their places.
    """
    totals = GroupTotals(metrics)
    rest = iter(pairs)
    with closing(AnswerStore(metrics, options)) as store:
        while part := list(islice(rest, _PART)):
            found = []
            for place, pair in part:
                outcomes: tuple[Outcome, ...] = (_NO_PAIR, _NO_PAIR)
                if pair is not None:
                    is_equal = float(pair.reference == pair.answer)
                    outcomes = ((is_equal, 1.0), (is_equal,)), (pair, (None,))
                found.append(GroupAnswer(place, keys[place], outcomes))
            totals.add(found)
            store.add_answers(found, 0)
        group = totals.group(store.wholes([{0}])[0], options)
    first, second = (rater.name for rater in pairs.raters)
    scores = (
        replace(
            one,
            remark=FEW_LABELS if one.remark == FEW_REFERENCES else one.remark,
            confusion=one.confusion and replace(one.confusion, sides=(first, second)),
        )
        for one in group.scores
    )
    return replace(group, scores=tuple(scores))


#: The names of weights of distances between labels in their order.
WEIGHTS = tuple(POWERS)
_UNDEFINED = "both have one label only, the same"


class Agreement:
    """The agreement of two raters: iterate for the problems, then call `scores`.

    There are two inputs, or one with two fields. `fields` names what holds the labels:
    one for both raters, or one for each. `labels` names those that count, in their
    order, which `weights` needs. Raises `ScoreError` for what cannot be compared.
    """

    def __init__(
        self,
        inputs: Iterable[Input],
        options: ScoreOptions,
        fields: Sequence[str] = (),
        labels: Sequence[object] = (),
        weights: str = "none",
    ) -> None:
        given = list(inputs)
        refuse_repeated_streams(given)
        both = fields_of_both(len(given), fields)
        self._options = options
        self._redaction = redaction_of(options)
        self._given = given_labels(labels)
        self._weights = weights
        if weights not in WEIGHTS:
            known = ", ".join(WEIGHTS)
            raise ScoreOptionsError(f"there are no weights {weights!r} ({known})")
        if weights != "none" and not self._given:
            raise ScoreOptionsError(
                f"{weights} weights need the labels in their order: name them with "
                "`--labels`, or the definition of the judge with `--definition`"
            )
        numbers, counting = LabelNumbers(), frozenset(self._given)
        sources = [source_name(one, at) for at, one in enumerate(given)]
        names = rater_names(sources, both)
        self._raters = [
            RaterLabels(name, path, counting, numbers)
            for name, path in zip(names, both, strict=True)
        ]
        self._questions = QuestionTable()
        #: The questions of the only input, and the number of that of each record.
        self._keys: dict[bytes, int] = {}
        self._of_records = array("q")
        # `min_records` is about all inputs together: it counts at the end of the last.
        early = replace(options, min_records=0)
        self._readings = [
            *(reading_of([one], early) for one in given[:-1]),
            reading_of(given[-1:], options),
        ]
        self._problems: list[Problem] = []

    def __iter__(self) -> Generator[Problem, None, None]:  # noqa: PYI058 - it is closed
        """Read all inputs; yield their problems."""
        return problems_shown(self._found(), self._redaction)

    def _found(self) -> Generator[Problem, None, None]:
        """Read all inputs; yield their problems as they are."""
        before = 0
        for at, reading in enumerate(self._readings):
            reading.valid_before = before
            found = reading.problems(
                partial(self._add, at), lambda *_: None, lambda _: None
            )
            for problem in found:
                self._problems.append(problem)
                yield problem
            before += sum(file.valid for file in reading.tally.files)

    def _add(self, at: int, placed: PlacedRecord) -> None:
        """Add the labels of a record of the input at a place.

        A record of the only input has those of both raters, and must not be matched.
        """
        record, raters = placed.record, self._raters[at : at + 1]
        if len(self._readings) == 1:
            key = question_key(record, len(self._keys))
            unit, raters = len(self._of_records), self._raters
            self._of_records.append(self._keys.setdefault(key, len(self._keys)))
        else:
            unit = self._questions.number_of(record)
        for rater in raters:
            rater.add(unit, record)

    def scores(self) -> Scores:
        """Return both scores as they may be shown.

        Raises `ScoreError` if there are no two labels of one answer.
        """
        with errors_shown(self._redaction):
            found = self._scores()
        shown = score_redaction(self._redaction)
        return found if shown is None else shown.scores(found)

    def _scores(self) -> Scores:
        reports = [one.tally.report() for one in self._readings]
        report = Report(
            tuple(chain.from_iterable(one.files for one in reports)),
            tuple(chain.from_iterable(one.groups for one in reports)),
            tuple(self._problems),
        )
        is_broken = not all(map(self._options.are_met_by, reports))
        groups, notes = ((), ()) if is_broken else self._compared()
        return Scores(
            profile="agreement",
            systems=groups,
            report=report,
            is_broken=is_broken,
            problems=report.problems,
            notes=notes,
        )

    def _compared(self) -> tuple[tuple[Group], tuple[str, ...]]:
        """Return both scores and notes; raises `ScoreError`."""
        for rater in self._raters:
            rater.check()
        keys, places, notes = self._matched()
        pairs = LabelPairs(self._raters, places, are_records=len(self._readings) == 1)
        group = agreement_group(pairs, keys, self._metrics(), self._options)
        if not group.scores[0].count:
            raise ScoreOptionsError("no answer has a label of both")
        return (group,), (*self._notes(pairs), *notes)

    def _matched(self) -> tuple[Sequence[bytes], Sequence[int], Sequence[str]]:
        """Return digests of questions, the place of each unit in them, and notes.

        Raises `ScoreError` if two inputs share no question.
        """
        if len(self._readings) == 1:
            return list(self._keys), self._of_records, ()
        questions = [sorted(set(rater.units)) for rater in self._raters]
        matched = match_questions(self._questions, questions)
        return matched.keys, matched.places, matched.notes

    def _metrics(self) -> tuple[ComputedMetric, ComputedMetric]:
        """Return the share of equal labels and kappa."""
        fields = ",".join(dict.fromkeys(rater.path for rater in self._raters))
        shown = fields.replace("|", "\\u007c")
        options = f"field:{shown}|labels:{shown_labels(self._given)}"
        reading = LabelReading(options, _no_texts, self._given, self._weights)
        share = mean_measure(
            "agreement",
            f"agreement|{OWN_LIBRARY}|{options}",
            lambda *_: 1.0,
            is_binary=True,
        )
        chance_corrected = label_measure(
            "kappa",
            reading,
            partial(kappa, weights=self._weights),
            options=f"weights:{self._weights}",
            undefined=_UNDEFINED,
        )
        return (
            ComputedMetric(MetricRequest("agreement"), share),
            ComputedMetric(MetricRequest("kappa"), chance_corrected),
        )

    def _notes(self, pairs: LabelPairs) -> Generator[str, None, None]:
        """Yield what was left out, and how verdicts were made."""
        for at, rater in enumerate(self._raters):
            alone, empty = (
                with_noun(n[at], "answer") for n in (pairs.alone, pairs.empty)
            )
            if pairs.alone[at]:
                yield f"{alone} only in {rater.name}: left out"
            if pairs.empty[at]:
                yield f"{empty} without a label in {rater.name}: left out"
        for rater in self._raters:
            yield from (f"{rater.name}: {one}" for one in rater.signatures)
        first, second = self._raters
        if not set(first.labels) & set(second.labels) - {NO_LABEL}:
            yield f"no label of {first.name} is one of {second.name}"
        if self._options.replicates and unavailable_reason():
            yield unavailable_reason()


def _no_texts(answer: str | None, references: Sequence[str]) -> LabelPair:
    """Raise: the labels of raters come from verdicts and fields, never from texts."""
    raise NotImplementedError
