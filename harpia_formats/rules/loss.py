"""L: what a conversion does to the fields of records."""

from harpia_formats.problem import Severity
from harpia_formats.rules import Rule

#: The rules on a record that cannot be converted, and on ids that meet.
UNCONVERTIBLE, COLLISION = "L201", "L202"
_answer = (
    b'{"input": {"prompt": "2+2?", "ideal_response": "4", "category": "", '
    b'"source": ""}, "response": "4", "llm_name": "m"}\n'
)
_question = (
    b'{"prompt": "2+2?", "ideal_response": "4", "category": "", "source": ""}\n'
)
_bare = b'{"prompt": "2+2?", "references": ["4"], "outputs": []}\n'
_two = b'{"prompt": "2+2?", "outputs": [{"text": "4"}, {"text": "5"}]}\n'
_one = b'{"prompt": "2+2?", "outputs": [{"text": "4"}]}\n'
_chat = (
    b'{"messages": [{"role": "user", "content": "2+2?"}, '
    b'{"role": "assistant", "content": "4"}, {"role": "user", "content": "And 3+3?"}], '
    b'"ref_answer": "6"}\n'
)
_plain = b'{"messages": [{"role": "user", "content": "3+3?"}], "ref_answer": "6"}\n'
_scored = (
    b'{"prompt": "2+2?", "outputs": [{"text": "4", "scores": '
    b'[{"metric": "em", "value": 1}]}]}\n'
)

RULES = (
    Rule(
        "L101",
        "dropped",
        Severity.WARNING,
        "A field has no place in the format that is written.",
        "The value is not in the output. --keep-extra keeps it where the format has "
        "room for it, and --on-loss fail stops the conversion instead.",
        _answer,
        _question,
        "nemo",
        command="convert",
        arguments=("--to", "nemo-input"),
    ),
    Rule(
        "L102",
        "changed",
        Severity.WARNING,
        "A field is written as another value.",
        "The format that is written says the same in another way, or less of it. What "
        "was done is said in the table of losses.",
        _chat,
        _plain,
        "tencent-messages",
        command="convert",
        arguments=("--to", "nemo-input", "--set", "category=", "--set", "source="),
    ),
    Rule(
        "L103",
        "defaulted",
        Severity.NOTE,
        "A field that the source lacks is written with a value of ours.",
        "The format that is written asks for it. The value is a documented default, the "
        "number of the record, or what --set gives.",
        _bare,
        _question,
        "",
        command="convert",
        arguments=("--to", "nemo-input"),
    ),
    Rule(
        "L104",
        "split",
        Severity.NOTE,
        "A record becomes several rows.",
        "The format that is written holds one of what the record has several of. Their "
        "ids get # and a number, and --group id puts them together again.",
        _two,
        _one,
        "record",
        command="convert",
        arguments=("--to", "haystack"),
    ),
    Rule(
        "L105",
        "merged",
        Severity.WARNING,
        "A field is written as a part of another one.",
        "The value is in the output, but it does not come back as the field that it "
        "was.",
        b'{"messages": [{"role": "user", "content": "2+2?"}, {"role": "user", '
        b'"content": "?"}], "prompt": "?", "references": ["4"], '
        b'"outputs": [{"text": "4", "turns": []}, {"text": "4"}]}\n',
        _scored,
        "record",
        command="convert",
    ),
    Rule(
        UNCONVERTIBLE,
        "unconvertible",
        Severity.ERROR,
        "A record lacks what the format that is written must have.",
        "Give it with --set, or leave such records out with --on-invalid skip or "
        "quarantine.",
        b'{"prompt": "2+2?", "outputs": []}\n',
        b'{"prompt": "2+2?", "references": ["4"], "category": "", "source": "", '
        b'"outputs": []}\n',
        "record",
        command="convert",
        arguments=("--to", "nemo-input"),
    ),
    Rule(
        COLLISION,
        "id-collision",
        Severity.ERROR,
        "Two records of the output have the same id.",
        "Several inputs may use the same ids; --prefix-ids puts the name of its file in "
        "front of each.",
        _bare.replace(b"{", b'{"id": "1", ', 1) * 2,
        _bare.replace(b"{", b'{"id": "1", ', 1)
        + _bare.replace(b"{", b'{"id": "2", ', 1),
        "record",
        command="convert",
        arguments=("--to", "harpia"),
    ),
)
