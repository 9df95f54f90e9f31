"""Each limit of `docs/reference/limits.md` is obeyed, and what is within it is read."""

import gzip
import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

import limit_checks_of_inputs
import limit_checks_of_results
from harpia_formats.evaluation.llm_judge import endpoint
from harpia_formats.evaluation.llm_judge.endpoint import (
    ApiKey,
    Budget,
    Endpoint,
    OpenAIClient,
)
from in_process import InProcess
from judge_server import Answer, JudgeServer, completion
from limit_bench import CHECKS, Bench, raised

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


def test_a_compressed_answer_of_a_judge_is_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An answer counts as it is decompressed, and a short one is read."""
    monkeypatch.setattr(endpoint, "LONGEST_ANSWER", 1 << 20)

    def asked(body: bytes) -> str:
        headers = {"content-encoding": "gzip"}
        answer = Answer(gzip.compress(body), headers=headers)
        with JudgeServer(lambda *_: answer) as server:
            place = Endpoint(url=server.url, max_retries=0)
            client = OpenAIClient(place, ApiKey("a key of a test"))
            found = raised(lambda: client.ask("q", Budget()))
            client.close()
        return found

    body = completion("x").body
    assert asked(body) == ""
    assert "more than" in asked(body.ljust(endpoint.LONGEST_ANSWER * 4))
