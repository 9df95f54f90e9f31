"""What Haystack tolerates in an LLMEvaluator's definition, or finds out too late."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harpia_converters.haystack.phrases import list_in, listed, object_in, quoted
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path

#: Parameters that went in 2.20.
_old = ("api", "api_key", "api_params")
_list_type = re.compile(r"((typing\.)?List|list)(\[.+\])?", re.DOTALL)
_template = re.compile(r"\{\{[-+]?\s*(?P<variable>[^\W\d]\w*)?|\{[%#]")


def remarks(document: Any) -> Iterator[Remark]:
    """Say what in a definition is doubtful, or stops Haystack where no schema can."""
    parts = object_in(document)
    inputs = [
        (("inputs", number, 0), declared[0])
        for number, declared in enumerate(list_in(parts.get("inputs")))
        if isinstance(declared, list) and declared and isinstance(declared[0], str)
    ]
    outputs = [
        (("outputs", number), each)
        for number, each in enumerate(list_in(parts.get("outputs")))
        if isinstance(each, str)
    ]
    yield from _of_nothing(parts)
    yield from _of_names(inputs)
    yield from _of_types(parts)
    yield from _of_repeated(inputs)
    yield from _of_repeated(outputs)
    input_names = {name for _, name in inputs}
    yield from _of_examples(parts, input_names, {name for _, name in outputs})
    yield from _of_templates(parts, input_names)
    yield from _of_old(parts)


def _of_nothing(parts: Mapping[str, Any]) -> Iterator[Remark]:
    for key, why in (("inputs", "a run fails"), ("outputs", "any answer will do")):
        if parts.get(key) == []:
            help_ = f"Haystack accepts it, but {why}: declare at least one"
            yield Remark("K304", (key,), f"no {key} are declared", help_)


def _of_names(inputs: Iterable[tuple[Path, str]]) -> Iterator[Remark]:
    for path, name in inputs:
        # Of all identifiers this one alone cannot stand for a variable in Jinja.
        if not name.isidentifier() or name == "not":
            message = f"the input name {quoted(name)} cannot be a variable's name"
            help_ = "Jinja fails on it; use letters, digits and underscores"
            yield Remark("K301", path, message, help_)


def _of_types(parts: Mapping[str, Any]) -> Iterator[Remark]:
    for number, declared in enumerate(list_in(parts.get("inputs"))):
        kind = declared[1] if isinstance(declared, list) and declared[1:] else None
        if isinstance(kind, str) and not _list_type.fullmatch(kind):
            message = f"the input type {quoted(kind)} is not a list type"
            help_ = f"every input is a list of values: write {quoted(f'list[{kind}]')}"
            yield Remark("K305", ("inputs", number, 1), message, help_)


def _of_repeated(names: Iterable[tuple[Path, str]]) -> Iterator[Remark]:
    known = set()
    for path, name in names:
        if name in known:
            message = f"the name {quoted(name)} is declared twice"
            yield Remark("K303", path, message, "remove one of them")
        known.add(name)


def _of_examples(
    parts: Mapping[str, Any], inputs: set[str], outputs: set[str]
) -> Iterator[Remark]:
    """Say where the keys of an example are not the names that are declared."""
    for number, example in enumerate(list_in(parts.get("examples"))):
        for key, names in (("inputs", inputs), ("outputs", outputs)):
            given = object_in(example).get(key)
            if not names or not isinstance(given, Mapping) or given.keys() == names:
                continue
            message = (
                f"the {key} of an example have the keys {listed(sorted(given))}, "
                f"but declared as {key}: {listed(sorted(names))}"
            )
            help_ = "the keys of an example must be the declared names: rename them"
            yield Remark("K306", ("examples", number, key), message, help_)


def _of_templates(parts: Mapping[str, Any], names: set[str]) -> Iterator[Remark]:
    """Say where Jinja reads a text as a template."""
    for path, text, at_key in _texts(parts):
        found = (
            match[0]
            for match in _template.finditer(text)
            if match["variable"] not in names
        )
        begin = next(found, "")
        if begin:
            message = f"Jinja takes what begins with {quoted(begin)} for a template"
            help_ = (
                "instructions and examples go into the template of the prompt, where "
                "it asks for a variable that is not there; write it in another way"
            )
            yield Remark("K302", path, message, help_, at_key)


def _texts(parts: Mapping[str, Any]) -> Iterator[tuple[Path, str, bool]]:
    """Yield the texts and keys that go into the template, and where they are."""
    pending: list[tuple[Path, Any]] = [
        ((key,), parts[key]) for key in ("examples", "instructions") if key in parts
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


def _of_old(parts: Mapping[str, Any]) -> Iterator[Remark]:
    for key in _old:
        if key in parts:
            message = f"the parameter {key} went in Haystack 2.20"
            help_ = "give a chat_generator instead, with its model and its key"
            yield Remark("K307", (key,), message, help_, at_key=True)
