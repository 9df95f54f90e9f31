"""The rules T of Tencent, for rows that their schemas allow."""

from harpia_formats.formats.rules import Rule
from harpia_formats.model.problem import Severity

_question = b'{"role": "user", "content": "Quanto \xc3\xa9 7 + 5?"}'
_answer = b'"responses": [{"content": "12"}]'
_outputs = b'"model_outputs": [{"model_name": "finch-3b", ' + _answer + b"}]"
_reply = b'{"role": "assistant", "content": "12"}'


def _set(*outputs: bytes) -> bytes:
    """Return a set in which each row has a question and some outputs of models."""
    return b"".join(_chat(_question, more=b", " + each) for each in outputs)


def _chat(*messages: bytes, more: bytes = b"") -> bytes:
    """Return a row with these messages and what is `more`."""
    return b'{"messages": [' + b", ".join(messages) + b"]" + more + b"}\n"


RULES = (
    Rule(
        "T101",
        "unknown-role",
        Severity.WARNING,
        "The role of a message should be system, user or assistant.",
        "Tencent describes these three only. The judge's data.question and data.gt are "
        "taken from the messages with the roles user and assistant.",
        _chat(_question, b'{"role": "bot", "content": "12"}'),
        _chat(_question, b'{"role": "assistant", "content": "12"}'),
        "tencent-messages",
    ),
    Rule(
        "T102",
        "no-question",
        Severity.WARNING,
        "A row should have a message of the user.",
        "The last one is the judge's data.question, which is None without it.",
        _chat(b'{"role": "system", "content": "Responda com um n\xc3\xbamero."}'),
        _chat(_question),
        "tencent-messages",
    ),
    Rule(
        "T103",
        "no-outputs",
        Severity.WARNING,
        "A row for Evaluation Only should have outputs of a model.",
        "The judge scores what is in model_outputs. To have answers generated, leave "
        "model_outputs out and use Inference and Evaluation.",
        _chat(_question, more=b', "model_outputs": []'),
        _chat(_question, more=b", " + _outputs),
        "tencent-outputs",
    ),
    Rule(
        "T104",
        "no-system-column",
        Severity.NOTE,
        "The column system of a table should be there, blank or not.",
        "Tencent speaks of three columns, and asks for a blank where a row has no "
        "system input.",
        "prompt,response\nQuanto é 7 + 5?,12\n".encode(),
        "system,prompt,response\n,Quanto é 7 + 5?,12\n".encode(),
        "tencent-csv",
    ),
    Rule(
        "T105",
        "other-column",
        Severity.WARNING,
        "A table should have no other columns than system, prompt and response.",
        "Tencent speaks of these three and does not say what happens to others.",
        "system,prompt,response,level\n,Quanto é 7 + 5?,12,1\n".encode(),
        "system,prompt,response\n,Quanto é 7 + 5?,12\n".encode(),
        "tencent-csv",
    ),
    Rule(
        "T201",
        "late-system-message",
        Severity.NOTE,
        "A system message is the first message, so there is one at most.",
        "Tencent states no such rule, but its examples are so, and many models are "
        "given their system message in front.",
        _chat(
            _question, b'{"role": "system", "content": "Responda em chin\xc3\xaas."}'
        ),
        _chat(
            b'{"role": "system", "content": "Responda em chin\xc3\xaas."}', _question
        ),
        "tencent-messages",
        lint=True,
    ),
    Rule(
        "T202",
        "repeated-model",
        Severity.WARNING,
        "A model has one entry in the model_outputs of a row.",
        "Its name is what the report adds up by. Several answers to one question go "
        "into the responses of one entry.",
        _chat(
            _question,
            more=b', "model_outputs": [{"model_name": "finch-3b", '
            + _answer
            + b'}, {"model_name": "finch-3b", '
            + _answer
            + b"}]",
        ),
        _chat(_question, more=b", " + _outputs),
        "tencent-outputs",
        lint=True,
    ),
    Rule(
        "T203",
        "other-models",
        Severity.NOTE,
        "Each row of a set should have answers of the same models.",
        "The report adds up by model, so models that answered other questions cannot "
        "be compared. A row that names a model otherwise is found, too. The rows of "
        "Tencent's own example differ.",
        _set(_outputs, _outputs.replace(b"finch-3b", b"heron-7b")),
        _set(_outputs, _outputs),
        "tencent-outputs",
        lint=True,
    ),
    Rule(
        "T204",
        "model-spelling",
        Severity.WARNING,
        "A model should have the same name in the whole set.",
        "Tencent asks for it, and the report has one model for each name. The names "
        "that are listed here differ from those of another row in case or in the marks "
        "between words only.",
        _set(_outputs, _outputs.replace(b"finch-3b", b"Finch_3B")),
        _set(_outputs, _outputs),
        "tencent-outputs",
        lint=True,
    ),
    Rule(
        "T205",
        "other-number-of-responses",
        Severity.NOTE,
        "A model should have as many responses in each row of a set.",
        "Several responses are allowed. Where their number differs, a mean over "
        "responses weighs the questions differently, and pass@k is not of one k.",
        _set(_outputs, _outputs.replace(b'"12"}', b'"12"}, {"content": "11"}')),
        _set(_outputs, _outputs),
        "tencent-outputs",
        lint=True,
    ),
    Rule(
        "T206",
        "turn-order",
        Severity.NOTE,
        "User and assistant should speak by turns, and the user first.",
        "Tencent states no such rule. The judge's data.question is the last message of "
        "the user alone: of two that follow each other, the first is history.",
        _chat(_question, _question, _reply),
        _chat(_question, _reply),
        "tencent-messages",
        lint=True,
    ),
    Rule(
        "T207",
        "unasked-turn",
        Severity.WARNING,
        "A last message of the assistant should answer one of the user.",
        "It is taken as data.gt, the expected answer to data.question. Here it follows "
        "another message of the assistant, so the question has two answers.",
        _chat(_question, _reply, _reply),
        _chat(_question, _reply),
        "tencent-messages",
        lint=True,
    ),
    Rule(
        "T208",
        "empty-reasoning",
        Severity.NOTE,
        "reasoning_content should not be empty.",
        "Tencent asks to leave the key out where a model gave no reasoning.",
        _set(_outputs.replace(b'"12"', b'"12", "reasoning_content": ""')),
        _set(_outputs),
        "tencent-outputs",
        lint=True,
    ),
    Rule(
        "T209",
        "model-name",
        Severity.WARNING,
        "The name of a model should not be empty, nor have spaces around it.",
        "It is what the report adds up by, so it must be the same in every row.",
        _set(_outputs.replace(b"finch-3b", b"finch-3b ")),
        _set(_outputs),
        "tencent-outputs",
        lint=True,
    ),
    Rule(
        "T210",
        "repeated-row-id",
        Severity.WARNING,
        "Two rows of a set should not have the same id.",
        "Tencent does not ask for ids and keeps the key as it is. Where rows have ids, "
        "a result cannot be traced to one of two rows that share one.",
        _chat(_question, more=b', "id": "1"') * 2,
        _chat(_question, more=b', "id": "1"') + _chat(_question, more=b', "id": "2"'),
        "tencent-messages",
        lint=True,
    ),
)
