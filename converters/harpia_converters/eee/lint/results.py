"""Check scores, token counts and times (E116-E120)."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from msgspec import UNSET

from harpia_converters.eee.lint.members import Evaluation, Times, Usage, fits
from harpia_converters.eee.lint.wording import quoted
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import RowLint

CORRECT, GRADED, TOKENS = "E116", "E117", "E118"
TIMES, ERROR = "E119", "E120"

_verdict = ("evaluation", "is_correct")
#: How much of a time sums of floats may add to it.
_NOISE = Decimal("1e-9")


def is_clean(row: Any) -> bool:  # noqa: C901, PLR0911 - one pass, for speed
    """Tell whether a typed row has nothing that `remarks` yields."""
    evaluation, error = row.evaluation, row.error
    score, is_correct = evaluation.score, evaluation.is_correct
    if is_correct:
        if 0 < score < 1 or score is False:
            return False
    elif score is True:
        return False
    if error is not UNSET and error is not None and (is_correct or not error.strip()):
        return False
    usage, times = row.token_usage, row.performance
    if usage is not UNSET and usage is not None:
        given, made = usage.input_tokens, usage.output_tokens
        reasoning = usage.reasoning_tokens
        if usage.total_tokens != given + made:
            return False
        if reasoning is not UNSET and reasoning is not None and reasoning > made:
            return False
    if times is not UNSET and times is not None:
        latency = times.latency_ms
        if latency is not UNSET and latency is not None:
            first, whole = times.time_to_first_token_ms, times.generation_time_ms
            if whole is not UNSET and whole is not None and whole > latency:
                return False
            if first is not UNSET and first is not None and first > latency:
                return False
    return True


def remarks(row: Any) -> Iterator[Remark]:
    """Yield what is wrong with the score, the counts and the times of a row."""
    if type(row) is not dict:
        return
    evaluation = row.get("evaluation")
    if fits(evaluation, Evaluation):
        yield from _of_score(evaluation)
        if type(row.get("error")) is str:
            yield from _of_error(row["error"], evaluation)
    usage, times = row.get("token_usage"), row.get("performance")
    if fits(usage, Usage):
        yield from _of_tokens(usage)
    if fits(times, Times):
        yield from _of_times(times)


LINT = RowLint(
    (CORRECT, GRADED, TOKENS, TIMES, ERROR), remarks, is_clean, takes_refused=True
)


def _of_score(evaluation: Any) -> Iterator[Remark]:
    """Yield a remark on is_correct that does not follow from the score."""
    score, is_correct = evaluation["score"], evaluation["is_correct"]
    if isinstance(score, bool):
        if score != is_correct:
            yield Remark(
                CORRECT,
                _verdict,
                f"is_correct is {quoted(is_correct)}, and score is {quoted(score)}",
                "give both the same value",
            )
    elif is_correct and 0 < score < 1:
        yield Remark(
            GRADED,
            _verdict,
            f"is_correct is true, and score is {quoted(score)}",
            "say how much must be reached to be correct, or give false: readers of "
            "is_correct take the answer for fully correct",
        )


def _of_error(error: str, evaluation: Any) -> Iterator[Remark]:
    """Yield a remark on an error that says nothing, or is of a correct answer."""
    if not error.strip():
        yield Remark(
            ERROR,
            ("error",),
            "error is empty",
            "leave it out if there was no error, or say what happened",
        )
    elif evaluation["is_correct"] or evaluation["score"] == 1:
        yield Remark(
            ERROR,
            ("error",),
            f"there is an error, {quoted(error)}, and the answer is scored as correct",
            "score an answer that could not be given as wrong, or remove the error",
        )


def _of_tokens(usage: Any) -> Iterator[Remark]:
    """Yield remarks on counts of tokens that do not add up."""
    counts = _whole_counts(usage)
    if counts is None:
        return
    given, made, total, read, written, reasoning = counts
    cached = (read or 0) + (written or 0)
    # Where cached tokens are counted is decided of the whole file.
    sums = {given + made, given + made + cached}
    has_extra_reasoning = reasoning is not None and total - reasoning in sums
    if total not in sums and not has_extra_reasoning:
        also = (
            f" (with reasoning_tokens {quoted(given + made + reasoning)})"
            if reasoning
            else ""
        )
        yield Remark(
            TOKENS,
            ("token_usage", "total_tokens"),
            f"total_tokens is {quoted(total)}, and input_tokens and output_tokens "
            f"together are {quoted(given + made)}{also}",
            "write the sum, or see which of the counts is of another call",
        )
    if reasoning is not None and reasoning > made and not has_extra_reasoning:
        yield Remark(
            TOKENS,
            ("token_usage", "reasoning_tokens"),
            f"reasoning_tokens is {quoted(reasoning)}, more than the {quoted(made)} of "
            "output_tokens",
            "count the tokens of the reasoning in output_tokens, too",
        )


def _whole_counts(usage: Any) -> list[Any] | None:
    """Return the counts as integers, None for those absent; None if one is a fraction.

    A float cannot be added to an integer of any size.
    """
    counts = []
    for key in (
        "input_tokens",
        "output_tokens",
        "total_tokens",
        "input_tokens_cache_read",
        "input_tokens_cache_write",
        "reasoning_tokens",
    ):
        count = usage.get(key)
        if isinstance(count, float):
            if not count.is_integer():
                return None
            count = int(count)
        counts.append(count)
    return counts


def _of_times(times: Any) -> Iterator[Remark]:
    """Yield remarks on a part of the time that is longer than the whole."""
    latency = times.get("latency_ms")
    if latency is None:
        return
    for key in ("generation_time_ms", "time_to_first_token_ms"):
        part = times.get(key)
        if part is not None and part > latency and not _is_rounded(part, latency):
            yield Remark(
                TIMES,
                ("performance", "latency_ms"),
                f"latency_ms is {quoted(latency)}, less than {key} with {quoted(part)}",
                "latency_ms is the time from the request to the last token: it is no "
                "shorter than a part of it",
            )
            return


def _is_rounded(part: float, whole: float) -> bool:
    """Tell whether `part` may be more than `whole` only because one was rounded.

    The whole may be cut behind its last digit, and the part rounded at it.
    """
    unit = max(_unit_of(part) / 2, _unit_of(whole), _NOISE * Decimal(whole))
    return Decimal(part) - Decimal(whole) < unit


def _unit_of(number: float) -> Decimal:
    """Return one unit of the last digit of a number as it is written."""
    if isinstance(number, int) or number.is_integer():
        return Decimal(1)
    exponent = Decimal(repr(number)).as_tuple().exponent
    return Decimal(1).scaleb(exponent) if isinstance(exponent, int) else Decimal(0)
