"""Validate a small file that is one valid object, read at once.

To read it in blocks, to find out how it is cut and to hand its only part on takes four
tenths of the time of a file of 13 kB (`benchmarks/all.py --only aggregates`).
"""

from collections.abc import Sequence

from harpia_formats.files.framing.chunk import JSON_SPACE
from harpia_formats.files.framing.container import Layout
from harpia_formats.files.io.inputs import is_lasting
from harpia_formats.files.io.source import Source, small_text
from harpia_formats.formats.detection.own_files import own_kind
from harpia_formats.formats.detection.sample import (
    Sample,
    decoded_value,
    misleading_suffix,
)
from harpia_formats.formats.detection.sampled_file import Framing
from harpia_formats.formats.detection.unexpected_format import DetectionNote
from harpia_formats.model.report import FileCount
from harpia_formats.validation.one_file import names_of_document
from harpia_formats.validation.plan.file_plan import FilePlan, RunPlan, plan_file
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.findings import NO_FINDINGS, FileResult, Findings
from harpia_formats.validation.unit.validators import SharedValidators

#: Bytes of such a file, at most: less than a block, and than what a sample keeps.
MOST = 96 * 1024


class SingleObjects:
    """Validates the small files of a run that are one valid object.

    What it learned of files changes its speed and never its results.
    """

    def __init__(self, shared: SharedValidators) -> None:
        """Take the validators of the files of the run."""
        self._shared = shared
        #: Files to come that are not tried, and how many in a row were none.
        self._pause = self._failures = 0

    def result(self, source: Source, run: RunPlan) -> FileResult | None:
        """Return what `validate_open` finds in a file, None if that is not certain.

        After each file in a row that is none the next attempt comes later.
        """
        if self._pause:
            self._pause -= 1
            return None
        most = min(MOST, run.options.max_row_bytes)
        data = small_text(source, most) if is_lasting(source) else None
        result = self._of_text(data, source, run) if data else None
        if result is not None:
            self._failures = 0
            return result
        self._pause = self._failures**2 // 2
        self._failures += 1
        return None

    def _of_text(self, data: bytes, source: Source, run: RunPlan) -> FileResult | None:
        """Return the result of a file that holds `data`, None if it is not certain."""
        text = data.rstrip(JSON_SPACE)
        layout = Layout.OBJECT if b"\n" in text else Layout.ONE_LINE
        if (
            run.schema is not None
            or run.options.row_lengths
            or not data.startswith(b"{")
            or (source.is_found and own_kind(data))
            # Behind one line, others are blank.
            or (layout is Layout.ONE_LINE and data not in {text, text + b"\n"})
        ):
            return None
        value = next(decoded_value(text), None)
        sample = Sample(layout, (value,), decoded=text)
        if value is None or misleading_suffix(source.name, sample) is not None:
            return None
        plan, notes = plan_file(run, source.name, sample)
        is_read = plan.variant is not None and plan.cut is Framing.VALUES
        findings = _findings(notes, plan) if notes else NO_FINDINGS
        may_be_valid = is_read and not (plan.unvalidated or findings.errors)
        if not (may_be_valid and self._accepts(plan, sample)):
            return None
        count = FileCount(plan.name, plan.shown_format, plan.shown_dialect)
        count.records, count.bytes, count.complete = 1, len(data), True
        names = names_of_document(plan, sample, source.name)
        return FileResult(
            plan, count, findings, b"", b"", until=1, whole=True, names=names
        )

    def _accepts(self, plan: FilePlan, sample: Sample) -> bool:
        """Tell whether certainly nothing is found in the one value of a sample."""
        validators = self._shared.of(plan)
        if validators.linter() is not None:
            return False
        try:
            validator = validators.part().validator
            return validator.accepts(sample.decoded, sample.rows[0])
        except Exception:  # noqa: BLE001 - an error of ours, which is met again and reported
            return False


def _findings(notes: Sequence[DetectionNote], plan: FilePlan) -> Findings:
    """Return notes on the format of a file as findings."""
    collector = Collector(plan.run.active_rules(), plan.name, 0)
    for note in notes:
        collector.add_note(note)
    return collector.take()
