"""Validate, convert and score LLM-evaluation data; problems have line and column.

>>> import harpia_formats
>>> report = harpia_formats.validate(b'{"score": NaN}')
>>> report.ok
False
>>> report.problems[0].code, report.problems[0].place.column
('J106', 11)
"""

from harpia_formats import _version

__version__ = _version.__version__

#: The public functions, which `api.functions` has.
_functions = (
    "check_schema compare_scores convert detect diff fix from_table head infer_schema "
    "iter_problems merge metric_names preflight read roundtrip sample score "
    "score_agreement score_answers score_plan split stats to_pandas to_polars "
    "to_table validate write write_picture write_report"
).split()
#: The module of each other public name that is loaded when it is first used.
class_modules = {
    "Answers": "harpia_formats.api.answers",
    "Because": "harpia_formats.model.problem",
    "Change": "harpia_formats.validation.repair.repaired_file",
    "Check": "harpia_formats.model.report",
    "CompanionError": "harpia_formats.validation.options",
    "ConversionError": "harpia_formats.model.problem",
    "Detected": "harpia_formats.formats.detection.result",
    "EngineError": "harpia_formats.model.problem",
    "Excerpt": "harpia_formats.model.problem",
    "FigureError": "harpia_formats.evaluation.figures.drawing",
    "FileCount": "harpia_formats.model.report",
    "Fix": "harpia_formats.model.problem",
    "FixReport": "harpia_formats.validation.repair.run",
    "Group": "harpia_formats.model.report",
    "HarpiaFormatsError": "harpia_formats.model.problem",
    "Header": "harpia_formats.model.record",
    "InferredSchema": "harpia_formats.validation.inferred_schema",
    "LLMJudge": "harpia_formats.evaluation.llm_judge",
    "MapError": "harpia_formats.model.column_map",
    "OptionError": "harpia_formats.model.problem",
    "Output": "harpia_formats.model.record",
    "Place": "harpia_formats.model.problem",
    "PlanError": "harpia_formats.model.problem",
    "PluginError": "harpia_formats.formats.extensions",
    "PreflightError": "harpia_formats.expectations.preflight_error",
    "Problem": "harpia_formats.model.problem",
    "Record": "harpia_formats.model.record",
    "Records": "harpia_formats.api.arguments",
    "Report": "harpia_formats.model.report",
    "ReportError": "harpia_formats.reporters",
    "SchemaError": "harpia_formats.formats.schema.bundled_schemas",
    "Score": "harpia_formats.model.record",
    "ScoreError": "harpia_formats.model.vendor_metrics",
    "Severity": "harpia_formats.model.problem",
    "SinkError": "harpia_formats.files.io.sink",
    "Subset": "harpia_formats.conversion.subsets.subset_options",
    "SubsetError": "harpia_formats.conversion.subsets.subset_options",
    "UnknownFormat": "harpia_formats.formats.registry",
    "UnknownRule": "harpia_formats.formats.rules",
    "ValidationFailed": "harpia_formats.model.report",
}

__all__ = sorted([*class_modules, *_functions])  # noqa: PLE0605 - a list, in parts


def __getattr__(name: str) -> object:
    """Return a public name that is not loaded yet; raises `AttributeError`."""
    if name in _functions:
        from harpia_formats.api.signatures import public_function

        found = globals()[name] = public_function(name)
        return found
    if name in class_modules:
        from importlib import import_module

        return getattr(import_module(class_modules[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
