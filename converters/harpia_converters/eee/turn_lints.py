"""Check the turns of a conversation and its answers (E104-E110, E129-E132)."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec import UNSET

from harpia_converters.eee.row_members import (
    Counts,
    Evaluation,
    Output,
    Question,
    RowCheck,
    Step,
    Turn,
    Usage,
    fits,
    quoted,
)
from harpia_formats.model.describe import with_noun
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path

INDEX, ROLE, DANGLING, CALL = "E104", "E105", "E106", "E107"
TYPE, NUM_TURNS, CALLS_COUNT, OTHER_ROLE = "E108", "E109", "E110", "E129"

#: Roles of turns, and those of other tools that mean the same as one of these.
_roles = frozenset({"system", "user", "assistant", "tool"})
_other_roles = {"developer": "system", "function": "tool"}
_tool_roles = frozenset({"tool", "function"})
_single = "single_turn"
_turns = list[Turn]
_types = frozenset({_single, "multi_turn", "agentic"})


@dataclass(slots=True)
class _Calls:
    """The calls of tools in a conversation, and the answers to them."""

    #: The place of each call, by its id.
    made: dict[str, Path] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    #: How many there are, those with a repeated id included.
    count: int = 0
    #: How many tool turns do not say which call they answer.
    lost_answers: int = 0


class TurnCheck(RowCheck):
    """Checks the turns of a row."""

    codes = INDEX, ROLE, DANGLING, CALL, TYPE, NUM_TURNS, CALLS_COUNT, OTHER_ROLE

    def is_clean(self, row: Any) -> bool:  # noqa: C901, PLR0911, PLR0912 - one pass, for speed
        """Tell whether a typed row has nothing that `remarks` yields."""
        evaluation = row.evaluation
        kind, given = row.interaction_type, evaluation.num_turns
        given_calls = evaluation.tool_calls_count
        if kind == _single:
            return (given is UNSET or given is None or given == 1) and not (
                given_calls is not UNSET and given_calls
            )
        turns = getattr(row, self._key)
        if not turns or given != len(turns):
            return False
        users = assistants = 0
        made: set[str] = set()
        answered: set[str] = set()
        count = 0
        for place, turn in enumerate(turns):
            role, reference = turn.role, turn.tool_call_id
            if turn.turn_idx != place:
                return False
            if role == "assistant":
                assistants += 1
            elif role == "user":
                users += 1
            elif role == "tool":
                ids = [reference] if type(reference) is str else reference or ()
                if not ids or "" in ids or not made.issuperset(ids):
                    return False
                answered.update(ids)
                reference = None
            elif role != "system":
                return False
            if reference is not UNSET and reference is not None:
                return False
            calls = turn.tool_calls
            if calls is not UNSET and calls:
                count += len(calls)
                made.update([call.id for call in calls])
        if made:
            if kind != "agentic" or len(made) != count or made != answered:
                return False
        elif kind == "agentic" or (users < 2 and assistants < 2):  # noqa: PLR2004 - several
            return False
        return given_calls is UNSET or given_calls is None or given_calls == count

    def _remarks(self, row: dict[str, Any]) -> Iterator[Remark]:
        """Yield what is wrong with the turns of a row."""
        kind, turns = row.get("interaction_type"), row.get(self._key)
        counts = row.get("evaluation")
        if not fits(counts, Counts):
            counts = None
        if kind == _single:
            yield from _of_single_turn(counts or {})
        elif type(kind) is not str or kind not in _types or not fits(turns, _turns):
            return
        elif not turns:
            yield Remark(
                TYPE,
                (self._key,),
                f"{self._key} must not be empty in a row of {kind}",
                "give the turns, or give the answer in output and set interaction_type "
                'to "single_turn"',
            )
        else:
            yield from self._index(turns)
            calls = _Calls()
            for place, turn in enumerate(turns):
                yield from _of_role(turn["role"], (self._key, place, "role"))
                yield from _of_references(turn, (self._key, place), calls)
                yield from _of_calls(turn, (self._key, place), calls)
            yield from _unanswered(calls)
            yield from _of_type(kind, turns, calls)
            if counts is not None:
                yield from _of_counts(counts, len(turns), calls.count)

    def _index(self, turns: list[Any]) -> Iterator[Remark]:
        """Yield a remark on the first turn whose number is not its place."""
        wrong = [place for place, turn in enumerate(turns) if turn["turn_idx"] != place]
        if wrong:
            place, others = wrong[0], len(wrong) - 1
            also = f"; so in {with_noun(others, 'later turn')}" if others else ""
            yield Remark(
                INDEX,
                (self._key, place, "turn_idx"),
                f"turn_idx must be {place}, the place of the turn counted from 0, "
                f"found {quoted(turns[place]['turn_idx'])}{also}",
                "number the turns in their order without gaps, and answer_attribution "
                "with them",
            )


def _of_single_turn(evaluation: Any) -> Iterator[Remark]:
    """Yield remarks on the counts of a row without turns."""
    given, given_calls = evaluation.get("num_turns"), evaluation.get("tool_calls_count")
    if given is not None and given != 1:
        yield Remark(
            NUM_TURNS,
            ("evaluation", "num_turns"),
            f"num_turns must be 1 or absent in a row of single_turn, found {given}",
            "leave it out, or give all turns and set interaction_type to "
            '"multi_turn" or "agentic"',
        )
    if given_calls:
        yield Remark(
            CALLS_COUNT,
            ("evaluation", "tool_calls_count"),
            f"tool_calls_count must be 0 or absent in a row of single_turn, found "
            f"{given_calls}",
            'leave it out, or give the turns and set interaction_type to "agentic"',
        )


def _of_role(role: str, path: Path) -> Iterator[Remark]:
    """Yield a remark on a role that is not one of the four."""
    if role in _roles:
        return
    if role in _other_roles:
        message = f"the role {quoted(role)} is one of some providers' interfaces only"
        yield Remark(OTHER_ROLE, path, message, f'write "{_other_roles[role]}"')
        return
    near = role.strip().lower()
    how = near if near in _roles else _synonyms.get(near, "")
    yield Remark(
        ROLE,
        path,
        f"role must be system, user, assistant or tool, found {quoted(role)}",
        f'write "{how}"' if how else "write the one of the four that spoke",
    )


#: Words for roles in other tools.
_synonyms = {
    "human": "user",
    "gpt": "assistant",
    "model": "assistant",
    "ai": "assistant",
    "bot": "assistant",
}


def _of_references(turn: Any, path: Path, calls: _Calls) -> Iterator[Remark]:
    """Yield remarks on the calls that a turn says it answers, and note them."""
    given = turn.get("tool_call_id")
    at = (*path, "tool_call_id")
    listed = [given] if type(given) is str else given or []
    ids = [each for each in listed if each]
    for number, each in enumerate(listed):
        if each in calls.made:
            calls.answered.add(each)
        elif each:
            calls.lost_answers += 1
            yield Remark(
                DANGLING,
                at if type(given) is str else (*at, number),
                f"tool_call_id names {quoted(each)}, and no earlier turn has a tool "
                "call with this id",
                "give the id of the call that the turn answers, and keep the turns in "
                "their order",
            )
    if not ids and (given is not None or turn["role"] in _tool_roles):
        calls.lost_answers += 1
        is_there = given is not None
        yield Remark(
            CALL,
            at if is_there else path,
            "tool_call_id is empty"
            if is_there
            else f"a turn of role {turn['role']} must have a tool_call_id",
            "give the id of the call that the turn answers",
        )


def _of_calls(turn: Any, path: Path, calls: _Calls) -> Iterator[Remark]:
    """Yield remarks on calls with the id of an earlier one, and note all of them."""
    for number, call in enumerate(turn.get("tool_calls") or ()):
        calls.count += 1
        place = (*path, "tool_calls", number, "id")
        if call["id"] in calls.made:
            yield Remark(
                CALL,
                place,
                f"the id {quoted(call['id'])} is that of an earlier tool call, too",
                "give each tool call of a conversation an id of its own",
            )
        calls.made.setdefault(call["id"], place)


def _unanswered(calls: _Calls) -> Iterator[Remark]:
    """Yield remarks on calls without an answer, unless answers name no call."""
    missing = [each for each in calls.made if each not in calls.answered]
    if len(missing) <= calls.lost_answers:
        return
    for each in missing:
        yield Remark(
            CALL,
            calls.made[each],
            f"no later turn answers the tool call {quoted(each)}",
            "add the turn of the tool with this tool_call_id, or see whether the "
            "conversation was cut off",
        )


def _of_type(kind: str, turns: list[Any], calls: _Calls) -> Iterator[Remark]:
    """Yield a remark if interaction_type is not what the turns are."""
    roles = [turn["role"] for turn in turns]
    uses_tools = bool(calls.count) or not _tool_roles.isdisjoint(roles)
    several = max(roles.count("user"), roles.count("assistant")) > 1
    if kind == "agentic" and not uses_tools:
        right = "multi_turn" if several else _single
        because = "no turn calls a tool or is one of role tool"
    elif kind != "agentic" and uses_tools:
        right, because = "agentic", "there are tool calls or turns of role tool"
    elif kind != "agentic" and not several:
        right = _single
        because = "there is no second turn of the user or the assistant"
    else:
        return
    how = f'set interaction_type to "{right}"'
    if right == _single:
        how += ", with the answer in output and without turns"
    message = f'interaction_type is "{kind}", and {because}'
    yield Remark(TYPE, ("interaction_type",), message, how)


def _of_counts(evaluation: Any, turns: int, calls: int) -> Iterator[Remark]:
    """Yield remarks on num_turns and tool_calls_count."""
    given, given_calls = evaluation.get("num_turns"), evaluation.get("tool_calls_count")
    if given != turns:
        is_there = "num_turns" in evaluation
        yield Remark(
            NUM_TURNS,
            ("evaluation", "num_turns") if is_there else ("evaluation",),
            f"num_turns must be {turns}, found {quoted(given)}"
            if is_there
            else f"num_turns is missing: there are {with_noun(turns, 'turn')}",
            f"write {turns}: turns of the system and of tools count, too",
        )
    if given_calls is not None and given_calls != calls:
        yield Remark(
            CALLS_COUNT,
            ("evaluation", "tool_calls_count"),
            f"tool_calls_count is {quoted(given_calls)}, and the turns have "
            f"{with_noun(calls, 'tool call')}",
            f"write {calls}, or add the calls that are missing",
        )


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


class AnswerCheck(RowCheck):
    """Checks whether the verdict, the turns and the counts fit the texts of a row."""

    codes = VERDICT, BEGINNING, ZERO

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

    def _remarks(self, row: dict[str, Any]) -> Iterator[Remark]:
        """Yield what does not fit the texts of a row."""
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
