"""`harpia-formats diff`, and `diff` of the API."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import convert, diff
from harpia_formats.comparison import Comparison
from harpia_formats.convert_options import ConvertOptions

COMMAND = [sys.executable, "-m", "harpia_formats", "diff"]
#: Longer than anything here takes, and shorter than anyone waits.
PATIENCE = 30


def run(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[bytes]:
    """Run `diff` with the arguments given."""
    return subprocess.run(  # noqa: S603 - the command is ours
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        cwd=cwd,
        timeout=PATIENCE,
        check=False,
    )


def lines_of(*rows: Any) -> bytes:
    """Return rows as lines of JSON."""
    return b"".join(json.dumps(each).encode() + b"\n" for each in rows)


def instance(number: int, **given: Any) -> dict[str, Any]:
    """Return an instance of HarpIA."""
    row = {
        "id": str(number),
        "input": f"q{number}",
        "expected-output": [f"r{number}"],
        "actual-output": f"a{number}",
    }
    return row | given


def answer(number: int, **given: Any) -> dict[str, Any]:
    """Return a row of NeMo's output."""
    question = {
        "prompt": f"q{number}",
        "ideal_response": f"r{number}",
        "category": "",
        "source": "",
    }
    return {"input": question, "response": f"a{number}", "llm_name": "m"} | given


def test_the_order_of_records_does_not_matter() -> None:
    """Two files with the same records in another order do not differ."""
    rows = [instance(each) for each in range(3_000)]
    shuffled = [rows[number * 7 % 3_000] for number in range(3_000)]
    report = diff(lines_of(*rows), lines_of(*shuffled))

    assert report.ok
    assert report.records == 3_000


def test_each_difference_has_its_count_and_first_place() -> None:
    """What differs is told by field, with the first record of the first side."""
    left = [instance(each) for each in range(100)]
    right = [dict(each) for each in left]
    for number in (40, 7, 99):
        right[number]["actual-output"] = f"b{number}"
    report = diff(lines_of(*left), lines_of(*right))
    line = report.fields["outputs.text"]

    assert (report.differing, line.count) == (3, 3)
    assert line.place is not None
    assert (line.place.line, line.place.record) == (8, 8)
    assert line.example is not None
    assert (line.example.left, line.example.right) == ("a7", "b7")


def test_records_of_one_side_only_are_counted() -> None:
    """What only one side has is counted on that side."""
    left, right = lines_of(instance(1), instance(2)), lines_of(instance(2), instance(3))
    report = diff(left, right)

    assert (report.only_left, report.only_right, report.differing) == (1, 1, 0)
    assert not report.ok


def test_formats_are_compared_in_what_both_have() -> None:
    """HarpIA and NeMo are matched by the prompt, in the fields that both have."""
    left = lines_of(*(instance(each) for each in range(10)))
    right = lines_of(*(answer(each) for each in reversed(range(10))))
    run_ = Comparison([left], [right], ConvertOptions())
    problems = list(run_)

    assert problems == []
    assert run_.report().ok
    assert run_.matched_by == "prompt"
    assert {"id", "category", "source", "outputs.model"} <= set(run_.left_out)


def test_a_difference_between_formats_is_found() -> None:
    """A text that is another one in the other format is told."""
    left = lines_of(*(instance(each) for each in range(10)))
    right = lines_of(*(answer(each) for each in range(9)), answer(9, response="b"))
    report = diff(left, right)

    assert report.differing == 1
    assert list(report.fields) == ["outputs.text"]


@pytest.mark.parametrize("to", ["nemo", "record", "haystack", "tencent-outputs"])
def test_a_conversion_does_not_differ_from_its_input(tmp_path: Path, to: str) -> None:
    """What is converted is the same as what it was made from, as far as both go."""
    given = lines_of(*(instance(each) for each in range(50)))
    output = tmp_path / "out.data"
    convert(given, to=to, output=output, constants={"outputs.model": "m"})
    run_ = Comparison([given], [output], ConvertOptions())
    problems = list(run_)

    assert problems == []
    assert run_.report().ok, run_.report().fields
    assert run_.report().records == 50


def test_numbers_differ_by_their_spelling() -> None:
    """1 and 1.0 are two values."""
    record = '{"prompt": "q", "metadata": {"x": %s}, "outputs": []}\n'
    report = diff((record % "1").encode(), (record % "1.0").encode())
    same = diff((record % "1.0").encode(), (record % "1.0").encode())

    assert list(report.fields) == ["metadata.x"]
    assert same.ok


def test_records_without_ids_are_matched_in_their_order() -> None:
    """Equal prompts are matched one by one, and what is left over is told."""
    left = lines_of(answer(1), answer(1, response="b"), answer(1))
    right = lines_of(answer(1), answer(1, response="b"))
    report = diff(left, right)

    assert (report.records, report.differing, report.only_left) == (2, 0, 1)


def test_the_command_tells_by_its_code(tmp_path: Path) -> None:
    """No difference is 0, a difference 1, and what cannot be read 2."""
    (tmp_path / "a.jsonl").write_bytes(lines_of(instance(1), instance(2)))
    (tmp_path / "b.jsonl").write_bytes(lines_of(instance(2), instance(1)))
    (tmp_path / "c.jsonl").write_bytes(lines_of(instance(1), instance(2, input="x")))
    (tmp_path / "bad.jsonl").write_bytes(lines_of(instance(1), {"id": "2", "input": 7}))
    same = run("a.jsonl", "b.jsonl", cwd=tmp_path)
    other = run("a.jsonl", "c.jsonl", cwd=tmp_path)
    missing = run("a.jsonl", "d.jsonl", cwd=tmp_path)
    wrong = run("a.jsonl", "bad.jsonl", cwd=tmp_path)

    assert (same.returncode, same.stdout) == (0, b"")
    assert b"2 records matched by id, 0 differ" in same.stderr
    assert other.returncode == 1
    assert other.stdout == b'a.jsonl:2:1: prompt: "q2" became "x" (1 record)\n'
    assert missing.returncode == 2
    assert wrong.returncode == 1
    assert b"bad.jsonl:2:" in wrong.stderr
