"""Rows of made questions and answers, in the formats of several vendors."""

from typing import Any


def nemo_answer(number: int, **given: Any) -> dict[str, Any]:
    """Return a row of `nemo-output` on question `number`, with the given members."""
    question = {
        "prompt": f"q{number}",
        "ideal_response": f"r{number}",
        "category": "",
        "source": "",
    }
    return {"input": question, "response": f"a{number}", "llm_name": "m"} | given


def answered(number: int, *answers: str | None, **more: Any) -> dict[str, Any]:
    """Return a record whose reference is its number, with answers of one model."""
    return {
        "id": f"q{number}",
        "prompt": f"what is {number}?",
        "references": [str(number)],
        "outputs": [{"model": "m", "text": text} for text in answers],
    } | more


def assistant_message(text: Any, **keys: Any) -> dict[str, Any]:
    """Return a message of the assistant in a chat of OpenAI."""
    return {"role": "assistant", "content": text, **keys}
