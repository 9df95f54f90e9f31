"""The formats alpaca and sharegpt, their rules (G), and sets that are not read."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from harpia_formats.formats.rules import Rule
from harpia_formats.model.format import Dialect, Format, Remark, UnreadFiles
from harpia_formats.model.problem import Severity

INPUT_ALONE, NO_INPUT = "G201", "G202"

#: Keys under which sets for KTO tell whether the output is good.
_verdict_keys = ("label", "kto_tag")
#: Words for an absent input; Stanford's generator leaves out the first one.
_placeholders = frozenset({"<noinput>", "noinput", "no input"})


def alpaca_sign(row: Mapping[str, Any]) -> str:
    """Return the sign that `row` is an instruction with its output, or ""."""
    return "" if _verdict(row) else _alpaca_keys_sign(row)


def alpaca_verdict_sign(row: Mapping[str, Any]) -> str:
    """Return by which key an instruction has a verdict for KTO, or ""."""
    return _alpaca_keys_sign(row) and _verdict(row)


def choice_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys an instruction has two outputs for DPO, or ""."""
    is_choice = _is_text(row, "instruction") and "chosen" in row and "rejected" in row
    return "`chosen` and `rejected`" if is_choice else ""


def _alpaca_keys_sign(row: Mapping[str, Any]) -> str:
    is_pair = _is_text(row, "instruction") and _is_text(row, "output")
    return "`instruction` and `output`" if is_pair else ""


def _verdict(row: Mapping[str, Any]) -> str:
    found = (key for key in _verdict_keys if isinstance(row.get(key), bool))
    return next((f"`{key}`" for key in found), "")


def _is_text(row: Mapping[str, Any], key: str) -> bool:
    return isinstance(row.get(key), str)


def alpaca_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the instruction and the input of `row` (G201, G202)."""
    given = row.get("input", "").strip()
    if not given:
        return
    if not row["instruction"].strip():
        yield Remark(
            INPUT_ALONE,
            ("instruction",),
            "the instruction is empty, and the input is not",
            "write what is to be done with the input, or move the input here",
        )
    if given.casefold() in _placeholders:
        yield Remark(
            NO_INPUT,
            ("input",),
            "the input says that there is none, and becomes a part of the prompt",
            'write "" if there is no input',
        )


ALPACA_UNREAD = (
    UnreadFiles("instructions with verdicts for KTO", alpaca_verdict_sign),
    UnreadFiles("instructions with two outputs for DPO", choice_sign),
)
ALPACA_FORMAT = Format(
    id="alpaca",
    title="Instructions with an input and the expected output",
    vendor="Alpaca",
    adapter="harpia_converters.fine_tuning.mapping:ALPACA",
    read_only=True,
    dialects=(
        Dialect(
            "alpaca",
            alpaca_sign,
            remarks=alpaca_remarks,
            lints="harpia_converters.fine_tuning.lints:ALPACA",
            one_of=frozenset({"instruction"}),
        ),
    ),
)


_bad = '{"instruction": "%s", "input": "%s", "output": "rio"}\n'


def _alpaca_row(instruction: str, given: str) -> bytes:
    """Return a row with an instruction and an input."""
    return (_bad % (instruction, given)).encode()


ALPACA_RULES = (
    Rule(
        "G201",
        "input-alone",
        Severity.WARNING,
        "An instruction should not be empty if there is an input.",
        "The input is what the instruction is about. Without an instruction the prompt "
        "does not say what is to be done.",
        _alpaca_row("", "river"),
        _alpaca_row("Traduza para o português.", "river"),
        "alpaca",
    ),
    Rule(
        "G202",
        "input-says-none",
        Severity.WARNING,
        "An input that is not there should be empty text.",
        "The generator of the first such set wrote <noinput> where an instruction has "
        "none, and removed it at the end. Where it is left, it is read as an input, "
        "and the model gets it in its prompt.",
        _alpaca_row("Diga uma palavra que rime com frio.", "<noinput>"),
        _alpaca_row("Diga uma palavra que rime com frio.", ""),
        "alpaca",
    ),
)


_turn_keys = frozenset({"from", "value"})


def sharegpt_sign(row: Mapping[str, Any]) -> str:
    """Return the sign that `row` is a conversation of turns, or ""."""
    return "" if _verdict(row) else _turns_sign(row)


def sharegpt_verdict_sign(row: Mapping[str, Any]) -> str:
    """Return by which key a conversation has a verdict for KTO, or ""."""
    return _turns_sign(row) and _verdict(row)


def sharegpt_remarks(row: Any) -> Iterator[Remark]:
    """Return remarks on the turns and on the tools of `row` (G101-G103)."""
    from harpia_converters.fine_tuning.turn_checks import turn_remarks  # noqa: PLC0415 - most runs read no such row

    return turn_remarks(row)


def _turns_sign(row: Mapping[str, Any]) -> str:
    turns = row.get("conversations")
    has_turns = isinstance(turns, list) and any(
        isinstance(turn, Mapping) and turn.keys() >= _turn_keys for turn in turns
    )
    return "`from` and `value` in `conversations`" if has_turns else ""


SHAREGPT_UNREAD = (
    UnreadFiles("conversations with verdicts for KTO", sharegpt_verdict_sign),
)
SHAREGPT_FORMAT = Format(
    id="sharegpt",
    title="Conversations of a person and a model, turn by turn",
    vendor="ShareGPT",
    adapter="harpia_converters.fine_tuning.mapping:SHAREGPT",
    id_key="id",
    ids_repeat=True,
    read_only=True,
    dialects=(
        Dialect(
            "sharegpt",
            sharegpt_sign,
            remarks=sharegpt_remarks,
            lints="harpia_converters.fine_tuning.lints:SHAREGPT",
            one_of=frozenset({"conversations"}),
        ),
    ),
)


_asked = b'{"from": "human", "value": "Que horas s\xc3\xa3o em Luanda?"}'
_called = (
    b'{"from": "function_call", "value": '
    b'"{\\"name\\": \\"clock\\", \\"arguments\\": {\\"city\\": \\"Luanda\\"}}"}'
)
_seen = b'{"from": "observation", "value": "14:05"}'
_answered = b'{"from": "gpt", "value": "14:05."}'


def _sharegpt_row(*turns: bytes, more: bytes = b"") -> bytes:
    """Return a row with these turns and what is `more`."""
    return b'{"conversations": [' + b", ".join(turns) + b"]" + more + b"}\n"


_turn_rule = partial(
    Rule,
    good=_sharegpt_row(_asked, _called, _seen, _answered),
    validated_as="sharegpt",
)

SHAREGPT_RULES = (
    _turn_rule(
        "G101",
        "unknown-speaker",
        Severity.WARNING,
        "The speaker of a turn should be human, gpt, system, function_call or "
        "observation.",
        "Tools that train on such sets know these five, and pass over conversations "
        "with others. The names user, assistant and tool are read as what they say. A "
        "turn of any other speaker becomes a message whose role is that name.",
        _sharegpt_row(_asked, b'{"from": "bot", "value": "14:05."}'),
        good=_sharegpt_row(_asked, _answered),
    ),
    _turn_rule(
        "G102",
        "tools-text",
        Severity.WARNING,
        "The value of tools should be JSON text.",
        "The tools that the model may call stand in a text. If it is no JSON, it is "
        "kept as it is, and formats with a place for tools do not get them.",
        _sharegpt_row(_asked, _answered, more=b', "tools": "clock(city)"'),
        good=_sharegpt_row(
            _asked, _answered, more=b', "tools": "[{\\"name\\": \\"clock\\"}]"'
        ),
    ),
    _turn_rule(
        "G103",
        "call-text",
        Severity.WARNING,
        "The value of a function_call should be the JSON text of a call.",
        "A call is an object with a name and arguments, or a list of such objects. Any "
        "other text becomes the content of a message, and no tool is called.",
        _sharegpt_row(
            _asked,
            b'{"from": "function_call", "value": "clock(Luanda)"}',
            _seen,
            _answered,
        ),
    ),
    _turn_rule(
        "G111",
        "speaker-order",
        Severity.WARNING,
        "The person and the model should speak by turns, the person first.",
        "An observation counts as a turn of the person, a function_call as one of the "
        "model. Tools that train on such sets leave out conversations in another "
        "order. A system turn can only be the first one.",
        _sharegpt_row(_asked, _asked, _answered),
        good=_sharegpt_row(_asked, _answered),
        lint=True,
    ),
    _turn_rule(
        "G112",
        "observation-without-call",
        Severity.WARNING,
        "An observation should follow a function_call.",
        "It is the result of the call. Without one it is not known which tool returned "
        "it.",
        _sharegpt_row(_asked, _answered, _seen, _answered),
        lint=True,
    ),
)


#: Keys of a part of a message's content.
_part_keys = frozenset({"type", "value"})


def _chat_of(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the messages of a row that are objects."""
    messages = row.get("messages")
    if not isinstance(messages, list):
        return []
    return [message for message in messages if isinstance(message, Mapping)]


def _kto_sign(row: Mapping[str, Any]) -> str:
    is_verdict = isinstance(row.get("label"), bool)
    return "`label`" if is_verdict and _chat_of(row) else ""


def _parts_sign(row: Mapping[str, Any]) -> str:
    for message in _chat_of(row):
        if "loss_weight" in message:
            return "`loss_weight` in a message"
        if _has_typed_parts(message.get("content")):
            return "content of parts with `type` and `value`"
    return ""


def _has_typed_parts(content: Any) -> bool:
    """Tell whether `content` is a list of parts, each with a type and a value."""
    parts = content if isinstance(content, list) else ()
    return any(
        isinstance(part, Mapping) and _part_keys <= part.keys() for part in parts
    )


LLAMA_FACTORY_UNREAD = (
    UnreadFiles("chats with verdicts for KTO", _kto_sign),
    UnreadFiles("chats of typed parts", _parts_sign),
)
