"""Tests of what is asked in rows that hold no answers."""

from io import BytesIO

from cases import for_each_case
from harpia_formats import convert

_asked = (
    b'{"id": "1", "messages": [{"role": "system", "content": "Add."}, '
    b'{"role": "user", "content": "2 + 3?"}], "references": ["5"], "params": '
    b'{"model": "m"}, "outputs": [{"text": "five", "turns": [{"role": "user", '
    b'"content": "2 + 3?"}, {"role": "assistant", "content": "LEAKED"}, '
    b'{"role": "tool", "content": "LEAKED"}, {"role": "assistant", '
    b'"content": "five"}]}]}\n'
)


@for_each_case(
    "target",
    [
        "inspect-dataset",
        "openai-evals",
        "openai-chat",
        "openai-batch-input",
        "tencent-messages",
    ],
)
def test_turns_of_an_answer_are_no_question(target: str) -> None:
    """A chat that is asked is written without the turns of the answer to it."""
    output = BytesIO()
    convert(_asked, to=target, output=output)
    written = output.getvalue()
    assert b"2 + 3?" in written
    assert b"LEAKED" not in written
