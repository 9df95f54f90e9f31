"""The lints of HarpIA's instances, outputs and logs (H109, H119, H124, H125)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UNSET

from harpia_converters.harpia.header_checks import REFERENCES, TIME, key_in, metric_of
from harpia_formats.model.describe import short_json
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import (
    AcrossRows,
    Agreement,
    Disagreement,
    Lints,
    RowLint,
)
from harpia_formats.model.value_path import member

REPEATED_ANSWER, NO_REFERENCE = "H109", "H119"
SCORE_RANGE, NEGATIVE_TIME = "H124", "H125"

#: How far BERTScore, computed with floats of 32 bits, may be beyond its bounds.
_rounding = 1e-5


def instance_remarks(instance: Any) -> Iterator[Remark]:
    """Yield a remark for each acceptable answer that an instance has twice."""
    if not isinstance(instance, Mapping):
        return
    key = key_in(instance, REFERENCES)
    answers = instance.get(key) if key else None
    seen = set()
    for number, answer in enumerate(answers if isinstance(answers, list) else ()):
        if isinstance(answer, str):
            if answer in seen:
                yield Remark(
                    REPEATED_ANSWER,
                    (key, number),
                    f"{short_json(answer)} is an earlier acceptable answer, too",
                    "remove one of them",
                )
            seen.add(answer)


def _has_no_answer_twice(instance: Any) -> bool:
    """Tell whether the acceptable answers of a typed instance are certainly unequal.

    Without this, all instances are decoded again (`benchmarks/lint.py`).
    """
    answers = member(instance, REFERENCES[0])
    if type(answers) is not list:
        return type(answers) is str
    is_one = len(answers) == 1
    return is_one or (
        set(map(type, answers)) == {str} and len(set(answers)) == len(answers)
    )


def _has_reference(*spellings: Any) -> str:
    """Return whether one of the spellings of the references has any, in words."""
    has_any = any(given not in (UNSET, None, [], "") for given in spellings)
    return "acceptable answers" if has_any else "no acceptable answer"


def _other_presence(found: Disagreement) -> str:
    given = f"has {found.earlier}" if found.earlier else "does not agree"
    return f"this instance has {found.value}, but an earlier one {given}: {found.owner}"


INSTANCES = Lints(
    rows=(
        RowLint((REPEATED_ANSWER,), instance_remarks, is_clean=_has_no_answer_twice),
    ),
    across=(
        AcrossRows(
            NO_REFERENCE,
            Agreement.ONE_VALUE,
            tuple((key,) for key in REFERENCES),
            _other_presence,
            "give each instance acceptable answers, or put them into files of their "
            "own",
            value_text=_has_reference,
        ),
    ),
)


def output_remarks(item: Any) -> Iterator[Remark]:
    """Yield remarks on the score and the time of one metric."""
    if not isinstance(item, Mapping):
        return
    yield from _score_remarks(item, "score")
    key = key_in(item, TIME)
    seconds: Any = item.get(key) if key else None
    if _is_number(seconds) and seconds < 0:
        message = "the elapsed time is negative"
        yield Remark(NEGATIVE_TIME, (key,), message, "measure it again")


def line_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the result in a line of a log."""
    if isinstance(row, Mapping):
        yield from _score_remarks(row, "result")


def _score_remarks(item: Mapping[str, Any], key: str) -> Iterator[Remark]:
    """Yield a remark if a number at `key` is no score of the metric."""
    score: Any = item.get(key)
    words = re.findall("[a-z]+", metric_of(item).casefold())
    is_bleu, is_bertscore = "bleu" in words, "bertscore" in "".join(words)
    if not _is_number(score) or not (is_bleu or is_bertscore):
        return
    parameters = item.get("parameters")
    is_rescaled = is_bertscore and (
        isinstance(parameters, Mapping) and parameters.get("rescale_with_baseline")
    )
    least = 0 if is_bleu else -1
    if score > 1 + _rounding or (score < least - _rounding and not is_rescaled):
        yield Remark(
            SCORE_RANGE,
            (key,),
            f"{score} is no score of {short_json(metric_of(item))}",
            "divide it by 100 if it is a percentage",
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


OUTPUT = Lints(rows=(RowLint((SCORE_RANGE, NEGATIVE_TIME), output_remarks),))
LOG = Lints(rows=(RowLint((SCORE_RANGE,), line_remarks),))
