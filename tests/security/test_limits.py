"""Each limit of `docs/reference/limits.md` is obeyed, and what is within it is read."""

import gzip
import importlib
import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

import limit_checks_of_inputs
import limit_checks_of_results
from in_process import InProcess
from json_lines import jsonl
from judge_server import Answer, JudgeServer, completion
from limit_bench import CHECKS, Bench

#: A judge that gives a score.
DEFINITION = {
    "instructions": "Is the answer short?",
    "inputs": ["responses"],
    "outputs": [{"name": "score", "type": "number", "minimum": 0, "maximum": 1}],
    "examples": [{"inputs": {"responses": "a"}, "outputs": {"score": 1}}],
}
#: What makes the checks as it is imported.
MODULES = (limit_checks_of_inputs, limit_checks_of_results)
TOOLS = Path(__file__).parents[2] / "docs" / "tools"


def table() -> ModuleType:
    """Return the module that has the table of the page."""
    if str(TOOLS) not in sys.path:
        sys.path.append(str(TOOLS))
    return importlib.import_module("limit_table")


LIMITS = table().all_limits()


@pytest.mark.parametrize("name", LIMITS)
def test_limit(
    name: str, run: InProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a limit nothing is reported; one beyond it, what the page says."""
    limit = LIMITS[name]
    bench = Bench(run, tmp_path, monkeypatch, limit.number)

    at, beyond = CHECKS[name](bench)

    number = bench.number
    shown = f"{number:,}" if isinstance(number, int) else f"{number:g}"
    expected = limit.reported.format(shown)
    assert expected not in at
    assert expected in beyond


def test_no_check_is_left_over() -> None:
    """Each check is of a limit in the table."""
    assert set(CHECKS) == set(LIMITS)


@pytest.mark.parametrize(("size", "is_read"), [(0, True), (1 << 26, False)])
def test_a_compressed_answer_of_a_judge_is_bounded(
    run: InProcess,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    size: int,
    is_read: bool,
) -> None:
    """An answer counts as it is decompressed, and a short one is read."""
    body = completion('{"score": 1}').body.ljust(size)
    answer = Answer(gzip.compress(body), headers={"content-encoding": "gzip"})
    rows, definition = tmp_path / "rows.jsonl", tmp_path / "judge.json"
    rows.write_bytes(jsonl({"prompt": "q", "outputs": [{"text": "a"}]}))
    definition.write_text(json.dumps(DEFINITION))
    monkeypatch.setenv("OPENAI_API_KEY", "a key of a test")
    with JudgeServer(lambda *_: answer) as server:
        done = run(
            *("judge", rows, "-d", definition, "--endpoint", server.url),
            *("--judge-model", "m", "-o", tmp_path / "out.json"),
        )

    printed = done.out + done.err
    assert ("answer has more than 16,777,216 bytes" in printed) is not is_read, printed
    assert (done.code == 0) is is_read
