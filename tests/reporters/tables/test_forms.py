"""Tables of scores that are published: each form has the numbers, bold and notes."""

import csv
import io
import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import harpia_formats as hf
from cases import for_each_case
from effort import examples
from harpia_formats.plugins import safe
from table_texts import (
    FOUR,
    NASTY,
    cells_of,
    check_latex,
    form_text,
    latex_rows,
    rows_of,
    tables_in,
)

SCHEMAS = Path(__file__).parents[3] / "schemas" / "harpia-formats"


def scored(wrong: Mapping[str, int] = FOUR, questions: int = 40, **options: Any) -> Any:
    """Return the scores of models."""
    given_options = {"metrics": ("em", "f1")} | options
    return hf.score(rows_of(wrong, questions), **given_options)


def test_a_row_is_a_system_and_a_column_a_score() -> None:
    """Numbers have their intervals, and none is bold, since nothing was tested."""
    head, *rows = cells_of(form_text("markdown", scored()))

    assert head == ["model", "em \u2191", "f1 \u2191"]
    assert [row[0] for row in rows] == list(FOUR)
    assert rows[0][1] == "0.900 [0.764, 0.962] *"
    text = form_text("markdown", scored())
    assert "**" not in text
    assert "Differences between systems were not tested; score compare" in text
    assert "score compare" not in form_text("markdown", scored({"m": 3}))


def test_latex_has_the_cells_of_markdown() -> None:
    """Both forms are written from one table, groups and counts included."""
    scores = scored(by=("category",))
    markdown = cells_of(form_text("markdown", scores))
    latex = latex_rows(form_text("latex", scores))

    def plain(cell: str) -> str:
        cell = cell.replace("$\\uparrow$", "\u2191")
        cell = re.sub(r"\$\^\{(\*+)\}\$", r" \1", cell)
        cell = re.sub(r"\\textbf\{(.*?)\}", r"<strong>\1</strong>", cell)
        return cell.replace("\\_", "_").replace("\\&", "&")

    assert [[plain(cell) for cell in row] for row in latex] == markdown
    assert len(latex) == 1 + 3 * len(FOUR)


@pytest.mark.long
def test_latex_compiles(tmp_path: Path) -> None:
    """Where there is a LaTeX it takes the tables, and none is wider than 160 mm."""
    program = which("pdflatex")
    if program is None:
        pytest.skip("no pdflatex is installed: the text is only checked")
    models = {**FOUR, NASTY: 4}
    body = form_text("latex", scored(models, by=("category",)))
    found = scored({f"m{number}": number for number in range(1, 40)})
    body += form_text("latex", found)
    for metrics in (("em", "f1"), ("em", "f1", "precision", "recall", "length", "mcc")):
        body += wide(metrics)
    start = "\\documentclass{article}\n\\usepackage{booktabs,longtable}\n"
    start += "\\usepackage[textwidth=160mm]{geometry}\n\\begin{document}\n"
    (tmp_path / "t.tex").write_text(
        f"{start}{body}\\end{{document}}\n", encoding="utf-8"
    )
    words = [program, "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)  # noqa: S603 - our own text

    assert done.returncode == 0, done.stdout[-2_000:]
    assert b"Overfull" not in done.stdout


def wide(metrics: tuple[str, ...]) -> str:
    """Return a table in LaTeX of scores by category, of models with long names."""
    models = {"heron-7b-instruct": 9, "aurora/Aurora-70B-Instruct-of-some-length": 3}
    scores = scored(models, metrics=metrics, by=("category", "metadata.language"))
    return form_text("latex", scores)


def test_columns_of_names_are_wide_enough_in_latex() -> None:
    """However many scores and groups there are, a name has 10 mm at least."""
    pytest.importorskip("rapidfuzz", reason="ROUGE needs the extra score")
    for metrics in (("rouge",), ("em", "f1", "rouge", "length")):
        widths = re.findall(r"\\parbox\[t\]\{(.*?)mm\}", wide(metrics))

        assert widths
        assert all(10 <= float(width) <= 156 for width in widths)
    shown = wide(("rouge",))
    assert shown.count(r"\caption") == 1
    assert r"\shortstack[r]{rouge.\\rougeLsum $\uparrow$}" in shown


def test_scores_that_a_page_has_no_room_for_are_in_a_further_table() -> None:
    """Each table in LaTeX has the names, one has a score, the last has the notes."""
    pytest.importorskip("rapidfuzz", reason="ROUGE needs the extra score")
    shown = wide(("em", "f1", "rouge", "length"))
    end = r"\end{table}"
    first, last = (f"{part}{end}" for part in shown.split(end)[:2])

    check_latex(shown)
    assert r"\caption{Scores (1 of 2)}" in first
    assert r"\caption{Scores (2 of 2)}" in last
    names = [[row[:3] for row in latex_rows(part)][1:] for part in (first, last)]
    assert names[0] == names[1]
    columns = latex_rows(first)[0][3:] + latex_rows(last)[0][3:]
    assert columns[-1] == "questions"
    assert len(columns) == len({*columns}) == 11
    assert "Signature of em" not in first
    assert "Signature of em" in last


def test_lower_is_better_where_it_is() -> None:
    """The arrow points down, and the lowest score is bold in a comparison."""
    pytest.importorskip("sacrebleu", reason="TER needs the extra score")
    found = hf.compare_scores(rows_of({"m": 2, "n": 9}), metrics=("ter",))
    head, *rows = tables_in(form_text("markdown", found))[0]

    assert head[1] == "ter \u2193"
    assert [row[0] for row in rows if "<strong>" in row[1]] == ["n"]


def test_notes_tell_how_the_numbers_were_made() -> None:
    """Signatures, methods with level and seed, scales and counts are below."""
    pytest.importorskip("sacrebleu", reason="BLEU needs the extra score")
    scores = scored(metrics=("em", "bleu", "mcc"), level=0.9, seed=7)
    for form in ("markdown", "latex"):
        text = re.sub(r"\\allowbreak\{\}", "", form_text(form, scores))
        text = text.replace("\\textbar{}", "|")
        for words in (
            "Signature of em",
            scores.systems[0]["bleu"].signature,
            "level:0.9",
            "seed:7",
            "Scale 0 to 1: em",
            "Scale 0 to 100: bleu",
            "Scale -1 to 1: mcc",
            "Questions: 40.",
            "Answers left out: 0.",
        ):
            assert words in text


def test_scores_that_share_a_signature_are_named_together() -> None:
    """A signature is printed once, and each of several remarks has its mark."""
    scores = scored({"m": 39, "n": 2, "o": 1}, metrics=("em", "length"))
    text = form_text("markdown", scores)

    assert "Signature of length.characters, length.words, length.tokens" in text
    cells = [row[1] for row in cells_of(text)[1:]]
    assert [cell.partition("]")[2] for cell in cells] == [" *", "", " **"]


def test_counts_that_differ_are_columns() -> None:
    """What is the same everywhere is a note, and what differs is in each row."""
    rows = rows_of(FOUR)
    del rows[0]["outputs"][0]["text"]
    scores = hf.score(rows, metrics=("em",), missing="skip")
    head, first, second, *_ = cells_of(form_text("markdown", scores))

    assert head[2:] == ["questions", "answers left out"]
    assert first[2:] == ["39", "1"]
    assert second[2:] == ["40", "0"]


def test_a_score_that_is_not_there_is_a_dash() -> None:
    """A system without a score has none, and a note says why."""
    scores = scored({"m": 3})
    lacking = replace(scores["em"], value=None, interval=None)
    system = replace(scores.systems[0], scores=(lacking,))
    text = form_text("markdown", replace(scores, systems=(system,)))

    assert cells_of(text)[1] == ["m", "\u2013"]
    assert "\u2013 No answer could be scored." in text


def test_one_question_has_no_interval() -> None:
    """The number stands alone, with a mark that a note explains."""
    text = form_text("markdown", scored({"m": 3}, 1))

    assert cells_of(text)[1] == ["m", "1.000 \u2020", "1.000 \u2020"]
    assert "\u2020 One question has no interval." in text


def shown_number(value: float, half: float) -> str:
    """Return a score as it is shown, with half the width of its interval."""
    scores = scored({"m": 3}, metrics=("em",))
    interval = (value - half, value + half)
    score = replace(scores["em"], value=value, interval=interval)
    system = replace(scores.systems[0], scores=(score,))
    rows = cells_of(form_text("markdown", replace(scores, systems=(system,))))
    return rows[1][1].split()[0]


@for_each_case("half, decimals", [(0.5, 2), (0.043, 3), (0.0043, 4), (4.3, 1), (43, 0)])
def test_numbers_have_the_digits_that_intervals_carry(
    half: float, decimals: int
) -> None:
    """Half the width of an interval is shown with two digits, if it is below 1,000."""
    number = shown_number(1, half)
    assert len(number.partition(".")[2]) == decimals


def test_a_number_that_is_nothing_has_no_sign() -> None:
    """It is not -0.00; large numbers have an exponent."""
    assert shown_number(-0.001, 0.5) == "0.00"
    assert shown_number(-0.01, 0.5) == "-0.01"
    assert shown_number(1.5e100, 0.5) == "1.5e+100"


def test_markup_in_names_is_text() -> None:
    """Names of models, groups and metrics are shown as they are in each form."""
    scores = scored({NASTY: 3, "m": 2}, metrics=("em",), by=("category",))
    (score,) = scores.systems[0].scores
    named = replace(score, metric=NASTY, name=NASTY, signature=f"{NASTY}|x:`y`")
    system = replace(scores.systems[0], scores=(named,))
    group = replace(scores.groups[0], key={"model": NASTY, "category": NASTY})
    found = replace(
        scores, systems=(system,), groups=(replace(group, scores=(named,)),)
    )

    head, first, *_ = cells_of(form_text("markdown", found))
    assert head[2] == f"{NASTY} \u2191"
    assert first[:2] == [NASTY, NASTY]
    check_latex(form_text("latex", found))
    rows = list(csv.DictReader(io.StringIO(form_text("csv", found))))
    assert {row["model"] for row in rows} == {NASTY}
    assert rows[0]["metric"] == NASTY


def test_names_give_no_structure_to_notes() -> None:
    """A name like a heading or an item of a list is text in what is left out."""
    names = ("# h", "- dash", "+ plus", "1. item")
    rows = rows_of(dict.fromkeys(names, 3), 4)
    rows[0]["outputs"] *= 2
    text = form_text("markdown", hf.score(rows, metrics=("pass@2",), missing="skip"))
    page = MarkdownIt("commonmark").enable("table").render(text)

    for name in names:
        assert f"<li>pass@2 of {name} leaves out 3 of 4" in page


@for_each_case(
    "name", ["\u05d0\u05d1 \u202e x", "\u6a21\u578b", "a\nb\x1b[0m", "[x", "*", "-"]
)
def test_names_in_other_scripts_stay(name: str) -> None:
    """Letters stay, and what would change the direction or the line is escaped."""
    scores = scored({name: 3, "m": 2}, metrics=("em",))
    latex = form_text("latex", scores)
    check_latex(latex)
    markdown = form_text("markdown", scores)
    for text in (latex, markdown):
        assert not set(text) & set("\u202e\x1b")
        assert all(letter in text for letter in name if letter.isalpha())
    assert len(cells_of(markdown)) == 3


def test_what_consumers_would_link_is_code() -> None:
    """Words like mentions, issues and addresses are code, and others are not."""
    names = ("@team x", "a#1", "x@y.org", "https://x", "pass@1", ":+1:")
    text = form_text("markdown", scored(dict.fromkeys(names, 3), 3))
    rows = [line.split(" | ")[0][2:] for line in text.splitlines()[2:8]]

    assert rows == [
        "<code>&#64;team</code> x",
        "<code>a&#35;1</code>",
        "<code>x&#64;y.org</code>",
        "<code>https&#58;//x</code>",
        "pass@1",
        "<code>&#58;&#43;1&#58;</code>",
    ]


def test_fifty_models_are_fifty_rows() -> None:
    """Each has its row, in each form."""
    scores = scored({f"m{number}": number + 2 for number in range(50)}, 5)

    assert len(cells_of(form_text("markdown", scores))) == 51
    assert len(latex_rows(form_text("latex", scores))) == 51
    assert len(form_text("csv", scores).splitlines()) == 101


def test_csv_is_safe_for_spreadsheets_where_asked_for() -> None:
    """A name that a spreadsheet would run gets a mark, and a number does not."""
    scores = scored({"=1+1": 3}, metrics=("em",), by=("model",))

    assert ",=1+1," in form_text("csv", scores)
    assert ",'=1+1," in form_text("csv", scores, csv_safe=True)


ANY_NAME = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9)
NUMBER = st.floats(-1e100, 1e100)


@st.composite
def any_scores(draw: st.DrawFn) -> Any:
    """Return a score with any numbers."""
    low, high = sorted((draw(NUMBER), draw(NUMBER)))
    return replace(
        scored({"m": 3}, 1, metrics=("em",))["em"],
        metric=draw(ANY_NAME),
        name=draw(ANY_NAME),
        value=draw(st.none() | NUMBER),
        signature=draw(ANY_NAME),
        scale=draw(st.sampled_from(["0-1", "0-100", "any"])),
        is_mean=True,
        count=draw(st.integers(0, 10**9)),
        unscored=draw(st.integers(0, 10**9)),
        interval=draw(st.sampled_from([None, (low, high)])),
        standard_error=draw(st.none() | NUMBER),
        remark=draw(st.sampled_from(["", "few failures: the interval is approximate"])),
    )


@examples(13)
@given(st.lists(any_scores(), min_size=1, max_size=4), ANY_NAME)
def test_numbers_are_read_back_as_they_are(found: list[Any], name: str) -> None:
    """CSV and JSON have all digits, and the other forms are well-formed."""
    plain = scored({"m": 3}, 1)
    scores = replace(
        plain,
        systems=(
            replace(plain.systems[0], key={"model": name}, scores=tuple(found)),
            replace(plain.systems[0], key={"model": "o"}, scores=()),
        ),
        groups=(),
        models=(name, "o"),
    )
    numbers = [
        (score.value, *(score.interval or (None, None)), score.standard_error)
        for score in found
    ]
    reader = csv.DictReader(io.StringIO(form_text("csv", scores), newline=""))
    columns = ("value", "low", "high", "standard_error")
    rows = list(reader)
    assert [
        tuple(float(row[column]) if row[column] else None for column in columns)
        for row in rows
    ] == numbers
    assert [row["metric"] for row in rows] == [score.metric for score in found]
    read = json.loads(form_text("json", scores))["systems"][0]["scores"]
    assert [tuple(row[column] for column in columns) for row in read] == numbers
    check_latex(form_text("latex", scores))
    table = cells_of(form_text("markdown", scores))
    assert len({len(row) for row in table}) == 1
    assert table[1][0].split() == safe(name).split()
