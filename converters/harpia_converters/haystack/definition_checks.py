"""Check the definition of an LLMEvaluator (K301-K307, K310, K312)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harpia_converters.haystack.loadable_types import is_loadable_type
from harpia_converters.haystack.phrases import listed, quoted
from harpia_converters.haystack.templates import broken_template
from harpia_converters.haystack.values import list_in, object_in
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path

#: Parameters that Haystack has no more since 2.20.
_old = ("api", "api_key", "api_params")
_list_type = re.compile(r"((typing\.)?List|list)(\[.+\])?", re.DOTALL)
_template = re.compile(r"\{\{[-+]?\s*(?P<variable>[^\W\d]\w*)?|\{[%#]")


def remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on a definition that its schema allows."""
    parts = object_in(document)
    inputs = [
        (("inputs", number, 0), declared[0])
        for number, declared in enumerate(list_in(parts.get("inputs")))
        if isinstance(declared, list) and declared and isinstance(declared[0], str)
    ]
    outputs = [
        (("outputs", number), output)
        for number, output in enumerate(list_in(parts.get("outputs")))
        if isinstance(output, str)
    ]
    yield from _check_declared(parts)
    yield from _check_input_names(inputs)
    yield from _check_input_types(parts)
    yield from _check_repeated(inputs)
    yield from _check_repeated(outputs)
    input_names = {name for _, name in inputs}
    yield from _check_examples(parts, input_names, {name for _, name in outputs})
    yield from _check_templates(parts, input_names)
    yield from _check_old_parameters(parts)


def _check_declared(parts: Mapping[str, Any]) -> Iterator[Remark]:
    for key, why in (("inputs", "a run fails"), ("outputs", "every reply is accepted")):
        if parts.get(key) == []:
            help_ = f"declare at least one: Haystack accepts none, but {why}"
            yield Remark("K304", (key,), f"no {key} are declared", help_)


def _check_input_names(inputs: Iterable[tuple[Path, str]]) -> Iterator[Remark]:
    for path, name in inputs:
        # `not` is the only identifier that is no variable in Jinja.
        if not name.isidentifier() or name == "not":
            message = f"the input name {quoted(name)} cannot be a variable's name"
            help_ = "rename it: Jinja takes letters, digits and underscores only"
            yield Remark("K301", path, message, help_)


def _check_input_types(parts: Mapping[str, Any]) -> Iterator[Remark]:
    for number, declared in enumerate(list_in(parts.get("inputs"))):
        kind = declared[1] if isinstance(declared, list) and declared[1:] else None
        if not isinstance(kind, str):
            continue
        if not is_loadable_type(kind):
            message = f"there is no type {quoted(kind)}"
            help_ = 'write a type as Python does, such as "list[str]"'
            yield Remark("K310", ("inputs", number, 1), message, help_)
        elif not _list_type.fullmatch(kind):
            message = f"the input type {quoted(kind)} is not a list type"
            help_ = f"write {quoted(f'list[{kind}]')}: every input is a list of values"
            yield Remark("K305", ("inputs", number, 1), message, help_)


def _check_repeated(names: Iterable[tuple[Path, str]]) -> Iterator[Remark]:
    known = set()
    for path, name in names:
        if name in known:
            message = f"the name {quoted(name)} is declared twice"
            yield Remark("K303", path, message, "remove one of the two")
        known.add(name)


def _check_examples(
    parts: Mapping[str, Any], inputs: set[str], outputs: set[str]
) -> Iterator[Remark]:
    """Yield a remark for each example whose keys differ from the declared names."""
    for number, example in enumerate(list_in(parts.get("examples"))):
        for key, names in (("inputs", inputs), ("outputs", outputs)):
            given = object_in(example).get(key)
            if not names or not isinstance(given, Mapping) or given.keys() == names:
                continue
            message = (
                f"the {key} of an example have the keys {listed(sorted(given))}, "
                f"but the declared {key} are {listed(sorted(names))}"
            )
            help_ = "rename the keys of the example to the declared names"
            yield Remark("K306", ("examples", number, key), message, help_)


def _check_templates(parts: Mapping[str, Any], names: set[str]) -> Iterator[Remark]:
    """Yield a remark for each text that Jinja reads as a template."""
    for path, text, at_key in _texts(parts):
        broken = broken_template(text)
        if broken:
            message = f"Jinja reads {quoted(broken)} as a template, which it cannot be"
            help_ = "write it in another way: the evaluator cannot be made with it"
            yield Remark("K312", path, message, help_, at_key)
            continue
        found = (
            match[0]
            for match in _template.finditer(text)
            if match["variable"] not in names
        )
        begin = next(found, "")
        if begin:
            message = f"Jinja reads {quoted(begin)} as the start of a template"
            help_ = (
                "write it in another way: instructions and examples become a part of "
                "the prompt's template, and a run fails on an unknown variable"
            )
            yield Remark("K302", path, message, help_, at_key)


def _texts(parts: Mapping[str, Any]) -> Iterator[tuple[Path, str, bool]]:
    """Yield each text and key of the template, its path, and whether it is a key."""
    pending: list[tuple[Path, Any]] = [
        ((key,), parts[key])
        for key in ("outputs", "examples", "instructions")
        if key in parts
    ]
    while pending:
        path, value = pending.pop()
        if isinstance(value, str):
            yield path, value, False
        elif isinstance(value, list):
            pending += [((*path, at), item) for at, item in enumerate(value)][::-1]
        elif isinstance(value, Mapping):
            yield from (((*path, item), item, True) for item in value)
            pending += [((*path, key), item) for key, item in value.items()][::-1]


def _check_old_parameters(parts: Mapping[str, Any]) -> Iterator[Remark]:
    for key in _old:
        if key in parts:
            message = f"Haystack has no parameter {key} since 2.20"
            help_ = "give a chat_generator instead, with its model and API key"
            yield Remark("K307", (key,), message, help_, at_key=True)
