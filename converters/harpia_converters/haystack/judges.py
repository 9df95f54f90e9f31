"""Definitions of LLM judges: the included ones, and those of Haystack's components."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.haystack.detection import object_in

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


#: Parameters of a chat generator that a judge takes unchanged.
_accepted = (
    "model api_base_url generation_kwargs organization timeout max_retries".split()
)
#: Parameters of a chat generator that a judge does not support.
_refused = "streaming_callback tools tools_strict http_client_kwargs".split()
_ours = (
    "instructions inputs outputs examples progress_bar raise_on_failure api_key_env"
).split()
#: Evaluators that are dumped without what they ask for, and the included definition
#: with the same inputs and outputs.
_included = {
    "FaithfulnessEvaluator": "faithfulness",
    "ContextRelevanceEvaluator": "context-relevance",
}
#: Generation parameters of the default generator, which a given one does not have.
_default_generation = ("response_format", "seed")


def definitions_in(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the arguments of a judge for each LLMEvaluator in `document`, by name.

    The name of a component that stands alone is empty. Other components are left out.
    Raises `ValueError` for parameters that a judge does not support, and if there is no
    LLMEvaluator but an evaluator whose dump has no instructions.
    """
    found = {name: _arguments(own) for name, own in _parameters_in(document)}
    if found:
        return found
    below = object_in(document.get("components", {}))
    kinds = {
        str(object_in(one).get("type")).rpartition(".")[2]
        for one in (document, *below.values())
    }
    for kind, included in _included.items():
        if kind in kinds:
            raise ValueError(
                f"the dump of a {kind} has no instructions: `--definition {included}` "
                "has some for the same inputs and outputs"
            )
    return found


def _parameters_in(
    document: Mapping[str, Any],
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    own = _evaluator_parameters(document)
    if own is not None:
        yield "", own
        return
    below = document.get("components", document)
    for name, component in object_in(below).items():
        found = _evaluator_parameters(object_in(component))
        if found is not None:
            yield name, found


def _evaluator_parameters(value: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the parameters of an LLMEvaluator, dumped or not; None for others."""
    if "init_parameters" in value:
        is_judge = str(value.get("type")).rpartition(".")[2] == "LLMEvaluator"
        return object_in(value["init_parameters"]) if is_judge else None
    return value if "instructions" in value else None


def _arguments(parameters: Mapping[str, Any]) -> dict[str, Any]:
    found = {
        key: value
        for key, value in parameters.items()
        if key not in {"api", "api_key", "api_params", "chat_generator"}
        and (key in _ours or value is not None)
    }
    if parameters.get("api", "openai") not in ("openai", None):
        raise ValueError(
            f"the definition asks for the api {parameters['api']!r}, but only OpenAI's "
            "is supported: remove it, and give the URL of a compatible endpoint"
        )
    generator = parameters.get("chat_generator")
    if generator is not None:
        found |= _generator_arguments(object_in(generator))
    elif parameters.get("api_params") is not None:
        found["api_params"] = parameters["api_params"]
    names = _variables(parameters.get("api_key")) or found.get("api_key_env")
    return found | ({"api_key_env": names} if names else {})


def _generator_arguments(generator: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for an evaluator that has a chat generator."""
    kind = str(generator.get("type")).rpartition(".")[2]
    if kind != "OpenAIChatGenerator":
        raise ValueError(
            f"the definition has a chat_generator of the type {kind}, but only "
            "OpenAIChatGenerator is supported: remove it, and give api_params"
        )
    given = object_in(generator.get("init_parameters"))
    for key in _refused:
        if given.get(key):
            raise ValueError(
                f"the chat_generator of the definition has {key}, which a judge does "
                "not support: remove it"
            )
    params = {key: given[key] for key in _accepted if given.get(key) is not None}
    # Haystack sends only what such a generator asks for, without the defaults.
    own = params.get("generation_kwargs", {})
    params["generation_kwargs"] = {
        **dict.fromkeys(_default_generation),
        **object_in(own),
    }
    names = _variables(given.get("api_key"))
    return {"api_params": params} | ({"api_key_env": names} if names else {})


def _variables(secret: Any) -> list[str]:
    """Return the environment variables of a dumped secret; raises `ValueError`."""
    if secret is None:
        return []
    names = object_in(secret).get("env_vars")
    if not isinstance(names, list) or not names:
        raise ValueError(
            "the api_key of the definition is not an environment variable: remove it, "
            "and set OPENAI_API_KEY, because a file must not hold a key"
        )
    return names
