"""The page of systems on benchmarks: the tables that are published of them."""

from markupsafe import Markup, escape

from harpia_formats.evaluation.scoring.benchmarks import BenchmarkScores
from harpia_formats.evaluation.scoring.measures.metric_score import DOWN, UP
from harpia_formats.evaluation.scoring.results.best_scores import Better
from harpia_formats.model.describe import with_noun
from harpia_formats.model.safe_text import safe
from harpia_formats.reporters.html.page import (
    Page,
    Section,
    section,
    sentences,
    table,
)
from harpia_formats.reporters.html.report_page import alerts, files_section
from harpia_formats.reporters.score_tables.benchmark_tables import benchmark_tables
from harpia_formats.reporters.score_tables.score_table import (
    Cell,
    Heading,
    Note,
    ScoreTable,
)

_ARROWS = {Better.HIGHER: f"\u00a0{UP}", Better.LOWER: f"\u00a0{DOWN}"}


def page(found: BenchmarkScores) -> Page:
    """Return the page of the table of a plan."""
    systems = with_noun(len(found.systems), "system")
    benchmarks = with_noun(len(found.benchmarks), "benchmark")
    reports = [report for one in found.benchmarks for report in one.reports]
    sections = [
        _section(f"table-{number}", one)
        for number, one in enumerate(benchmark_tables(found), 1)
    ]
    return Page(
        "scores of systems on benchmarks",
        f"{systems} on {benchmarks}",
        found.ok,
        alerts=alerts(*reports),
        sections=[*sections, files_section(*reports)],
    )


def _section(name: str, found: ScoreTable) -> Section:
    """Return a table with its notes."""
    columns = list(map(_heading, found.headings))
    kinds = zip(columns, found.headings, strict=True)
    numbers = [column for column, heading in kinds if heading.is_number]
    rows = [[_cell(cell) for cell in row] for row in found.rows]
    parts = [
        table(found.caption, columns, rows, numbers),
        sentences(map(_sentence, found.notes)),
    ]
    return section(name, found.caption, parts)


def _heading(heading: Heading) -> str:
    return safe(heading.full_name) + _ARROWS.get(heading.better, "")


def _cell(cell: Cell) -> str:
    """Return a cell as text or markup; a number may be broken before its interval."""
    if isinstance(cell, str):
        return cell
    number = Markup("<strong>{}</strong>") if cell.is_bold else Markup("{}")
    parts = [number.format(cell.text), escape(cell.rest.replace(", ", ",\u00a0"))]
    return Markup(" ").join([*filter(None, parts)]) + escape(cell.mark)


def _sentence(note: Note) -> str:
    text = f"{note.mark} {note.text}".strip()
    return f"{text}: {note.code}" if note.code else text
