"""The reporters: one module for each way to write findings, in one table."""

from harpia_formats.reporters import concise, full, json_report, jsonl
from harpia_formats.reporters.reporter import Options, Reporter

__all__ = ["REPORTERS", "Options", "Reporter"]

#: Every built-in reporter by its name, in the order in which the help lists them.
REPORTERS: dict[str, Reporter] = {
    each.name: each
    for each in (
        full.REPORTER,
        concise.REPORTER,
        json_report.REPORTER,
        jsonl.REPORTER,
    )
}
