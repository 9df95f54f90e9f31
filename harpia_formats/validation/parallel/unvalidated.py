"""The problems of units that no process could validate."""

from harpia_formats.validation.plan.units import RowRange
from harpia_formats.validation.unit.result import InternalFault


def worker_died(unit: RowRange) -> tuple[str, str, str]:
    """Return code, message and help on rows that ended a worker process twice."""
    return (
        "V901",
        (
            "{records} could not be validated: the process that worked on bytes "
            f"{unit.begin:,} to {unit.end:,}, {{where}}, died twice"
        ),
        "see that there is memory enough, or look for what is special about them",
    )


def internal_error(unit: RowRange, fault: InternalFault) -> tuple[str, str, str]:
    """Return code, message and help on rows that harpia-formats failed on."""
    error = fault.error.replace("{", "{{").replace("}", "}}")
    return (
        "V902",
        (
            "{records} could not be validated: harpia-formats failed on bytes "
            f"{unit.begin:,} to {unit.end:,}, {{where}}: {error}"
        ),
        "please report it as a bug, with the rows",
    )
