"""The summary of a run, and a hint how to continue it, for people."""

from pathlib import Path

from harpia_formats.evaluation.llm_judge.errors import RowError
from harpia_formats.evaluation.llm_judge.run.llm_judge import LLMJudge
from harpia_formats.model.text.sanitize import safe


def summary_of(judge: LLMJudge) -> str:
    """Return the counts of the last run of a judge in one line.

    With several votes there is a line for the majorities of each output field.
    """
    tally, budget = judge.tally, judge.budget
    noun = "vote" if judge.votes > 1 else "row"
    parts = [f"{_counted(tally.rows, noun)}: {tally.ok:,} judged"]
    if tally.cached:
        parts.append(f"{tally.cached:,} from the cache")
    if tally.failed:
        parts.append(f"{tally.failed:,} failed")
    if tally.unasked:
        parts.append(f"{tally.unasked:,} not asked, since {budget.exhausted_reason}")
    requests = _counted(budget.requests, "request")
    if budget.retries:
        requests += f", of which {_counted(budget.retries, 'retry', 'retries')}"
    counts = f"{', '.join(parts)}; {requests}; {_counted(budget.tokens, 'token')}"
    majorities = (
        f"{safe(name)}: {found.text}" for name, found in judge.majorities.counts.items()
    )
    return "\n".join((counts, *majorities))


def resume_hint(
    cache: Path | None, error: RowError | None = None, *, overwriting: bool = False
) -> str:
    """Return how to continue a run that was stopped, by an error if there is one.

    `overwriting` tells whether an output exists that the next run must overwrite.
    """
    if error is not None and error.repeats:
        is_reply = error.repeats == "reply"
        kept = "" if cache is None else f"what was answered is in {cache}"
        also = ", and so is the reply without a verdict" if is_reply else ""
        ask = "--ask-again asks for it once more, " if is_reply else ""
        start = f"{kept}{also}: " if kept else ""
        return (
            f"{start}the same command fails at this row again; "
            f"{ask}--no-raise-on-failure goes on without its verdict"
        )
    if cache is None:
        return "without a cache no reply was kept: a new run asks for every row"
    command = "the same command with --overwrite" if overwriting else "the same command"
    return f"what was answered is in {cache}: {command} goes on from there"


def _counted(number: int, noun: str, nouns: str = "") -> str:
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"
