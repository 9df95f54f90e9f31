"""Check where an answer was extracted (`answer_attribution`, E111-E115)."""

import re
from collections.abc import Iterator
from json import dumps
from typing import Any
from unicodedata import normalize

from msgspec import UNSET

from harpia_converters.eee.lint.members import Output, Step, Turn, fits
from harpia_converters.eee.lint.wording import count_of, quoted
from harpia_converters.eee.versions import Version
from harpia_formats.model.exact_json import encode
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import RowLint
from harpia_formats.model.problem import Path

EMPTY, TERMINAL, TURN, SOURCE, VALUE = "E111", "E112", "E113", "E114", "E115"

_key = "answer_attribution"
#: Digits of the last group of a number.
_THREE = 3
#: Methods of extraction whose result need not occur in the text.
_free_methods = frozenset({"llm_judge", "custom"})
#: Numbers whose digits are in groups of three, the first of a list of separators:
#: a single point may as well be that of a decimal number, so it is there twice.
_grouped = re.compile(
    r"(?<![\d.,])\d{1,3}(?:(?P<mark>[,'’_ \u00a0\u2009\u202f])\d{2,3})"  # noqa: RUF001 - marks as written
    r"(?:(?P=mark)\d{2,3})*(?!\d)|(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?!\d)"
)
#: White space that separates no two words: beside a mark, or a letter of a script
#: that puts no spaces between words.
_between_marks = re.compile(
    r" (?![^\W_])|(?<![^\W_]) |(?<=[\u0e00-\u0eff\u1780-\u17ff\u3040-\u9fff]) "
    r"| (?=[\u0e00-\u0eff\u1780-\u17ff\u3040-\u9fff])"
)
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


def lint(version: Version) -> RowLint:
    """Return the check of the attribution of the answer in a row of `version`."""
    check = _Check(version.turns)
    codes = EMPTY, TERMINAL, TURN, SOURCE, VALUE
    return RowLint(codes, check.remarks, check.is_clean, takes_refused=True)


class _Check:
    """Checks the steps of a row whose turns are under one key."""

    def __init__(self, key: str) -> None:
        self._key = key

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

    def remarks(self, row: Any) -> Iterator[Remark]:
        """Yield what is wrong with the attribution of a row."""
        steps = row.get(_key) if type(row) is dict else None
        if not fits(steps, list[Step]):
            return
        is_single = row.get("interaction_type") == "single_turn"
        turns = [] if is_single else row.get(self._key)
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
            f"{count_of(len(terminal), 'item')} of answer_attribution are terminal"
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
        return f"turn_idx is {place}, and there are {count_of(len(turns), 'turn')}", how
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
    """Tell whether a text, or a text of a list, has `value` as it stands."""
    if type(text) is str:
        return value in text
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
