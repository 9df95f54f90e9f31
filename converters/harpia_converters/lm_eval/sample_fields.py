"""What a sample says, by the type of its output: requests, references and scores."""

from collections.abc import Mapping
from itertools import repeat
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.mapping.chat_messages import read_parts
from harpia_formats.conversion.mapping.preparation import tool_signature
from harpia_formats.conversion.mapping.stored_choices import (
    indices_of,
    literal_list,
    target_indices,
)
from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import NOT_JSON, decode
from harpia_formats.model.record import Score

GENERATE, CHOICE = "generate_until", "multiple_choice"
LIKELIHOOD, ROLLING = "loglikelihood", "loglikelihood_rolling"
OUTPUT_TYPES = frozenset({GENERATE, CHOICE, LIKELIHOOD, ROLLING})
#: What stands between a context and a choice if the results do not say it.
DELIMITER = " "

#: The first and the second part of a request: the context, and what is scored as its
#: continuation or the settings of the generation.
CONTEXT, SECOND = "arg_0", "arg_1"
PARTS = frozenset({CONTEXT, SECOND})
_texts, _objects = frozenset({str}), frozenset({dict})
_names = tuple(f"gen_args_{number}" for number in range(32))
#: Digits of the largest number in such a name.
_digits = 9


def output_type_in(config: Any) -> str:
    """Return the output type that the configuration of a task says, "" if none."""
    found = config.get("output_type") if isinstance(config, Mapping) else None
    return found if isinstance(found, str) and found in OUTPUT_TYPES else ""


def requests_of(arguments: Any) -> list[Row]:
    """Return the requests of a sample in their order; none if it has other ones."""
    if type(arguments) is not dict:
        return []
    found = list(map(arguments.get, _names[: len(arguments)]))
    if len(found) < len(arguments) or None in found:
        found = [arguments[name] for name in sorted(arguments, key=_number_in)]
    return found if _objects.issuperset(map(type, found)) else []  # type: ignore[return-value]  # of dictionaries


def _number_in(name: str) -> tuple[int, str]:
    number = name.rpartition("_")[2]
    is_known = number.isdecimal() and len(number) <= _digits
    return (int(number) if is_known else 0, name)


def as_objects(row: Row) -> Row:
    """Return a sample whose requests are lists as one whose requests have names."""
    requests = row.get("arguments")
    if type(requests) is not list:
        return row
    named = {
        f"gen_args_{number}": {f"arg_{at}": part for at, part in enumerate(parts)}
        for number, parts in enumerate(requests)
        if type(parts) is list
    }
    return {**row, "arguments": named}


def guessed_type(row: Row, requests: list[Row], delimiter: str) -> str:
    """Return the output type that a sample with these requests has, "" if none."""
    if not requests:
        return ""
    second = requests[0].get(SECOND)
    if len(requests) > 1:
        return CHOICE if type(second) is str else ""
    if type(second) is dict:
        return GENERATE
    answers = row["resps"]
    if answers and answers[0] and type(answers[0][0]) is list:
        return CHOICE if _is_only_choice(row, second, delimiter) else LIKELIHOOD
    return "" if SECOND in requests[0] else ROLLING


def _is_only_choice(row: Row, second: Any, delimiter: str) -> bool:
    """Tell whether `second` has the only choice, of which the target is the index."""
    target = row["target"]
    return (
        type(second) is str
        and indices_of(target) == [0]
        and is_index(target, second, delimiter)
        and LIKELIHOODS.isdisjoint(row)
    )


def is_index(target: Any, second: Any, delimiter: str) -> bool:
    """Tell whether the target of a log-likelihood is an index.

    It is the continuation itself else, which may be a number.
    """
    if type(second) is str and str(target) in {second, second.removeprefix(delimiter)}:
        return False
    return indices_of(target) is not None


def first_half(requests: list[Row], delimiter: str) -> list[Row]:
    """Return the requests without those that `acc_mutual_info` adds for each choice.

    They repeat all continuations, or all without the delimiter, behind one context that
    no other request has: mostly an empty one. Else requests of one continuation are
    those of several inputs.
    """
    half, odd = divmod(len(requests), 2)
    if odd or not half:
        return requests
    asked, added = requests[:half], requests[half:]
    context = added[0].get(CONTEXT)
    if any(each.get(CONTEXT) == context for each in asked) or any(
        each.get(CONTEXT) != context for each in added
    ):
        return requests
    seconds, repeated = ([each.get(SECOND) for each in some] for some in (asked, added))
    if context != "" and all(second == seconds[0] for second in seconds):
        return requests
    is_repeated = repeated in (seconds, continuations(asked, delimiter))
    return asked if is_repeated else requests


def choices_of(requests: list[Row], delimiter: str) -> list[str] | None:
    """Return the choices of a multiple choice, None if they cannot be known.

    They are the continuations without the delimiter, or the contexts where the
    continuation is the same.
    """
    choices = continuations(requests, delimiter)
    if choices is None or not has_several_inputs(requests):
        return choices
    contexts = [request.get(CONTEXT) for request in requests]
    is_text = all(type(context) is str for context in contexts)
    return contexts if is_text else None  # type: ignore[return-value]  # texts


def continuations(requests: list[Row], delimiter: str) -> list[str] | None:
    """Return the `arg_1` of requests, without the delimiter if all begin with it.

    None if one has no text.
    """
    seconds: list[Any] = [request.get(SECOND) for request in requests]
    if not _texts.issuperset(map(type, seconds)):
        return None
    if delimiter and all(map(str.startswith, seconds, repeat(delimiter))):
        return [second[len(delimiter) :] for second in seconds]
    return seconds


def has_several_inputs(requests: list[Row]) -> bool:
    """Tell whether the contexts of requests are the choices."""
    first = requests[0]
    context, second = first.get(CONTEXT), first.get(SECOND)
    return any(request.get(CONTEXT) != context for request in requests) and all(
        request.get(SECOND) == second for request in requests
    )


def chat_in(context: Any) -> list[Row] | None:
    """Return the messages of a context that is a chat, None if it is none.

    It is a list of one text, which is JSON.
    """
    if type(context) is not list or len(context) != 1 or type(context[0]) is not str:
        return None
    try:
        messages = decode(context[0].encode())
    except NOT_JSON:
        return None
    is_chat = type(messages) is list and all(
        type(each) is dict and type(each.get("role")) is str for each in messages
    )
    return [read_parts(message) for message in messages] if is_chat else None


def chosen(target: Any, choices: list[str]) -> list[str] | None:
    """Return the right ones of `choices`, None if the target does not tell."""
    found = target_indices(target, choices)
    return None if found is None else [choices[index] for index in found]


def texts_of(target: Any) -> list[str] | None:
    """Return the references that a target is, None if it has none.

    A text that is Python's spelling of a list of texts is that list. The tool writes
    any target as a text; older files have it as it was.
    """
    if type(target) is str:
        found = literal_list(target) if is_list_text(target) else None
        if found and all(type(item) is str for item in found):
            return found
        return [target]
    if type(target) is list:
        is_texts = target and all(type(item) is str for item in target)
        return target if is_texts else None
    if target is None or type(target) is dict:
        return None
    return [str(target)]


def is_list_text(target: Any) -> bool:
    """Tell whether a target may be Python's spelling of a list of texts."""
    return type(target) is str and target[:2] in {"['", '["'} and target[-1] == "]"


#: The keys of a sample that are no metrics.
KNOWN_KEYS = frozenset(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash "
    "prompt_hash target_hash".split()
)
#: The value of a metric that a row does not have.
_nothing: Any = object()
#: Keys that no field of a record holds.
_hashes = ("doc_hash", "prompt_hash", "target_hash")
#: Metrics by which an answer is right or wrong.
RIGHT_OR_WRONG = frozenset({"acc", "acc_norm", "exact_match"})
#: Metrics of a task of which a sample has the log-likelihood under the same name.
LIKELIHOODS = frozenset({"perplexity"})


class ScoreReader:
    """Reads the scores of the samples of one task."""

    def __init__(self, around: Mapping[str, Any]) -> None:
        """Take what the results say: the task, and the version of the tool."""
        self._task: Any = around.get("task", UNSET)
        self._version: str = around.get("version", "")

    def read(self, row: Row, kept: Row) -> list[Score]:
        """Return the scores of a sample, and keep its members that no field holds.

        A metric that is no number is one of these: a list is what the metric of the
        whole task is computed of. So is a log-likelihood, which is no perplexity.
        """
        kept |= {key: row[key] for key in _hashes if key in row}
        filter_ = row.get("filter", "none")
        # The typed decoder and the JSON decoder give unknown keys in different orders.
        others = sorted(row.keys() - KNOWN_KEYS)
        names = row.get("metrics")
        scores = []
        for name in others if names is None else dict.fromkeys(names):
            value = row.get(name, _nothing)
            if is_score_value(value) and name not in LIKELIHOODS:
                scores.append(self._score(name, value, filter_))
        found = {score.metric for score in scores}
        kept |= {key: row[key] for key in others if key not in found}
        if names and not row.keys() >= {*names}:
            kept["metrics"] = names
        return scores

    def _score(self, metric: str, value: Any, filter_: Any) -> Score:
        is_correct: Any = UNSET
        if metric in RIGHT_OR_WRONG and value in {0, 1}:
            is_correct = bool(value)
        return Score(
            metric=metric,
            value=value,
            is_correct=is_correct,
            evaluation_name=self._task,
            signature=tool_signature(
                metric, "lm-eval", self._version, filter=str(filter_)
            ),
        )


def is_score_value(value: Any) -> bool:
    """Tell whether the value of a metric is a number, or null where it was NaN."""
    return value is None or isinstance(value, (int, float))
