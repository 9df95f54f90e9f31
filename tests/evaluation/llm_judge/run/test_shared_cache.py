"""Several judges with one cache: each prompt is paid for once, even if some die."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from harpia_formats import LLMJudge
from harpia_formats.evaluation.llm_judge.endpoint import Budget, NoReplyError, Reply
from harpia_formats.evaluation.llm_judge.verdicts import JudgeRow

MADE: dict[str, Any] = {
    "instructions": "Is it rude?",
    "inputs": [("responses", list[str])],
    "outputs": ["score"],
    "examples": [{"inputs": {"responses": "x"}, "outputs": {"score": 1}}],
    "progress_bar": False,
}
#: Judges rows, and appends a line for each request before it is answered.
JUDGE = """
import json, os, sys, time
from harpia_formats.evaluation.llm_judge import LLMJudge
from harpia_formats.evaluation.llm_judge import reply_cache
from harpia_formats.evaluation.llm_judge.endpoint import Reply

requests, cache, count, seconds, lease = sys.argv[1:]
if float(lease):  # as if the others were on other machines
    reply_cache.LEASE, reply_cache.RENEWAL = float(lease), float(lease) / 4
    reply_cache.is_dead = lambda owner: False
paid = os.open(requests, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def ask(prompt, budget):
    budget.count_request()
    os.write(paid, f"{os.getpid()}\\n".encode())
    time.sleep(float(seconds))
    return Reply(json.dumps({"score": len(prompt) % 7}))

judge = LLMJudge("Rude?", [("responses", list[str])], ["score"],
    [{"inputs": {"responses": "x"}, "outputs": {"score": 1}}],
    progress_bar=False, ask=ask, cache=cache, concurrency=4)
found = judge.run(responses=["a" * n for n in range(1, int(count) + 1)])
print(json.dumps(found["results"]), flush=True)
"""


def begun(
    folder: Path, count: int, seconds: float, lease: float = 0
) -> "subprocess.Popen[bytes]":
    """Return a process that judges so many rows with the cache of a folder."""
    numbers = (str(count), str(seconds), str(lease))
    given = [str(folder / "requests"), str(folder / "c"), *numbers]
    return subprocess.Popen(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", JUDGE, *given], stdout=subprocess.PIPE
    )


def paid(folder: Path) -> list[int]:
    """Return the process of each request."""
    path = folder / "requests"
    return [int(each) for each in path.read_bytes().split()] if path.exists() else []


class Slow:
    """A model that waits until it may reply, and may fail the first time."""

    def __init__(self, *, fails: bool = False) -> None:
        self.begun, self.go = threading.Event(), threading.Event()
        self.fails = fails
        self.requests = 0

    def __call__(self, _: str, budget: Budget) -> Reply:
        """Reply late."""
        budget.count_request()
        self.requests += 1
        self.begun.set()
        assert self.go.wait(10)
        if self.fails:
            self.fails = False
            raise NoReplyError("down", 1)
        return Reply('{"score": 1}')


def run_in_thread(
    cache: Path, ask: Slow, **more: Any
) -> tuple[threading.Thread, dict[str, Any]]:
    """Judge one row in a thread; return it and where its result appears."""
    found: dict[str, Any] = {}
    judge = LLMJudge(**MADE, ask=ask, cache=cache, raise_on_failure=False, **more)
    thread = threading.Thread(target=lambda: found.update(judge.run(responses=["a"])))
    thread.start()
    return thread, found


@pytest.mark.parametrize("fails", [False, True])
def test_a_judge_waits_for_the_request_of_another(
    tmp_path: Path, *, fails: bool
) -> None:
    """The reply that another judge asks for is taken; if it fails, it is asked for."""
    first, second = Slow(fails=fails), Slow()
    second.go.set()
    one, one_found = run_in_thread(tmp_path / "c", first)
    assert first.begun.wait(10)
    two, two_found = run_in_thread(tmp_path / "c", second)
    time.sleep(0.1)
    assert not second.begun.is_set()
    first.go.set()
    one.join(10)
    two.join(10)

    assert (first.requests, second.requests) == (1, int(fails))
    assert two_found["results"] == [{"score": 1}]
    assert two_found["meta"][0]["cached"] is not fails
    assert one_found["meta"][0]["status"] == ("failed" if fails else "ok")


def test_a_judge_that_waits_can_be_stopped(tmp_path: Path) -> None:
    """A run that is stopped while it waits for another judge ends at once."""
    first, second = Slow(), Slow()
    one, _ = run_in_thread(tmp_path / "c", first)
    assert first.begun.wait(10)
    judge = LLMJudge(**MADE, ask=second, cache=tmp_path / "c", raise_on_failure=False)
    flow = judge.verdicts([JudgeRow({"responses": "a"})])
    threading.Timer(0.2, lambda: setattr(judge.budget, "stopped", True)).start()
    begin = time.monotonic()
    found = list(flow)
    taken = time.monotonic() - begin
    first.go.set()
    one.join(10)

    assert [each.status for each in found] == ["unasked"]
    assert taken < 2
    assert second.requests == 0


def test_closing_the_verdicts_ends_the_run(tmp_path: Path) -> None:
    """Closing the iterator of verdicts ends the run, and received replies are kept."""
    requests = []

    def ask(prompt: str, budget: Budget) -> Reply:
        budget.count_request()
        requests.append(prompt)
        time.sleep(0.01)
        return Reply('{"score": 1}')

    judge = LLMJudge(**MADE, ask=ask, cache=tmp_path / "c", concurrency=2)
    rows = [JudgeRow({"responses": str(number)}) for number in range(50)]
    verdicts = judge.verdicts(rows)
    first = next(verdicts)
    verdicts.close()
    before = len(requests)
    again = list(judge.verdicts(rows))

    assert first.status == "ok"
    assert before < 50
    assert len(again) == 50
    assert len(requests) == len(set(requests)) == 50


@pytest.mark.long
def test_eight_judges_pay_once_for_each_prompt(tmp_path: Path) -> None:
    """Eight processes with one cache send each prompt once, and judge alike."""
    judges = [begun(tmp_path, 60, 0.02) for _ in range(8)]
    outputs = [each.communicate(timeout=120)[0] for each in judges]

    assert [each.returncode for each in judges] == [0] * 8
    assert len(set(outputs)) == 1
    assert len(json.loads(outputs[0])) == 60
    assert len(paid(tmp_path)) == 60


@pytest.mark.long
@pytest.mark.parametrize("lease", [0, 2])
def test_the_claims_of_a_killed_judge_are_taken_over(
    tmp_path: Path, lease: float
) -> None:
    """If a judge dies with open requests, the others send only those again.

    They do so at once, or when the claims expire if it may be on another machine.
    """
    judges = [begun(tmp_path, 60, 0.2, lease) for _ in range(8)]
    while len(paid(tmp_path)) < 10:
        time.sleep(0.02)
    victim = paid(tmp_path)[-1]
    os.kill(victim, signal.SIGKILL)
    left = [each for each in judges if each.pid != victim]
    try:
        outputs = [each.communicate(timeout=120)[0] for each in left]
    finally:
        for each in judges:
            each.kill()
            each.communicate()

    assert [each.returncode for each in left] == [0] * 7
    assert len(set(outputs)) == 1
    assert 60 <= len(paid(tmp_path)) <= 60 + 4
    assert sorted(each.name for each in tmp_path.iterdir()) == ["c", "requests"]
