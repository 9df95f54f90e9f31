"""The table that is published of a result."""

from harpia_formats.model.result import Result
from harpia_formats.reporters.score_tables.results import scores_table
from harpia_formats.reporters.score_tables.table import ScoreTable
from harpia_formats.scoring.scores import Scores


def table_of(result: Result) -> ScoreTable | None:
    """Return the table of a result, None if it has no scores of its whole input."""
    if isinstance(result, Scores) and result.is_whole:
        return scores_table(result)
    return None
