"""The formats openai-evals and openai-evals-log, and the rules of logs (O5)."""

from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from harpia_formats.files.io.file_kinds import Unpacker
from harpia_formats.formats.rules import Rule
from harpia_formats.model.exact_json import float_of
from harpia_formats.model.format import Container, Dialect, Format, Remark
from harpia_formats.model.problem import Severity

VENDOR = "OpenAI evals"
#: The key of its own data in a record's `extra`.
KEY = "openai-evals"
#: The same of logs, which is the id of their format, too.
LOG_KEY = "openai-evals-log"


def sample_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a sample, or "" if it is none."""
    if "input" not in row or not isinstance(row.get("ideal"), (str, list)):
        return ""
    asked = row["input"]
    is_chat = isinstance(asked, list) and all(
        isinstance(message, Mapping) and "role" in message for message in asked
    )
    return "`input` and `ideal`" if is_chat or isinstance(asked, str) else ""


def log_sign(document: Mapping[str, Any]) -> str:
    """Return by which keys `document` is a log of a run, or "" if it is none."""
    spec = document.get("spec")
    is_log = isinstance(spec, Mapping) and "eval_name" in spec
    return "`spec` and `eval_name`" if is_log else ""


SAMPLES_FORMAT = Format(
    id=KEY,
    title="Samples of an eval: inputs with their ideal answers",
    vendor=VENDOR,
    adapter="harpia_converters.openai_evals.mapping:SAMPLES",
    dialects=(Dialect(KEY, sample_sign, one_of=frozenset({"ideal"})),),
)


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
    if not head.removeprefix(BOM_UTF8).startswith((b'{"spec":', b'{"spec" :')):
        return False
    first, end, _ = head.partition(b"\n")
    if b'"eval_name"' not in first or b'"samples":' in first:
        return False
    return not end or first.rstrip().endswith(b"}")


def remarks(sample: Any) -> Iterator[Remark]:
    """Yield remarks on the events of a sample (O502, O503)."""
    events = sample["events"]
    types = [event["type"] for event in events]
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
    if "final_report" not in document:
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
    accuracy = float_of(report.get("accuracy"))
    if accuracy is not None and _is_no_share(accuracy, count):
        yield Remark(
            OTHER_COUNT,
            ("final_report", "accuracy"),
            f"no number of the {count:,} samples gives an accuracy of {accuracy:g}",
            "take care: the log may be cut, or have several matches for a sample",
        )


def _is_no_share(accuracy: float, count: int) -> bool:
    """Tell whether no number of `count` samples is the share `accuracy`."""
    if not 0 <= accuracy <= 1:
        return True
    right = accuracy * count
    return abs(right - round(right)) > _near * count


LOG_FORMAT = Format(
    id=LOG_KEY,
    title="The log of a run: what was sampled and matched",
    vendor=VENDOR,
    adapter="harpia_converters.openai_evals.mapping:LOG",
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


_spec = (
    b'{"spec": {"completion_fns": ["owl-1"], "eval_name": "sums.dev.v0", '
    b'"run_id": "r1"}}\n'
)
_event = (
    b'{"run_id": "r1", "event_id": %d, "sample_id": "sums.dev.0", "type": "%s", '
    b'"data": %s}\n'
)
_sampling = _event % (0, b"sampling", b'{"prompt": "2+2=", "sampled": ["4"]}')
_match = _event % (1, b"match", b'{"correct": true, "expected": "4", "picked": "4"}')
_metrics = _event % (2, b"metrics", b'{"seconds": 1.5}')
_report = b'{"final_report": {"accuracy": %s}, "run_id": "r1"}\n'
_good = _spec + _sampling + _match + _report % b"1.0"
_rule = partial(Rule, good=_good, validated_as=LOG_KEY)

RULES = (
    _rule(
        "O501",
        "no-final-report",
        Severity.WARNING,
        "A log ends with a final report.",
        "Where it has none, the run may have broken off, and samples may be missing.",
        _spec + _sampling + _match,
        in_reading=True,
    ),
    _rule(
        "O502",
        "no-sampling-event",
        Severity.WARNING,
        "Each sample has an event of the type sampling.",
        "It holds the prompt and the answers. A sample without one was not asked, or "
        "the eval records it otherwise; it becomes a record without prompt and answer.",
        _spec + _match + _report % b"1.0",
    ),
    _rule(
        "O503",
        "other-events",
        Severity.NOTE,
        "Events are read as fields if their type is sampling or match.",
        "Events of other types, such as metrics, are kept in extra as they are: what "
        "their values mean depends on the eval.",
        _spec + _sampling + _match + _metrics + _report % b"1.0",
    ),
    _rule(
        "O504",
        "report-of-another-count",
        Severity.WARNING,
        "The final report is that of the samples in the log.",
        "An accuracy is the share of matches that are correct, and counts/... add up "
        "to the samples. Where no number of the samples gives the accuracy, some "
        "are missing, or have several matches.",
        _spec + _sampling + _match + _report % b"0.5",
    ),
)
