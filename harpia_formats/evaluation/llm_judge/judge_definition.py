"""The checked definition of a judge, from Python arguments or from a file."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from harpia_formats._version import __version__
from harpia_formats.evaluation.llm_judge.endpoint import Endpoint, endpoint_of
from harpia_formats.evaluation.llm_judge.judge_errors import (
    DefinitionError,
    InputError,
    check_keys,
    require,
)
from harpia_formats.evaluation.llm_judge.judge_prompt import Template, template_of
from harpia_formats.evaluation.llm_judge.output_fields import (
    OutputField,
    RowScore,
    output_field,
    row_score,
)
from harpia_formats.files.io.reader import read_side_input
from harpia_formats.formats.registry import (
    definitions_in,
    included_definition,
    included_definitions,
)
from harpia_formats.model.spelling import nearest

#: List types without the type of their items.
_bare = (list, "list", "List", "typing.List")
#: The most characters of a value in a message.
_max_shown = 200


def input_names(inputs: Any) -> tuple[str, ...]:
    """Return the names of the inputs, each of which is a tuple of a name and a type.

    Raises `DefinitionError`.
    """
    require(
        isinstance(inputs, list),
        "inputs must be a list of tuples, each a name and a list type; received "
        + _cut(inputs),
    )
    for entry in inputs:
        is_pair = isinstance(entry, tuple) and len(entry) == 2  # noqa: PLR2004 - a pair
        require(
            is_pair and isinstance(entry[0], str) and entry[1] not in _bare,
            "each input must be a tuple of a name and a type such as list[str], which "
            f"is not the bare list; received {_cut(entry)}",
        )
    return tuple(name for name, _ in inputs)


def output_fields(outputs: Any) -> tuple[OutputField, ...]:
    """Return the output fields of a list of names or of objects with a name.

    Raises `DefinitionError`.
    """
    message = f"outputs must be a list of names; received {_cut(outputs)}"
    require(isinstance(outputs, list), message)
    return tuple(map(output_field, outputs))


def check_examples(examples: Any) -> None:
    """Check that examples are a list of objects with `inputs` and `outputs`.

    Raises `DefinitionError`.
    """
    message = f"examples must be a list of objects; received {_cut(examples)}"
    require(isinstance(examples, list), message)
    for number, example in enumerate(examples, 1):
        message = f"example {number} is no object: {_cut(example)}"
        require(isinstance(example, dict), message)
        require(
            example.keys() == {"inputs", "outputs"},
            f"example {number} must have `inputs` and `outputs` and nothing else; it "
            f"has {_joined(example)}",
        )
        for key, value in example.items():
            _check_side(f"the {key} of example {number}", value)


def _check_side(what: str, value: Any) -> None:
    """Check that a side of an example is an object that can be written as JSON."""
    message = f"{what} must be an object; they are {type(value).__name__}"
    require(isinstance(value, dict), message)
    are_texts = all(isinstance(key, str) for key in value)
    require(are_texts, f"the keys of {what} must be text: {_cut(list(value))}")
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise DefinitionError(f"{what} are not JSON: {error}") from None


def row_count(names: Sequence[str], given: Mapping[str, Any]) -> int:
    """Return the number of rows: the common length of the lists in `given`.

    Raises `InputError` for a missing input, for one that is not a list, and for lists
    of different lengths. This also applies to lists that are not declared.
    """
    for name in names:
        if name not in given:
            near = nearest(name, given)
            hint = f"; is it {near!r}?" if near else ""
            raise InputError(
                f"the input {name!r} is declared and was not given{hint} "
                f"(given: {_joined(given)})"
            )
    for name, value in given.items():
        if not isinstance(value, list):
            raise InputError(
                f"the input {name!r} must be a list with one value for each row; "
                f"it is {type(value).__name__}"
            )
    if not given:
        raise InputError("no inputs are declared and none were given: nothing to judge")
    lengths = {name: len(values) for name, values in given.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} has {count}" for name, count in lengths.items())
        raise InputError(f"the inputs must be lists of one length: {counts}")
    return next(iter(lengths.values()))


def _joined(names: Iterable[Any]) -> str:
    """Return names for a message."""
    return _shortened(", ".join(map(str, names)) or "nothing")


def _cut(value: Any) -> str:
    """Return a value for a message."""
    return _shortened(repr(value))


def _shortened(text: str) -> str:
    """Return the beginning of a text."""
    return text if len(text) <= _max_shown else text[:_max_shown] + "…"


#: The environment variable with the API key.
KEY_VARIABLE = "OPENAI_API_KEY"
_mandatory = ("instructions", "inputs", "outputs", "examples")
_flags = ("progress_bar", "raise_on_failure")
#: The arguments of `LLMJudge` that make a definition.
ARGUMENTS = (*_mandatory, *_flags, "api_params", "api_key_env", "score")


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
    require(isinstance(given["instructions"], str), "instructions must be text")
    flags = {name: given.get(name, True) for name in _flags}
    for name, flag in flags.items():
        require(isinstance(flag, bool), f"{name} must be true or false")
    params = given.get("api_params")
    require(isinstance(params, Mapping | None), "api_params must be an object")
    made = Definition(
        given["instructions"],
        names,
        outputs,
        tuple(given["examples"]),
        endpoint_of(params or {}),
        key_variables=_variables(given.get("api_key_env")),
        score=row_score(given.get("score"), outputs),
        **flags,
    )
    made.template()
    return made


def _variables(given: Any) -> tuple[str, ...]:
    """Return the names of the variables of the environment that may hold the key."""
    if given is None:
        return (KEY_VARIABLE,)
    names = [given] if isinstance(given, str) else given
    is_list = isinstance(names, list | tuple) and names
    require(is_list, "api_key_env must be the name of a variable")
    require(
        all(isinstance(name, str) and name.isidentifier() for name in names),
        # A text that is not a variable name may be the key itself: it is not shown.
        "api_key_env must be the name of a variable of the environment, and not the "
        "key itself",
    )
    return tuple(names)


def _arguments_in(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `LLMJudge` from a document with their names.

    In a document an input is a list of a name and a type, or only a name. Raises
    `DefinitionError` for missing and for unknown keys.
    """
    check_keys(document, ARGUMENTS, "a definition")
    missing = [key for key in _mandatory if key not in document]
    require(not missing, f"the definition lacks {', '.join(missing)}")
    inputs = document["inputs"]
    if isinstance(inputs, list):
        pairs = (
            (each, "list[str]") if isinstance(each, str) else each for each in inputs
        )
        inputs = [tuple(each) if isinstance(each, list) else each for each in pairs]
    return {**document, "inputs": inputs}


#: The most bytes of a definition file, and the most values in it.
_max_bytes, _max_values = 4_000_000, 100_000
#: The scalars of YAML 1.2. In YAML 1.1 yes and no are booleans, and dates not strings.
_yaml_scalars = {
    "tag:yaml.org,2002:bool": (re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")),
    "tag:yaml.org,2002:timestamp": None,
}


def arguments_from(path: Path, component: str | None = None) -> dict[str, Any]:
    """Return the arguments of `LLMJudge` from a definition file, or an included one.

    The name of an included definition stands for it, and not for a file of that name.
    If the file has several definitions, `component` names one of them. Raises
    `DefinitionError`, which names the file.
    """
    included = included_definition(str(path))
    if included is not None:
        return arguments_of(included, component)
    try:
        return arguments_of(_decoded(path), component)
    except DefinitionError as error:
        raise DefinitionError(f"{path}: {error}") from None


def arguments_of(document: Any, component: str | None = None) -> dict[str, Any]:
    """Return the arguments of `LLMJudge` from a decoded document.

    Raises `DefinitionError`, also if no judge can be built from the arguments.
    """
    arguments = _arguments_in(_chosen_definition(document, component))
    definition_of(arguments)
    return arguments


def _chosen_definition(document: Any, component: str | None) -> Mapping[str, Any]:
    """Return the definition in a document: the only one, or that of a component."""
    require(isinstance(document, Mapping), "a definition must be an object")
    is_plain = "instructions" in document and document.keys() <= {*ARGUMENTS}
    if component is None and is_plain:
        return cast("Mapping[str, Any]", document)
    try:
        found = definitions_in(document)
    except ValueError as error:
        raise DefinitionError(str(error)) from None
    if component is not None:
        message = f"there is no definition called {component!r}"
        require(component in found, message)
        return found[component]
    require(
        len(found) <= 1,
        f"there are several definitions, {', '.join(found)}: choose one with "
        "`--component`",
    )
    return next(iter(found.values()), document)


def _decoded(path: Path) -> Any:
    try:
        text = read_side_input(path, _max_bytes)
    except OSError as error:
        reason = error.strerror or "cannot be read"
        near = nearest(str(path), included_definitions())
        hint = f"; did you mean {near}, which is included?" if near else ""
        raise DefinitionError(f"{reason}{hint}") from None
    try:
        decoded = text.decode("utf-8-sig")
        value = _json(decoded) if path.suffix.lower() == ".json" else _yaml(decoded)
        return _without_aliases(value, [_max_values])
    except UnicodeDecodeError:
        raise DefinitionError("is not UTF-8") from None
    except RecursionError:
        raise DefinitionError("is nested too deep") from None


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        raise DefinitionError(f"is not JSON: {error}") from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise DefinitionError(f"has the key {key!r} twice")
        found[key] = value
    return found


def _yaml(text: str) -> Any:
    try:
        import yaml  # noqa: PLC0415 - in the extra judge
    except ImportError:
        raise DefinitionError(
            "is YAML, which needs the extra judge: pip install "
            "'harpia-formats[judge]'; a file called .json needs nothing"
        ) from None

    class Loader(yaml.SafeLoader):
        """Reads the scalars of YAML 1.2, and refuses repeated keys."""

    Loader.yaml_implicit_resolvers = {
        first: [
            (tag, _yaml_scalars.get(tag, pattern) or pattern)
            for tag, pattern in resolvers
            if _yaml_scalars.get(tag, pattern) is not None
        ]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def mapping(loader: Any, node: Any) -> dict[str, Any]:
        loader.flatten_mapping(node)
        pairs = [
            (
                loader.construct_object(key, deep=True),
                loader.construct_object(value, deep=True),
            )
            for key, value in node.value
        ]
        try:
            return _without_repeats(pairs)
        except TypeError:
            raise DefinitionError("has a key that is not text") from None

    Loader.add_constructor("tag:yaml.org,2002:map", mapping)
    try:
        return yaml.load(text, Loader)  # noqa: S506 - a safe loader, with fewer scalars
    except yaml.YAMLError as error:
        reason = " ".join(str(error).split())
        raise DefinitionError(f"is not YAML: {reason}") from None


def _without_aliases(value: Any, left: list[int]) -> Any:
    """Return a copy of `value` in which YAML aliases are separate values.

    `left` counts down the allowed values: nested aliases may stand for billions.
    """
    left[0] -= 1
    require(left[0] >= 0, "has far too many values for a definition")
    if isinstance(value, dict):
        return {key: _without_aliases(member, left) for key, member in value.items()}
    is_list = isinstance(value, list)
    return [_without_aliases(item, left) for item in value] if is_list else value


#: More integers are numbers without classes.
_MOST = 100


def declared_labels(path: Path, names: Sequence[str]) -> tuple[Any, ...]:
    """Return the labels of the first output in a definition with one of `names`.

    They are its choices, or the integers of its range, in their order. Raises
    `DefinitionError` if there is no such output, or it declares no labels.
    """
    outputs = {one.name: one for one in definition_of(arguments_from(path)).outputs}
    found = next((outputs[name] for name in names if name in outputs), None)
    if found is None:
        raise DefinitionError(
            f"{path}: no output is called {' or '.join(names)} (there are: "
            f"{', '.join(outputs)})"
        )
    low, high = found.minimum, found.maximum
    if found.choices or found.kind == "boolean":
        return found.choices or (False, True)
    is_range = found.kind == "integer" and isinstance(low, int)
    if not is_range or not isinstance(high, int):
        raise DefinitionError(
            f"{path}: {found.name} declares neither choices nor integers from a "
            "minimum to a maximum"
        )
    message = f"{path}: {found.name} has more than {_MOST} values"
    require(high - low < _MOST, message)
    return tuple(range(low, high + 1))
