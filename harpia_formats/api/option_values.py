"""The values that options take, and the help of an option with its values.

The modules that list them are imported when a help page or a shell asks for them, since
a command that only parses its options needs none of them.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from harpia_formats.api.options import Option

#: A value and its description.
Value = tuple[str, str]


def values_of(option: Option) -> list[Value]:
    """Return the values of an option, none if any text is one."""
    if option.choices:
        return [(word, "") for word in option.choices.split()]
    return list(_values[option.values]()) if option.values else []


def listed(choices: Iterable[str]) -> str:
    """Return choices as a part of a sentence: `first, expand or fail`."""
    *others, last = (str(choice) for choice in choices)
    return f"{', '.join(others)} or {last}" if others else last


def help_of(option: Option, most: int | None = None) -> str:
    """Return the help of an option, with its values, or the first `most` of them."""
    text = option.help
    if "{}" not in text and "{all}" not in text:
        return text
    values = values_of(option)
    if option.values.startswith("pictures"):
        described = "; ".join(f"{one.rstrip('=')}: {about}" for one, about in values)
        return text.replace("{}", described)
    names = [name for name, _ in values]
    if most is not None and option.values and len(names) > most:
        some = f"{', '.join(names[:most])} and {len(names) - most} more"
        return text.replace("{}", some).replace("{all}", some)
    return text.replace("{}", listed(names)).replace("{all}", ", ".join(names))


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
    from harpia_formats.evaluation.metrics import GROUPS, METRICS  # noqa: PLC0415 - imported for what is asked only

    yield from ((name, metric.summary) for name, metric in METRICS.items())
    yield from ((name, ", ".join(members)) for name, members in GROUPS.items())


def _metric_parameters() -> Iterator[Value]:
    from harpia_formats.evaluation.metrics import METRICS  # noqa: PLC0415 - imported for what is asked only

    for name, metric in METRICS.items():
        yield from ((f"{name}.{each}=", "") for each in metric.parameters)


def _filling_metrics() -> Iterator[Value]:
    from harpia_formats.conversion.options import FILLING_METRICS  # noqa: PLC0415 - imported for what is asked only

    yield from ((name, "") for name in FILLING_METRICS)


def _profiles() -> Iterator[Value]:
    from harpia_formats.evaluation.scoring.measures.profiles import profile_names  # noqa: PLC0415 - imported for what is asked only

    yield from ((name, "") for name in profile_names())


def _reporters() -> Iterator[Value]:
    from harpia_formats.reporters import REPORTERS  # noqa: PLC0415 - imported for what is asked only

    yield from ((name, each.summary) for name, each in REPORTERS.items())


def _compressions() -> Iterator[Value]:
    from harpia_formats.files.io.encodings import CODECS  # noqa: PLC0415 - imported for what is asked only

    yield from ((codec.suffix, "") for codec in CODECS)


def _pictures(command: str) -> Iterator[Value]:
    from harpia_formats.evaluation.figures.picture_files import kinds_of  # noqa: PLC0415 - imported for what is asked only

    yield from ((f"{one.name}=", one.summary) for one in kinds_of(command).values())


def _fields() -> Iterator[Value]:
    from harpia_formats.conversion.mapping.answer_groups import GROUPED  # noqa: PLC0415 - imported for what is asked only

    yield from ((name, "") for name in (*GROUPED, "metadata."))


def _tests() -> Iterator[Value]:
    from harpia_formats.evaluation.scoring.significance.paired_tests import TESTS  # noqa: PLC0415 - imported for what is asked only

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


#: The functions that list values, by the names that the table of options has for them.
_values: dict[str, Callable[[], Iterable[Value]]] = {
    "compressions": _compressions,
    "dialects": _dialects,
    "fields": _fields,
    "filling metrics": _filling_metrics,
    "formats": _formats,
    "formats only": _schemas,
    "metric parameters": _metric_parameters,
    "metrics": _metrics,
    "pictures of score": partial(_pictures, "score"),
    "pictures of score compare": partial(_pictures, "score compare"),
    "profiles": _profiles,
    "reporters": _reporters,
    "result formats": _result_formats,
    "rules": _rules,
    "tests": _tests,
    "written formats": _written_formats,
}
