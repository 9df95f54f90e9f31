"""Write the comparison with other tools from the pages of the benchmarks."""

import re
from dataclasses import dataclass

from page_examples import ROOT
from reference_tables import table

BENCHMARKS = ROOT / "docs" / "benchmarks"
#: What a page says of itself where one of these is written.
SECTION = re.compile(r"<!-- (comparison|times) -->\n.*?<!-- end of \1 -->", re.DOTALL)
HEAD = (
    "task",
    "other tool",
    "time ratio",
    "memory in MB: ours / theirs",
    "measured by",
)


@dataclass(frozen=True)
class Line:
    """One comparison, and where its figures stand in a page of benchmarks."""

    task: str
    other: str
    #: The page, the heading above the table of seconds, and the rows of that table.
    page: str
    heading: str
    ours: str
    theirs: str
    command: str
    #: Whether both were measured on the same amount of data.
    has_memory: bool = True


LINES = (
    Line(
        "validate 500,000 records",
        "sourcemeta `jsonschema validate --fast`",
        "benchmark.md",
        "500,000 rows",
        "ours",
        "sourcemeta jsonschema --fast",
        "python benchmarks/validate.py",
    ),
    Line(
        "validate 500,000 records",
        "a loop of orjson and jsonschema-rs",
        "benchmark.md",
        "500,000 rows",
        "ours",
        "orjson + jsonschema-rs",
        "python benchmarks/validate.py",
    ),
    Line(
        "validate 500,000 records",
        "a loop of `orjson.loads`, which checks nothing",
        "benchmark.md",
        "500,000 rows",
        "ours",
        "orjson alone, no checks",
        "python benchmarks/validate.py",
    ),
    Line(
        "validate 500,000 EvalEval records and their aggregate",
        "`every_eval_ever validate`",
        "benchmark.md",
        "EvalEval's own validator, 500,000 rows of 0.3.0",
        "ours --with the aggregate",
        "every_eval_ever validate",
        "python benchmarks/validate.py --every-eval-ever PATH",
    ),
    Line(
        "convert 500,000 records with conversations, `eee@0.2.0` to `nemo-output`",
        "a script with Python's json, which checks nothing",
        "convert-benchmark.md",
        "eee@0.2.0 to nemo-output",
        "ours",
        "script with json",
        "python benchmarks/convert.py --conversations",
    ),
    Line(
        "convert 500,000 records with conversations, `eee@0.2.0` to `nemo-output`",
        "a script with orjson, which checks nothing",
        "convert-benchmark.md",
        "eee@0.2.0 to nemo-output",
        "ours",
        "script with orjson",
        "python benchmarks/convert.py --conversations",
    ),
    Line(
        "score 100,000 answers: exact match, F1, BLEU, ROUGE",
        "a script with sacrebleu and rouge-score, scaled up from 5,000 answers",
        "score-benchmark.md",
        "em, F1, BLEU and ROUGE",
        "ours",
        "script",
        "python benchmarks/score.py",
        has_memory=False,
    ),
)


def comparison() -> str:
    """Return the table of comparisons with the figures that are published today."""
    rows = []
    for line in LINES:
        ours, theirs = (_figures(line, name) for name in (line.ours, line.theirs))
        peaks = f"{ours['peak memory, MB']} / {theirs['peak memory, MB']}"
        memory = peaks if line.has_memory else "not comparable"
        proof = f"[`{line.command}`]({line.page})"
        rows.append((line.task, line.other, _ratio(line), memory, proof))
    return table(HEAD, rows)


def times() -> str:
    """Return a sentence on the time of validation against three other programs."""
    parts = [f"{_ratio(line)} of the time of {line.other}" for line in LINES[:3]]
    task = LINES[0].task.replace("validate", "Validating")
    return f"{task} takes {', '.join(parts[:-1])}, and {parts[-1]}.\n"


def with_comparison(page: str) -> str:
    """Return a page with the current comparison, or the sentence, in its place."""
    made = {"comparison": comparison, "times": times}

    def section(found: re.Match[str]) -> str:
        name = found[1]
        return f"<!-- {name} -->\n{made[name]()}<!-- end of {name} -->"

    return SECTION.sub(section, page)


def _ratio(line: Line) -> str:
    """Return our time as a multiple of that of the other tool."""
    ours, theirs = (_figures(line, name) for name in (line.ours, line.theirs))
    return f"{float(ours['median, s']) / float(theirs['median, s']):.2g}"


def _figures(line: Line, name: str) -> dict[str, str]:
    """Return the cells of one row, by the heads of their columns."""
    page = (BENCHMARKS / line.page).read_text(encoding="utf-8")
    section = page.split(f"\n## {line.heading}\n", 1)[1].split("\n## ", 1)[0]
    rows = [
        [cell.strip() for cell in row.strip("|").split("|")]
        for row in section.splitlines()
        if row.startswith("|")
    ]
    (cells,) = (row for row in rows if row[0] == name)
    return dict(zip(rows[0], cells, strict=True))
