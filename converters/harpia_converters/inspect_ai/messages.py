"""Messages, their contents and values of scores, as those of a record."""

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from harpia_formats.model.adapter import Row
from harpia_formats.model.exact_json import ExactFloat

#: How references to the attachments of a sample begin, now and in early logs.
_references = ("attachment://", "tc://")


class Attachments:
    """The values that a sample keeps once and refers to from other places in it."""

    def __init__(self, sample: Row) -> None:
        """Take the sample that they belong to."""
        self._values: Row = sample.get("attachments") or {}
        #: Whether they are those of an early log, which has them in its transcript.
        self.is_early = not self._values
        if self.is_early:
            # No schema says what a transcript holds.
            transcript = sample.get("transcript")
            values = transcript.get("content") if type(transcript) is dict else None
            self._values = values if type(values) is dict else {}
        #: The references to values that the sample does not have.
        self.unresolved: set[str] = set()
        #: The names of the values that were referred to.
        self._used: set[str] = set()

    def text(self, value: str) -> str:
        """Return the text that `value` refers to, itself if it is no reference."""
        if not value.startswith(_references):
            return value
        name = value.partition("://")[2]
        found = self._values.get(name)
        if type(found) is str:
            self._used.add(name)
            return found
        self.unresolved.add(value)
        return value

    @property
    def unused(self) -> int:
        """How many values nothing referred to."""
        return len(self._values.keys() - self._used)

    def resolved(self, value: Any) -> Any:
        """Return JSON with the texts that it refers to, itself if there are none."""
        kind = type(value)
        if kind is str:
            return self.text(value)
        if kind is dict:
            found = {key: self.resolved(member) for key, member in value.items()}
            return found if found != value else value
        if kind is list:
            return [self.resolved(item) for item in value]
        return value


class Content(NamedTuple):
    """What the content of a message says."""

    #: None if there is no text.
    text: str | None
    reasoning: str | None
    #: The parts that are neither text nor reasoning.
    others: list[Row]


def content_of(message: Row, attachments: Attachments) -> Content:
    """Return what a message says, with the values of its references."""
    content = message.get("content")
    reasoning = message.get("reasoning")
    thoughts: list[str] = []
    if reasoning and type(reasoning) is str:
        thoughts.append(attachments.text(reasoning))
    if type(content) is str:
        return Content(attachments.text(content), _joined(thoughts), [])
    texts: list[str] = []
    others: list[Row] = []
    for part in content or ():
        key = _read_key(part)
        if key is None:
            others.append(attachments.resolved(part))
        elif key == "text":
            texts.append(attachments.text(part[key]))
        elif part.get(key):
            thoughts.append(attachments.text(part[key]))
    return Content(_joined(texts), _joined(thoughts), others)


def _read_key(part: Row) -> str | None:
    """Return the key of the text of a part that is read, None for another part."""
    kind = part.get("type")
    if kind == "text":
        return kind if type(part.get(kind)) is str else None
    if kind != "reasoning":
        return None
    # Of redacted reasoning only a summary can be read.
    is_hidden = part.get("redacted") or not part.get(kind)
    key = "summary" if is_hidden else kind
    given = part.get(key)
    if given:
        return key if type(given) is str else None
    return None if part.get(kind) else key


def other_parts(
    message: Row, content: Content, attachments: Attachments
) -> tuple[list[Row], list[Row]]:
    """Return the parts of a message that are kept as no text, and the rest of each.

    The rest is all parts as they are if text or reasoning stands behind another part:
    the place of that one would be lost.
    """
    others = content.others
    if others and any(map(_read_key, message["content"][-len(others) :])):
        return [], attachments.resolved(message["content"])
    return others, rest_of_content(message)


def rest_of_content(message: Row) -> list[Row]:
    """Return what is not read of each part of a message, [] if that is nothing.

    That is nothing of a part that is neither text nor reasoning: it is kept as a whole.
    """
    content = message.get("content")
    if type(content) is not list:
        return []
    rest = [_rest_of_part(part) for part in content]
    return rest if any(rest) else []


def _rest_of_part(part: Row) -> Row:
    read = _read_key(part)
    if read is None:
        return {}
    rest = others_in(part, {"type", read})
    return {key: rest[key] for key in rest if (key, rest[key]) not in _defaults}


def _joined(texts: list[str]) -> str | None:
    return "\n".join(texts) if texts else None


def is_other_part(part: Any) -> bool:
    """Tell whether a part of a message is neither text nor reasoning."""
    return type(part) is dict and part.get("type") not in {"text", "reasoning"}


SYSTEM, USER, ASSISTANT, TOOL = "system", "user", "assistant", "tool"
SINGLE, MULTI, AGENTIC = "single_turn", "multi_turn", "agentic"

#: What Inspect writes of every part of reasoning that is not redacted.
_defaults = (("redacted", False),)
#: Keys of a message and of a call that are read, or say nothing.
_read_keys = frozenset("role content reasoning tool_calls tool_call_id".split())
_call_keys = frozenset("id function arguments type".split())


class Chat:
    """The messages of a sample as a record has them, and what has no place there."""

    def __init__(self, messages: list[Row], attachments: Attachments) -> None:
        """Take messages with the attachments that they may refer to."""
        self.turns: list[Row] = []
        #: The members of each message that a turn has no place for.
        self.rest: list[Row] = []
        #: The parts that are no text, each behind the number of its message, from 0.
        self.others: list[tuple[int, Row]] = []
        #: Those of them that `rest` has not: each with the number as a member.
        self.parts: list[Row] = []
        for number, message in enumerate(messages):
            content = content_of(message, attachments)
            parts, rest = other_parts(message, content, attachments)
            if content.others:
                self.others += [(number, part) for part in content.others]
                self.parts += [{"message": number, **part} for part in parts]
            self.turns.append(_turn_of(message, content, attachments))
            self.rest.append(_rest_of(message, rest))
        #: The numbers of the messages that the model generated.
        self._answers = [
            number
            for number, message in enumerate(messages)
            if message["role"] == ASSISTANT and message.get("source") != "input"
        ]

    @property
    def has_rest(self) -> bool:
        """Whether any message has members that a turn has no place for."""
        return any(self.rest)

    @property
    def is_one_question(self) -> bool:
        """Whether it is one message of the user, with a text."""
        first = self.turns[0] if len(self.turns) == 1 else {}
        is_plain = first.keys() == {"role", "content"}
        return is_plain and first["role"] == USER and type(first["content"]) is str

    def system(self) -> str | None:
        """Return the text of the first system message, None if there is none."""
        return next(
            (turn["content"] for turn in self.turns if turn["role"] == SYSTEM), None
        )

    def first_answer(self) -> int:
        """Return the number of the first message that the model generated."""
        return self._answers[0] if self._answers else len(self.turns)

    def prompt(self) -> str | None:
        """Return what the model was sent if that is one message of the user.

        A system message may stand in front. None if it is anything else.
        """
        sent = self.turns[: self.first_answer()]
        if sent and sent[0]["role"] == SYSTEM:
            sent = sent[1:]
        if len(sent) != 1 or sent[0]["role"] != USER:
            return None
        text: str | None = sent[0]["content"]
        return text

    def interaction(self) -> str:
        """Return what kind of conversation it is, by its tools and answers."""
        if any(turn["role"] == TOOL or "tool_calls" in turn for turn in self.turns):
            return AGENTIC
        return MULTI if len(self._answers) > 1 else SINGLE

    def consists_of(self, asked: list[Row], answer: Row) -> bool:
        """Tell whether the conversation is only what was asked and the answer to it.

        The answer may lack in it, where an agent kept its own conversation.
        """
        return self.turns in ([*asked, answer], asked)


def _turn_of(message: Row, content: Content, attachments: Attachments) -> Row:
    """Return a message as a turn, given what it says."""
    turn: Row = {"role": message["role"], "content": content.text}
    if content.reasoning is not None:
        turn["reasoning"] = content.reasoning
    calls = message.get("tool_calls")
    if calls:
        turn["tool_calls"] = [_call_of(call, attachments) for call in calls]
    answered = message.get("tool_call_id")
    if answered is not None:
        turn["tool_call_id"] = answered
    return turn


def _call_of(call: Row, attachments: Attachments) -> Row:
    """Return a call of a tool; arguments that are no object are left to `_rest_of`."""
    given = call.get("arguments")
    arguments = attachments.resolved(given) if type(given) is dict else None
    return {"id": call["id"], "name": call["function"], "arguments": arguments}


def _rest_of(message: Row, parts: list[Row]) -> Row:
    """Return the members that a turn has no place for, with the rest of its `parts`."""
    rest = others_in(message, _read_keys)
    if parts:
        rest["content"] = parts
    calls = [_rest_of_call(call) for call in message.get("tool_calls") or ()]
    return {**rest, "tool_calls": calls} if any(calls) else rest


def _rest_of_call(call: Row) -> Row:
    rest = others_in(call, _call_keys)
    if type(call.get("arguments")) not in {dict, type(None)}:
        rest["arguments"] = call["arguments"]
    if call.get("type", "function") != "function":
        rest["type"] = call["type"]
    return rest


def is_empty(value: Any) -> bool:
    """Tell whether a value says nothing: null, or an empty list or object."""
    return value is None or (not value and type(value) in {dict, list})


def others_in(owner: Row, known: Collection[str]) -> Row:
    """Return the members of an object that are not `known` and say something."""
    return {
        key: value
        for key, value in owner.items()
        if key not in known and not is_empty(value)
    }


#: What the letters of Inspect count: correct, partial, incorrect, no answer.
LETTERS = {"C": 1, "P": 0.5, "I": 0, "N": 0}
#: The letters that say whether an answer is correct; half of it is neither.
_verdicts = {"C": True, "I": False}
_numbers = frozenset({int, float, bool, ExactFloat})


class Value(NamedTuple):
    """One value of a scorer."""

    #: What is behind the name of the scorer in that of the metric, or "".
    key: str
    #: None if there is no score, or one that is no number.
    number: Any
    is_correct: bool | None
    #: Whether there is a value, and it is no number.
    is_other: bool


def values_in(given: Any) -> Iterator[Value]:
    """Yield the values that a score has: several for a list or an object."""
    if type(given) is dict:
        for key, value in given.items():
            yield _value(str(key), value)
    elif type(given) is list:
        for number, value in enumerate(given):
            yield _value(str(number), value)
    else:
        yield _value("", given)


def _value(key: str, given: Any) -> Value:
    if given is None:
        return Value(key, None, None, is_other=False)
    if type(given) in _numbers:
        return Value(key, given, None, is_other=False)
    if type(given) is str and given in LETTERS:
        return Value(key, LETTERS[given], _verdicts.get(given), is_other=False)
    return Value(key, None, None, is_other=True)
