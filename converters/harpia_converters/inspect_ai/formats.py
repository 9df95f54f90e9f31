"""The formats inspect-log and inspect-dataset, archives of logs, and the rules (I)."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from harpia_formats.files.io.file_kinds import Unpacker
from harpia_formats.formats.rules import Rule
from harpia_formats.model.format import Container, Dialect, Format, Remark
from harpia_formats.model.problem import Severity

VENDOR = "Inspect AI"
#: The key of its own data in a record's `extra`.
KEY = "inspect"

#: Members of a log apart from `eval`; one that was cut short or crashed may lack some.
_other_members = ("plan", "version", "status")
#: Keys of answers and scores, and of questions of other tools; a row with any of them
#: is no sample of a data set.
_foreign_keys = frozenset(
    "actual-output actual_output answer conversation epoch expected-output "
    "expected_output ideal messages model_outputs output outputs prompt question "
    "reference references response score scores".split()
)


def log_sign(document: Mapping[str, Any]) -> str:
    """Return by which keys `document` is a log, or "" if it is none."""
    run = document.get("eval")
    if not isinstance(run, Mapping):
        return ""
    known = [key for key in _other_members if key in document]
    if not known or not isinstance(run.get("task"), str) or "model" not in run:
        return ""
    return f"`{known[0]}`, and `task` and `model` in `eval`"


def sample_sign(row: Mapping[str, Any]) -> str:
    """Return by which keys `row` is a sample of a data set, or "" if it is none."""
    if not {"input", "target"} <= row.keys() or _foreign_keys & row.keys():
        return ""
    asked = row["input"]
    is_chat = isinstance(asked, list) and all(
        isinstance(message, Mapping) and "role" in message for message in asked
    )
    is_asked = is_chat or isinstance(asked, str)
    is_sample = is_asked and isinstance(row["target"], (str, list))
    return "`input` and `target`" if is_sample else ""


_MEMBER, _EMPTY = b"PK\x03\x04", b"PK\x05\x06"
#: Names that the first member of a log may have; of a sample the beginning.
_FIRST = (b"_journal/", b"header.json", b"summaries.json", b"reductions.json")
_SAMPLE, _EPOCH = b"samples/", b"_epoch_"


def is_archived_log(head: bytes, name: str) -> bool:
    """Return whether a file that begins with `head` is a log as a zip archive."""
    if not head.startswith((_MEMBER, _EMPTY)):
        return False
    first = head[30 : 30 + int.from_bytes(head[26:28], "little")]
    if first.startswith(_FIRST) or name.lower().endswith(".eval"):
        return True
    return first.startswith(_SAMPLE) and _EPOCH in first


UNPACKER = Unpacker(
    "inspect-eval",
    is_archived_log,
    open="harpia_converters.inspect_ai.archive_text:text_of_log",
    suffixes=(".eval",),
)


LOG = "inspect-log"


def remarks(sample: Any) -> Iterator[Remark]:
    """Yield remarks on a sample (I201-I206)."""
    from harpia_converters.inspect_ai.log_checks import sample_remarks  # noqa: PLC0415 - start-up: only to validate

    return sample_remarks(sample)


def header_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on a log without its samples (I101-I103)."""
    from harpia_converters.inspect_ai.log_checks import log_remarks  # noqa: PLC0415 - start-up: only to validate

    return log_remarks(document)


def count_remarks(document: Any, samples: int) -> Iterator[Remark]:
    """Yield a remark on a log that does not have all of its samples (I104)."""
    from harpia_converters.inspect_ai.log_checks import sample_count_remarks  # noqa: PLC0415 - start-up: only to validate

    return sample_count_remarks(document, samples)


LOG_FORMAT = Format(
    id=LOG,
    title="Log of an evaluation: settings, results and samples with their scores",
    vendor=VENDOR,
    adapter="harpia_converters.inspect_ai.log_mapping:LOG",
    id_key="id",
    id_with=(("epoch",),),
    read_only=True,
    dialects=(
        Dialect(
            LOG,
            log_sign,
            container=Container.WRAPPED,
            rows_at="samples",
            remarks=remarks,
            header_remarks=header_remarks,
            count_remarks=count_remarks,
            may_be_empty=True,
            reads_nan=True,
            is_typed=False,
            one_of=frozenset({"eval"}),
        ),
    ),
)


DATASET = "inspect-dataset"

DATASET_FORMAT = Format(
    id=DATASET,
    title="Samples of a data set: inputs with their targets",
    vendor=VENDOR,
    adapter="harpia_converters.inspect_ai.dataset_mapping:DATASET",
    id_key="id",
    dialects=(Dialect(DATASET, sample_sign, one_of=frozenset({"target"})),),
)


def _example(sample: dict[str, Any] | None = None, **members: Any) -> bytes:
    """Return a log of one sample with further members, or others."""
    own = {
        "id": 1,
        "epoch": 1,
        "input": "Capital of Peru?",
        "target": "Lima",
        "output": {
            "model": "m",
            "choices": [{"message": {"role": "assistant", "content": "Lima"}}],
        },
        "scores": {"match": {"value": "C", "answer": "Lima"}},
        **(sample or {}),
    }
    log = {
        "version": 2,
        "status": "success",
        "eval": {"task": "geography", "model": "mockllm/model"},
        **members,
        "samples": [own],
    }
    return msgspec.json.encode(log)


_usage = {"input_tokens": 5, "output_tokens": 1, "total_tokens": 6}


def _usage_of(**members: Any) -> dict[str, Any]:
    """Return a sample whose output tells the tokens of its last call."""
    message = {"role": "assistant", "content": "Lima"}
    output = {"model": "m", "choices": [{"message": message}], "usage": _usage}
    return {"output": output, **members}


def _asked(content: list[dict[str, Any]], **members: Any) -> dict[str, Any]:
    """Return a sample whose input is one message of parts."""
    return {"input": [{"role": "user", "content": content}], **members}


_text = {"type": "text", "text": "What is this?"}
_image = {"type": "image", "image": "data:image/png;base64,AA=="}

_rule = partial(Rule, good=_example(), validated_as=LOG)

RULES = (
    _rule(
        "I101",
        "newer-log",
        Severity.ERROR,
        "The form of a log must be version 2 or older.",
        "Inspect refuses JSON logs of a newer version, since it cannot know what their "
        "members mean. The same is done here. Inspect does not look at the version of "
        "an archive (.eval), and reads it as version 2.",
        _example(version=4),
    ),
    _rule(
        "I102",
        "unfinished-run",
        Severity.WARNING,
        "A run should have ended with success.",
        "The log of a run that crashed, was cancelled or is still under way may lack "
        "samples, and its results are those of the samples that were done. A run can "
        "end with success although some samples ended with an error (I201).",
        _example(status="cancelled"),
        in_reading=True,
    ),
    _rule(
        "I103",
        "eval-behind-samples",
        Severity.ERROR,
        "The member eval must stand in front of the samples.",
        "Samples are read one by one, as they come. Their model, task and run are in "
        "eval, which Inspect writes first; a log whose members were sorted again may "
        "have it behind them.",
        b'{"version": 2, "status": "success", "samples": [], '
        b'"eval": {"task": "t", "model": "m"}}',
        good=b'{"version": 2, "status": "success", '
        b'"eval": {"task": "t", "model": "m"}, "samples": []}',
    ),
    _rule(
        "I104",
        "samples-missing",
        Severity.WARNING,
        "A log should have as many samples as its results are of.",
        "total_samples in results counts the samples of the data set times the epochs. "
        "A log that was cut, or written without samples, has fewer; what is computed "
        "from it is not comparable with its results.",
        _example(results={"total_samples": 80, "completed_samples": 78}),
        good=_example(results={"total_samples": 1, "completed_samples": 1}),
        in_reading=True,
    ),
    _rule(
        "I201",
        "errored-sample",
        Severity.WARNING,
        "A sample should not have ended with an error.",
        "Its answer, if there is any, is not one that the model ended with. It is read "
        "as an answer with an error, and its text is scored like that of any other.",
        _example({"error": {"message": "RuntimeError('no sandbox')"}}),
    ),
    _rule(
        "I202",
        "unscored-sample",
        Severity.NOTE,
        "A scorer may give a sample no score.",
        "Inspect writes NaN, in early versions null. It is read as a score without a "
        "value, which is not 0, and counts neither as correct nor as incorrect.",
        _example({"scores": {"match": {"value": None}}}),
    ),
    _rule(
        "I203",
        "value-not-a-number",
        Severity.WARNING,
        "The value of a score should be a number, true or false, or C, P, I or N.",
        "What other texts count depends on the metric, which the log does not tell. "
        "They are kept next to the score, which has no value then.",
        _example({"scores": {"match": {"value": "good"}}}),
    ),
    _rule(
        "I204",
        "part-not-text",
        Severity.NOTE,
        "A message may have parts that are no text.",
        "Images, audio, documents and other data have no place in a text. They are "
        "kept with the record, with what they refer to.",
        _example(_asked([_text, _image])),
        good=_example(_asked([_text])),
    ),
    _rule(
        "I205",
        "unresolved-attachment",
        Severity.WARNING,
        "A reference to an attachment should name one of the sample.",
        "Long values are kept once, in attachments, and are referred to by "
        "attachment:// or tc:// and an id. A reference to nothing stays as it is.",
        _example({"input": "attachment://00000000000000000000000000000000"}),
        good=_example(
            {
                "input": "attachment://00000000000000000000000000000000",
                "attachments": {"00000000000000000000000000000000": "Capital of Peru?"},
            }
        ),
    ),
    _rule(
        "I206",
        "usage-of-last-call",
        Severity.NOTE,
        "A sample should tell the tokens of all its calls, in model_usage.",
        "usage in its output is that of the last call only. It is read where there is "
        "no model_usage, and is too low for a sample with several calls.",
        _example(_usage_of()),
        good=_example(_usage_of(model_usage={"mockllm/model": _usage})),
    ),
    _rule(
        "I207",
        "events-not-read",
        Severity.NOTE,
        "The events of a sample are not read.",
        "They say step by step what the messages and the scores say in the end. Their "
        "number is kept.",
        _example({"events": [{"event": "sample_init"}]}),
        lint=True,
    ),
)
