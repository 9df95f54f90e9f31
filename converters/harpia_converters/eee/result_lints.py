"""Check where answers were extracted, scores, token counts and times (E111-E120)."""

import re
from collections.abc import Iterator
from decimal import Decimal
from json import dumps
from typing import Any
from unicodedata import normalize

from msgspec import UNSET

from harpia_converters.eee.row_members import (
    Evaluation,
    Output,
    RowCheck,
    Step,
    Times,
    Turn,
    Usage,
    fits,
    quoted,
)
from harpia_formats.model.describe import with_noun
from harpia_formats.model.exact_json import encode
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path

EMPTY, TERMINAL, TURN, SOURCE, VALUE = "E111", "E112", "E113", "E114", "E115"

_key = "answer_attribution"
#: Digits of the last group of a number.
_THREE = 3
#: Methods of extraction whose result need not occur in the text.
_free_methods = frozenset({"llm_judge", "custom"})
#: Numbers whose digits are in groups of three, the first of a list of separators:
#: a single point may as well be that of a decimal number, so two are needed. As the
#: pattern begins with a digit, and the next one with a space, most of a text is passed
#: over fast: that takes a fifth of the time of a pattern that begins by looking back.
_grouped = re.compile(
    r"\d(?<![\d.,].)\d{0,2}(?:(?P<mark>[,'’_ \u00a0\u2009\u202f])\d{2,3}"  # noqa: RUF001 - marks as written
    r"(?:(?P=mark)\d{2,3})*|(?:\.\d{3}){2,})(?!\d)"
)
#: Letters of scripts that put no spaces between words.
_spaceless = r"\u0e00-\u0eff\u1780-\u17ff\u3040-\u9fff"
#: White space that separates no two words: next to a mark, or to such a letter.
_between_marks = re.compile(rf" (?:(?![^\W_{_spaceless}])|(?<![^\W_{_spaceless}] ))")
#: Roles of turns that give no answer.
_askers = frozenset({"system", "user", "developer"})
_source = re.compile(
    r"output\.(?P<member>raw|reasoning_trace)"
    r"|(?P<turns>interactions|messages)\[(?P<turn>[0-9]{1,9}|turn_idx)\]\."
    r"(?:(?P<text>content|reasoning_trace)"
    r"|tool_calls\[(?P<call>[0-9]{1,9})\]\.arguments)"
)
_forms = (
    "output.raw",
    "output.reasoning_trace",
    "{turns}[N].content",
    "{turns}[N].reasoning_trace",
    "{turns}[N].tool_calls[K].arguments",
)


class AttributionCheck(RowCheck):
    """Checks the attribution of the answer in a row."""

    codes = EMPTY, TERMINAL, TURN, SOURCE, VALUE

    def is_clean(self, row: Any) -> bool:  # noqa: PLR0911 - one pass, for speed
        """Tell whether a typed row has nothing that `remarks` yields."""
        steps = row.answer_attribution
        # The last step is terminal, and no other.
        if not steps or not steps[-1].is_terminal:
            return False
        turns = getattr(row, self._key)
        for step in steps:
            if step.is_terminal and step is not steps[-1]:
                return False
            if not turns:
                if step.turn_idx or step.source != "output.raw":
                    return False
                text = row.output.raw
            else:
                place = step.turn_idx
                if (
                    place >= len(turns)
                    or turns[place].role != "assistant"
                    or step.source != f"{self._key}[{place}].content"
                ):
                    return False
                text = turns[place].content
                if text is UNSET or text is None:
                    return False
            if not _is_plainly_in(step.extracted_value, text):
                return False
        return True

    def _remarks(self, row: dict[str, Any]) -> Iterator[Remark]:
        """Yield what is wrong with the attribution of a row."""
        steps: Any = row.get(_key)
        if not fits(steps, list[Step]):
            return
        is_single = row.get("interaction_type") == "single_turn"
        turns: Any = [] if is_single else row.get(self._key)
        if not steps:
            yield Remark(
                EMPTY,
                (_key,),
                "answer_attribution has no item that says where the answer is from",
                "add an item with its turn, its source and the extracted value",
            )
            return
        yield from _of_terminals(steps)
        if not (is_single or turns) or not fits(turns, list[Turn]):
            return  # another rule says that there are no turns
        if is_single and not fits(row.get("output"), Output):
            return
        for number, step in enumerate(steps):
            wrong_turn = _wrong_turn(step["turn_idx"], turns)
            if wrong_turn:
                message, how = wrong_turn
                yield Remark(TURN, (_key, number, "turn_idx"), message, how)
            else:
                yield from self._of_source(step, (_key, number), row, turns)

    def _of_source(
        self, step: Any, path: Path, row: Any, turns: list[Any]
    ) -> Iterator[Remark]:
        """Yield a remark on a source, or on a value that is not in its text."""
        found = _source.fullmatch(step["source"])
        if found is None:
            forms = ", ".join(_forms).format(turns=self._key)
            yield Remark(
                SOURCE,
                (*path, "source"),
                f"source must be the place of a text, found {quoted(step['source'])}",
                f"write one of {forms}",
            )
            return
        problem = self._unresolved(found, step, row, turns)
        if problem:
            message, how = problem
            yield Remark(SOURCE, (*path, "source"), message, how)
            return
        text = _resolved(found, step, row, turns)
        value = step["extracted_value"]
        if not _is_free(step["extraction_method"]) and not _is_in(value, text):
            yield Remark(
                VALUE,
                (*path, "extracted_value"),
                f"extracted_value is {quoted(value)}, which does not occur in "
                f"{step['source']}",
                "give the value as it stands in the text, or name the method llm_judge "
                "or custom if it was not cut out of it",
            )

    def _unresolved(
        self, found: "re.Match[str]", step: Any, row: Any, turns: list[Any]
    ) -> tuple[str, str] | None:
        """Return why a source leads to no text and what to do, None if it does."""
        source, place = quoted(step["source"]), step["turn_idx"]
        if found["turns"] and not turns:
            return (
                f"source is {source}, and a row of single_turn has no turns",
                "write output.raw or output.reasoning_trace",
            )
        if found["turns"] and found["turns"] != self._key:
            return (
                f"source is {source}, and the turns of this row are in {self._key}",
                f"write {self._key} for {found['turns']}",
            )
        if found["turns"] and found["turn"] not in {str(int(place)), "turn_idx"}:
            return (
                f"source is {source}, and turn_idx is {place}",
                "give both the number of the same turn",
            )
        if found["member"] and turns:
            return (
                f"source is {source}, and the answer of this row is in {self._key}",
                f"write {self._key}[{place}].content, or what holds the answer there",
            )
        if _resolved(found, step, row, turns) is None:
            return (
                f"source is {source}, and there is nothing",
                "name the text that the answer was extracted from",
            )
        return None


def _of_terminals(steps: list[Any]) -> Iterator[Remark]:
    """Yield a remark unless the last step is terminal and no other is."""
    terminal = [place for place, step in enumerate(steps) if step["is_terminal"]]
    if terminal == [len(steps) - 1]:
        return
    if not terminal:
        message = "no item of answer_attribution is terminal"
    elif len(terminal) > 1:
        message = (
            f"{with_noun(len(terminal), 'item')} of answer_attribution are terminal"
        )
    else:
        message = "an item of answer_attribution follows the terminal one"
    # The place of the first item that is not as it should be.
    wrong = terminal[0] if terminal else len(steps) - 1
    yield Remark(
        TERMINAL,
        (_key, wrong, "is_terminal"),
        message,
        "give is_terminal true to the last item, which is the final answer, and to no "
        "other",
    )


def _wrong_turn(place: Any, turns: list[Any]) -> tuple[str, str] | None:
    """Return why a step is of no turn that may give an answer, and what to do."""
    if not turns:
        if place == 0:
            return None
        return f"turn_idx must be 0 in a row of single_turn, found {place}", "write 0"
    how = "give the number of the turn that the value was extracted from"
    if not 0 <= place < len(turns):
        return (
            f"turn_idx is {place}, and there are {with_noun(len(turns), 'turn')}",
            how,
        )
    role = turns[int(place)]["role"]
    if role not in _askers:
        return None
    return f"turn_idx is {place}, which is a turn of role {role}", how


def _resolved(found: "re.Match[str]", step: Any, row: Any, turns: list[Any]) -> Any:
    """Return what a source leads to; None if there is nothing."""
    if found["member"]:
        output = row.get("output")
        return output.get(found["member"]) if output else None
    turn = turns[int(step["turn_idx"])]
    if found["text"]:
        return turn.get(found["text"])
    calls, number = turn.get("tool_calls") or [], int(found["call"])
    return calls[number].get("arguments") if number < len(calls) else None


def _is_free(method: str) -> bool:
    """Tell whether a method's result need not occur in the text."""
    return method.strip().lower().replace("-", "_") in _free_methods


def _is_plainly_in(value: str, text: Any) -> bool:
    """Tell whether a text, or a text of a list, has `value` as it stands.

    Mostly it is at the end: from there it is found in half of the time.
    """
    if type(text) is list and len(text) == 1:
        (text,) = text
    if type(text) is str:
        return bool(text.rfind(value) >= 0)
    return any(value in each for each in text)


def _is_in(value: str, text: Any) -> bool:
    """Tell whether `text`, a list or arguments have `value`.

    Case of letters, composed or decomposed letters (NFC, NFD), white space and the
    separators of thousands make no difference.
    """
    wanted = _folded(value.strip())
    texts = [_folded(each) for each in _texts_of(text)]
    if any(wanted in each for each in texts):
        return True
    wanted = _evenly_written(wanted)
    return bool(wanted) and any(wanted in _evenly_written(each) for each in texts)


def _evenly_written(text: str) -> str:
    """Return a text without separators of thousands and needless white space.

    One space is left between words: "4 2" and "42" are different answers.
    """
    whole = _grouped.sub(_without_groups, text)
    return _between_marks.sub("", " ".join(whole.split()))


def _without_groups(found: "re.Match[str]") -> str:
    """Return the digits of a number, or what was found if its groups are no groups."""
    *_, last = re.split(r"\D", found[0])
    return re.sub(r"\D", "", found[0]) if len(last) == _THREE else found[0]


def _folded(text: str) -> str:
    """Return a text in NFC without a difference of case."""
    return normalize("NFC", text).casefold()


def _texts_of(value: Any) -> Iterator[str]:
    """Yield the texts in which a value may be quoted."""
    if type(value) is str:
        yield value
    elif type(value) is list:
        yield from value
    else:
        yield dumps(value, ensure_ascii=False)
        yield encode(value).decode()
        yield from (each for each in value.values() if type(each) is str)


CORRECT, GRADED, TOKENS = "E116", "E117", "E118"
TIMES, ERROR = "E119", "E120"

_verdict = ("evaluation", "is_correct")
#: How much of a time sums of floats may add to it.
_NOISE = Decimal("1e-9")


def _is_full(score: Any, is_correct: Any) -> bool:
    """Tell whether an answer is scored as correct."""
    return bool(is_correct or score == 1)


class ResultCheck(RowCheck):
    """Checks the score, the counts and the times of a row."""

    codes = CORRECT, GRADED, TOKENS, TIMES, ERROR

    def is_clean(self, row: Any) -> bool:  # noqa: C901, PLR0911 - one pass, for speed
        """Tell whether a typed row has nothing that `remarks` yields."""
        evaluation, error = row.evaluation, row.error
        score, is_correct = evaluation.score, evaluation.is_correct
        if is_correct:
            if 0 < score < 1 or score is False:
                return False
        elif score is True:
            return False
        has_error = error is not UNSET and error is not None
        if has_error and (not error.strip() or _is_full(score, is_correct)):
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

    def _remarks(self, row: dict[str, Any]) -> Iterator[Remark]:
        """Yield what is wrong with the score, the counts and the times of a row."""
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
    elif _is_full(evaluation["score"], evaluation["is_correct"]):
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
