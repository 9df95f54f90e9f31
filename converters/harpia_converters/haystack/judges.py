"""Definitions of judges with the inputs and outputs of two evaluators of Haystack.

Haystack's FaithfulnessEvaluator and ContextRelevanceEvaluator ask for the same lists
and score a row by the same rules; the instructions and examples here are our own.
"""

from typing import Any

#: The share of the statements of an answer that its contexts support.
FAITHFULNESS: dict[str, Any] = {
    "instructions": (
        "Decide how far the contexts support an answer. First write the answer to the "
        "question as statements: short sentences, each of which claims one fact and "
        "can be understood alone. Then give each statement a score, in the same order: "
        "1 if the contexts say or imply it, and 0 if they do not, even if it is true. "
        "For an answer that claims nothing both lists are empty."
    ),
    "inputs": ["questions", "contexts", "predicted_answers"],
    "outputs": [
        {"name": "statements", "type": "array"},
        {"name": "statement_scores", "type": "array"},
    ],
    "examples": [
        {
            "inputs": {
                "questions": "Where does the jaguar live, and what does it eat?",
                "contexts": ["Jaguars live in the Pantanal.", "They hunt capybaras."],
                "predicted_answers": "It lives in the Pantanal and eats fish.",
            },
            "outputs": {
                "statements": [
                    "The jaguar lives in the Pantanal.",
                    "The jaguar eats fish.",
                ],
                "statement_scores": [1, 0],
            },
        },
        {
            "inputs": {
                "questions": "What is the capital of Mozambique?",
                "contexts": ["Luanda is the capital of Angola."],
                "predicted_answers": "Maputo",
            },
            "outputs": {
                "statements": ["Maputo is the capital of Mozambique."],
                "statement_scores": [0],
            },
        },
        {
            "inputs": {
                "questions": "What is the capital of Mozambique?",
                "contexts": ["Maputo is the capital of Mozambique."],
                "predicted_answers": "I do not know.",
            },
            "outputs": {"statements": [], "statement_scores": []},
        },
    ],
    "score": {"mean_of": "statement_scores", "each_of": "statements"},
}

#: Whether anything in the contexts helps to answer the question.
CONTEXT_RELEVANCE: dict[str, Any] = {
    "instructions": (
        "Copy from the contexts the sentences that are needed to answer the question, "
        "word by word, and no others. If no sentence helps, or if the contexts do not "
        "answer the question, give an empty list."
    ),
    "inputs": ["questions", "contexts"],
    "outputs": [{"name": "relevant_statements", "type": "array"}],
    "examples": [
        {
            "inputs": {
                "questions": "Where does the jaguar live?",
                "contexts": ["Jaguars live in the Pantanal. They hunt capybaras."],
            },
            "outputs": {"relevant_statements": ["Jaguars live in the Pantanal."]},
        },
        {
            "inputs": {
                "questions": "What is the capital of Mozambique?",
                "contexts": ["Luanda is the capital of Angola.", "Africa is large."],
            },
            "outputs": {"relevant_statements": []},
        },
    ],
    "score": {"any_of": "relevant_statements"},
}
