"""Rows of made questions and answers, in the formats of several vendors."""

from typing import Any

#: A question of NeMo.
NEMO_QUESTION = {"prompt": "q", "ideal_response": "r", "category": "", "source": ""}


def harpia_instance(number: int, **given: Any) -> dict[str, Any]:
    """Return an instance of HarpIA on question `number`, with the given members."""
    return {
        "id": str(number),
        "input": f"q{number}",
        "expected-output": [f"r{number}"],
        "actual-output": f"a{number}",
    } | given


def eee_sample(**given: Any) -> dict[str, Any]:
    """Return a row of EvalEval 0.2.0 with a right answer, with the given members."""
    return {
        "schema_version": "0.2.0",
        "evaluation_id": "e",
        "model_id": "o/m",
        "evaluation_name": "n",
        "sample_id": "1",
        "interaction_type": "single_turn",
        "input": {"raw": "q", "reference": "r"},
        "output": {"raw": "a"},
        "answer_attribution": [],
        "evaluation": {"score": 1.0, "is_correct": True},
    } | given


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
