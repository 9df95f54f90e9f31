"""`harpia-formats score --plot`, as a user runs it."""

import sys
from pathlib import Path

import pytest

from in_process import InProcess
from model_answers import model_answers


@pytest.fixture
def run(run_here: InProcess) -> InProcess:
    """Return what runs the command in a folder with answers of two models."""
    models = ("secret-a", "secret-b")
    text = model_answers(models, range(4), lambda one, at: (one + at) % 2 == 0)
    Path("a.jsonl").write_text(text, encoding="utf-8")
    return run_here


def test_pictures_appear_next_to_the_table(run: InProcess) -> None:
    """What is printed stays as it is, and each file has its picture."""
    pytest.importorskip("matplotlib", reason="pictures need the extra report")
    words = ("score", "a.jsonl", "-m", "em", "--replicates", 100)
    without = run(*words)
    result = run(*words, "--plot", "a.svg", "--plot", "scores=a.png")

    assert result == without
    assert result.code == 0
    assert b"secret-a" in Path("a.svg").read_bytes()
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")


def test_a_picture_has_no_value_of_a_record_if_asked_for(run: InProcess) -> None:
    """With --redact models are numbers, as in the table."""
    pytest.importorskip("matplotlib", reason="pictures need the extra report")
    run("score", "a.jsonl", "-m", "em", "--redact", "--plot", "a.svg")
    picture = Path("a.svg").read_bytes()

    assert b">model 2</text>" in picture
    assert b"secret" not in picture


def test_nothing_is_drawn_of_an_input_that_cannot_be_read(run: InProcess) -> None:
    """There is no picture of a part of the data, which is reported."""
    pytest.importorskip("matplotlib", reason="pictures need the extra report")
    Path("a.jsonl").write_text('{"id": 1', encoding="utf-8")
    result = run("score", "a.jsonl", "--from", "record", "--plot", "a.svg")

    assert result.code == 1
    assert "no picture: there is no result to draw" in result.err
    assert not Path("a.svg").exists()


def test_without_matplotlib_the_command_that_installs_it_is_named(
    run: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a use that is not possible here, which is reported before the run."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("score", "a.jsonl", "-m", "em", "--plot", "a.svg")

    assert (result.code, result.out) == (2, "")
    assert "needs matplotlib: pip install 'harpia-formats[report]'" in result.err


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a.jsonl", "called .svg, .png or .pdf"),
        ("no/a.svg", "its folder does not exist"),
        ("confusion=a.svg", "there is no confusion matrix to draw"),
        ("a.eps", "called .svg, .png or .pdf"),
        ("scores=", "called .svg, .png or .pdf"),
        ("distributions=a.svg", "no picture is called 'distributions' any more: "),
        ("lengths=a.svg", "`harpia_formats.score_answers` has the length"),
        ("questions=a.svg", "`differences` draws their mean"),
        ("score=a.svg", "no picture called 'score'; did you mean scores?"),
        ("pie=a.svg", "no picture called 'pie' (known: scores"),
    ],
)
def test_a_picture_that_cannot_be_ends_the_run_before_it_begins(
    run: InProcess, name: str, reason: str
) -> None:
    """A wrong kind, suffix or place is an error, and nothing is scored."""
    pytest.importorskip("matplotlib", reason="pictures need the extra report")
    result = run("score", "a.jsonl", "-m", "em", "--plot", name)

    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert reason in result.err


def test_a_comparison_is_drawn(run: InProcess) -> None:
    """`score compare` draws its own kinds, and no other."""
    pytest.importorskip("matplotlib", reason="pictures need the extra report")
    words = ("score", "compare", "a.jsonl", "-m", "em", "--replicates", 100)
    result = run(*words, "--plot", "a.svg", "--plot", "differences=b.png")

    assert result == run(*words)
    assert "secret-a \u2212 secret-b" in Path("a.svg").read_text(encoding="utf-8")
    assert Path("b.png").read_bytes().startswith(b"\x89PNG")
    assert "known: differences" in run(*words, "--plot", "pie=a.svg").err
