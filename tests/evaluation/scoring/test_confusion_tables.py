"""Confusion matrices in the table of scores and on its page."""

import io
from pathlib import Path
from typing import Any

import harpia_formats
from command_runs import on_terminal, run
from json_lines import jsonl


def rows_of(labels: list[str], models: tuple[str, ...] = ("m",)) -> list[Any]:
    """Return answers with the label that follows that of the reference."""
    return [
        {
            "prompt": f"question {label}",
            "references": [label],
            "outputs": [{"model": model, "text": answer} for model in models],
        }
        for label, answer in zip(labels, [*labels[1:], labels[0]], strict=True)
    ]


def words(folder: Path, rows: list[Any], metrics: str = "f1-macro,mcc") -> list[Any]:
    """Return the command that prints the scores of answers."""
    path = folder / "answers.jsonl"
    path.write_bytes(jsonl(*rows))
    return ["score", path, "-m", metrics, "--replicates", "0"]


def page(rows: list[Any], metrics: tuple[str, ...] = ("f1-macro", "mcc")) -> str:
    """Return the page of the scores of answers."""
    scores = harpia_formats.score(rows, metrics=metrics, replicates=0)
    written = io.BytesIO()
    harpia_formats.write_report(scores, written, reporter="html")
    return written.getvalue().decode()


def test_matrices_are_below_the_table_of_scores(tmp_path: Path) -> None:
    """Each model has one matrix of all metrics, and a label without text has a name."""
    done = run(*words(tmp_path, rows_of(["", "b\x1b[1m", "c"], ("m", "n"))))
    lines = done.stdout.decode().splitlines()

    title = "answers by label, of f1-macro, mcc: {} (columns are labels of answers)"
    start = lines.index(title.format("m"))
    head, _, *rows = lines[start + 1 : start + 6]
    assert head.split() == ["reference", "(empty)", r"b\x1b[1m", "c", "(all)"]
    assert [row.split() for row in rows] == [
        ["(empty)", "0", "1", "0", "1"],
        [r"b\x1b[1m", "0", "0", "1", "1"],
        ["c", "1", "0", "0", "1"],
    ]
    assert title.format("n") in lines[start + 6 :]


def test_metrics_without_labels_have_no_matrix(tmp_path: Path) -> None:
    """The table of other metrics ends as before."""
    done = run(*words(tmp_path, rows_of(["a", "b"]), "em"))

    assert done.returncode == 0
    assert b"label" not in done.stdout
    assert "by label" not in page(rows_of(["a"]), ("em",))


def test_a_terminal_has_room_for_few_labels(tmp_path: Path) -> None:
    """More than 12 labels are counted, and no line is wider than the terminal."""
    names = [f"label-{number}" for number in range(13)]

    def shown(names: list[str]) -> list[str]:
        command = words(tmp_path, rows_of(names))
        return on_terminal("", *command, cwd=tmp_path, output=None, COLUMNS="70")[
            1
        ].splitlines()

    assert "13 labels, whose counts `--output-format json` has" in " ".join(
        line.strip() for line in shown(names)
    )

    lines = shown(names[:8])
    start = next(at for at, line in enumerate(lines) if line.startswith("answers by"))
    assert max(map(len, lines[start:])) <= 70
    assert any("label-7" in line for line in lines[start:])


def test_the_page_has_the_matrices() -> None:
    """The page has a table for each model, whose texts are escaped, up to 40 labels."""
    found = page(rows_of(["<i>", "c"], ("m", "n")))
    assert "Answers by label, of f1-macro, mcc: n. Columns are labels" in found
    assert "&lt;i&gt;" in found
    assert "<i>" not in found

    many = page(rows_of([f"l{number}" for number in range(41)]))
    assert "this page has no room for 41 labels" in many
    models = tuple(f"m{number}" for number in range(10))
    assert "no room for 2 more tables of labels" in page(rows_of(["a", "b"], models))
