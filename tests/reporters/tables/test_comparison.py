"""Tables of comparisons: bold is what tests say, and each pair has its p-values."""

import csv
import io
import json
from dataclasses import replace
from typing import Any

import pytest

import harpia_formats as hf
from generated_reports import page_of
from table_texts import FOUR, NASTY, check_latex, form_text, rows_of, tables_in

pytest.importorskip("numpy", reason="tests need the extra score")


@pytest.fixture(scope="module")
def found() -> Any:
    """Return the comparison of four models."""
    return hf.compare_scores(rows_of(FOUR, 80), metrics=("em", "f1"))


def test_bold_is_the_best_and_what_is_not_worse(found: Any) -> None:
    """The adjusted p-values against the best decide."""
    _, *rows = tables_in(form_text("markdown", found))[0]
    bold = [row[0] for row in rows if "<strong>" in row[1]]
    p_values = {
        one.systems: one.adjusted_p for one in found.compared if one.name == "em"
    }

    assert bold == ["heron-7b", "heron-13b"]
    assert (p_values["heron-7b", "heron-13b"] or 0) >= 0.05
    assert (p_values["heron-13b", "finch_3b"] or 1) < 0.05
    assert "not significantly worse" in form_text("latex", found)


def test_what_was_not_tested_against_the_best_is_not_bold(
    found: Any,
) -> None:
    """With a baseline only its own pairs are tested, which a note says."""
    pairs = [one for one in found.compared if one.systems[0] != "heron-7b"]
    text = form_text("markdown", replace(found, compared=tuple(pairs)))
    _, *rows = tables_in(text)[0]

    assert [row[0] for row in rows if "<strong>" in row[1]] == ["heron-13b"]
    assert "A system that was not tested against the best by all questions" in text


def test_a_test_by_some_questions_is_none_of_the_scores() -> None:
    """Of a system that is hopeless on all others it tells nothing: none is bold."""
    rows = rows_of({"a": 99, "b": 1, "c": 99}, 30)
    for row in rows[:20]:
        del row["outputs"][1]
    for row in rows[20:22]:
        row["outputs"][1]["text"] = row["outputs"][0]["text"]
    for row in rows[22:]:
        del row["outputs"][0]
    del rows[-1]["outputs"][-1]["text"]
    rows[0]["outputs"][-1]["text"] = "no"
    found = hf.compare_scores(rows, metrics=("em",), missing="skip")
    text = form_text("markdown", found)
    _, *cells = tables_in(text)[0]

    assert found.pair("a", "b")[0].adjusted_p == 1
    assert [row[0] for row in cells if "<strong>" in row[1]] == []
    assert "Nothing is bold: no two systems could be tested by all of" in text


def test_a_system_of_fewer_questions_has_no_test_of_its_score() -> None:
    """It is not bold, and a note says how many it lacks."""
    rows = rows_of({"a": 99, "b": 3, "c": 99}, 30)
    for row in rows[:10]:
        del row["outputs"][2]
    text = form_text("markdown", hf.compare_scores(rows, metrics=("em",)))
    _, *cells = tables_in(text)[0]

    assert [row[0] for row in cells if "<strong>" in row[1]] == ["a", "c"]
    lacks = "c has no score for 10 questions of other systems"
    assert f"{lacks}: its files do not have them." in text


@pytest.mark.parametrize(
    ("test", "is_said"), [("permutation", True), ("bootstrap", False)]
)
def test_intervals_of_another_method_than_the_test_are_noted(
    test: str, *, is_said: bool
) -> None:
    """The interval of the bootstrap agrees with the test by the same replicates."""
    rows = rows_of({"a": 99, "b": 4}, 30)
    found = hf.compare_scores(rows, metrics=("em",), test=test)

    assert ("they may disagree about 0" in form_text("markdown", found)) is is_said


def test_one_level_is_that_of_bold_and_of_what_is_detected() -> None:
    """`level` sets it for both, and the notes name it; so do filled marks."""
    rows = rows_of({"a": 99, "b": 4}, 30)
    usual, strict = (
        hf.compare_scores(rows, metrics=("em",), level=level) for level in (0.95, 0.99)
    )
    (one,) = usual.compared
    assert one.comparison is not None
    assert 0.01 < one.comparison.p_value < 0.05
    texts = [form_text("markdown", found) for found in (usual, strict)]

    bold = [sum("<strong>" in row[1] for row in tables_in(each)[0]) for each in texts]
    assert bold == [1, 2]
    for text, found, alpha in zip(
        texts, (usual, strict), ("0.05", "0.01"), strict=True
    ):
        assert f"all pairs and scores, at least {alpha})" in text
        assert f"questions detect (p below {alpha})" in text
        assert f"Filled marks have p below {alpha}," in page_of(found)
    assert [found.compared[0].is_significant for found in (usual, strict)] == [
        True,
        False,
    ]


def test_a_column_without_a_test_has_nothing_bold(found: Any) -> None:
    """The others have, and a note says why."""
    lacking = tuple(
        replace(one, comparison=None, adjusted_p=None) if one.name == "f1" else one
        for one in found.compared
    )
    text = form_text("markdown", replace(found, compared=lacking))
    _, *rows = tables_in(text)[0]

    assert any("<strong>" in row[1] for row in rows)
    assert not any("<strong>" in row[2] for row in rows)
    assert "In a column without such a test nothing is bold." in text


def test_each_remark_has_a_mark_of_its_own(found: Any) -> None:
    """The second remark is marked twice, and what scores share is stated once."""
    first, *others = found.compared
    assert first.comparison is not None
    changed = [
        replace(one, comparison=replace(first.comparison, remark=remark))
        for one, remark in zip(others, ("few", "rare"), strict=False)
    ]
    text = form_text("markdown", replace(found, compared=(first, *changed)))

    _, *rows = tables_in(text)[1]
    assert rows[0][2].split()[-1] == "*"
    assert rows[0][3].split()[-1] == "**"
    assert "- \\* Few.\n- \\*\\* Rare.\n" in text


def test_differences_are_a_matrix_for_each_score(found: Any) -> None:
    """Each pair of systems occurs once: the row minus the column."""
    text = form_text("markdown", found)
    _, *matrices = tables_in(text)
    names = [*FOUR]
    scores = {(one.full_name, *one.systems): one for one in found.compared}

    assert len(matrices) == len({one.full_name for one in found.compared})
    for name, (head, *rows) in zip(("em", "f1"), matrices, strict=True):
        assert head == ["system", "2", "3", "4"]
        for at, row in enumerate(rows):
            assert row[0] == f"{at + 1} {names[at]}"
            for other in range(1, 4):
                cell = row[other]
                if other <= at:
                    assert cell == ""
                    continue
                one = scores[name, names[at], names[other]]
                assert one.comparison is not None
                shown = cell.replace("<strong>", "").split("<")[0].split()[0]
                assert float(shown) == pytest.approx(
                    one.comparison.difference, abs=0.01
                )
                assert ("<strong>" in cell) == one.is_significant
    assert "Test of em: `permutation|" in text


def test_differences_are_from_the_baseline_if_there_is_one() -> None:
    """Then they are one table of the other systems."""
    rows = rows_of({"a": 3, "b": 2, "c": 4}, 60)
    found = hf.compare_scores(rows, metrics=("em", "f1"), baseline="b")
    _, (head, *body) = tables_in(form_text("markdown", found))

    assert head[1:] == ["em \u2191", "f1 \u2191"]
    assert [row[0] for row in body] == ["a", "c"]


def test_other_forms_have_all_numbers(found: Any) -> None:
    """CSV has a line for each score of each pair, and JSON is the whole result."""
    lines = list(csv.DictReader(io.StringIO(form_text("csv", found))))
    numbers = [float(line["adjusted_p"]) for line in lines]

    assert numbers == [one.adjusted_p for one in found.compared]
    assert json.loads(form_text("json", found)) == found.to_dict()
    check_latex(form_text("latex", found))


def test_a_long_table_in_latex_may_break_over_pages() -> None:
    """It has its rows once, its head on each page, and its notes behind it."""
    rows = rows_of({f"model-{at}": at + 2 for at in range(32)}, 8)
    found = hf.compare_scores(rows, metrics=("em",), replicates=50)
    text = form_text("latex", found)
    body, notes = text.split("\\end{longtable}", 1)

    check_latex(text)
    assert body.count("system & em") == 2
    assert body.index("\\endhead") < body.index("model-31")
    assert "Signature of em" in notes


def test_a_number_below_zero_has_a_minus_in_latex(found: Any) -> None:
    """A bold one, too; a hyphen would be shorter."""
    system = found.systems[0]
    assert system.scores is not None
    scores = (replace(system.scores.scores[0], value=-0.25, interval=None),)
    group = replace(system.scores, scores=scores)
    systems = tuple(replace(one, scores=group) for one in found.systems[:2])
    text = form_text("latex", replace(found, systems=systems))

    assert text.count("\\textbf{$-$0.250}") == 2
    check_latex(text)


def test_markup_in_names_of_systems_is_text() -> None:
    """Names are shown as they are in cells and notes."""
    rows = rows_of({NASTY: 3, "m": 2}, 6)
    del rows[0]["outputs"][0]["text"]
    found = hf.compare_scores(rows, metrics=("em",), missing="skip")
    systems, pairs = tables_in(form_text("markdown", found))

    assert systems[1][0] == NASTY
    assert pairs[0][1:3] == ["A", "B"]
    assert pairs[1][1:3] == [NASTY, "m"]
    check_latex(form_text("latex", found))


def test_a_pair_without_a_test_has_none() -> None:
    """One question has no p-value, and a note says so."""
    found = _compared_one()
    text = form_text("markdown", found)

    assert tables_in(text)[1][1][3:6] == ["\u2013 \u2020", "\u2013", "\u2013"]
    assert "\u2020 One question: no difference can be tested." in text
    assert "Nothing is bold: no two systems could be tested by all of" in text
    assert "<strong>" not in text.partition("Differences")[0]
    assert "not significantly" not in text
    assert "p (Holm):" not in text
    check_latex(form_text("latex", found))


def _compared_one() -> Any:
    """Return the comparison of two models by one question."""
    found = hf.compare_scores(rows_of({"m": 3, "n": 2}, 3), metrics=("em",))
    (one,) = found.compared
    lacking = replace(one, comparison=None, adjusted_p=None, questions=1)
    return replace(found, compared=(lacking,))
