"""References that occur in prompts."""

from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from harpia_formats.formats.rules.sample_faults import is_leaked, may_leak


@for_each_case(
    "reference, prompt",
    [
        ("Paris", "Is it Paris? What is the capital of France?"),
        ("paris.", "Is it PARIS? What is the capital of France?"),
        ("São Paulo", "A resposta é SÃO\n  PAULO, não é?"),
        ("The answer is 42", "Hint: the  answer is\t42."),
        ("ЖДИЛИ", "Это ждили?"),
        ("北京大学", "答案是北京大学。"),
        ("\n#include <stdio.h>\n", "Read: #include <stdio.h> and explain."),
        ("naïve", "So NAÏVE!"),
    ],
)
def test_leak(reference: str, prompt: str) -> None:
    """A reference is found as it is, and but for case, white space and marks."""
    assert is_leaked(reference, ["", prompt], [])


@for_each_case(
    "reference, prompt, choices",
    [
        ("yes", "Answer yes or no.", []),
        ("Rome", "Who is Romeo?", []),
        ("1000", "What is 10001 - 9001?", []),
        ("Paris", "Paris or Rome?", ["Rome", "Paris"]),
        ("paris", "Paris or Rome?", ["(A) Paris"]),
        ("Lisbon", "What is the capital of Portugal?", []),
        ("北京大学", "北京的大学在哪里?", []),
        ("....", "What comes next....", []),
    ],
)
def test_no_leak(reference: str, prompt: str, choices: list[str]) -> None:
    """Short references, parts of words and what choices carry are no leaks."""
    assert not is_leaked(reference, [prompt], choices)


@given(st.text(), st.text(), st.text())
def test_reference_with_spaces_around_is_found(
    before: str, reference: str, after: str
) -> None:
    """A reference of some length that is in a prompt as a whole word is found."""
    prompt = f"{before} {reference} {after}"
    words = " ".join(reference.split())

    if len(words) > 3 and all(letter.isalnum() or letter == " " for letter in words):
        assert may_leak(reference, prompt)
        assert is_leaked(reference, [prompt], []) == (len(words.casefold()) > 3)
