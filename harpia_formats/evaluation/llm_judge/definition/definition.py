"""The definition of a judge, from Python arguments or from a file."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harpia_formats._version import __version__
from harpia_formats.evaluation.llm_judge.definition.checks import (
    check_examples,
    input_names,
    output_fields,
)
from harpia_formats.evaluation.llm_judge.definition.endpoint import (
    Endpoint,
    endpoint_of,
)
from harpia_formats.evaluation.llm_judge.definition.output_fields import OutputField
from harpia_formats.evaluation.llm_judge.definition.prompt import Template, template_of
from harpia_formats.evaluation.llm_judge.definition.row_score import RowScore, row_score
from harpia_formats.evaluation.llm_judge.errors import DefinitionError
from harpia_formats.model.text.spelling import hint_on

#: The environment variable with the API key.
KEY_VARIABLE = "OPENAI_API_KEY"
_mandatory = ("instructions", "inputs", "outputs", "examples")
_optional = (
    "progress_bar",
    "raise_on_failure",
    "api_params",
    "api_key_env",
    "score",
)


@dataclass(frozen=True, slots=True)
class Definition:
    """A checked definition of a judge; its fields are arguments of `LLMJudge`."""

    instructions: str
    #: The names of the inputs.
    names: tuple[str, ...]
    outputs: tuple[OutputField, ...]
    examples: tuple[Mapping[str, Any], ...]
    endpoint: Endpoint
    progress_bar: bool = True
    raise_on_failure: bool = True
    #: Environment variables that may hold the key; the first that is set is used.
    key_variables: tuple[str, ...] = (KEY_VARIABLE,)
    #: How the score of a row follows from its values, None if it has none besides.
    score: RowScore | None = None

    @property
    def signature(self) -> str:
        """The judge's model, and a digest of all that its verdicts depend on.

        Output fields that are declared to be from 0 to 1 are named with their scale.
        """
        from hashlib import sha256  # noqa: PLC0415 - loads OpenSSL, too slow for --help

        endpoint = self.endpoint
        text = json.dumps(
            [
                self.instructions,
                self.names,
                [(output.name, output.value_description) for output in self.outputs],
                self.examples,
                endpoint.params,
                *([] if self.score is None else [self.score.parts]),
            ],
            sort_keys=True,
            default=str,
        )
        scales = [output.scale_label for output in self.outputs]
        if self.score is not None:
            scales.append(self.score.scale_label)
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        return (
            f"judge|impl:harpia-formats-{__version__}|model:{endpoint.model}"
            f"|definition:{digest}{''.join(scales)}"
        )

    def template(self, secret: bytes = b"") -> Template:
        """Return the prompt template; raises `DefinitionError`.

        With a `secret` the data is enclosed in marks that are derived from it.
        """
        return template_of(
            self.instructions, self.names, self.outputs, self.examples, secret
        )


def definition_of(given: Mapping[str, Any]) -> Definition:
    """Return the definition with the given arguments of `LLMJudge`.

    They are checked in the same order as in Haystack's evaluator. Raises
    `DefinitionError` for the first wrong one.
    """
    names = input_names(given["inputs"])
    outputs = output_fields(given["outputs"])
    check_examples(given["examples"])
    if not isinstance(given["instructions"], str):
        raise DefinitionError("instructions must be text")
    for name in ("progress_bar", "raise_on_failure"):
        if not isinstance(given.get(name, True), bool):
            raise DefinitionError(f"{name} must be true or false")
    params = given.get("api_params")
    if not isinstance(params, Mapping | None):
        raise DefinitionError("api_params must be an object")
    made = Definition(
        given["instructions"],
        names,
        outputs,
        tuple(given["examples"]),
        endpoint_of(params or {}),
        given.get("progress_bar", True),
        given.get("raise_on_failure", True),
        _variables(given.get("api_key_env")),
        row_score(given.get("score"), outputs),
    )
    made.template()
    return made


def _variables(given: Any) -> tuple[str, ...]:
    names = [given] if isinstance(given, str) else given
    if names is None:
        return (KEY_VARIABLE,)
    if not isinstance(names, list | tuple) or not names:
        raise DefinitionError("api_key_env must be the name of a variable")
    if not all(isinstance(name, str) and name.isidentifier() for name in names):
        # A text that is not a variable name may be the key itself: it is not shown.
        raise DefinitionError(
            "api_key_env must be the name of a variable of the environment, and not "
            "the key itself"
        )
    return tuple(names)


def is_plain(document: Mapping[str, Any]) -> bool:
    """Tell whether a document is a definition with the argument names of `LLMJudge`."""
    known = {*_mandatory, *_optional}
    return "instructions" in document and document.keys() <= known


def arguments_in(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `LLMJudge` from a document with their names.

    In a document an input is a list of a name and a type, or only a name. Raises
    `DefinitionError` for missing and for unknown keys.
    """
    for key in document:
        known = (*_mandatory, *_optional)
        if key not in known:
            raise DefinitionError(
                f"a definition has no {key!r}{hint_on(str(key), known)}"
            )
    missing = [key for key in _mandatory if key not in document]
    if missing:
        raise DefinitionError(f"the definition lacks {', '.join(missing)}")
    return {**document, "inputs": _as_tuples(document["inputs"])}


def _as_tuples(inputs: Any) -> Any:
    if not isinstance(inputs, list):
        return inputs
    return [
        (entry, "list[str]")
        if isinstance(entry, str)
        else tuple(entry)
        if isinstance(entry, list)
        else entry
        for entry in inputs
    ]
