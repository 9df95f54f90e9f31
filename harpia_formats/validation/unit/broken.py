"""Report bytes of a file that could not be cut into rows."""

from harpia_formats.validation.diagnosis.container_messages import container_message
from harpia_formats.validation.plan.units import Broken
from harpia_formats.validation.unit.collector import Collector
from harpia_formats.validation.unit.record_numbers import FIRST_RECORD
from harpia_formats.validation.unit.result import UnitResult


def report_broken(unit: Broken, collector: Collector, limit: int) -> UnitResult:
    """Report bytes that are not rows to `collector`; a record may be lost in them.

    `limit` is the number of bytes that a row may have.
    """
    fault = unit.fault
    code, message, help_ = container_message(fault, limit)
    number = unit.before + 1 if fault.record else None
    lost = FIRST_RECORD if fault.record else b""
    collector.add(code, message, help_, collector.place(fault.start, number))
    is_active = code in collector.rules
    is_invalid = is_active and collector.is_error(code)
    return UnitResult(
        records=int(fault.record),
        invalid=lost if is_invalid else b"",
        undetermined=b"" if is_invalid else lost,
        unreported=() if is_active or not lost else (code,),
    )
