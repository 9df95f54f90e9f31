"""The names that extensions import: types, helpers and test support.

A format, a rule, a metric, a reporter or an expectation from outside of this project
needs no other module of it. These names stay as they are between minor releases; every
other module may change at any time. A name is loaded when it is first used, so that an
extension pays at start-up only for what it uses.

>>> from harpia_formats.plugins import Rule, Severity
>>> Severity.ERROR.value
'error'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a name is loaded when it is first used
    from msgspec import UNSET, UnsetType

    from harpia_formats.api.testing import filled, mutants, records
    from harpia_formats.conversion.mapping.fields import FieldTable
    from harpia_formats.conversion.mapping.preparation import tool_signature
    from harpia_formats.evaluation.metrics.metric import (
        Measure,
        Metric,
        MetricError,
        Pair,
        Parameters,
        QuestionMeasure,
        Sample,
        Statistics,
        UnscorableError,
        mean_measure,
        question_measure,
        read_parameters,
        sample_mean_measure,
        score_over_references,
    )
    from harpia_formats.files.io.file_kinds import TextPart, Unpacker
    from harpia_formats.files.io.reader import SourceError
    from harpia_formats.formats.rules import Rule
    from harpia_formats.model.adapter import (
        DECLINED,
        EMPTY_FOR_NULL,
        LIST_OF_ONE,
        NOTHING_FOR_NULL,
        Cardinality,
        ChangedValue,
        FieldMapping,
        FormatAdapter,
        Row,
        RowCapacity,
        ValueCodec,
    )
    from harpia_formats.model.describe import short_json
    from harpia_formats.model.field_outcomes import (
        FieldOutcome,
        FieldOutcomes,
        Outcome,
        Unconvertible,
    )
    from harpia_formats.model.format import (
        Advice,
        Advise,
        Companion,
        Container,
        Dialect,
        FileSummary,
        Format,
        Lengths,
        Remark,
        Remarks,
        Repair,
        Sniff,
        UnsafeRepairs,
    )
    from harpia_formats.model.lint import (
        Expectation,
        ExpectationCheck,
        ExpectationResult,
    )
    from harpia_formats.model.problem import (
        Because,
        Excerpt,
        Fix,
        Path,
        Place,
        Problem,
        Severity,
    )
    from harpia_formats.model.record import Header, Output, Record, Score
    from harpia_formats.model.report import FileCount, Group, Report
    from harpia_formats.model.result import Result
    from harpia_formats.model.safe_text import json_text, safe
    from harpia_formats.model.vendor_metrics import (
        MetricConfiguration,
        MetricProfile,
        MetricRequest,
        ScoreError,
    )
    from harpia_formats.reporters.reporter import Options as ReporterOptions
    from harpia_formats.reporters.reporter import Reporter

__all__ = [
    "DECLINED",
    "EMPTY_FOR_NULL",
    "LIST_OF_ONE",
    "NOTHING_FOR_NULL",
    "UNSET",
    "Advice",
    "Advise",
    "Because",
    "Cardinality",
    "ChangedValue",
    "Companion",
    "Container",
    "Dialect",
    "Excerpt",
    "Expectation",
    "ExpectationCheck",
    "ExpectationResult",
    "FieldMapping",
    "FieldOutcome",
    "FieldOutcomes",
    "FieldTable",
    "FileCount",
    "FileSummary",
    "Fix",
    "Format",
    "FormatAdapter",
    "Group",
    "Header",
    "Lengths",
    "Measure",
    "Metric",
    "MetricConfiguration",
    "MetricError",
    "MetricProfile",
    "MetricRequest",
    "Outcome",
    "Output",
    "Pair",
    "Parameters",
    "Path",
    "Place",
    "Problem",
    "QuestionMeasure",
    "Record",
    "Remark",
    "Remarks",
    "Repair",
    "Report",
    "Reporter",
    "ReporterOptions",
    "Result",
    "Row",
    "RowCapacity",
    "Rule",
    "Sample",
    "Score",
    "ScoreError",
    "Severity",
    "Sniff",
    "SourceError",
    "Statistics",
    "TextPart",
    "Unconvertible",
    "Unpacker",
    "UnsafeRepairs",
    "UnscorableError",
    "UnsetType",
    "ValueCodec",
    "filled",
    "json_text",
    "mean_measure",
    "mutants",
    "question_measure",
    "read_parameters",
    "records",
    "safe",
    "sample_mean_measure",
    "score_over_references",
    "short_json",
    "tool_signature",
]

#: The module that defines each public name. A name that differs from the one in its
#: module is followed by `=` and that one.
_names_by_module = {
    # Formats: which files there are, how they are recognised and described.
    "harpia_formats.model.format": (
        "Advice Advise Companion Container Dialect FileSummary Format Lengths Remark "
        "Remarks Sniff Repair UnsafeRepairs"
    ),
    # Unpackers: how files that are no text, and folders, become text.
    "harpia_formats.files.io.file_kinds": "TextPart Unpacker",
    "harpia_formats.files.io.reader": "SourceError",
    # Adapters: how the rows of a format become records, and records rows.
    "harpia_formats.model.adapter": (
        "DECLINED EMPTY_FOR_NULL NOTHING_FOR_NULL LIST_OF_ONE Cardinality ChangedValue "
        "FieldMapping FormatAdapter Row RowCapacity ValueCodec"
    ),
    "harpia_formats.conversion.mapping.fields": "FieldTable",
    "harpia_formats.conversion.mapping.preparation": "tool_signature",
    "harpia_formats.model.field_outcomes": "FieldOutcome FieldOutcomes Outcome "
    "Unconvertible",
    "harpia_formats.model.record": "Header Output Record Score",
    "msgspec": "UNSET UnsetType",
    # Rules, and the problems that report them.
    "harpia_formats.formats.rules": "Rule",
    "harpia_formats.model.problem": "Because Excerpt Fix Path Place Problem Severity",
    # Metrics, and the profiles that name them.
    "harpia_formats.evaluation.metrics.metric": (
        "Measure Metric MetricError Pair QuestionMeasure Sample Statistics "
        "UnscorableError mean_measure question_measure sample_mean_measure Parameters "
        "read_parameters score_over_references"
    ),
    "harpia_formats.model.vendor_metrics": (
        "MetricConfiguration MetricRequest MetricProfile ScoreError"
    ),
    # Expectations of preflight files.
    "harpia_formats.model.lint": ("Expectation ExpectationCheck ExpectationResult"),
    # Reporters, and the report that they print.
    "harpia_formats.reporters.reporter": "Reporter ReporterOptions=Options",
    "harpia_formats.model.safe_text": ("json_text safe"),
    "harpia_formats.model.report": "FileCount Group Report",
    "harpia_formats.model.result": "Result",
    "harpia_formats.model.describe": "short_json",
    # Test support; `records` needs the extra `test` when it is called.
    "harpia_formats.api.testing": "filled mutants records",
}

#: The module that each public name is in, and its name there.
_homes: dict[str, tuple[str, str]] = {
    public: (module, name or public)
    for module, names in _names_by_module.items()
    for public, _, name in (entry.partition("=") for entry in names.split())
}


def __getattr__(name: str) -> Any:
    """Return the public name `name`, and load the module that defines it.

    Raises `AttributeError` for any other name.
    """
    if name not in _homes:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = _homes[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
