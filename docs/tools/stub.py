"""Write the stub of the package: its functions, for type checkers and editors."""

from collections.abc import Iterator
from inspect import Parameter

from page_examples import ROOT

import harpia_formats
from harpia_formats.api.signatures import signature_of

STUB = ROOT / "harpia_formats" / "__init__.pyi"
HEAD = """\
# Written by `python docs/tools/update.py`. Do not edit.
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, BinaryIO, Literal

from harpia_formats.api.arguments import Input, Path, Progress
from harpia_formats.api.arguments import Output as Destination
from harpia_formats.conversion.comparison.comparison_report import DifferenceReport
from harpia_formats.conversion.losses.conversion_report import ConversionReport
from harpia_formats.evaluation.scoring.benchmarks import BenchmarkScores
from harpia_formats.evaluation.scoring.results.compare_report import ComparisonReport
from harpia_formats.evaluation.scoring.results.scores import Scores
from harpia_formats.evaluation.statistics.statistics_result import Statistics
from harpia_formats.model.result import Result
"""


def current_stub() -> str:
    """Return the stub: the public classes, and the functions with their arguments."""
    modules = harpia_formats.class_modules
    classes = [
        f"from {modules[name]} import {name} as {name}"
        for name in sorted(modules, key=lambda name: (modules[name], name))
    ]
    functions = [name for name in harpia_formats.__all__ if name not in modules]
    lines = [line for name in functions for line in _function(name)]
    public = [f'    "{name}",' for name in harpia_formats.__all__]
    names = ["__version__: str", "class_modules: dict[str, str]", "__all__ = ["]
    names += [*public, "]"]
    parts = [HEAD + "\n".join(classes), "", *names, "", *lines, ""]
    return "\n".join(parts)


def _function(name: str) -> Iterator[str]:
    """Yield the lines of a function."""
    signature = signature_of(name)
    parameters = [*signature.parameters.values()]
    if not parameters:
        yield f"def {name}() -> {signature.return_annotation}: ..."
        return
    yield f"def {name}("
    for before, one in zip([None, *parameters], parameters, strict=False):
        is_named = one.kind == Parameter.KEYWORD_ONLY
        if is_named and (
            before is None or before.kind == Parameter.POSITIONAL_OR_KEYWORD
        ):
            yield "    *,"
        default = "" if one.default is Parameter.empty else f" = {_shown(one.default)}"
        star = "*" if one.kind == Parameter.VAR_POSITIONAL else ""
        yield f"    {star}{one.name}: {one.annotation}{default},"
    yield f") -> {signature.return_annotation}: ..."


def _shown(default: object) -> str:
    """Return a default as a stub holds it: in full if it is simple."""
    if isinstance(default, str):
        return f'"{default}"'
    return "..." if default in ({}, ()) else repr(default)
