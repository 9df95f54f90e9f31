"""Check what Haystack accepts of a definition by accident (K313-K317)."""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from harpia_converters.haystack.components import below, of_components
from harpia_converters.haystack.phrases import quoted
from harpia_converters.haystack.values import list_in, object_in
from harpia_formats.model.format import Remark, Remarks
from harpia_formats.model.lint import Lints, RowLint

EXAMPLE_INPUT, EXAMPLE_OUTPUTS, SAME_NAME = "K313", "K314", "K315"
EMPTY_OUTPUT, NO_INSTRUCTIONS = "K316", "K317"

#: A list type: what it is a list of.
_list_of = re.compile(r"(?:typing\.)?[Ll]ist\[(?P<item>.+)\]", re.DOTALL)
_kinds: dict[type, str] = {
    str: "text",
    bool: "true or false",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
}


def remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on the parameters of an LLMEvaluator."""
    parts = object_in(document)
    instructions = parts.get("instructions")
    if isinstance(instructions, str) and not instructions.strip():
        help_ = "say what the judge is to decide: it is asked for the outputs only"
        message = "the instructions are empty"
        yield Remark(NO_INSTRUCTIONS, ("instructions",), message, help_)
    inputs = {
        declared[0]: declared[1] if declared[1:] else None
        for declared in list_in(parts.get("inputs"))
        if isinstance(declared, list) and declared and isinstance(declared[0], str)
    }
    yield from _outputs(parts, inputs)
    yield from _example_inputs(parts, inputs)
    yield from _example_outputs(parts)


def _outputs(parts: Mapping[str, Any], inputs: Mapping[str, Any]) -> Iterator[Remark]:
    for number, name in enumerate(list_in(parts.get("outputs"))):
        if not isinstance(name, str):
            continue
        if not name.strip():
            message = "the name of an output is empty"
            help_ = "give a name: the judge is asked for a value under it"
            yield Remark(EMPTY_OUTPUT, ("outputs", number), message, help_)
        elif name in inputs:
            message = f"the output {quoted(name)} is named like an input"
            help_ = "rename one of the two: the judge is shown both under one name"
            yield Remark(SAME_NAME, ("outputs", number), message, help_)


def _example_inputs(
    parts: Mapping[str, Any], inputs: Mapping[str, Any]
) -> Iterator[Remark]:
    """Yield a remark for each example value that is no item of its input."""
    for number, example in enumerate(list_in(parts.get("examples"))):
        given = object_in(object_in(example).get("inputs"))
        for name, value in given.items():
            declared = inputs.get(name)
            found = _list_of.fullmatch(declared) if isinstance(declared, str) else None
            wanted = _kind_of_type(found["item"]) if found else ""
            kind = _kinds.get(type(value), "null")
            if wanted and kind != wanted:
                message = (
                    f"the example gives {kind} for {quoted(name)}, of which each row "
                    f"has {wanted}"
                )
                help_ = f"give {wanted}: an example stands for one row"
                path = ("examples", number, "inputs", name)
                yield Remark(EXAMPLE_INPUT, path, message, help_)


def _kind_of_type(name: str) -> str:
    """Return which kind of value a type has, "" if several, or if it is not known."""
    name = name.strip()
    if _list_of.fullmatch(name) or name in {"list", "List", "typing.List"}:
        return "a list"
    return {"str": "text", "int": "a number", "float": "a number"}.get(name, "")


def _example_outputs(parts: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield a remark for each output of another kind than in the first example."""
    first: dict[str, str] = {}
    for number, example in enumerate(list_in(parts.get("examples"))):
        given = object_in(object_in(example).get("outputs"))
        for name, value in given.items():
            kind = _kinds.get(type(value), "null")
            usual = first.setdefault(name, kind)
            if kind != usual:
                message = (
                    f"the output {quoted(name)} of the example is {kind}, but {usual} "
                    "in an earlier one"
                )
                help_ = "give values of one kind: the judge follows the examples"
                path = ("examples", number, "outputs", name)
                yield Remark(EXAMPLE_OUTPUTS, path, message, help_)


def dumped_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on the parameters in an LLMEvaluator's `to_dict`."""
    component = object_in(document)
    if str(component.get("type")).rpartition(".")[2] == "LLMEvaluator":
        inner = remarks(component.get("init_parameters"))
        yield from below(("init_parameters",), inner)


def component_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on a component, which is dumped or only its parameters."""
    is_dumped = not object_in(document).keys().isdisjoint({"type", "init_parameters"})
    return dumped_remarks(document) if is_dumped else remarks(document)


def pipeline_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on the evaluators of a dumped pipeline."""
    components = object_in(document).get("components")
    return below(("components",), of_components(components, dumped_remarks))


def _lints(remarks_of: Remarks) -> Lints:
    codes = (EXAMPLE_INPUT, EXAMPLE_OUTPUTS, SAME_NAME, EMPTY_OUTPUT, NO_INSTRUCTIONS)
    return Lints(rows=(RowLint(codes, remarks_of),))


DEFINITION, DUMPED = _lints(remarks), _lints(dumped_remarks)
COMPONENTS = _lints(partial(of_components, remarks=component_remarks))
PIPELINE = _lints(pipeline_remarks)
