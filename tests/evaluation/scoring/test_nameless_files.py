"""Files without model names: parts of one system, or systems of their own."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

import command_runs
from harpia_formats import ScoreError, compare_scores, score
from in_process import completed_in, exit_code
from json_lines import jsonl
from sample_rows import answered

pytest.importorskip("numpy", reason="the extra score is not installed")


def write_answers(
    path: Path, numbers: range, right: int, model: str | None = None
) -> Path:
    """Write an answer to each question, of which the first `right` are right."""
    own = {"model": model} if model else {}
    rows = (
        answered(at) | {"outputs": [{"text": str(at) if at < right else "?"} | own]}
        for at in numbers
    )
    path.write_bytes(jsonl(*rows))
    return path


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Run `harpia-formats score`; return its exit code and what it prints."""
    code = exit_code("score", *words, "--metrics", "em")
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def parts_and_whole(folder: Path) -> tuple[list[Path], Path]:
    """Write two parts of one system, and another system that answers both."""
    parts = [
        write_answers(folder / "a1.jsonl", range(10), 8),
        write_answers(folder / "a2.jsonl", range(10, 20), 18),
    ]
    return parts, write_answers(folder / "b.jsonl", range(20), 10)


def test_files_that_share_questions_are_systems(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are scored apart, as they are compared, and one line says so."""
    one = write_answers(tmp_path / "a.jsonl", range(20), 15)
    other = write_answers(tmp_path / "b.jsonl", range(20), 5)

    found = score(one, other, metrics=("em",))

    values = {group.key["model"]: group["em"].value for group in found.systems}
    assert values == {"a.jsonl": 0.75, "b.jsonl": 0.25}
    assert sum("name no model and share questions" in note for note in found.notes) == 1
    compared = compare_scores(one, other, metrics=("em",))
    assert [system.name for system in compared.systems] == list(values)
    pooled = score(one, other, metrics=("em",), pool=True)
    assert pooled["em"].value == 0.5
    code, out, _ = run(capsys, one, other, "--pool")
    assert code == 0
    assert "model" not in out.splitlines()[0]


def test_files_that_share_none_are_parts_of_one_system(tmp_path: Path) -> None:
    """Shards have one score, and one line says that they are taken as one system."""
    parts = [
        write_answers(tmp_path / f"{at}.jsonl", range(at * 10, at * 10 + 10), 25)
        for at in range(7)
    ]
    found = score(*parts, metrics=("em",), by=("category",))

    assert found["em"].value == 25 / 70
    assert found["em"].questions == 70
    assert len(found.groups) == 1
    (note,) = (note for note in found.notes if "share no question" in note)
    assert note.startswith(f"{', '.join(map(str, parts[:5]))} and 2 more name no model")
    other = write_answers(tmp_path / "other.jsonl", range(70), 20, "m")
    compared = compare_scores(*parts, other, metrics=("em",))
    (difference,) = compared.compared
    assert (difference.first, difference.second) == (25 / 70, 20 / 70)
    assert any("share no question" in note for note in compared.notes)


def test_a_mixture_stops_and_names_both_ways_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two parts and another system are not guessed; names or --pool decide."""
    parts, other = parts_and_whole(tmp_path)
    for words in ([], ["compare"]):
        code, _, error = run(capsys, *words, *parts, other)
        assert code == 2
        assert "--pool" in error
        assert "NAME=FILE" in error
        named = [f"A={path}" for path in parts]
        code, out, _ = run(capsys, *words, *named, f"B={other}")
        assert code == 0
        assert "0.8000" in out
        assert "0.5000" in out
    with pytest.raises(ScoreError, match="pool=True"):
        score(*parts, other, metrics=("em",))
    systems = {str(path): "A" for path in parts}
    found = score(*map(str, parts), other, metrics=("em",), systems=systems)
    assert [group["em"].value for group in found.systems] == [0.8, 0.5]


def test_a_file_has_one_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A name stands for the model of a file; a path with `=` in it is a path."""
    one = write_answers(tmp_path / "a.jsonl", range(5), 3, "m")
    code, output, _ = run(capsys, f"A={one}")
    assert (code, "m" in output.split()) == (0, False)
    for again in (one, f"{tmp_path}/*.jsonl", Path(one).as_uri()):
        code, _, error = run(capsys, f"A={one}", f"B={again}")
        assert code == 2
        assert "is called A and B: give it one name" in error
    equal = write_answers(tmp_path / "A=b.jsonl", range(5), 3)
    assert run(capsys, equal)[0] == 0


def test_a_file_next_to_the_only_model_is_a_system_if_they_share_questions(
    tmp_path: Path,
) -> None:
    """Answers without a model are those of the only model for other questions only."""
    named = write_answers(tmp_path / "named.jsonl", range(10), 5, "m")
    same = write_answers(tmp_path / "same.jsonl", range(10), 10)
    more = write_answers(tmp_path / "more.jsonl", range(10, 20), 15)

    apart = score(named, same, metrics=("em",))
    assert {one.key["model"]: one["em"].value for one in apart.systems} == {
        "m": 0.5,
        "same.jsonl": 1.0,
    }
    together = score(named, more, metrics=("em",))
    assert together["em"].value == 0.5
    assert any("scored as those of m" in note for note in together.notes)


def test_results_of_one_model_are_not_written_of_several_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A vendor's results of several systems stop, and no file is left."""
    one = write_answers(tmp_path / "a.jsonl", range(10), 5)
    other = write_answers(tmp_path / "b.jsonl", range(10), 10)
    target = tmp_path / "out.json"

    code, _, error = run(capsys, one, other, "--to", "harpia-output", "-o", target)

    assert code == 2
    assert "holds the scores of one model" in error
    assert not target.exists()
    words = (one, other, "--to", "harpia-output", "-o", target, "--pool")
    assert run(capsys, *words)[0] == 0


def test_stored_scores_are_compared_by_the_same_rule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Parts of one system are compared as one, and a mixture stops."""
    parts, other = parts_and_whole(tmp_path)
    named = write_answers(tmp_path / "m.jsonl", range(20), 10, "m")
    stored = []
    for path in (*parts, other, named):
        stored.append(tmp_path / f"stored-{path.name}")
        assert run(capsys, path, "--to", "record", "-o", stored[-1])[0] == 0

    code, out, error = run(capsys, "compare", "--stored", *stored[:2], stored[3])
    assert code == 0
    assert "0.8000" in out
    assert "share no question" in error
    assert run(capsys, "compare", "--stored", *stored[:3])[0] == 2


@pytest.mark.parametrize("jobs", [1, 2])
def test_files_share_questions_also_by_answers_without_a_stored_score(
    tmp_path: Path, jobs: int
) -> None:
    """Two files of the same questions are systems, whichever of these are scored."""
    for name, scored in (("a", 0), ("b", 1)):
        rows: list[Any] = [answered(at) for at in range(20)]
        for at, row in enumerate(rows):
            scores = [{"metric": "acc", "value": at % 4 // 2}]
            own = {"scores": scores} if at % 2 == scored else {}
            row["outputs"] = [{"text": "?"} | own]
        (tmp_path / f"{name}.jsonl").write_bytes(jsonl(*rows))
    found = score(tmp_path, stored=True, jobs=jobs)

    assert [row["model"] for row in found.table()] == ["a.jsonl", "b.jsonl"]
    assert [row["answers"] for row in found.table()] == [10, 10]


def test_parts_that_can_be_read_only_once_need_a_name(tmp_path: Path) -> None:
    """A part in standard input is an error, or the same as a file with a name."""
    write_answers(tmp_path / "a1.jsonl", range(10), 8)
    piped = write_answers(tmp_path / "a2.jsonl", range(10, 20), 18).read_bytes()
    write_answers(tmp_path / "m.jsonl", range(20), 10, "m")

    def compared(*inputs: str) -> tuple[int, str, str]:
        words = ("score", "compare", *inputs, "m.jsonl", "--metrics", "em")
        found = completed_in(
            tmp_path, *words, "--from", "record", variables={}, stdin=piped
        )
        return found.returncode, found.stdout.decode(), found.stderr.decode()

    code, out, error = compared("a1.jsonl", "-")
    assert (code, out) == (2, "")
    assert "input 2 can be read only once" in error
    assert compared("A=a1.jsonl", "A=-") == compared("A=a1.jsonl", "A=a2.jsonl")
    assert compared("A=a1.jsonl", "A=-")[0] == compared("-")[0] == 0
    with pytest.raises(ScoreError, match=r"systems=\{FILE: NAME\}"):
        compare_scores(tmp_path / "a1.jsonl", io.BytesIO(piped), tmp_path / "m.jsonl")


@pytest.mark.parametrize("stored", [False, True])
def test_the_model_may_be_the_name_of_a_file(tmp_path: Path, *, stored: bool) -> None:
    """A file that is named is chosen with --model, without findings on others."""
    paths = [tmp_path / "s1.jsonl", tmp_path / "s2.jsonl"]
    for value, path in enumerate(paths):
        answer = {"text": "a", "scores": [{"metric": "em", "value": value}]}
        row = {"id": "1", "prompt": "q", "references": ["a"], "outputs": [answer]}
        path.write_text(json.dumps(row), encoding="utf-8")
    named = [f"{name}={path}" for name, path in zip("xy", paths, strict=True)]
    options = ["--model", "y", *(["--stored"] if stored else [])]
    result = command_runs.run("score", *named, *options)

    assert result.returncode == 0
    assert b"em       1.0000" in result.stdout
    assert b"M101" not in result.stdout + result.stderr


def test_standard_input_keeps_the_name_of_its_system(tmp_path: Path) -> None:
    """Also if it is copied, since stored scores are read twice."""
    answer = {"text": "a", "model": "m", "scores": [{"metric": "em", "value": 1}]}
    row = {"id": "1", "prompt": "q", "references": ["a"], "outputs": [answer]}
    data = jsonl(row, row | {"id": "2"})
    (tmp_path / "a.jsonl").write_bytes(data)
    piped, named = (
        completed_in(
            tmp_path,
            *("score", f"A={one}", "--stored", "--by", "model", "--from", "record"),
            variables={},
            stdin=data,
        )
        for one in ("-", "a.jsonl")
    )

    assert piped.returncode == 0
    assert piped.stdout == named.stdout
    assert b"\nA " in piped.stdout


@pytest.mark.parametrize("to", ["csv", "record"])
def test_rows_of_several_files_without_names_are_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], to: str
) -> None:
    """Their rows could not be distinguished, and are with NAME=FILE."""
    one = write_answers(tmp_path / "a.jsonl", range(20), 15)
    other = write_answers(tmp_path / "b.jsonl", range(20), 5)
    shard = write_answers(tmp_path / "c.jsonl", range(20, 40), 5)
    place = tmp_path / f"out.{to}"

    code, _, err = run(capsys, one, other, "--to", to, "--output", place)
    assert code == 2
    assert "NAME=FILE" in err
    assert "--pool" in err
    assert not place.exists()
    named = (f"x={one}", f"y={other}", "--to", to, "--output", place)
    assert run(capsys, *named)[0] == 0
    assert "x" in place.read_text(encoding="utf-8")
    more = tmp_path / f"more.{to}"
    assert run(capsys, one, shard, "--to", to, "--output", more)[0] == 0


@pytest.mark.parametrize("stored", [False, True])
def test_lists_of_rows_are_distinguished_as_files_are(*, stored: bool) -> None:
    """Three lists of Python, of which one shares no question, are a mixture."""

    def rows(numbers: range, text: str) -> list[dict[str, object]]:
        score = {"metric": "em", "value": float(text == "y"), "signature": "em|own"}
        outputs = [{"text": text, "scores": [score]}]
        return [answered(at, references=["y"], outputs=outputs) for at in numbers]

    lists = (rows(range(6), "y"), rows(range(6), "n"), rows(range(6, 12), "y"))
    chosen = {"stored": True} if stored else {"metrics": "em"}

    with pytest.raises(ScoreError, match=r"<rows> and <rows> \(3\) none; name the"):
        compare_scores(*lists, **chosen)
    assert len(compare_scores(*lists[:2], **chosen).systems) == 2
