"""Systems are matched and compared on the page as `score compare` does it."""

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import compare_scores
from harpia_formats.view.options import ViewError, ViewOptions
from harpia_formats.view.session import ViewSession
from ready_session import ready

COUNT = 40


def rows(model: str, first: int, seed: int) -> list[dict[str, Any]]:
    """Return rows of a model that answers some questions."""
    chance = random.Random(seed)  # noqa: S311 - data of a test
    found = []
    for number in range(first, first + COUNT):
        is_right = chance.random() < 0.6
        score = {"metric": "acc", "value": int(is_right), "is_correct": is_right}
        output = {
            "model": model,
            "text": f"the {'right' if is_right else 'wrong'} answer to {number}",
            "scores": [score],
        }
        found.append(
            {"id": str(number), "prompt": f"question {number}", "outputs": [output]}
        )
    chance.shuffle(found)
    return found


def write(path: Path, given: list[dict[str, Any]]) -> str:
    """Write rows to a file, and return its path."""
    path.write_text("".join(json.dumps(row) + "\n" for row in given), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return two files: one of two models, and one of a third."""
    folder = tmp_path_factory.mktemp("systems")
    return [
        write(folder / "both.jsonl", [*rows("one", 0, 1), *rows("two", 0, 2)]),
        write(folder / "other.jsonl", rows("three", 10, 3)),
    ]


@pytest.fixture(scope="module")
def session(paths: list[str]) -> Iterator[ViewSession]:
    """Return a session over both files."""
    session = ready(ViewSession(paths, ViewOptions()))
    yield session
    session.close()


def test_models_are_systems(session: ViewSession) -> None:
    """Each model of a file is a system."""
    names = [one["name"] for one in session.systems()["systems"]]
    assert names == ["one", "two", "three"]


@pytest.mark.parametrize(("a", "b"), [("0.0", "0.1"), ("0.1", "1.0"), ("1.0", "0.0")])
def test_scores_are_those_of_score_compare(
    session: ViewSession, paths: list[str], a: str, b: str
) -> None:
    """As many questions are matched, with the same mean difference."""
    names = {"0.0": "one", "0.1": "two", "1.0": "three"}
    found = session.compare({"a": a, "b": b, "metric": "acc", "count": "1000"})
    inputs = list(dict.fromkeys(paths[int(each[0])] for each in (a, b)))
    chosen = (names[a], names[b])
    report = compare_scores(*inputs, models=chosen, stored=True, force=True)
    (compared,) = report.compared
    assert compared.comparison is not None
    assert found["matched"] == compared.questions
    differences = [row["difference"] for row in found["rows"]]
    expected = compared.comparison.difference
    if report.systems[0].name != names[a]:
        expected = -expected
    assert sum(differences) / len(differences) == pytest.approx(expected)


def test_rows_that_differ(session: ViewSession) -> None:
    """Only questions are shown that one system answers right and the other wrong."""
    query = {"a": "0.0", "b": "0.1", "metric": "acc", "count": "1000"}
    every = session.compare(query)["rows"]
    for verdict, (first, second) in {
        "a-right": (True, False),
        "b-right": (False, True),
    }.items():
        found = session.compare({**query, "verdict": verdict})["rows"]
        assert [row["a"]["record"] for row in found] == [
            row["a"]["record"]
            for row in every
            if (row["a"]["correct"], row["b"]["correct"]) == (first, second)
        ]
        assert found
    differing = session.compare({**query, "by": "0.5"})
    assert differing["total"] == sum(abs(row["difference"]) > 0.5 for row in every)


def test_words_that_differ_are_marked(session: ViewSession) -> None:
    """Two answers are shown in pieces that both have, or only one."""
    query = {"a": "0.0", "b": "0.1", "metric": "acc", "verdict": "a-right"}
    record = session.compare(query)["rows"][0]["a"]["record"]
    found = session.compared_record({**query, "record": str(record)})
    for side, word in (("a", "right"), ("b", "wrong")):
        words = found[side]["words"]
        assert "".join(text for _, text in words) == found[side]["text"]
        assert ["only", word] in words
        assert ["same", "the "] in words


def test_the_table_of_score_compare(session: ViewSession) -> None:
    """The page has the table of the command, and the command itself."""
    query = {"a": "0.0", "b": "1.0", "metric": "acc"}
    assert "signatures" in session.compared_table(query)["reason"]
    found = session.compared_table({**query, "force": "1"})
    assert found["reason"] is None
    scores, differences = found["tables"]
    assert [row[0] for row in scores["rows"]] == ["one", "three"]
    assert differences["columns"]
    assert "score compare" in found["command"]
    assert (
        "--stored --on-invalid skip --metrics acc --force --model 1=one --model 2=three"
        in found["command"]
    )


def test_the_other_answers_to_a_question(session: ViewSession) -> None:
    """A record names the records of all systems that ask the same."""
    (row,) = session.rows({"file": "1", "count": "1"})["rows"]
    shown = session.record({"file": "1", "record": str(row["record"])})
    others = {(one["file"], one["name"]) for one in shown["others"]}
    assert others <= {(0, "both.jsonl")}


@pytest.mark.parametrize(
    "query",
    [
        {"a": "0.0", "b": "9.9"},
        {"a": "0.0"},
        {"a": "0.0", "b": "0.1", "by": "x"},
        {"a": "0.0", "b": "0.1", "verdict": "x"},
    ],
)
def test_wrong_comparisons_are_refused(
    session: ViewSession, query: dict[str, str]
) -> None:
    """Systems that are not there, and words that say nothing, are refused."""
    with pytest.raises(ViewError):
        session.compare(query)
