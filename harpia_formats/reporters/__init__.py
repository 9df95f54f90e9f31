"""The ways to say what a validation found."""

from harpia_formats.reporters import concise, full, json_report, jsonl
from harpia_formats.reporters.reporter import Options, Reporter

__all__ = ["REPORTERS", "Options", "Reporter"]

REPORTERS: dict[str, Reporter] = {
    "concise": concise.REPORTER,
    "full": full.REPORTER,
    "json": json_report.REPORTER,
    "jsonl": jsonl.REPORTER,
}
