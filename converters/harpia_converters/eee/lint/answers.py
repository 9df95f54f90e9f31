"""Check verdicts, turns and counts against the texts of a row (E130-E132)."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from harpia_converters.eee.lint.members import (
    Evaluation,
    Output,
    Question,
    Step,
    Turn,
    Usage,
    fits,
)
from harpia_converters.eee.lint.wording import quoted
from harpia_converters.eee.versions import Version
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import RowLint
from harpia_formats.model.problem import Path

VERDICT, BEGINNING, ZERO = "E130", "E131", "E132"

#: The method whose verdict follows from the extracted value and the references.
_exact = "exact_match"
#: Roles of the turns that follow a question.
_answerers = frozenset({"assistant", "tool", "function"})
#: Characters of the shortest text that has tokens for sure.
_long = 20
#: The share of the words of the input that its turns have at least.
_fewest_words = 0.5
#: Characters of the longest label of a choice, as in "B.".
_longest_label = 2
#: A word, or a character of a script without spaces.
_words = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af]|[^\W_\u2e80-\u9fff\uac00-\ud7af]+")


def lint(version: Version) -> RowLint:
    """Return the check of the texts of a row of `version`."""
    check = _Check(version.turns)
    codes = VERDICT, BEGINNING, ZERO
    return RowLint(codes, check.remarks, check.is_clean, takes_refused=True)


class _Check:
    """Checks a row whose turns are under one key."""

    def __init__(self, key: str) -> None:
        self._key = key

    def is_clean(self, row: Any) -> bool:
        """Tell whether a typed row has nothing that `remarks` yields."""
        usage, steps = row.token_usage, row.answer_attribution
        if (
            usage is not UNSET
            and usage is not None
            and not (usage.input_tokens and usage.output_tokens)
        ):
            return False
        if steps and steps[-1].extraction_method == _exact:
            is_correct = row.evaluation.is_correct
            value, reference = steps[-1].extracted_value, row.input.reference
            if _wrong_verdict(value, reference, is_correct=is_correct):
                return False
        turns = getattr(row, self._key)
        if turns is UNSET or not turns:
            return True
        asked = row.input.raw
        # Mostly one of the first two turns has the input as it is.
        return any(turn.role == "user" and turn.content == asked for turn in turns[:2])

    def remarks(self, row: Any) -> Iterator[Remark]:
        """Yield what does not fit the texts of a row."""
        if type(row) is not dict:
            return
        asked: Any = row.get("input")
        if not fits(asked, Question):
            return
        steps, evaluation = row.get("answer_attribution"), row.get("evaluation")
        if steps and fits(steps, list[Step]) and fits(evaluation, Evaluation):
            yield from _of_verdict(steps, asked["reference"], evaluation)
        turns: Any = row.get(self._key)
        has_turns = bool(turns) and fits(turns, list[Turn])
        if has_turns and row.get("interaction_type") != "single_turn":
            yield from self._of_beginning(turns, asked)
        usage = row.get("token_usage")
        if fits(usage, Usage):
            answers = _answers(row.get("output"), turns if has_turns else ())
            yield from _of_zeros(usage, asked["raw"], answers)

    def _of_beginning(self, turns: list[Any], asked: Any) -> Iterator[Remark]:
        """Yield a remark on turns before the first answer that lack the input."""
        before: list[str] = []
        for place, turn in enumerate(turns):
            if turn["role"] not in _answerers:
                before.append(turn.get("content") or "")
            elif place:  # an assistant may speak first
                break
        if "" in before:
            return  # other rules are on turns without a text
        given = "\n".join(before)
        wanted = [asked["raw"], asked.get("formatted") or ""]
        if any(_has_words_of(each, given) for each in wanted if each.strip()):
            return
        if not any(each.strip() for each in wanted):
            return
        yield Remark(
            BEGINNING,
            (self._key, 0),
            "the turns do not begin with the input: none of those before the first "
            "answer has its text",
            "give the input as the first turn of the user, or the turns of this sample",
        )


def _of_verdict(steps: Any, reference: Any, evaluation: Any) -> Iterator[Remark]:
    """Yield a remark on is_correct that an exact match would not give."""
    last = steps[-1]
    if last["extraction_method"] != _exact:
        return
    value, is_correct = last["extracted_value"], evaluation["is_correct"]
    if not _wrong_verdict(value, reference, is_correct=is_correct):
        return
    what = "has no word of any reference" if is_correct else "is a reference"
    yield Remark(
        VERDICT,
        ("evaluation", "is_correct"),
        f"is_correct is {quoted(is_correct)}, and the extracted value {quoted(value)} "
        f"{what}",
        "score the answer again, or name the method of extraction that was used",
    )


def _wrong_verdict(value: str, reference: Any, *, is_correct: bool) -> bool:
    """Tell whether a verdict is the opposite of that of an exact match.

    Metrics compare after normalising, each in its own way: a right answer that shares
    a word with a reference, or is the label or number of one, may be right.
    """
    references = [reference] if type(reference) is str else reference
    if (value in references) is is_correct or not (value and any(references)):
        return False
    if not is_correct:
        return True
    return all(_shares_nothing(value, each) for each in references)


def _shares_nothing(value: str, reference: str) -> bool:
    """Tell whether a value and a reference have nothing in common.

    A label stands for a choice that it need not share a word with.
    """
    words, others = _words_of(value), _words_of(reference)
    if not (words and others) or min(len(value), len(reference)) <= _longest_label:
        return False
    one, other = _plain(value), _plain(reference)
    return not (words & others or one in other or other in one)


def _of_zeros(usage: Any, asked: str, answers: list[str]) -> Iterator[Remark]:
    """Yield a remark on a count of 0 tokens of a text that has some."""
    has_cached = bool(usage.get("input_tokens_cache_read"))
    has_cached = has_cached or bool(usage.get("input_tokens_cache_write"))
    longest = max(map(len, answers), default=0)
    for key, size, what in (
        ("input_tokens", 0 if has_cached else len(asked.strip()), "the input"),
        ("output_tokens", longest, "the answer"),
    ):
        if usage[key] == 0 and size >= _long:
            path: Path = ("token_usage", key)
            yield Remark(
                ZERO,
                path,
                f"{key} is 0, and {what} has {size} characters",
                "leave token_usage out where the tokens were not counted",
            )
            return


def _answers(output: Any, turns: Any) -> list[str]:
    """Return the texts of the answers in an output and in turns of the assistant."""
    texts: list[str] = []
    if fits(output, Output):
        raw = output["raw"]
        texts += [raw] if type(raw) is str else raw
    texts += [
        turn.get("content") or "" for turn in turns if turn["role"] == "assistant"
    ]
    return [text.strip() for text in texts]


def _has_words_of(text: str, given: str) -> bool:
    """Tell whether `given` has the text, or at least half of the words of it."""
    if text.strip() in given or (given.strip() and given.strip() in text):
        return True
    words = _words_of(text)
    return len(words & _words_of(given)) >= _fewest_words * len(words)


def _words_of(text: str) -> set[str]:
    return set(_words.findall(unicodedata.normalize("NFKC", text).casefold()))


def _plain(text: str) -> str:
    return "".join(_words.findall(unicodedata.normalize("NFKC", text).casefold()))
