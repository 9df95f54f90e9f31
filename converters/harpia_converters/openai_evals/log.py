"""The format openai-evals-log: the log of a run, its events grouped by sample.

A log is lines of JSON: the specification of the run, events in any order, and a final
report. It is read as one object around its samples, see `log_unpacking`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.openai_evals.detection import LOG_KEY, VENDOR, log_sign
from harpia_formats.files.io.unpacking import Unpacker
from harpia_formats.model.format import Container, Dialect, Format, Remark

NO_REPORT, NO_SAMPLING, OTHER_EVENTS, OTHER_COUNT = "O501", "O502", "O503", "O504"
#: The types of events that are read as fields.
SAMPLING, MATCH = "sampling", "match"
#: How far a share of samples may be from that of whole samples.
_near = 1e-6
#: The start of names of counts in a final report.
_counts = "counts/"


def is_log(head: bytes, name: str) -> bool:  # noqa: ARG001 - the shape of `recognizes`
    """Tell whether a file that begins with `head` is a log of lines.

    It is none if it has the samples in one object already, as logs are read.
    """
    if not head.startswith((b'{"spec":', b'{"spec" :')):
        return False
    first, end, _ = head.partition(b"\n")
    if b'"eval_name"' not in first or b'"samples":' in first:
        return False
    return not end or first.rstrip().endswith(b"}")


def remarks(sample: Any) -> Iterator[Remark]:
    """Yield remarks on the events of a sample (O502, O503)."""
    events = sample.get("events") if isinstance(sample, Mapping) else None
    if not isinstance(events, list):
        return
    types = [event.get("type") for event in events]
    if SAMPLING not in types:
        yield Remark(
            NO_SAMPLING,
            ("events", 0) if events else ("events",),
            "the sample has no sampling event, so that its prompt is not known",
            "run the eval again if the sample was not answered",
        )
    others = [type_ for type_ in types if type_ not in (SAMPLING, MATCH)]
    if others:
        at = types.index(others[0])
        kept = ", ".join(dict.fromkeys(map(str, others)))
        yield Remark(
            OTHER_EVENTS,
            ("events", at),
            f"{len(others):,} of {len(types):,} events are not read as fields: {kept}",
            "nothing to do: they are kept in the record's extra",
        )


def header_remarks(document: Any) -> Iterator[Remark]:
    """Yield a remark if a log has no final report (O501)."""
    if isinstance(document, Mapping) and "final_report" not in document:
        yield Remark(
            NO_REPORT,
            (),
            "the log has no final report, so the run may not have come to its end",
            "run the eval again, or take the samples for a part of them",
        )


def count_remarks(document: Any, count: int) -> Iterator[Remark]:
    """Yield a remark if a final report is not that of `count` samples (O504)."""
    report = document.get("final_report")
    if not isinstance(report, Mapping) or not count:
        return
    found = {
        key: value
        for key, value in report.items()
        if key.startswith(_counts) and isinstance(value, int)
    }
    if found and sum(found.values()) != count:
        yield Remark(
            OTHER_COUNT,
            ("final_report", next(iter(found))),
            f"the final report counts {sum(found.values()):,} samples, "
            f"but the log has {count:,}",
            "take care: the log may be cut, or hold samples twice",
        )
    accuracy = report.get("accuracy")
    if isinstance(accuracy, (int, float)) and _is_no_share(accuracy, count):
        yield Remark(
            OTHER_COUNT,
            ("final_report", "accuracy"),
            f"no number of the {count:,} samples gives an accuracy of {accuracy:g}",
            "take care: the log may be cut, or have several matches for a sample",
        )


def _is_no_share(accuracy: float, count: int) -> bool:
    """Tell whether no whole number of `count` samples is the share `accuracy`."""
    right = accuracy * count
    return abs(right - round(right)) > _near * count


FORMAT = Format(
    id=LOG_KEY,
    title="The log of a run: what was sampled and matched",
    vendor=VENDOR,
    adapter="harpia_converters.openai_evals.log_mapping:LOG",
    dialects=(
        Dialect(
            LOG_KEY,
            log_sign,
            container=Container.WRAPPED,
            rows_at="samples",
            remarks=remarks,
            header_remarks=header_remarks,
            count_remarks=count_remarks,
            may_be_empty=True,
            one_of=frozenset({"spec"}),
        ),
    ),
    id_key="sample_id",
    read_only=True,
)

UNPACKER = Unpacker(
    LOG_KEY, is_log, open="harpia_converters.openai_evals.log_unpacking:open_log"
)
