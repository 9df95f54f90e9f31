"""The formats of Tencent's evaluation sets, rows and a table, and their rules (T)."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from harpia_formats.formats.rules import Rule
from harpia_formats.model.format import Container, Dialect, Format, Remark
from harpia_formats.model.problem import Path, Severity

VENDOR = "Tencent TI"
#: The name of the family of tencent-messages and tencent-outputs.
FAMILY = "tencent"
MESSAGES, OUTPUTS, MANUAL = "tencent-messages", "tencent-outputs", "tencent-manual"

#: Keys of Tencent's rows that no other tool writes.
_own_keys = ("model_outputs", "ref_answer")
#: Names under which other tools write an answer next to the messages.
_answer_keys = (
    "model_response model_answer model_output model_completion model_prediction "
    "response answer output completion prediction generated_text generation "
    "generated_answer candidate actual_output actual-output actual_response"
).split()
#: Keys of other vendors' records with `messages`; a row with any is not Tencent's.
_foreign_keys = frozenset({"interaction_type", "answer_attribution"})
#: Keys of a message, and of a turn of a conversation: each has one at least.
_message_keys = frozenset({"role", "content"})
_turn_keys = frozenset({"prompt", "response"})


def kind_of(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return the kind of `row` and what it is detected by, both "" if it has none."""
    if _is_foreign(row):
        return "", ""
    if "model_outputs" in row:
        is_known = isinstance(row["model_outputs"], list) or "messages" in row
        return (OUTPUTS, "`model_outputs`") if is_known else ("", "")
    if _has_objects_with(_message_keys, row.get("messages")):
        return MESSAGES, "`messages`"
    if _has_objects_with(_turn_keys, row.get("conversation")):
        return MANUAL, "`conversation`"
    return (MESSAGES, "`ref_answer`") if "ref_answer" in row else ("", "")


def own_sign(row: Mapping[str, Any]) -> str:
    """Return by which key `row` is Tencent's and no other tool's, or ""."""
    return next((f"`{key}`" for key in _own_keys if key in row), "")


def unread_answer(row: Mapping[str, Any]) -> str:
    """Return the key of an answer that stands next to a chat, or ""."""
    if "model_outputs" in row or not isinstance(row.get("messages"), list):
        return ""
    return next((key for key in _answer_keys if isinstance(row.get(key), str)), "")


def _has_objects_with(keys: frozenset[str], value: Any) -> bool:
    """Tell whether `value` is or holds an object with one of `keys`."""
    for item in value if isinstance(value, list) else (value,):
        if isinstance(item, dict) and not keys.isdisjoint(item):
            return True
    return False


def _is_foreign(row: Mapping[str, Any]) -> bool:
    if not _foreign_keys.isdisjoint(row):
        return True
    # The hub's records have both; a text called `outputs` can be any tool's.
    return isinstance(row.get("outputs"), list) and "model_outputs" not in row


def row_sign(row: Mapping[str, Any], kind: str) -> str:
    """Return by which key `row` is of `kind`, or "" if it is not."""
    found, sign = kind_of(row)
    return sign if found == kind else ""


UNKNOWN_ROLE, NO_QUESTION, NO_OUTPUTS = "T101", "T102", "T103"

#: The roles that Tencent describes.
ROLES = frozenset({"system", "user", "assistant"})


def message_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the messages of `row`."""
    roles = list(texts_in(row, "messages", "role"))
    for path, role in roles:
        if role not in ROLES:
            yield _unknown_role(path)
    # A message of an unknown role may be the question.
    if roles and not any(role == "user" or role not in ROLES for _, role in roles):
        yield _no_question()


def output_remarks(row: Any) -> Iterator[Remark]:
    """Yield remarks on the messages and the model outputs of `row`."""
    yield from message_remarks(row)
    if isinstance(row, Mapping) and row.get("model_outputs") == []:
        yield Remark(
            NO_OUTPUTS,
            ("model_outputs",),
            "model_outputs is empty, so the judge has nothing to score",
            "give the responses of at least one model, or remove model_outputs to "
            "have them generated",
        )


def texts_in(row: Any, key: str, name: str) -> Iterator[tuple[Path, str]]:
    """Yield the path and the text at `name` of each item in the list at `key`."""
    items = row.get(key) if isinstance(row, Mapping) else None
    for index, item in enumerate(items if isinstance(items, list) else ()):
        value = item.get(name) if isinstance(item, Mapping) else None
        if isinstance(value, str):
            yield (key, index, name), value


def _unknown_role(path: Path) -> Remark:
    return Remark(
        UNKNOWN_ROLE,
        path,
        "the role is not one of those that Tencent describes",
        'use "system", "user" or "assistant"',
    )


def _no_question() -> Remark:
    return Remark(
        NO_QUESTION,
        ("messages",),
        "no message has the role user, so the judge's data.question is None",
        'give the question in a message with the role "user"',
    )


MESSAGES_FORMAT = Format(
    id=MESSAGES,
    title="Questions as chats, with reference answers (Inference and Evaluation)",
    vendor=VENDOR,
    adapter="harpia_converters.tencent.mapping:MESSAGES",
    family=FAMILY,
    dialects=(
        Dialect(
            MESSAGES,
            partial(row_sign, kind=MESSAGES),
            strict="tencent-messages-strict",
            remarks=message_remarks,
            lints="harpia_converters.tencent.lints:MESSAGES",
            own_sign=own_sign,
            unread_answer=unread_answer,
            one_of=frozenset({"messages", "ref_answer"}),
        ),
    ),
)


OUTPUTS_FORMAT = Format(
    id=OUTPUTS,
    title="Questions as chats, with what models answered (Evaluation Only)",
    vendor=VENDOR,
    adapter="harpia_converters.tencent.mapping:OUTPUTS",
    family=FAMILY,
    dialects=(
        Dialect(
            OUTPUTS,
            partial(row_sign, kind=OUTPUTS),
            strict="tencent-outputs-strict",
            remarks=output_remarks,
            lints="harpia_converters.tencent.lints:OUTPUTS",
            one_of=frozenset({"model_outputs"}),
        ),
    ),
)


MANUAL_FORMAT = Format(
    id=MANUAL,
    title="Prompts with expected responses, the older format of manual evaluation",
    vendor=VENDOR,
    adapter="harpia_converters.tencent.mapping:MANUAL",
    dialects=(
        Dialect(
            MANUAL,
            partial(row_sign, kind=MANUAL),
            strict="tencent-manual-strict",
            one_of=frozenset({"conversation"}),
        ),
    ),
)


TABLE = "tencent-csv"
NO_SYSTEM, OTHER_COLUMN = "T104", "T105"

#: The least known columns by which a table is detected.
_minimum = 2
#: Columns of a table of answers, whose `response` is a model's and not expected.
ANSWER_COLUMNS = frozenset({"references", "model"})
#: The columns of a table that lacks its expected answers; with others, or in another
#: order, as csv is written from chats, it is any table of prompts.
_questions = ["system", "prompt"]
#: The most other columns: many tables of other kinds have a column `prompt`.
_most_others = 3


def table_sign(row: Mapping[str, Any], answers: str) -> str:
    """Return by which columns `row` is of a table, references in `answers`, or ""."""
    if answers != (
        "answer" if "answer" in row and "response" not in row else "response"
    ):
        return ""
    if ANSWER_COLUMNS & row.keys():
        return ""
    if answers not in row and list(row) != _questions:
        return ""
    known = [f"`{column}`" for column in ("system", "prompt", answers) if column in row]
    if len(known) < _minimum or len(row) > len(known) + _most_others:
        return ""
    return f"{', '.join(known[:-1])} and {known[-1]}"


def own_sign_of(row: Mapping[str, Any]) -> str:
    """Return by which column a table is Tencent's for sure, or ""."""
    return "`system`" if "system" in row else ""


def remarks_of(row: Any, answers: str) -> Iterator[Remark]:
    """Yield remarks on the columns of `row`, the header of a table."""
    if not isinstance(row, Mapping):
        return
    if "system" not in row:
        yield Remark(
            NO_SYSTEM,
            (),
            "the column system is missing",
            "add the column, blank if there is no system input",
        )
    for column in row:
        if column not in {"system", "prompt", answers}:
            yield Remark(
                OTHER_COLUMN,
                (column,),
                f"the column is not one of system, prompt and {answers}",
                "remove the column: the table has these three only",
                at_key=True,
            )


def _dialect(answers: str, name: str = "") -> Dialect:
    schema = f"{TABLE}-{name}" if name else TABLE
    return Dialect(
        schema,
        partial(table_sign, answers=answers),
        name=name,
        container=Container.TABLE,
        strict=f"{schema}-strict",
        header_remarks=partial(remarks_of, answers=answers),
        documented=not name,
        own_sign=own_sign_of,
        contested=answers,
    )


TABLE_FORMAT = Format(
    id=TABLE,
    title="Prompts with expected responses as a table: system, prompt, response",
    vendor=VENDOR,
    adapter="harpia_converters.tencent.mapping:TABLE",
    dialects=(_dialect("response"), _dialect("answer", name="answer")),
)


_question = b'{"role": "user", "content": "Quanto \xc3\xa9 7 + 5?"}'
_entry = b'{"model_name": "finch-3b", "responses": [{"content": "12"}]}'
_outputs = b'"model_outputs": [' + _entry + b"]"
_reply = b'{"role": "assistant", "content": "12"}'


def _set(*outputs: bytes) -> bytes:
    """Return a set in which each row has a question and some outputs of models."""
    return b"".join(_chat(_question, more=b", " + each) for each in outputs)


def _chat(*messages: bytes, more: bytes = b"") -> bytes:
    """Return a row with these messages and what is `more`."""
    return b'{"messages": [' + b", ".join(messages) + b"]" + more + b"}\n"


_chat_rule = partial(Rule, good=_chat(_question, _reply), validated_as=MESSAGES)
_answer_rule = partial(Rule, good=_set(_outputs), validated_as=OUTPUTS)
_set_rule = partial(_answer_rule, good=_set(_outputs, _outputs), lint=True)
_table_rule = partial(
    Rule,
    good="system,prompt,response\n,Quanto é 7 + 5?,12\n".encode(),
    validated_as=TABLE,
)

RULES = (
    _chat_rule(
        "T101",
        "unknown-role",
        Severity.WARNING,
        "The role of a message should be system, user or assistant.",
        "Tencent describes these three only. The judge's data.question and data.gt are "
        "taken from the messages with the roles user and assistant.",
        _chat(_question, b'{"role": "bot", "content": "12"}'),
    ),
    _chat_rule(
        "T102",
        "no-question",
        Severity.WARNING,
        "A row should have a message of the user.",
        "The last one is the judge's data.question, which is None without it.",
        _chat(b'{"role": "system", "content": "Responda com um n\xc3\xbamero."}'),
        good=_chat(_question),
    ),
    _answer_rule(
        "T103",
        "no-outputs",
        Severity.WARNING,
        "A row for Evaluation Only should have outputs of a model.",
        "The judge scores what is in model_outputs. To have answers generated, leave "
        "model_outputs out and use Inference and Evaluation.",
        _chat(_question, more=b', "model_outputs": []'),
    ),
    _table_rule(
        "T104",
        "no-system-column",
        Severity.NOTE,
        "The column system of a table should be there, blank or not.",
        "Tencent speaks of three columns, and asks for a blank where a row has no "
        "system input.",
        "prompt,response\nQuanto é 7 + 5?,12\n".encode(),
    ),
    _table_rule(
        "T105",
        "other-column",
        Severity.WARNING,
        "A table should have no other columns than system, prompt and response.",
        "Tencent speaks of these three and does not say what happens to others.",
        "system,prompt,response,level\n,Quanto é 7 + 5?,12,1\n".encode(),
    ),
    _chat_rule(
        "T201",
        "late-system-message",
        Severity.NOTE,
        "A system message is the first message, so there is one at most.",
        "Tencent states no such rule, but its examples are so, and many models are "
        "given their system message in front.",
        _chat(
            _question, b'{"role": "system", "content": "Responda em chin\xc3\xaas."}'
        ),
        good=_chat(
            b'{"role": "system", "content": "Responda em chin\xc3\xaas."}', _question
        ),
        lint=True,
    ),
    _answer_rule(
        "T202",
        "repeated-model",
        Severity.WARNING,
        "A model has one entry in the model_outputs of a row.",
        "Its name is what the report adds up by. Several answers to one question go "
        "into the responses of one entry.",
        _set(_outputs.replace(_entry, _entry + b", " + _entry)),
        lint=True,
    ),
    _set_rule(
        "T203",
        "other-models",
        Severity.NOTE,
        "Each row of a set should have answers of the same models.",
        "The report adds up by model, so models that answered other questions cannot "
        "be compared. A row that names a model otherwise is found, too. The rows of "
        "Tencent's own example differ.",
        _set(_outputs, _outputs.replace(b"finch-3b", b"heron-7b")),
    ),
    _set_rule(
        "T204",
        "model-spelling",
        Severity.WARNING,
        "A model should have the same name in the whole set.",
        "Tencent asks for it, and the report has one model for each name. The names "
        "that are listed here differ from those of another row in case or in the marks "
        "between words only.",
        _set(_outputs, _outputs.replace(b"finch-3b", b"Finch_3B")),
    ),
    _set_rule(
        "T205",
        "other-number-of-responses",
        Severity.NOTE,
        "A model should have as many responses in each row of a set.",
        "Several responses are allowed. Where their number differs, a mean over "
        "responses weighs the questions differently, and pass@k is not of one k.",
        _set(_outputs, _outputs.replace(b'"12"}', b'"12"}, {"content": "11"}')),
    ),
    _chat_rule(
        "T206",
        "turn-order",
        Severity.NOTE,
        "User and assistant should speak by turns, and the user first.",
        "Tencent states no such rule. The judge's data.question is the last message of "
        "the user alone: of two that follow each other, the first is history.",
        _chat(_question, _question, _reply),
        lint=True,
    ),
    _chat_rule(
        "T207",
        "unasked-turn",
        Severity.WARNING,
        "A last message of the assistant should answer one of the user.",
        "It is taken as data.gt, the expected answer to data.question. Here it follows "
        "another message of the assistant, so the question has two answers.",
        _chat(_question, _reply, _reply),
        lint=True,
    ),
    _answer_rule(
        "T208",
        "empty-reasoning",
        Severity.NOTE,
        "reasoning_content should not be empty.",
        "Tencent asks to leave the key out where a model gave no reasoning.",
        _set(_outputs.replace(b'"12"', b'"12", "reasoning_content": ""')),
        lint=True,
    ),
    _answer_rule(
        "T209",
        "model-name",
        Severity.WARNING,
        "The name of a model should not be empty, nor have spaces around it.",
        "It is what the report adds up by, so it must be the same in every row.",
        _set(_outputs.replace(b"finch-3b", b"finch-3b ")),
        lint=True,
    ),
    _chat_rule(
        "T210",
        "repeated-row-id",
        Severity.WARNING,
        "Two rows of a set should not have the same id.",
        "Tencent does not ask for ids and keeps the key as it is. Where rows have ids, "
        "a result cannot be traced to one of two rows that share one.",
        _chat(_question, more=b', "id": "1"') * 2,
        good=_chat(_question, more=b', "id": "1"')
        + _chat(_question, more=b', "id": "2"'),
        lint=True,
    ),
)
