"""Notes on a scoring run, for people: what was left out, and what counts how."""

from collections.abc import Iterator

from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.evaluation.scoring.answer_stream import AnswerScorer
from harpia_formats.evaluation.scoring.draws import unavailable_reason
from harpia_formats.evaluation.scoring.options import ScoreOptions


def notes_of(
    options: ScoreOptions, answers: AnswerScorer, reading: Reading
) -> Iterator[str]:
    """Yield notes on models, repeated rows, files, skipped rows and intervals."""
    yield from reading.companions.notes()
    yield from answers.totals.notes()
    repeated = answers.repeated.count
    if repeated:
        yield (
            "rows that repeat an answer with the score of another metric: "
            f"{repeated:,}, not counted again"
        )
    invalid = sum(file.invalid for file in reading.tally.report().files)
    if invalid:
        rows = "1 invalid row was" if invalid == 1 else f"{invalid:,} invalid rows were"
        yield f"{rows} left out"
    yield from (entry.note for entry in answers.differences.differing())
    if answers.unseen_fields is not None:
        yield from answers.unseen_fields.notes()
    if answers.zeros:
        yield f"{answers.zeros:,} missing answers count as 0"
    if answers.only_stored:
        have = "answer has" if answers.only_stored == 1 else "answers have"
        yield (
            f"{answers.only_stored:,} {have} no text and a stored score: --stored "
            "shows stored scores"
        )
    is_resampled = options.replicates and any(
        not metric.measure.is_bounded_mean for metric in answers.measured
    )
    if is_resampled and unavailable_reason():
        yield unavailable_reason()
