"""The rules T of Tencent, for rows that their schemas allow."""

from harpia_formats.model.problem import Severity
from harpia_formats.rules import Rule

_question = b'{"role": "user", "content": "Quanto \xc3\xa9 7 + 5?"}'
_answer = b'"responses": [{"content": "12"}]'
_outputs = b'"model_outputs": [{"model_name": "finch-3b", ' + _answer + b"}]"


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
)
