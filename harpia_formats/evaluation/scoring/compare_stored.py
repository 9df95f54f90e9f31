"""Compare the scores in the records of data sets, if computed the same way."""

import math
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice, zip_longest
from operator import itemgetter
from typing import Any

from harpia_formats.conversion.mapping.answer_groups import ModelSelection
from harpia_formats.conversion.mapping.questions import WIDTH
from harpia_formats.evaluation.metrics.metric import means
from harpia_formats.evaluation.scoring.answer_sums import AnswerStore, GroupTotals
from harpia_formats.evaluation.scoring.choose_systems import (
    FoundSystem,
    chosen_systems,
    compared_places,
    distinct_names,
    named_baseline,
    source_name,
)
from harpia_formats.evaluation.scoring.compare_report import ComparisonReport
from harpia_formats.evaluation.scoring.compared_scores import (
    ComparedScore,
    ComparedSystem,
    PairFamily,
    paired_test,
    with_adjusted,
)
from harpia_formats.evaluation.scoring.input_files import (
    SystemNames,
    are_parts,
    distinct_inputs,
    inputs_by_name,
    parts_note,
    reading_of,
    shared_by_name,
)
from harpia_formats.evaluation.scoring.match_questions import (
    MatchedQuestions,
    QuestionTable,
    input_name,
    match_questions,
    shared_inputs,
)
from harpia_formats.evaluation.scoring.measure import BATCH
from harpia_formats.evaluation.scoring.metric_score import Group
from harpia_formats.evaluation.scoring.number_stores import SpooledRows, parts_of
from harpia_formats.evaluation.scoring.options import Missing, ScoreOptions
from harpia_formats.evaluation.scoring.outcomes import (
    NO_SUCH_SCORE,
    ComputedMetric,
    GroupAnswer,
    Outcome,
)
from harpia_formats.evaluation.scoring.paired_answers import MetricAnswers, QuestionSums
from harpia_formats.evaluation.scoring.stored_metrics import (
    BINARY,
    is_pooled,
    is_verdict,
    labels_of,
    stored_measure,
)
from harpia_formats.evaluation.scoring.system_answers import (
    StoredScores,
    StoredValues,
    answers_by_question,
    small_sums,
)
from harpia_formats.evaluation.scoring.verdict_metrics import no_zero
from harpia_formats.files.io.inputs import Input
from harpia_formats.model.problem import Problem
from harpia_formats.model.vendor_metrics import (
    MetricRequest,
    ScoreError,
    ScoreOptionsError,
    declared_best,
    declared_scale,
)
from harpia_formats.validation.redaction import problems_shown, redaction_of

#: Why a question that a system has is without a score of it.
_MISSING = "it has no stored score"


@dataclass(frozen=True, slots=True)
class StoredQuantity:
    """Scores of one metric that are compared."""

    name: str
    #: The name in the comparison.
    label: str
    #: The signature of the scores, None for those with any.
    signature: str | None
    #: Whether all of them are true or false.
    are_booleans: bool

    def values_of(self, system: StoredValues) -> Any:
        """Return the scores of a system as an array, in the order of the questions.

        A row has the number of the question and the value.
        """
        import numpy as np  # noqa: PLC0415 - numpy is in the extra score

        rows = np.concatenate(
            [
                np.frombuffer(numbers.read()).reshape(-1, 2)
                for own, numbers in system[self.name].items()
                if self.signature in (None, own)
            ]
        )
        return rows[np.argsort(rows[:, 0], kind="stable")]

    def signature_of(self, *systems: StoredValues) -> str:
        """Return the signature of the scores of some systems, or all that there are."""
        if self.signature is not None:
            return self.signature
        every = dict.fromkeys(chain(*(system[self.name] for system in systems)))
        return " and ".join(filter(None, every))


def stored_groups(
    quantities: Sequence[StoredQuantity],
    systems: Sequence[tuple[StoredValues, Sequence[int]]],
    keys: bytes,
    options: ScoreOptions,
) -> Iterator[Group]:
    """Yield the scores of each system, as `score` shows those that are stored.

    A system is its values and the numbers of its questions; `keys` has the digest of
    each question, one behind the other. A scale is that of all systems together.
    """
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    are_binary = [
        all(
            np.isin(quantity.values_of(system)[:, 1], BINARY).all()
            for system, _ in systems
        )
        for quantity in quantities
    ]
    for system, questions in systems:
        metrics = tuple(
            ComputedMetric(
                MetricRequest(one.label),
                stored_measure(
                    one.label,
                    (one.name, one.signature_of(system)),
                    are_binary=is_binary,
                    are_booleans=one.are_booleans,
                ),
            )
            for one, is_binary in zip(quantities, are_binary, strict=True)
        )
        values = [one.values_of(system) for one in quantities]
        yield _group(metrics, _answers(values, questions, keys), options)


def question_sums(
    rows: Any, numbers: Sequence[int], matched: MatchedQuestions
) -> QuestionSums:
    """Return the sums of scores by question, as the statistics of a mean.

    `rows` are those of `values_of`, and `numbers` those of all questions of the system.
    """
    import numpy as np  # noqa: PLC0415 - numpy is in the extra score

    count = len(matched.keys)
    places = matched.places[rows[:, 0].astype(np.int64)]
    counts = np.bincount(places, minlength=count)
    found = np.zeros((count, 2))
    found[:, 1] = counts
    is_single = counts[places] == 1
    found[places[is_single], 0] = rows[is_single, 1]
    for place, several in answers_by_question(places, rows[:, 1], ~is_single):
        found[place, 0] = math.fsum(several)
    answered = np.zeros(count, dtype=bool)
    answered[matched.places[np.asarray(numbers)]] = True
    unscored = answered & (counts == 0)
    return small_sums(SpooledRows(found), counts, unscored, answered)


def _group(
    metrics: tuple[ComputedMetric, ...],
    answers: Iterator[GroupAnswer],
    options: ScoreOptions,
) -> Group:
    totals = GroupTotals({}, metrics)
    with closing(AnswerStore(metrics, options)) as store:
        while part := list(islice(answers, BATCH)):
            totals.add(part)
            store.add_answers(part, 0)
        return totals.group(store.wholes([{0}])[0], options)


def _answers(
    values: Sequence[Any], questions: Sequence[int], keys: bytes
) -> Iterator[GroupAnswer]:
    """Yield the scores of each question, of every quantity one after the other.

    `questions` are in ascending order, as the rows of each quantity are.
    """
    rest = [_by_question(rows) for rows in values]
    found = [next(mine, None) for mine in rest]
    for number in questions:
        key = keys[number * WIDTH : (number + 1) * WIDTH]
        columns: list[list[Outcome]] = []
        for at, head in enumerate(found):
            if head is None or head[0] != number:
                columns.append([_MISSING])
                continue
            columns.append(head[1])
            found[at] = next(rest[at], None)
        for outcomes in zip_longest(*columns, fillvalue=NO_SUCH_SCORE):
            yield GroupAnswer(number, key, outcomes)


def _by_question(rows: Any) -> Iterator[tuple[float, list[Outcome]]]:
    """Yield the number of each question with its scores."""
    pairs = chain.from_iterable(rows[part].tolist() for part in parts_of(len(rows)))
    for number, mine in groupby(pairs, key=itemgetter(0)):
        yield number, [_outcome(value) for _, value in mine]


def _outcome(value: float) -> Outcome:
    return (value, 1.0), (value,)


class StoredComparison:
    """A comparison of stored scores: iterate for the problems, then call `report`.

    Raises `ScoreError` for scores with different signatures, except with `force`.
    """

    def __init__(  # noqa: PLR0913 - inputs, and how they are compared
        self,
        inputs: Iterable[Input],
        options: ScoreOptions,
        models: Sequence[str] = (),
        test: str | None = None,
        baseline: str | None = None,
        *,
        force: bool = False,
    ) -> None:
        given = inputs_by_name(inputs, options.systems)
        self._test = paired_test(options, test)
        self._options, self._force = options, force
        self._models, self._baseline = models, baseline
        self._sources = [source_name(one[0], at) for at, one in enumerate(given)]
        self._redaction = redaction_of(options)
        self._notes: list[str] = []
        self._questions = QuestionTable()
        self._keys = bytearray()
        self._inputs = [
            StoredScores(
                reading_of(one, options),
                ModelSelection(options.model),
                options.missing == Missing.ZERO,
                self._questions,
                self._keys,
                SystemNames.of_inputs(one, options.systems),
            )
            for one in given
        ]
        self._readings = [one.reading for one in self._inputs]

    def __iter__(self) -> Generator[Problem, None, None]:
        """Read all inputs; yield their problems."""
        for one in self._inputs:
            yield from problems_shown(one.problems(), self._redaction)

    def report(self) -> ComparisonReport:
        """Return the result as it may be shown.

        Raises `ScoreError` if nothing can be compared.
        """
        if self._redaction is None:
            return self._report()
        from harpia_formats.evaluation.scoring.redacted_scores import ScoreRedaction  # noqa: PLC0415 - most runs show values
        from harpia_formats.validation.redaction.redacted_reports import (  # noqa: PLC0415 - most runs show values
            errors_without_values,
        )

        with errors_without_values(self._redaction):
            found = self._report()
        given = frozenset(self._options.metrics)
        shown = ScoreRedaction(self._redaction, given, by_options=False)
        return shown.comparison(found)

    def _report(self) -> ComparisonReport:
        reports = tuple(one.tally.report() for one in self._readings)
        if any(
            report.failures or not (report.ok or self._options.skips_invalid)
            for report in reports
        ):
            return ComparisonReport((), (), (), reports)
        self._merge_parts()
        every = {
            FoundSystem(place, self._sources[place], model or None): values
            for place, one in enumerate(self._inputs)
            for model, values in one.systems().items()
        }
        chosen = chosen_systems(list(every), self._models)
        values = [every[one] for one in chosen]
        names = distinct_names((one.model, one.source) for one in chosen)
        baseline = named_baseline(chosen, names, self._baseline)
        pairs = compared_places(names, baseline)
        labels = [self._label(one, names[at]) for at, one in enumerate(chosen)]
        quantities = [
            one
            for name in self._names(values, labels)
            for one in self._quantities(name, values, labels)
        ]
        questions = {
            place: sorted(self._inputs[place].numbers)
            for place in dict.fromkeys(one.place for one in chosen)
        }
        matched = match_questions(self._questions, list(questions.values()))
        numbers = [questions[one.place] for one in chosen]
        test = self._test.of_many(len(quantities) * len(pairs))
        family = PairFamily(pairs, names, matched, test)
        compared = [
            score
            for one in quantities
            for score in self._compared(one, values, numbers, family)
        ]
        if not any(score.questions for score in compared):
            raise ScoreOptionsError(
                f"no question of {'both' if len(chosen) == 2 else 'two'} inputs has a "  # noqa: PLR2004 - both are two
                "score of the same metric"
            )
        groups = stored_groups(
            quantities,
            list(zip(values, numbers, strict=True)),
            bytes(self._keys),
            self._options,
        )
        systems = (
            ComparedSystem(name, one.source, one.model, group)
            for name, one, group in zip(names, chosen, groups, strict=True)
        )
        return ComparisonReport(
            with_adjusted(compared),
            tuple(systems),
            tuple(family.compared_pairs(numbers)),
            reports,
            (),
            baseline,
            (*self._notes, *matched.notes),
        )

    def _merge_parts(self) -> None:
        """Make one input of those that name no model and are parts of one system.

        Raises `ScoreError` if it is not known whether they are.
        """
        places = [at for at, one in enumerate(self._inputs) if one.is_nameless]
        names = distinct_inputs([self._sources[at] for at in places])
        if len(places) < 2:  # noqa: PLR2004 - one has no parts
            return
        if not self._options.pool:
            numbers = [self._inputs[at].numbers for at in places]
            shared = shared_inputs(self._questions, numbers)
            # Of parts of one system there is nothing to compare, which an error says.
            is_only = len(places) == len(self._inputs)
            if is_only and not any(shared):
                return
            if not are_parts(names, shared_by_name(names, shared)):
                return
            self._notes.append(parts_note(names))
        first, *others = places
        for at in others:
            self._inputs[first].merge(self._inputs[at])
        for at in reversed(others):
            del self._inputs[at], self._sources[at]

    def _label(self, system: FoundSystem, name: str) -> str:
        """Return what a system is called in messages."""
        count = len(self._inputs)
        return input_name(system.place, count) if count == 2 else name  # noqa: PLR2004 - ordinals are for pairs

    def _names(
        self, systems: Sequence[StoredValues], labels: Sequence[str]
    ) -> list[str]:
        """Return the metrics that all systems have; raises `ScoreError`."""
        wanted = self._options.metrics
        names = [name for name in systems[0] if all(name in one for one in systems)]
        if not names:
            known = "; ".join(
                f"{label.removeprefix('the ').removesuffix(' input')}: "
                f"{', '.join(one) or 'none'}"
                for label, one in zip(labels, systems, strict=True)
            )
            raise ScoreError(
                f"the inputs have no scores of the same metric ({known}); without "
                "`--stored` scores are computed"
            )
        missing = [name for name in wanted if name not in names]
        if missing:
            which = "both" if len(systems) == 2 else "all"  # noqa: PLR2004 - both are two
            raise ScoreError(
                f"the inputs do not {which} have scores of {missing[0]} ({which} have: "
                f"{', '.join(names)})"
            )
        return [name for name in names if not wanted or name in wanted]

    def _quantities(
        self, name: str, systems: Sequence[StoredValues], labels: Sequence[str]
    ) -> list[StoredQuantity]:
        """Return what is compared of a metric: the scores with each of its signatures.

        Raises `ScoreError` if the signatures differ between the systems. It is raised
        for pooled metrics, too: the mean of the scores of rows is not the score of the
        whole.
        """
        found = [list(one[name]) for one in systems]
        for signature in chain(*found):
            if is_pooled(name, signature):
                raise ScoreError(
                    f"{name} is a score of all answers together, and not the mean of "
                    "the stored scores of rows; compare without `--stored`, or name "
                    "other metrics with `--metrics`"
                )
            is_zero = self._options.missing == Missing.ZERO
            is_share = declared_scale(name, signature) == "0-1"
            is_share = is_share or self._are_booleans(name, [signature])
            if is_zero and is_verdict(signature) and not is_share:
                raise ScoreError(no_zero(name))
        ours = found[0]
        if all(set(one) == set(ours) for one in found) and "" not in ours:
            named = labels_of((name, signature) for signature in ours)
            return [
                StoredQuantity(
                    name,
                    label,
                    signature,
                    are_booleans=self._are_booleans(name, [signature]),
                )
                for (_, signature), label in named.items()
            ]
        shown = ", ".join(
            f"{' and '.join(signature or 'none' for signature in one)} in {label}"
            for label, one in zip(labels, found, strict=True)
        )
        message = (
            f"the signatures of {name} do not prove that it was computed the same way: "
            f"{shown}"
        )
        if not self._force:
            raise ScoreError(f"{message}; `--force` compares anyway")
        self._notes.append(message)
        are_booleans = self._are_booleans(name, list(chain(*found)))
        return [StoredQuantity(name, name, None, are_booleans=are_booleans)]

    def _are_booleans(self, name: str, signatures: Sequence[str]) -> bool:
        """Tell whether all numbers of a metric with these signatures are booleans."""
        found = [
            one.are_booleans[name, signature]
            for one in self._inputs
            for signature in signatures
            if (name, signature) in one.are_booleans
        ]
        return bool(found) and all(found)

    def _compared(
        self,
        quantity: StoredQuantity,
        systems: Sequence[StoredValues],
        numbers: Sequence[Sequence[int]],
        family: PairFamily,
    ) -> Generator[ComparedScore, None, None]:
        """Yield the comparison of one metric for each pair of systems."""
        signature = quantity.signature
        if signature is None:
            signature = next(iter(systems[0][quantity.name]))
        matched = family.matched
        best, sums = 1.0, []
        for system, mine in zip(systems, numbers, strict=True):
            rows = quantity.values_of(system)
            # A stored score declares no scale: 100 if one is above 1.
            best = 100.0 if rows[:, 1].max(initial=0.0) > 1 else best
            sums.append(question_sums(rows, mine, matched))
        most = declared_best(quantity.name, signature)
        if quantity.are_booleans and is_verdict(signature):
            most = 1.0
        answers = MetricAnswers(means(1), best, matched.keys, sums, most)
        for pair, (score,) in zip(
            family.pairs, family.compared_scores(answers), strict=True
        ):
            yield replace(
                score,
                metric=quantity.label,
                name=quantity.label,
                signature=quantity.signature_of(*(systems[at] for at in pair)),
                is_forced=quantity.signature is None,
            )
