"""The tables that are published of a result."""

from harpia_formats.evaluation.scoring.compare_report import ComparisonReport
from harpia_formats.evaluation.scoring.scores import Scores
from harpia_formats.model.result import Result
from harpia_formats.reporters.score_tables.comparison import comparison_tables
from harpia_formats.reporters.score_tables.results import scores_table
from harpia_formats.reporters.score_tables.table import ScoreTable


def tables_of(result: Result) -> tuple[ScoreTable, ...]:
    """Return the tables of a result; none if it has no scores of its whole input."""
    if isinstance(result, Scores) and result.is_whole:
        return (scores_table(result),)
    if isinstance(result, ComparisonReport) and result.compared:
        return tuple(comparison_tables(result))
    return ()
