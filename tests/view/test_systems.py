"""Systems are matched and compared on the page as `score compare` does it."""

import random
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import HarpiaFormatsError, compare_scores
from harpia_formats.model.record import Record
from harpia_formats.view import systems
from harpia_formats.view.options import ViewError
from harpia_formats.view.viewed_file import ViewedFile
from json_lines import jsonl
from ready_session import Session, ready, session_of, viewed

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
    path.write_bytes(jsonl(*given))
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
def session(paths: list[str]) -> Iterator[Session]:
    """Return a session over both files."""
    session = ready(session_of(*paths))
    yield session
    session.close()


def test_models_are_systems(session: Session) -> None:
    """Each model of a file is a system."""
    names = [one["name"] for one in session.systems()["systems"]]
    assert names == ["one", "two", "three"]


@pytest.mark.parametrize(("a", "b"), [("0.0", "0.1"), ("0.1", "1.0"), ("1.0", "0.0")])
def test_scores_are_those_of_score_compare(
    session: Session, paths: list[str], a: str, b: str
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


def test_rows_that_differ(session: Session) -> None:
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


def test_words_that_differ_are_marked(session: Session) -> None:
    """Two answers are shown in pieces that both have, or only one."""
    query = {"a": "0.0", "b": "0.1", "metric": "acc", "verdict": "a-right"}
    record = session.compare(query)["rows"][0]["a"]["record"]
    found = session.compared_record({**query, "record": str(record)})
    for side, word in (("a", "right"), ("b", "wrong")):
        words = found[side]["words"]
        assert "".join(text for _, text in words) == found[side]["text"]
        assert ["only", word] in words
        assert ["same", "the "] in words


@pytest.mark.parametrize("words", [20, 200])
def test_answers_with_little_in_common_are_not_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: int
) -> None:
    """What takes too long to find is not marked: 700 unlike words took 7 seconds."""
    monkeypatch.setattr(systems, "MOST_LOOKS", 1_000_000)
    given = [
        {
            "id": "1",
            "prompt": "Why?",
            "outputs": [
                {"model": name, "text": " ".join(f"{name}{at}" for at in range(words))}
            ],
        }
        for name in ("one", "two")
    ]
    session = ready(session_of(write(tmp_path / "long.jsonl", given)))
    found = session.compared_record({"a": "0.0", "b": "0.1", "record": "1"})
    session.close()
    is_marked = words == 20
    assert [bool(found[side]["words"]) for side in "ab"] == [is_marked, is_marked]
    assert found["a"]["text"].startswith("one0 one1")


def test_answers_that_are_missing_or_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question without an answer has none, and one that is not read says why."""
    paths = []
    for name, outputs in {"A": [{"text": "t"}, {}], "B": [{"text": "t"}] * 2}.items():
        made = [
            {"id": str(at), "prompt": f"q{at}", "outputs": [{"model": name, **output}]}
            for at, output in enumerate(outputs)
        ]
        paths.append(write(tmp_path / f"{name}.jsonl", made))

    def unread(file: ViewedFile, row: bytes) -> Record:
        del file, row
        raise ViewError("it is no object")

    with viewed(*paths, format="record") as session:
        query = {"a": "0.0", "b": "1.0"}
        found = session.compare(query)["rows"]
        assert [row["a"]["answer"] for row in found] == ["t", None]
        shown = session.compared_record({**query, "record": "2"})
        assert (shown["a"]["text"], shown["b"]["text"]) == (None, "t")
        assert {row[side]["unread"] for row in found for side in "ab"} == {None}
        monkeypatch.setattr(ViewedFile, "record", unread)
        (row, _) = session.compare(query)["rows"]
        assert (row["a"]["answer"], row["a"]["unread"]) == (None, "it is no object")


def test_the_table_of_score_compare(session: Session) -> None:
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


def test_the_other_answers_to_a_question(session: Session) -> None:
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
        {"a": "0.0", "b": "0.1", "start": "x"},
        {"a": "0.0", "b": "0.1", "start": "-1"},
        {"a": "0.0", "b": "0.1", "count": "-1"},
    ],
)
def test_wrong_comparisons_are_refused(session: Session, query: dict[str, str]) -> None:
    """Systems that are not there, and words that say nothing, are refused."""
    with pytest.raises(HarpiaFormatsError):
        session.compare(query)


def test_a_wrong_record_is_refused(session: Session) -> None:
    """A record that is no number is refused."""
    with pytest.raises(HarpiaFormatsError, match="record is a whole number"):
        session.compared_record({"a": "0.0", "b": "0.1", "record": "x"})


def test_repeated_questions_count_by_their_means(tmp_path: Path) -> None:
    """Of a question that is asked several times the mean of all answers is shown."""
    paths = []
    for name, right in {"A": range(7), "B": range(5, 20)}.items():
        made = [
            {
                "id": str(at % 5),
                "prompt": f"q{at % 5}",
                "outputs": [
                    {
                        "model": name,
                        "text": "t",
                        "scores": [
                            {
                                "metric": "acc",
                                "value": float(at in right),
                                "is_correct": at in right,
                            }
                        ],
                    }
                ],
            }
            for at in range(20)
        ]
        paths.append(write(tmp_path / f"{name}.jsonl", made))
    report = compare_scores(*paths, stored=True, force=True, metrics=["acc"])
    (compared,) = report.compared
    assert compared.comparison is not None
    with viewed(*paths, format="record") as session:
        query = {"a": "0.0", "b": "1.0", "metric": "acc"}
        found = session.compare(query)
        differences = [row["difference"] for row in found["rows"]]
        assert found["matched"] == len(differences) == 5
        mean = sum(differences) / len(differences)
        assert abs(mean) == pytest.approx(abs(compared.comparison.difference))
        assert [row["a"]["score"] for row in found["rows"]] == [0.5, 0.5] + [0.25] * 3
        assert {row["b"]["score"] for row in found["rows"]} == {0.75}
        assert {row["a"]["records"] for row in found["rows"]} == {4}
        assert not session.compare({**query, "verdict": "a-right"})["total"]
        shown = session.compared_record({**query, "record": "6"})
        assert (shown["a"]["record"], shown["b"]["record"]) == (6, 1)


@pytest.fixture
def tables(tmp_path: Path) -> list[str]:
    """Return two tables whose fields are separated by bars."""
    paths = []
    for name in "AB":
        path = tmp_path / f"{name}.txt"
        lines = [f"{at}|q{at}|t|{name}|{at % 2}\n" for at in range(8)]
        path.write_text("".join(["id|prompt|response|model|score\n", *lines]))
        paths.append(str(path))
    return paths


def test_the_table_reads_files_as_the_page_does(tables: list[str]) -> None:
    """The format, the delimiter and the limit of rows are those of the page."""
    session = ready(session_of(*tables, format="csv", delimiter="|"))
    query = {"a": "0.0", "b": "1.0", "metric": "score", "force": "1"}
    try:
        assert session.compare(query)["matched"] == 8
        found = session.compared_table(query)
        assert found["reason"] is None
        assert found["tables"]
        words = shlex.split(found["command"])
        assert words[words.index("--from") + 1] == "csv"
        assert words[words.index("--delimiter") + 1] == "|"
    finally:
        session.close()


def test_no_command_has_the_limit_of_rows(paths: list[str]) -> None:
    """There is no command for the table of the page if its rows may be longer."""
    with viewed(*paths, max_row_bytes=2**26) as session:
        found = session.compared_table({"a": "0.0", "b": "1.0", "force": "1"})
        assert found["tables"]
        assert found["command"] is None


def test_changed_files_are_not_compared(tables: list[str]) -> None:
    """A table that was computed before is not shown of a file that has changed."""
    query = {"a": "0.0", "b": "1.0", "metric": "score", "force": "1"}
    with viewed(*tables, format="csv", delimiter="|") as session:
        assert session.compared_table(query)["tables"]
        with Path(tables[0]).open("a", encoding="utf-8") as file:
            file.write("9|q9|t|A|1\n")
        for ask in (session.compare, session.compared_table):
            with pytest.raises(HarpiaFormatsError, match="changed"):
                ask(query)


def test_a_failure_is_not_kept(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A comparison that took too long is computed again when it is asked for again."""
    query = {"a": "0.1", "b": "1.0", "metric": "acc", "force": "1"}
    with monkeypatch.context() as patch:
        patch.setattr("harpia_formats.view.systems.MOST_SECONDS", 0.0)
        assert session.compared_table(query)["tables"] == []
    assert session.compared_table(query)["tables"]


@pytest.mark.parametrize("block", [7, 1_000])
def test_records_that_ask_the_same(
    paths: list[str], monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    """They are found in whole blocks and behind them, in order, and not all of many."""
    monkeypatch.setattr("harpia_formats.view.systems.BLOCK", block)
    with viewed(*paths) as session:
        rows = session.rows({"file": "0", "count": "1000"})["rows"]
        ids = {row["record"]: row["id"] for row in rows}
        assert len(ids) == 2 * COUNT
        for record, asked in ids.items():
            same = [at for at, one in ids.items() if one == asked]
            assert len(same) == 2
            assert same_in(session, record) == [at for at in same if at != record]
        monkeypatch.setattr("harpia_formats.view.systems.MOST_SAME", 1)
        assert same_in(session, same[0]) == []
        written = Path(session.folder).glob("0*.questions")
        assert sum(one.stat().st_size for one in written) == len(ids) // block * 112


def same_in(session: Session, record: int) -> list[int]:
    """Return the other records of the first file that are shown to ask the same."""
    others = session.record({"file": "0", "record": str(record)})["others"]
    return [one["record"] for one in others if one["file"] == 0]


def test_files_that_are_not_read_yet_have_no_matches(paths: list[str]) -> None:
    """No ids and prompts are lacking in files of which no record is known yet."""
    query = {"a": "0.0", "b": "1.0", "metric": "acc"}
    session = session_of(*paths)
    session.start()
    try:
        found = session.compare(query)
        assert found["complete"] or (found["matched"], found["rows"]) == (0, [])
    finally:
        session.close()


def test_few_matches_are_kept(session: Session) -> None:
    """Matched questions of old pairs are forgotten."""
    kept = session._comparisons._matched  # noqa: SLF001 - nothing else tells it
    for pair in (("0.0", "0.1"), ("0.1", "1.0"), ("1.0", "0.0")):
        session.compare(dict(zip("ab", pair, strict=True)))
    assert list(kept) == [("0.1", "1.0"), ("1.0", "0.0")]
