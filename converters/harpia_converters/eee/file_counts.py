"""Check what only many rows show: how scores go with is_correct, and cached tokens.

Rules E116 and E118, by counts of all rows of a file; and E116 by its aggregate.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import isfinite
from operator import add, attrgetter, ge
from typing import Any, NamedTuple

from msgspec import UNSET, Struct

from harpia_converters.eee.row_members import Evaluation, fits, quoted
from harpia_formats.model.describe import with_noun
from harpia_formats.model.exact_json import float_of
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import FileLint, FileRemark
from harpia_formats.model.problem import Severity

CORRECT, TOKENS = "E116", "E118"

_verdict = ("evaluation", "is_correct")
_numbers, _ends = frozenset({int, float}), frozenset({0, 1})
_usage = "token_usage"
#: From which share of the rows on they all mean the same by their scores.
_nearly_all = 0.9
#: Rows that make a convention of what could be one mistake.
_several = 2
_columns = (
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "reasoning_tokens",
    "input_tokens_cache_read",
    "input_tokens_cache_write",
)
_members, _cached = attrgetter(*_columns), attrgetter(*_columns[-2:])


class Scale(NamedTuple):
    """What an aggregate says of the scores of one result."""

    #: The scores of an answer that is right, and of one that is wrong, if known.
    best: float | None = None
    worst: float | None = None
    #: Whether lower scores are better, None if that is not known.
    is_lower_better: bool | None = None
    #: Whether scores are numbers of levels, which say nothing of right and wrong.
    has_levels: bool = False

    @property
    def decides(self) -> bool:
        """Whether it says of single scores whether they are right or wrong."""
        return self.has_levels or not self.best is self.worst is None


class _Score(NamedTuple):
    """A score that is a number, whether it is called correct, and its result."""

    value: float
    is_correct: bool
    result: str

    @property
    def agrees(self) -> bool | None:
        """Whether the two go together if 1 is right and 0 is wrong."""
        return None if self.value not in _ends else (self.value == 1) == self.is_correct


def scale_of(config: Any) -> Scale:
    """Return what a `metric_config`, valid or not, says of scores."""
    if not isinstance(config, Mapping):
        return Scale()
    is_lower = config.get("lower_is_better")
    is_lower = is_lower if isinstance(is_lower, bool) else None
    kind = config.get("score_type")
    if kind == "levels":
        return Scale(is_lower_better=is_lower, has_levels=True)
    least, most = _bound(config.get("min_score")), _bound(config.get("max_score"))
    if kind == "binary":
        least, most = 0, 1
    if is_lower is None or (least is not None and most is not None and least >= most):
        return Scale(is_lower_better=is_lower)
    best, worst = (least, most) if is_lower else (most, least)
    return Scale(best, worst, is_lower)


def _bound(value: Any) -> float | None:
    number = float_of(value)
    return value if number is not None and isfinite(number) else None


def scale_remarks(
    scale_for: Callable[[str], Scale | None], row: Mapping[str, Any]
) -> Iterator[Remark]:
    """Yield a remark if is_correct is not what a row's score is on its scale."""
    found = _score_of(row)
    scale = scale_for(found.result) if found is not None else None
    if found is None or scale is None:
        return
    value, is_correct, _ = found
    which = "best" if value == scale.best else "worst"
    if (value == scale.best and not is_correct) or (
        value == scale.worst and is_correct
    ):
        yield Remark(
            CORRECT,
            _verdict,
            f"is_correct is {quoted(is_correct)}, and score is {quoted(value)}, "
            f"the {which} one by the metric_config of the aggregate",
            "correct is_correct or the score, or see whether the aggregate has the "
            "bounds and the direction of the metric",
        )


def _score_of(row: Any) -> _Score | None:
    """Return the score of a decoded row, None if it is no number or not there."""
    evaluation = row.get("evaluation") if isinstance(row, Mapping) else None
    if not fits(evaluation, Evaluation):
        return None
    score, is_correct = row["evaluation"]["score"], row["evaluation"]["is_correct"]
    if isinstance(score, bool):
        return None
    result = row.get("evaluation_result_id")
    return _Score(score, is_correct, _result(result, row.get("evaluation_name")))


def _result(result: Any, name: Any) -> str:
    """Return what names the result of a row: its id, else its name."""
    if type(result) is str:
        return result
    return name if type(name) is str else ""


def _count_scores(columns: Sequence[Sequence[Any]]) -> dict[str, int]:
    """Return how many scores of each result are 0 or 1, right or wrong, or others."""
    results, names, scores, verdicts = columns
    kinds = set(map(type, scores))
    is_typed = len(kinds) == 1 and {bool}.issuperset(map(type, verdicts))
    if (
        is_typed
        and names.count(names[0]) == len(names)
        and results.count(results[0]) == len(names)
    ):  # mostly all rows are of one result
        (kind,), key = kinds, _result(results[0], names[0])
        return _counted(
            ((key, kind, *pair), number)
            for pair, number in Counter(zip(scores, verdicts, strict=True)).items()
        )
    found = Counter(
        (_result(result, name), type(score), score, is_correct)
        for result, name, score, is_correct in zip(*columns, strict=True)
        if type(score) in _numbers and type(is_correct) is bool
    )
    return _counted(found.items())


def _counted(
    rows: Iterable[tuple[tuple[str, type, Any, Any], int]],
) -> dict[str, int]:
    """Return the counts of rows, given with their number: result, type, score, verdict.

    The keys are such as `0 right`, NUL and the result.
    """
    found: dict[str, int] = {}
    for (result, kind, score, is_correct), number in rows:
        if kind not in _numbers:
            continue
        if score in _ends:
            what = f"{int(score)} {'right' if is_correct else 'wrong'}"
        else:
            what = "inside" if 0 < score < 1 else "outside"
        key = f"{what}\0{result}"
        found[key] = found.get(key, 0) + number
    return found


def _score_remarks(counts: Mapping[str, int], expected: Any) -> Iterator[FileRemark]:
    """Yield a remark if rows of a file contradict each other in what a score means.

    Results whose scores the aggregate judges one by one are passed over.
    """
    warned, noted = _Results(), _Results()
    for result in dict.fromkeys(key.partition("\0")[2] for key in counts):
        scale = expected.scale_for(result) if expected is not None else None
        if scale is not None and scale.decides:
            continue
        kinds = {
            what: counts.get(f"{what}\0{result}", 0)
            for what in ("0 right", "0 wrong", "1 right", "1 wrong", "outside")
        }
        is_lower = None if scale is None else scale.is_lower_better
        zeros = kinds["0 right"] + kinds["0 wrong"]
        ones = kinds["1 right"] + kinds["1 wrong"]
        against = kinds["0 right"] + kinds["1 wrong"]
        against = zeros + ones - against if is_lower else against
        if kinds["outside"] or not against:
            continue
        if is_lower is None and against >= _nearly_all * (zeros + ones):
            noted.add(result, against, zeros + ones)
        elif (zeros and ones) or is_lower is not None:
            warned.add(result, against, zeros + ones, is_lower=bool(is_lower))
    if warned.against:
        yield FileRemark(
            Remark(
                CORRECT,
                _verdict,
                f"is_correct does not go with scores of 0 and 1 in "
                f"{warned.against:,} of {with_noun(warned.rows, 'record')}, as here",
                "correct is_correct or the score; if the metric has another scale, "
                "validate with the aggregate, whose metric_config says so",
                severity=Severity.WARNING,
            ),
            warned.has_against,
        )
    if noted.against:
        yield FileRemark(
            Remark(
                CORRECT,
                _verdict,
                f"is_correct is true for score 0, or false for score 1, in "
                f"{noted.against:,} of {with_noun(noted.rows, 'record')}: lower may be "
                "better",
                "validate with the aggregate, whose metric_config says what is better, "
                "or correct is_correct",
                severity=Severity.NOTE,
            ),
            noted.has_against,
        )


class _Results:
    """Results with scores that is_correct does not go with."""

    def __init__(self) -> None:
        self.against = self.rows = 0
        #: Of each result, whether lower scores are better.
        self._is_lower: dict[str, bool] = {}

    def add(
        self, result: str, against: int, rows: int, *, is_lower: bool = False
    ) -> None:
        """Add a result, and how many of its rows do not go together."""
        self.against += against
        self.rows += rows
        self._is_lower[result] = is_lower

    def has_against(self, row: Any) -> bool:
        """Tell whether a decoded row is one of those."""
        found = _score_of(row)
        if found is None or found.result not in self._is_lower:
            return False
        return found.agrees is self._is_lower[found.result]


def _count_cached(columns: Sequence[Sequence[Any]]) -> dict[str, int]:
    """Return how many rows count cached tokens in which way.

    The usage of each row is an object, or as the typed decoder reads one.
    """
    found: Counter[str] = Counter()
    kinds: set[Any] = set(map(type, columns[0])) - {type(None), type(UNSET)}
    for kind in kinds:
        usages: list[Any] = [usage for usage in columns[0] if type(usage) is kind]
        if kind is dict:
            found.update(_way_of(*map(usage.get, _columns)) for usage in usages)
        elif issubclass(kind, Struct) and any(map(any, map(_cached, usages))):
            # Mostly no tokens are cached: absent counts are false, as 0 is.
            found.update(_ways_of_typed([*map(_members, usages)]))
    del found[""]
    return found


def _ways_of_typed(rows: Sequence[tuple[Any, ...]]) -> Counter[str]:
    """Return how many of these counts, as the typed decoder reads them, are which."""
    given, made, total, _, reads, writes = zip(*rows, strict=True)
    if not any(writes):
        # Mostly all rows are alike: much quicker than one by one.
        with suppress(TypeError):  # some are absent
            if [*map(add, given, made)] == [*total] and all(map(ge, given, reads)):
                return Counter(within=len(reads) - reads.count(0))
    return Counter(_way_of(*values) for values in rows)


def _way_of(*values: Any) -> str:
    """Return how cached tokens are counted, "" if that is not known.

    They are `within` the tokens of the input; or counted `apart`, so that only the
    total has both; or they are `more` than the input, and not in the total.
    """
    counts = []
    for value in values:
        if value is None or value is UNSET:
            counts.append(0)
        elif type(value) is int:
            counts.append(value)
        elif type(value) is float and value.is_integer():
            counts.append(int(value))
        else:
            return ""
    given, made, total, reasoning, read, written = counts
    if not (read or written):
        return ""
    rest = total - given - made
    is_plain = rest in {0, reasoning}
    if is_plain == (rest - read - written in {0, reasoning}):
        return ""
    if not is_plain:
        return "apart"
    return "more" if read > given else "within"


def _is_counted(*ways: str) -> Callable[[Any], bool]:
    """Return what tells whether a decoded row counts cached tokens in one of `ways`."""

    def is_example(row: Any) -> bool:
        usage = row.get(_usage) if isinstance(row, Mapping) else None
        if not isinstance(usage, Mapping):
            return False
        return _way_of(*[usage.get(key) for key in _columns]) in ways

    return is_example


def _cached_remarks(counts: Mapping[str, int], _: Any) -> Iterator[FileRemark]:
    """Yield a remark if the rows of a file count cached tokens in several ways."""
    within, more, apart = (counts.get(way, 0) for way in ("within", "more", "apart"))
    inside = within + more
    if apart and inside:
        few, where, is_few = apart, "apart from", _is_counted("apart")
        if apart > inside:
            few, where, is_few = inside, "within", _is_counted("within", "more")
        yield FileRemark(
            Remark(
                TOKENS,
                (_usage, "total_tokens"),
                f"total_tokens counts cached tokens {where} input_tokens here, in "
                f"{few:,} of {with_noun(apart + inside, 'record')}",
                "count them in one way in all records of a file",
            ),
            is_few,
        )
    if more and not more >= max(_several, within + 1):
        yield FileRemark(
            Remark(
                TOKENS,
                (_usage, "input_tokens_cache_read"),
                f"input_tokens_cache_read is more than input_tokens in {more:,} of "
                f"{with_noun(apart + inside, 'record')}, as here",
                "count the tokens that were read from the cache in input_tokens, too",
            ),
            _is_counted("more"),
        )


FILE_LINTS = (
    FileLint(
        CORRECT,
        (
            ("evaluation_result_id",),
            ("evaluation_name",),
            ("evaluation", "score"),
            _verdict,
        ),
        _count_scores,
        _score_remarks,
    ),
    FileLint(
        TOKENS,
        ((_usage,),),
        _count_cached,
        _cached_remarks,
    ),
)
