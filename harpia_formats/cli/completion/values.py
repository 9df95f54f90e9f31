"""The values of options and arguments, by the noun that stands for them in the help."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

#: A value, and what is said of it.
Value = tuple[str, str]
#: Nouns of paths, which shells complete themselves.
FILES = frozenset("A B FILE FILES FOLDER PATH PATHS [NAME=]FILE".split())
#: Nouns of several values with commas between them.
LISTS = frozenset({"FIELDS", "METRICS", "RULES"})


def values_of(command: str, parameter: Any) -> Iterable[Value]:
    """Return the values of an option or argument of a command, none if any text is one.

    `command` has its words, such as `score compare`.
    """
    choices = getattr(_parser_of(parameter), "choices", None)
    if choices is not None:
        return [(str(each), "") for each in choices]
    if (command, parameter.opts[0]) in _BY_OPTION:
        return _BY_OPTION[command, parameter.opts[0]]()
    noun = parameter.metavar or ""
    if "|" in noun:
        return [(each, "") for each in noun.split("|")]
    return BY_NOUN[noun]() if noun in BY_NOUN else ()


def _parser_of(parameter: Any) -> Any:
    """Return the function that parses the values of a parameter, None if none does."""
    descriptor = getattr(parameter, "type_descriptor", None)
    if descriptor is not None:
        return descriptor.parameter_info.parser
    return getattr(parameter.type, "func", None)  # older releases of typer


def _formats() -> Iterator[Value]:
    from harpia_formats.formats.registry import FAMILIES, installed_formats  # noqa: PLC0415 - imported for what is asked only

    for name, format_ in installed_formats().items():
        yield name, format_.vendor
    for name, members in FAMILIES.items():
        yield name, " or ".join(members)


def _written_formats() -> Iterator[Value]:
    from harpia_formats.formats.registry import FAMILIES, writable_formats  # noqa: PLC0415 - imported for what is asked only

    yield from ((name, format_.vendor) for name, format_ in writable_formats().items())
    for name, members in FAMILIES.items():
        yield name, " or ".join(members)


def _result_formats() -> Iterator[Value]:
    from harpia_formats.formats.registry import result_formats  # noqa: PLC0415 - imported for what is asked only

    yield from ((name, "") for name in result_formats())


def _rules() -> Iterator[Value]:
    from harpia_formats.formats.registry import installed_rules  # noqa: PLC0415 - imported for what is asked only

    rules = installed_rules()
    yield from ((code, rule.summary) for code, rule in rules.items())
    yield from ((rule.name, rule.summary) for rule in rules.values())


def _metrics() -> Iterator[Value]:
    from harpia_formats.evaluation.metrics import METRICS  # noqa: PLC0415 - imported for what is asked only

    yield from ((name, metric.summary) for name, metric in METRICS.items())


def _metric_parameters() -> Iterator[Value]:
    from harpia_formats.evaluation.metrics import METRICS  # noqa: PLC0415 - imported for what is asked only

    for name, metric in METRICS.items():
        yield from ((f"{name}.{each}=", "") for each in metric.parameters)


def _filling_metrics() -> Iterator[Value]:
    from harpia_formats.conversion.options import FILLING_METRICS  # noqa: PLC0415 - imported for what is asked only

    yield from ((name, "") for name in FILLING_METRICS)


def _profiles() -> Iterator[Value]:
    from harpia_formats.evaluation.scoring.profiles import profile_names  # noqa: PLC0415 - imported for what is asked only

    yield from ((name, "") for name in profile_names())


def _reporters() -> Iterator[Value]:
    from harpia_formats.reporters import REPORTERS  # noqa: PLC0415 - imported for what is asked only

    yield from ((name, each.summary) for name, each in REPORTERS.items())


def _fields() -> Iterator[Value]:
    from harpia_formats.conversion.mapping.answer_groups import GROUPED  # noqa: PLC0415 - imported for what is asked only

    yield from ((name, "") for name in (*GROUPED, "metadata."))


def _tests() -> Iterator[Value]:
    from harpia_formats.evaluation.scoring.p_values import TESTS  # noqa: PLC0415 - imported for what is asked only

    yield from ((name, "") for name in TESTS)


def _dialects() -> Iterator[Value]:
    from harpia_formats.formats.registry import installed_formats  # noqa: PLC0415 - imported for what is asked only

    for name, format_ in installed_formats().items():
        yield from (
            (dialect.name, name) for dialect in format_.dialects if dialect.name
        )


def _schemas() -> Iterator[Value]:
    from harpia_formats.formats.registry import installed_formats  # noqa: PLC0415 - imported for what is asked only

    yield from ((name, format_.vendor) for name, format_ in installed_formats().items())


#: The functions that list the values of a noun. Any text is a value of other nouns.
BY_NOUN: dict[str, Callable[[], Iterable[Value]]] = {
    "DIALECT": _dialects,
    "FIELDS": _fields,
    "FORMAT": _formats,
    "ID": _schemas,
    "METRIC": _filling_metrics,
    "METRIC.NAME=VALUE": _metric_parameters,
    "METRICS": _metrics,
    "PROFILE": _profiles,
    "REPORTER": _reporters,
    "RULES": _rules,
    "TEST": _tests,
}
#: The functions of options whose values are fewer than those of their noun.
_BY_OPTION = {
    ("convert", "--to"): _written_formats,
    ("roundtrip", "--via"): _written_formats,
    ("score", "--to"): _result_formats,
}
