"""Report what is doubtful about a schema that the user gives."""

import msgspec

from harpia_formats.framing.chunk import Cursor
from harpia_formats.schema.load import GivenSchema
from harpia_formats.validation.diagnosis.finding import Finding
from harpia_formats.validation.diagnosis.row_context import RowContext
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.result import Findings


def schema_problems(given: GivenSchema, collector: Collector) -> Findings:
    """Return the remarks on a schema as problems of its file, by `collector`.

    The places of a schema without a file are those in its JSON text.
    """
    text = given.text or msgspec.json.encode(given.original)
    findings = [
        Finding(remark.code, 0, remark, given.original)
        for remark in given.remarks
        if remark.code in collector.rules
    ]

    def row_of(_: Finding) -> RowContext:
        return RowContext(collector.name, text, Cursor(), None, given.original)

    collector.add_findings(findings, row_of, schema=True)
    return collector.take()
