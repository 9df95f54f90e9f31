"""What a metric is: its types, its parameters, references, and means of scores.

The statistics of a metric add up over answers, and its score is computed from their
sums. Most metrics are the mean of the scores of records or of questions.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from harpia_formats._version import __version__
from harpia_formats.evaluation.metrics.label_counts import LabelScores
from harpia_formats.model.problem import HarpiaFormatsError
from harpia_formats.model.spelling import nearest
from harpia_formats.model.vendor_metrics import LIMITS

#: Numbers of one record, or their sums over many, which are added place by place.
Statistics = tuple[float, ...]
#: An answer, and its references, of which there is at least one.
Pair = tuple[str, Sequence[str]]

#: The fields of `Sample` that a metric of pairs needs.
PAIR = ("answer", "references")
#: Why a record without a field of `Sample` has no score.
LACKS = {
    "answer": "there is no answer to score",
    "references": "there is no reference to compare with",
    "choices": "there are no choices",
    "contexts": "there are no contexts",
    "likelihoods": "there are no likelihoods of the choices",
    "retrieved_documents": "there are no retrieved documents",
    "ground_truth_documents": "there are no ground-truth documents",
}
#: Fields that a record does not have if they are empty. No context or document is a
#: result of a retrieval as any other.
_NEVER_EMPTY = frozenset({"references", "choices"})


def limits_of(scale: str) -> tuple[float, float]:
    """Return the worst and the best score on a scale, infinity if none is the best."""
    return LIMITS.get(scale, (0.0, math.inf))


class Sample(NamedTuple):
    """What metrics may need of an answer and its record: plain data for workers."""

    answer: str | None = None
    references: Sequence[str] = ()
    choices: Sequence[str] = ()
    #: The passages that the answer should be based on, None if the record has no list.
    contexts: Sequence[str] | None = None
    #: The documents that a retriever found, best first, and those that it should find,
    #: as decoded JSON; None if the record has no list.
    retrieved_documents: Any = None
    ground_truth_documents: Any = None
    #: What `metadata.correct_answers` holds, None if the record has none.
    correct_answers: Any = None
    #: The stored log-likelihood of each choice, None if the record has none.
    likelihoods: Sequence[float] | None = None
    #: What a tool stored with them of the right choice, such as its index.
    target: Any = None
    #: What each filter of a tool kept of the answer, by its name; None if that is not
    #: one text.
    extracted: Mapping[str, str | None] | None = None

    def lacking(self, needs: Sequence[str]) -> str:
        """Return the first field in `needs` that the record lacks, "" if it has all."""
        for name in needs:
            value = getattr(self, name)
            if value is None or (name in _NEVER_EMPTY and not value):
                return name
        return ""


class MetricError(HarpiaFormatsError):
    """A metric that cannot be computed as requested; the text tells how to fix it."""


class UnscorableError(Exception):
    """One record that a metric cannot score; the text is the reason.

    Without a text the metric is not about the record, so that it lacks no score.
    """


@dataclass(frozen=True, slots=True)
class QuestionMeasure:
    """How a metric scores a question by all answers to it."""

    #: Returns a score for each name from the statistics of the answers to one question,
    #: each with the number of answers that have it. It is asked only for the names
    #: whose `least` is reached.
    scores: Callable[[Mapping[Statistics, int]], tuple[float | None, ...]]
    #: The fewest answers to a question of which each score can be computed.
    least: tuple[int, ...]
    #: The statistics of a missing answer that counts as 0.
    missing: Statistics


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric with its parameters.

    The score of one record is `scores(statistics(answer, references))`. The score of
    many is `scores` of the sum of their statistics, which may be added in any order,
    each weighted by 1 / answers of its question; with `question` it is the mean of the
    scores of questions.
    """

    #: The names of its scores, in their order.
    names: tuple[str, ...]
    #: The definition, library and version, options and scale of its scores.
    signature: str
    #: One of `model.stored_score.LIMITS`, or "any" for scores without a known scale.
    scale: str
    #: The statistics of one answer and its references, always as many numbers; raises
    #: `UnscorableError`.
    statistics: Callable[[str, Sequence[str]], Statistics]
    #: Returns a score for each name from summed statistics; None if none were added.
    scores: Callable[[Sequence[float]], tuple[float | None, ...]]
    #: Returns the statistics of many pairs at once, if that is faster than one by one.
    batch: Callable[[Sequence[Pair]], list[Statistics]] | None = None
    #: Whether the score of many records is the mean of their scores.
    is_mean: bool = False
    #: Whether every score lies on the scale, between 0 and the best score.
    is_bounded: bool = False
    #: Whether a lower score is better, as that of a rate of errors is; None if neither
    #: is, as of a length.
    lower_is_better: bool | None = False
    #: The fields of `Sample` that a record must have; one that lacks any has no score.
    needs: tuple[str, ...] = PAIR
    #: The fields of `Sample` that it reads as well where a record has them.
    uses: tuple[str, ...] = ()
    #: The statistics of a sample with these fields, for a metric that needs others than
    #: an answer and its references: then `statistics` and `batch` are not used. Raises
    #: `UnscorableError`.
    of_sample: Callable[[Sample], Statistics] | None = None
    #: Whether the score of one answer is 0 or the best score: wrong or right.
    is_binary: bool = False
    #: Returns a text that is the same for answers that count as the same answer; None
    #: if the metric does not say which do. Raises `UnscorableError`.
    same_answer: Callable[[Sample], str] | None = None
    #: Tells whether an answer can be read, of a metric that counts one that cannot as
    #: wrong; None for any other metric.
    reads: Callable[[Sample], bool] | None = None
    #: How a question is scored, if questions are scored and not answers.
    question: QuestionMeasure | None = None
    #: The scores of counts by pair of labels; None for any other metric. `statistics`
    #: and `scores` of such a metric are not used.
    labels: LabelScores | None = None

    @property
    def scores_answers(self) -> bool:
        """Whether an answer alone has a score, and not only a question or many."""
        return self.question is None and self.labels is None

    @property
    def is_bounded_mean(self) -> bool:
        """Whether a score is a mean of scores on the scale, as a proportion is."""
        return self.is_mean and self.is_bounded

    @property
    def best(self) -> float:
        """The best score on the scale."""
        return limits_of(self.scale)[1]

    @property
    def widest(self) -> float:
        """The largest difference of two scores; rates of errors have no such limit."""
        worst, best = limits_of(self.scale)
        return math.inf if self.lower_is_better else best - worst


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric without parameters."""

    name: str
    #: The definition in one sentence.
    summary: str
    #: The names of its parameters with their defaults.
    parameters: Mapping[str, Any]
    #: Returns the metric with the given parameters; raises `MetricError` for an unknown
    #: parameter, a bad value or a package that is not installed.
    build: Callable[[Mapping[str, Any]], Measure]
    #: Whether the score of many answers is computed of their sums, and is not the mean
    #: of their scores.
    #: False for a metric of labels, by which no single answer has a score: a stored
    #: score of its name is another tool's own.
    is_pooled: bool = False

    @classmethod
    def of(
        cls,
        name: str,
        summary: str,
        defaults: Mapping[str, Any],
        measure: "Callable[[Parameters], Measure]",
        *,
        is_pooled: bool = False,
    ) -> "Metric":
        """Return the metric that `measure` makes of its parameters once they are read.

        `measure` raises `MetricError` for a bad value.
        """

        def build(given: Mapping[str, Any]) -> Measure:
            return measure(read_parameters(name, defaults, given))

        return cls(name, summary, defaults, build, is_pooled)


#: The part of the signature of a metric that is computed here alone.
OWN_LIBRARY = f"impl:harpia-formats-{__version__}"


#: The factor of each scale for scores between 0 and 1.
FACTORS = {"0-1": 1, "0-100": 100}

#: The largest integer of a parameter, such as the length of n-grams.
MOST = 1_000


@dataclass(frozen=True, slots=True)
class Parameters:
    """The parameters of one metric by name; every method raises `MetricError`."""

    metric: str
    values: Mapping[str, Any]

    def choice(self, name: str, allowed: Sequence[str]) -> str:
        """Return the value, which must be one of the `allowed` strings."""
        value = self.values[name]
        if isinstance(value, str) and value in allowed:
            return value
        raise self.wrong(name, f"one of {', '.join(allowed)}", _meant(value, allowed))

    def flag(self, name: str) -> bool:
        """Return the value, which must be true or false."""
        value = self.values[name]
        if isinstance(value, bool):
            return value
        raise self.wrong(name, "true or false")

    def number(self, name: str, least: float = 0.0) -> float:
        """Return the value, which must be a finite number of at least `least`."""
        value = self.values[name]
        if not is_number(value) or value < least:
            raise self.wrong(name, f"a number of at least {least:g}")
        return float(value)

    def whole(self, name: str, least: int = 0) -> int:
        """Return the value, which must be an integer from `least` to `MOST`."""
        value = self.values[name]
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole or not least <= value <= MOST:
            raise self.wrong(name, f"a whole number from {least} to {MOST}")
        return int(value)

    def wholes(self, name: str, least: int = 0, most: int = MOST) -> tuple[int, ...]:
        """Return the value, an integer or a list of different ones, as a tuple.

        Each must be from `least` to `most`.
        """
        value = self.values[name]
        found = value if isinstance(value, list | tuple) else [value]
        are_whole = all(type(one) is int and least <= one <= most for one in found)
        if not found or not are_whole or len({*found}) < len(found):
            wanted = f"a whole number from {least} to {most}, or a list of such numbers"
            raise self.wrong(name, wanted)
        return tuple(found)

    def scale(self) -> str:
        """Return the scale, "0-1" or "0-100", which may also be given as 1 or 100."""
        value = self.values["scale"]
        if is_number(value):
            for name, factor in FACTORS.items():
                if value == factor:
                    return name
        return self.choice("scale", tuple(FACTORS))

    def wrong(self, name: str, wanted: str, help_: str = "") -> MetricError:
        """Return an error that says which value is wrong and what it must be."""
        value = self.values[name]
        return MetricError(
            f"the parameter {name} of the metric {self.metric} is {value!r}, but must "
            f"be {wanted}{help_}"
        )


def read_parameters(
    metric: str, defaults: Mapping[str, Any], given: Mapping[str, Any]
) -> Parameters:
    """Return the given parameters, completed with the defaults of the metric.

    Raises `MetricError` for a parameter that the metric does not have.
    """
    for name in given:
        if name not in defaults:
            known = ", ".join(defaults) or "none"
            raise MetricError(
                f"the metric {metric} has no parameter {name!r} (known: {known})"
                f"{_meant(name, list(defaults))}"
            )
    return Parameters(metric, {**defaults, **given})


@contextmanager
def require_extra(extra: str, metric: str) -> Iterator[None]:
    """Turn an `ImportError` into a `MetricError` that names the extra to install."""
    try:
        yield
    except ImportError as error:
        raise MetricError(
            f"the metric {metric} needs {error.name or 'a package'}, which is not "
            f"installed: pip install 'harpia-formats[{extra}]'"
        ) from error


def is_number(value: object) -> bool:
    """Tell whether a value is a finite number; true and false are not numbers.

    An integer beyond the range of floating-point numbers is not one either.
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def yes_no(value: bool) -> str:  # noqa: FBT001 - the word for a flag in a signature
    """Return "yes" or "no", as signatures spell flags."""
    return "yes" if value else "no"


def _meant(value: object, allowed: Sequence[str]) -> str:
    near = nearest(value, allowed) if isinstance(value, str) else ""
    return f"; did you mean {near}?" if near else ""


#: The rules for several references of a metric that compares with one reference:
#: the best score, or that of the first reference.
RULES = ("max", "first")
#: The rules of checks; "min" is for checks that must hold for all references.
CHECK_RULES = ("max", "min", "first")
#: The rules of a metric that compares with several references at once.
POOLED_RULES = ("all", "first")


def require_references(references: Sequence[str]) -> Sequence[str]:
    """Return `references`, a list with at least one string.

    Raises `UnscorableError` if it is empty, and `TypeError` if it is a string, whose
    letters would be read as references.
    """
    if isinstance(references, str):
        raise TypeError("references are a list of strings, and not one string")
    if not references:
        raise UnscorableError("there is no reference to compare the answer with")
    return references


def references_by_rule(references: Sequence[str], rule: str) -> Sequence[str]:
    """Return the references that `rule` ("max", "min", "all" or "first") selects.

    Raises what `require_references` raises.
    """
    given = require_references(references)
    return given[:1] if rule == "first" else given


def score_over_references(
    score: Callable[[str, str], float], rule: str
) -> Callable[[str, Sequence[str]], float]:
    """Return a function that scores an answer against a list of references.

    `score` compares an answer with one reference. The result is its largest value for
    the rule "max", its smallest for "min" and that of the first reference for "first".
    References for which `score` raises `UnscorableError` are left out; if it does for
    all of them, so does the returned function.
    """

    def best(answer: str, references: Sequence[str]) -> float:
        given = references_by_rule(references, rule)
        if len(given) == 1:
            return score(answer, given[0])
        found: list[float] = []
        reasons: list[UnscorableError] = []
        for reference in given:
            try:
                found.append(score(answer, reference))
            except UnscorableError as unscorable:
                reasons.append(unscorable)
        if not found:
            raise reasons[-1]
        return min(found) if rule == "min" else max(found)

    return best


def mean_measure(  # noqa: PLR0913 - each is another fact of the metric
    name: str,
    signature: str,
    score: Callable[[str, Sequence[str]], float],
    scale: str = "0-1",
    *,
    is_binary: bool = False,
    is_bounded: bool = True,
    same_answer: Callable[[str], str] | None = None,
    reads: Callable[[str], bool] | None = None,
) -> Measure:
    """Return a metric that is the mean of `score` over records.

    `score` takes an answer and its references and returns a number from 0 to 1, which
    is never between them if `is_binary`, or any number if not `is_bounded`; 1 becomes
    the best score of `scale`, "0-1" or "0-100". Its statistics are the sum of the
    scores and their number. `same_answer` returns a text that is the same for answers
    that count as the same answer, and `reads` tells of an answer whether it can be
    read, if one that cannot is wrong.
    """
    factor = FACTORS[scale]
    return _bounded_mean(
        (name,),
        f"{signature}|scale:{scale}",
        lambda answer, references: (score(answer, references) * factor, 1),
        means(1),
        scale,
        is_binary=is_binary,
        is_bounded=is_bounded,
        same_answer=None
        if same_answer is None
        else lambda sample: same_answer(sample.answer or ""),
        reads=None if reads is None else lambda sample: reads(sample.answer or ""),
    )


def _bounded_mean(
    names: Sequence[str],
    signature: str,
    statistics: Callable[[str, Sequence[str]], Statistics],
    scores: Callable[[Sequence[float]], tuple[float | None, ...]],
    scale: str = "0-1",
    **more: Any,
) -> Measure:
    """Return a metric that is a mean of scores on a scale."""
    facts = {"is_mean": True, "is_bounded": True, **more}
    return Measure(tuple(names), signature, scale, statistics, scores, **facts)


def pair_measure(
    parameters: Parameters,
    score: Callable[[str, str], float],
    options: str,
    rule: str | None = None,
    **more: Any,
) -> Measure:
    """Return the mean of a score of our own, which compares with one reference.

    `options` are a part of the signature. Without a `rule` for several references it is
    that of the parameter `references`. `more` is what `mean_measure` takes. Raises
    `MetricError` for a bad value.
    """
    chosen = rule or parameters.choice("references", RULES)
    return mean_measure(
        parameters.metric,
        f"{parameters.metric}|{OWN_LIBRARY}|{options}|refs:{chosen}",
        score_over_references(score, chosen),
        parameters.scale() if "scale" in parameters.values else "0-1",
        **more,
    )


def check_rule(parameters: Parameters, *, is_negated: bool) -> str:
    """Return the rule for several references of a check; raises `MetricError`.

    If none is given, what `is_negated` must hold for all of them.
    """
    if parameters.values["references"] is not None:
        return parameters.choice("references", CHECK_RULES)
    return "min" if is_negated else "max"


def pooled_measure(
    name: str,
    signature: str,
    scale: str,
    statistics: Callable[[str, Sequence[str]], Statistics],
    score: Callable[[Sequence[float]], float | None],
    **more: Any,
) -> Measure:
    """Return a metric whose `score` is computed from the sums over all answers.

    The last of the statistics is 1. `signature` is without the scale, and `more` is
    what else a `Measure` has.
    """

    def scores(sums: Sequence[float]) -> tuple[float | None, ...]:
        return (score(sums) if sums and sums[-1] else None,)

    full = f"{signature}|scale:{scale}"
    return Measure((name,), full, scale, statistics, scores, **more)


def question_measure(  # noqa: PLR0913 - each is another fact of it
    names: Sequence[str],
    signature: str,
    of_sample: Callable[[Sample], Statistics],
    question: QuestionMeasure,
    *,
    needs: tuple[str, ...] = PAIR,
    uses: tuple[str, ...] = (),
    reads: Callable[[Sample], bool] | None = None,
) -> Measure:
    """Return a metric that is the mean over questions of scores from 0 to 1.

    `of_sample` returns the statistics of a sample that has all fields in `needs`, and
    may have those in `uses`; the last of them is 1. `question` scores a question by
    those of all answers to it.
    """

    def scores(sums: Sequence[float]) -> tuple[float | None, ...]:
        """Return the scores of a question with one answer."""
        if not sums or sums[-1] != 1:
            return (None,) * len(names)
        found = question.scores({tuple(sums): 1})
        return tuple(
            score if least <= 1 else None
            for score, least in zip(found, question.least, strict=True)
        )

    return _bounded_mean(
        names,
        f"{signature}|scale:0-1",
        _statistics_of_pair(of_sample, needs),
        scores,
        needs=needs,
        uses=uses,
        of_sample=of_sample if uses or needs != PAIR else None,
        reads=reads,
        question=question,
    )


def _statistics_of_pair(
    of_sample: Callable[[Sample], Statistics], needs: tuple[str, ...]
) -> Callable[[str, Sequence[str]], Statistics]:
    """Return a function of an answer and its references for one of a sample."""

    def statistics(answer: str, references: Sequence[str]) -> Statistics:
        sample = Sample(answer, references)
        lacking = sample.lacking(needs)
        if lacking:
            raise UnscorableError(LACKS[lacking])
        return of_sample(sample)

    return statistics


def sample_mean_measure(  # noqa: PLR0913 - each is another fact of the metric
    name: str,
    signature: str,
    score: Callable[[Sample], float],
    needs: tuple[str, ...],
    scale: str = "0-1",
    *,
    is_binary: bool = False,
    uses: tuple[str, ...] = (),
    same_answer: Callable[[Sample], str] | None = None,
    reads: Callable[[Sample], bool] | None = None,
) -> Measure:
    """Return a metric that is the mean of `score` over records with other needs.

    `score`, `same_answer` and `reads` take a sample with all fields in `needs`; `score`
    returns a number from 0 to 1. All else is as in `mean_measure`.
    """
    factor = FACTORS[scale]

    def of_sample(sample: Sample) -> Statistics:
        return score(sample) * factor, 1

    return _bounded_mean(
        (name,),
        f"{signature}|scale:{scale}",
        _statistics_of_pair(of_sample, needs),
        means(1),
        scale,
        is_binary=is_binary,
        same_answer=same_answer,
        reads=reads,
        needs=needs,
        uses=uses,
        of_sample=of_sample,
    )


def means(names: int) -> Callable[[Sequence[float]], tuple[float | None, ...]]:
    """Return a function that divides `names` sums by the count that follows them.

    It returns None for each sum if the count is 0 or missing.
    """
    nothing = (None,) * names

    def means(sums: Sequence[float]) -> tuple[float | None, ...]:
        if not sums or not sums[-1]:
            return nothing
        return tuple(total / sums[-1] for total in sums[:-1])

    return means
