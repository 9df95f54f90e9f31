"""Check logs and their samples for what is missing, failed or not read (I101-I207)."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.inspect_ai.messages import Attachments, Chat, values_in
from harpia_formats.model.adapter import at_path
from harpia_formats.model.format import Remark
from harpia_formats.model.problem import Path

NEWER, UNFINISHED, LATE_RUN, FEWER = "I101", "I102", "I103", "I104"
ERRORED, UNSCORED, NO_NUMBER, NO_TEXT = "I201", "I202", "I203", "I204"
UNRESOLVED, LAST_USAGE, STEPS = "I205", "I206", "I207"

#: How the run of a log ended, by its status.
_ended = {
    "started": "has not ended: it is under way, or has crashed",
    "cancelled": "was cancelled",
    "error": "ended with an error",
}
#: The newest version of the form of a log that Inspect reads as JSON.
_newest = 2


def log_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on a log without its samples (I101-I103)."""
    version = document.get("version")
    is_newer = isinstance(version, int) and version > _newest
    # Inspect does not look at the version of an archive.
    if is_newer and document.get("log_format") != "eval":
        yield Remark(
            NEWER,
            ("version",),
            f"version {version} of the form of logs is not known",
            "convert the log with a newer version of harpia-formats, if there is one",
        )
    yield from _status_remarks(document)
    places = {key: place for place, key in enumerate(document)}
    if places.get("samples", len(places)) < places.get("eval", -1):
        yield Remark(
            LATE_RUN,
            ("eval",),
            "eval stands behind the samples, which are read by it",
            "put eval in front of samples, as Inspect writes it",
            at_key=True,
        )


def _status_remarks(document: Mapping[str, Any]) -> Iterator[Remark]:
    status = document.get("status")
    if status == "success":
        return
    help_ = "the samples that are there can be used"
    if status is None:
        message = "the log does not say that the run has ended: it may have crashed"
        yield Remark(UNFINISHED, (), message, help_)
    else:
        why = at_path(document, ("error", "message"))
        because = f": {why}" if isinstance(why, str) else ""
        message = f"the run {_ended[status]}{because}"
        yield Remark(UNFINISHED, ("status",), message, help_)


def sample_count_remarks(document: Any, samples: int) -> Iterator[Remark]:
    """Yield a remark on a log that has not as many samples as it says (I104)."""
    expected, path = _expected_samples(document)
    if expected is not None and expected != samples:
        yield Remark(
            FEWER,
            path,
            f"{samples:,} of {expected:,} samples are in the log",
            "the results of the log are those of all samples, not of these",
        )


def _expected_samples(document: Any) -> tuple[int | None, Path]:
    """Return how many samples a log says that there are, and where it says so."""
    path: Path = ("results", "total_samples")
    total = at_path(document, path)
    if isinstance(total, int):
        return total, path
    path = ("eval", "dataset", "sample_ids")
    ids = at_path(document, path)
    if not isinstance(ids, list):
        return None, ()
    epochs = at_path(document, ("eval", "config", "epochs"))
    return len(ids) * (epochs if isinstance(epochs, int) else 1), path


def sample_remarks(sample: Any) -> Iterator[Remark]:
    """Yield remarks on a sample (I201-I207)."""
    error = sample.get("error")
    if error is not None:
        message = f"the sample ended with an error: {error['message']}"
        help_ = "an answer that it has is scored, but may not be the last one"
        yield Remark(ERRORED, ("error",), message, help_)
    yield from _score_remarks(sample)
    yield from _content_remarks(sample)
    yield from _usage_remarks(sample)
    if sample.get("events") or sample.get("transcript"):
        key = "events" if sample.get("events") else "transcript"
        message = "the events of the sample are not read"
        yield Remark(STEPS, (key,), message, at_key=True)


def _score_remarks(sample: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield remarks on values of scores that are null, or no numbers."""
    scorers = sample.get("scores") or {}
    places: list[tuple[Path, Any]] = [
        (("scores", name), score) for name, score in scorers.items()
    ]
    if not places and sample.get("score") is not None:
        places = [(("score",), sample["score"])]
    for path, score in places:
        for value in values_in(score["value"]):
            if value.is_other:
                yield Remark(
                    NO_NUMBER,
                    (*path, "value"),
                    "the value is no number, and none of C, P, I and N",
                    "it is read as no score",
                )
            elif value.number is None:
                message = f"{path[-1]} gave the sample no score"
                yield Remark(UNSCORED, (*path, "value"), message)


def _content_remarks(sample: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield remarks on parts that are no text, and on references to nothing."""
    attachments = Attachments(dict(sample))
    asked, messages = sample["input"], sample.get("messages") or []
    for key, given in (("input", asked), ("messages", messages)):
        if isinstance(given, str):
            attachments.text(given)
            continue
        chat = Chat(given, attachments)
        if chat.others and (key == "messages" or not messages):
            kinds = ", ".join(sorted({str(part["type"]) for _, part in chat.others}))
            message = f"{len(chat.others):,} parts of messages are no text: {kinds}"
            if len(chat.others) == 1:
                message = f"1 part of a message is no text: {kinds}"
            yield Remark(NO_TEXT, (key, chat.others[0][0]), message)
    if attachments.unresolved:
        first = min(attachments.unresolved)
        message = f"{first} refers to no attachment of the sample"
        yield Remark(UNRESOLVED, ("attachments",) * ("attachments" in sample), message)


def _usage_remarks(sample: Mapping[str, Any]) -> Iterator[Remark]:
    output = sample.get("output") or {}
    if output.get("usage") and not sample.get("model_usage"):
        message = "the tokens are those of the last call, not of the whole sample"
        yield Remark(LAST_USAGE, ("output", "usage"), message)
