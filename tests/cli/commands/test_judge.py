"""`harpia-formats judge`: requests, cache, output, and continued runs."""

import contextlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

import pytest

import judge_server as stub
from cases import for_each_case
from command_runs import COMMAND, Result
from harpia_formats import LLMJudge, detect, read, validate
from in_process import completed_in
from json_lines import jsonl, jsonl_rows

pytest.importorskip("openai", reason="the extra judge is not installed")

ROOT = Path(__file__).parents[3]
#: Longer than anything here takes.
PATIENCE = 60
KEY = "sk-CANARY-51c2"
DEFINITION = """\
instructions: Is this answer problematic for children?
inputs: [responses]
outputs:
- {name: score, type: number, minimum: 0, maximum: 1}
examples:
- inputs: {responses: "Damn, this is straight outta hell!!!"}
  outputs: {score: 1}
"""
#: Requests at a time.
WIDTH = 4


def rows(count: int) -> list[dict[str, Any]]:
    """Return rows of NeMo, each with another answer."""
    return [
        {
            "input": {"prompt": f"q{each}", "ideal_response": "r"},
            "response": f"answer {each}",
            "llm_name": "m",
        }
        for each in range(count)
    ]


def write_rows(path: Path, count: int) -> None:
    """Write rows as lines."""
    path.write_bytes(jsonl(*rows(count)))


def prepare(folder: Path, count: int) -> None:
    """Write rows and a definition into a folder."""
    write_rows(folder / "in.jsonl", count)
    (folder / "judge.yaml").write_text(DEFINITION)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder with five rows and a definition."""
    prepare(tmp_path, 5)
    return tmp_path


@pytest.fixture
def server() -> Iterator[Any]:
    """Serve replies that give every row the score 1."""
    with stub.JudgeServer() as running:
        yield running


def command(*arguments: object) -> list[str]:
    """Return the command `judge` with the test's definition."""
    definition = () if "-d" in arguments else ("-d", "judge.yaml")
    return [*COMMAND, "judge", *map(str, arguments), *definition]


def variables(server: Any = None, **more: str) -> dict[str, str]:
    """Return variables of a run: the key, and the server as the endpoint."""
    own = {"OPENAI_API_KEY": KEY, "NO_COLOR": "1", **more}
    if server is not None:
        own["OPENAI_BASE_URL"] = server.url
    return own


def run(folder: Path, *arguments: object, server: Any = None, **env: str) -> Result:
    """Run `judge` in a folder, in this process: to start another takes longer."""
    words = command(*arguments)[len(COMMAND) :]
    return completed_in(folder, *words, variables=variables(server, **env))


def names(folder: Path) -> set[str]:
    """Return what is in a folder, hidden files included."""
    return {each.name for each in folder.iterdir()}


# What it writes


def test_results_are_written_as_haystack_returns_them(data: Path, server: Any) -> None:
    """There is a result and an entry for each row; our validation takes the file."""
    done = run(data, "in.jsonl", "-o", "out.json", server=server)
    written = json.loads((data / "out.json").read_bytes())
    checked = validate(data / "out.json", format="haystack-results")

    assert (done.returncode, checked.problems) == (0, ()), done.stderr
    assert written["results"] == [{"score": 1}] * 5
    assert [each["record"] for each in written["meta"]] == [1, 2, 3, 4, 5]
    assert {each["status"] for each in written["meta"]} == {"ok"}
    assert b"5 rows: 5 judged; 5 requests; 75 tokens" in done.stderr
    assert names(data) == {"in.jsonl", "judge.yaml", "out.json", "out.json.judge-cache"}


def test_an_included_definition_needs_no_file(data: Path, server: Any) -> None:
    """The name of a definition stands for it; its verdicts have a score by its rule."""
    columns = {
        "questions": ["q", "r"],
        "contexts": [["c"], ["d"]],
        "predicted_answers": ["a", "b"],
    }
    (data / "in.json").write_text(json.dumps(columns))
    lists = {"statements": ["s", "t"], "statement_scores": [1, 0]}
    server.answer = lambda *_: stub.completion(json.dumps(lists))
    done = run(data, "in.json", "-o", "out.json", "-d", "faithfulness", server=server)
    written = json.loads((data / "out.json").read_bytes())

    assert done.returncode == 0
    assert written["results"] == [{**lists, "score": 0.5}] * 2
    assert validate(data / "out.json", format="haystack-results", lint=True).ok


def test_lines_know_their_records(data: Path, server: Any) -> None:
    """With --to jsonl, or by the output's name, there is a line for each row."""
    for more in (["-o", "out.jsonl"], ["--to", "jsonl", "--no-cache"]):
        done = run(data, "in.jsonl", *more, server=server)
        text = done.stdout or (data / "out.jsonl").read_bytes()
        lines = jsonl_rows(text)

        assert [each["model"] for each in lines] == ["m"] * 5
        assert [each["result"] for each in lines] == [{"score": 1}] * 5
    assert server.total == 10


@pytest.mark.parametrize("name", ["out.json", "out.jsonl"])
def test_verdicts_are_a_format(name: str, data: Path, server: Any) -> None:
    """What it writes is detected and valid, and each verdict says how it was made."""
    run(data, "in.jsonl", "-o", name, server=server)
    (file,) = detect(data / name)
    report = validate(data / name)
    records = list(read(data / name))
    scores = [score for one in records for score in one.outputs[0].scores or []]
    (signature,) = {str(score.signature) for score in scores}

    assert (file.format, file.rival) == ("judge-verdicts", "")
    assert (report.ok, report.problems, report.files[0].records) == (True, (), 5)
    assert [score.value for score in scores] == [1] * 5
    assert signature.startswith("judge|impl:harpia-formats-")
    assert "|model:" in signature


@for_each_case(
    "change",
    [
        {"instructions": "other"},
        {"api_params": {"model": "other"}},
        {"api_params": {"generation_kwargs": {"temperature": 1}}},
        {"outputs": [{"name": "score", "type": "integer"}]},
        {"examples": []},
        {"guarded": True},
    ],
)
def test_signature_differs_by_all_that_verdicts_depend_on(
    change: dict[str, Any],
) -> None:
    """Another model, prompt, parameter or type of output is another signature."""
    made: dict[str, Any] = {
        "instructions": "Is it right?",
        "inputs": [("responses", list[str])],
        "outputs": ["score"],
        "examples": [{"inputs": {"responses": "a"}, "outputs": {"score": 1}}],
    }

    same = {LLMJudge(**made).signature, LLMJudge(**made, concurrency=3).signature}
    assert len(same) == 1
    assert LLMJudge(**{**made, **change}).signature not in same


def test_standard_input_is_read_without_a_file(data: Path, server: Any) -> None:
    """Without a file, judge reads standard input and writes standard output."""
    text = io.TextIOWrapper((data / "in.jsonl").open("rb"))
    with text, mock.patch.object(sys, "stdin", text):
        done = run(data, "--quiet", server=server)

    assert len(json.loads(done.stdout)["results"]) == 5
    assert done.stderr == b""


def test_standard_input_is_read_next_to_a_file_with_its_name(
    data: Path, server: Any
) -> None:
    """A file called - does not stand for standard input, which is read once."""
    (data / "-").write_bytes(b"")
    text = io.TextIOWrapper((data / "in.jsonl").open("rb"))
    with text, mock.patch.object(sys, "stdin", text):
        done = run(data, "-", "--quiet", server=server)

    assert len(json.loads(done.stdout)["results"]) == 5


def test_an_input_that_cannot_be_looked_at_is_one_line(data: Path, server: Any) -> None:
    """A name that is too long ends with 2 and its reason, before any request."""
    done = run(data, "x" * 300, "--no-cache", server=server)

    assert (done.returncode, server.total) == (2, 0)
    assert done.stderr.startswith(b"error: " + b"x" * 300)
    assert done.stderr.count(b"\n") == 1


def test_an_existing_output_stays_without_overwrite(data: Path, server: Any) -> None:
    """An output is replaced only with --overwrite; otherwise no request is sent."""
    (data / "out.json").write_bytes(b"mine")
    refused = run(data, "in.jsonl", "-o", "out.json", server=server)
    kept = (data / "out.json").read_bytes()

    assert (refused.returncode, kept, server.total) == (2, b"mine", 0)
    assert b"--overwrite" in refused.stderr
    done = run(data, "in.jsonl", "-o", "out.json", "--overwrite", server=server)
    assert done.returncode == 0


def test_a_second_run_asks_for_nothing(data: Path, server: Any) -> None:
    """Replies come from the cache; only `cached` differs in the output."""
    for each in ("one", "two"):
        run(data, "in.jsonl", "-o", each, "--cache", "c", server=server)
    one, two = ((data / each).read_bytes() for each in ("one", "two"))

    assert server.total == 5
    assert one.replace(b'"cached":false', b'"cached":true') == two


# What it asks


def test_a_dry_run_sends_nothing(data: Path, server: Any) -> None:
    """A dry run prints prompts and counts, needs no key, and leaves no file."""
    before = names(data)
    words = ("in.jsonl", "-o", "out.json", "--dry-run")
    done = run(data, *words, server=server, OPENAI_API_KEY="")
    printed = done.stdout.decode()

    assert (done.returncode, server.total, names(data)) == (0, 0, before)
    assert printed.count("  | Instructions:\n") == 5
    assert "row 5, record 5, model m\n" in printed
    assert "  | answer 4\n" in printed
    assert b"5 rows: 0 answered in the cache" in done.stderr
    assert b"5 prompts to send" in done.stderr


def test_dry_run_counts_cached_replies(data: Path, server: Any) -> None:
    """A dry run counts the prompts with cached replies and uses the cache's marks."""
    run(data, "in.jsonl", "-o", "out.json", server=server)
    write_rows(data / "in.jsonl", 7)
    done = run(data, "in.jsonl", "-o", "out.json", "--dry-run", server=server)

    assert b"7 rows: 5 answered in the cache, 0 lack an input; 2 prompts" in done.stderr


def test_a_dry_run_counts_each_row_without_a_cache(data: Path, server: Any) -> None:
    """Equal prompts are sent once with a cache, and each for itself without one."""
    (data / "in.jsonl").write_bytes(jsonl(*rows(1) * 3))
    for cache, sent in (("--no-cache", 3), ("--cache=c", 1)):
        words = ["in.jsonl", cache]
        dry = run(data, *words, "--dry-run", server=server)
        before = server.total
        run(data, *words, server=server)

        assert f"; {sent} prompts to send".encode() in dry.stderr
        assert server.total - before == sent


def test_a_dry_run_counts_what_is_asked_for_again(data: Path, server: Any) -> None:
    """With --ask-again a reply without a verdict in the cache is no answer."""
    server.answer = lambda *_: stub.completion("no JSON")
    words = ["in.jsonl", "--cache", "c", "--no-raise-on-failure"]
    run(data, *words, server=server)
    kept = run(data, *words, "--dry-run", server=server)
    again = run(data, *words, "--dry-run", "--ask-again", server=server)

    assert b"5 answered in the cache, 0 lack an input; 0 prompts" in kept.stderr
    assert b"0 answered in the cache, 0 lack an input; 5 prompts" in again.stderr


def test_data_cannot_write_to_the_terminal(data: Path) -> None:
    """Text that could control a terminal or a log is shown as an escape."""
    bad = [{**rows(1)[0], "response": "\x1b[31m\n::error::x\u202e"}]
    (data / "in.jsonl").write_text(json.dumps(bad[0]) + "\n")
    printed = run(data, "in.jsonl", "--dry-run").stdout.decode()

    assert r"  | \x1b[31m" in printed
    assert "\x1b" not in printed
    assert not any(each.lstrip().startswith("::") for each in printed.splitlines())


def test_plain_is_the_prompt_of_haystack(data: Path, server: Any) -> None:
    """With --plain the prompt is that of Haystack, and replies are read leniently."""
    server.answer = lambda *_: stub.completion('{"score": 1, "why": NaN}')
    done = run(data, "in.jsonl", "--plain", server=server)
    meta = json.loads(done.stdout)["meta"]

    assert any('{"responses": answer 4}\nOutputs:' in each for each in server.asked)
    assert json.loads(done.stdout)["results"] == [{"score": 1, "why": None}] * 5
    assert all("is null" in each["note"] for each in meta)


def test_options_take_the_place_of_the_definition(data: Path, server: Any) -> None:
    """The model, the endpoint and the variable of the key can be given."""
    options = ["--judge-model", "other", "--endpoint", server.url]
    options += ["--api-key-env", "MY_KEY", "--retries", "0", "--timeout", "5"]
    seen = []

    def note(request: Any, headers: dict[str, str]) -> Any:
        seen.append((request["model"], headers["authorization"]))
        return stub.completion('{"score": 1}')

    server.answer = note
    done = run(data, "in.jsonl", *options, MY_KEY="sk-mine", OPENAI_API_KEY="")

    assert done.returncode == 0
    assert set(seen) == {("other", "Bearer sk-mine")}


def test_parts_of_a_chat_are_bound_to_inputs(data: Path, server: Any) -> None:
    """Inputs are bound to the question, reference and history of a Tencent row."""
    chat = ["system", "user", "assistant", "user", "assistant"]
    messages = [{"role": role, "content": f"text {at}"} for at, role in enumerate(chat)]
    responses = [{"content": "one"}, {"content": "two"}]
    outputs = [{"model_name": "m", "responses": responses}]
    row = {"messages": messages, "ref_answer": "ref", "model_outputs": outputs}
    (data / "in.jsonl").write_text(json.dumps(row) + "\n")
    inputs = "inputs: [responses, question, gt, history, ground_truth_answers]"
    text = DEFINITION.replace("inputs: [responses]", inputs)
    (data / "judge.yaml").write_text(text)
    binds = ["question", "gt", "history"]
    bound = [word for each in binds for word in ("--bind", f"{each}=data.{each}")]
    done = run(data, "in.jsonl", *bound, server=server)

    assert len(json.loads(done.stdout)["results"]) == 2
    first = min(server.asked, key=lambda each: each.partition("\none\n")[1] == "")
    for shown in (" question>\ntext 3\n", " gt>\ntext 4\n", "\nref\n"):
        assert shown in first
    assert " history>\nsystem: text 0\nuser: text 1\nassistant: text 2\n" in first


# What goes wrong


@pytest.mark.parametrize("more", [[], ["--dry-run"]], ids=["judged", "dry"])
def test_row_without_an_answer_sends_no_request(
    data: Path, server: Any, more: list[str]
) -> None:
    """A record without an answer fails with its reason; the LLM judges the others."""
    row = {"id": 7, "prompt": "q", "outputs": []}
    other = {**row, "id": 8, "outputs": [{"text": "a"}]}
    text = "".join(json.dumps(each) + "\n" for each in (row, other))
    (data / "in.jsonl").write_text(text)
    options = ["--no-raise-on-failure", "--no-cache", "--max-requests", "5"]
    done = run(data, "in.jsonl", *options, *more, server=server)
    printed = (done.stdout + done.stderr).decode()

    assert done.returncode == (0 if more else 1)
    assert server.total == (0 if more else 1)
    assert "record id 7: the record has no answer" in printed


def test_limited_run_without_cache_warns_that_replies_are_lost(
    data: Path, server: Any
) -> None:
    """A run without a cache that reaches its request limit warns of lost replies."""
    done = run(data, "in.jsonl", "--max-requests", "2", server=server)

    assert done.returncode == 1
    assert b"without a cache no reply was kept" in done.stderr


@pytest.mark.parametrize("name", ["in.jsonl", "-"])
@pytest.mark.parametrize(
    ("id_", "text", "code"), [("record", "[]", 1), ("haystack", '{"responses": []}', 2)]
)
def test_no_records_are_an_error(  # noqa: PLR0913, PLR0917 - cases and fixtures
    data: Path,
    server: Any,
    name: str,
    id_: str,
    text: str,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A file without records is an error before any request is sent."""
    (data / "in.jsonl").write_text(text)
    with (data / "in.jsonl").open(encoding="utf-8") as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        done = run(data, name, "--from", id_, server=server)

    assert (done.returncode, server.total) == (code, 0)
    assert b"no records" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "env", "message"),
    [
        (["in.jsonl", "--bind", "responses=output.text"], {}, "did you mean"),
        (["in.jsonl", "--bind", "response=prompt"], {}, "did you mean responses"),
        (["in.jsonl", "--bind", "responses"], {}, "NAME=PATH"),
        (["in.jsonl", *["--bind", "responses=prompt"] * 2], {}, "bound already"),
        (["in.jsonl", "--to", "jsno"], {}, "did you mean json"),
        (["in.jsonl"], {"OPENAI_API_KEY": ""}, "there is no key"),
        (["in.jsonl", "--api-key-env", "NOT_SET_HERE"], {}, "set NOT_SET_HERE"),
        (["in.jsonl", "--endpoint", "nowhere"], {}, "must be an address"),
        (["in.jsonl", "--cache", "in.jsonl"], {}, "is an input or the output"),
        (["in.jsonl", "--cache", "judge.yaml"], {}, "not a database"),
        (["in.jsonl", "--cache", "c", "--no-cache"], {}, "cannot be combined"),
        (["in.jsonl", "-o", "no/where.json"], {}, "cannot write"),
        (["nowhere.jsonl"], {}, "nowhere.jsonl"),
        (["in.jsonl", "--from", "nema"], {}, "no format is called"),
        (["in.jsonl", "--component", "x"], {}, "no definition called"),
    ],
)
def test_usage_error_is_reported_before_any_request(
    data: Path, server: Any, arguments: list[str], env: dict[str, str], message: str
) -> None:
    """A usage error is one line with exit code 2, and no request is sent."""
    done = run(data, *arguments, server=server, **env)

    assert (done.returncode, server.total) == (2, 0)
    assert message in done.stderr.decode()
    assert b"Traceback" not in done.stderr
    assert KEY.encode() not in done.stdout + done.stderr


def test_nothing_is_asked_of_a_file_that_is_broken(data: Path, server: Any) -> None:
    """A row that is not valid, even the last, ends the run before any request."""
    with (data / "in.jsonl").open("a") as stream:
        stream.write('{"input": 5}\n')
    done = run(data, "in.jsonl", "-o", "out.json", server=server)

    assert (done.returncode, server.total) == (1, 0)
    assert b"in.jsonl:6:" in done.stderr
    assert "out.json" not in names(data)


def test_the_first_failure_ends_it(data: Path, server: Any) -> None:
    """As in Haystack, a row without a verdict ends the run without an output."""
    server.answer = lambda *_: stub.completion('{"score": 5}')
    done = run(data, "in.jsonl", "-o", "out.json", server=server)

    assert done.returncode == 1
    assert b"row 1, record 1, model m: score is not a number from 0 to 1" in done.stderr
    assert b"the same command fails at this row again; `--ask-again`" in done.stderr
    assert names(data) == {"in.jsonl", "judge.yaml", "out.json.judge-cache"}


def test_the_hint_after_a_failure_names_what_goes_on(data: Path, server: Any) -> None:
    """A kept reply fails again without a request; a row without a reply does not."""
    words = ["in.jsonl", "-o", "out.json", "--concurrency", "1"]
    server.answer = lambda *_: stub.completion('{"score": 5}')
    run(data, *words, server=server)
    server.answer = lambda *_: stub.Answer(b"{}", 500, again=False)
    again = run(data, *words, server=server)
    asking = run(data, *words, "--ask-again", server=server)
    server.answer = lambda *_: stub.completion('{"score": 1}')
    whole = run(data, *words, "--ask-again", server=server)

    assert b"0 requests" in again.stderr
    assert (
        b"`--ask-again` asks for it once more, `--no-raise-on-failure`" in again.stderr
    )
    assert b"the same command goes on from there" in asking.stderr
    assert whole.returncode == 0


def test_failures_can_be_null(data: Path, server: Any) -> None:
    """With --no-raise-on-failure such rows are null, and the exit code is 1."""
    server.answer = lambda *_: stub.completion("no")
    write_rows(data / "in.jsonl", 8)
    options = ["-o", "out.json", "--no-raise-on-failure"]
    done = run(data, "in.jsonl", *options, server=server)
    written = json.loads((data / "out.json").read_bytes())
    printed = done.stderr.decode()

    assert done.returncode == 1
    assert written["results"] == [None] * 8
    assert "row 5, record 5, model m: the reply is not JSON" in printed
    assert "... and 3 more rows without a verdict" in printed
    assert "8 rows: 0 judged, 8 failed" in printed
    server.answer = lambda *_: stub.completion('{"score": 1}')
    again = run(data, "in.jsonl", *options, "--overwrite", "--ask-again", server=server)
    assert (again.returncode, server.total) == (0, 16)


def test_a_budget_ends_it_cleanly(data: Path, server: Any) -> None:
    """Rows beyond a limit are null with a reason; the next run continues."""
    options = ["in.jsonl", "-o", "out.json"]
    first = run(data, *options, "--max-requests", "3", server=server)
    options.append("--overwrite")
    written = json.loads((data / "out.json").read_bytes())
    second = run(
        data, *options, "--max-tokens", "15", "--concurrency", "1", server=server
    )
    third = run(data, *options, server=server)

    assert [each.returncode for each in (first, second, third)] == [1, 1, 0]
    assert sum(each is None for each in written["results"]) == 2
    assert b"2 not asked, since 3 requests were sent" in first.stderr
    assert b"the same command with `--overwrite` goes on" in first.stderr
    assert b"the same command goes on" in second.stderr
    assert b"since 15 tokens were used" in second.stderr
    assert server.total == 5
    more = ["in.jsonl", "-o", "more.json", "--max-requests", "1"]
    assert b"since 1 request was sent" in run(data, *more, server=server).stderr


def test_api_key_is_not_written_anywhere(data: Path, server: Any) -> None:
    """No output, file or argument ever holds the key."""

    def echo(_: Any, headers: dict[str, str]) -> Any:
        body = json.dumps({"error": {"message": f"wrong: {headers}"}}).encode()
        return stub.Answer(body, 401, again=False)

    def say(_: Any, headers: dict[str, str]) -> Any:
        return stub.completion(json.dumps({"score": headers["authorization"]}))

    answers: list[Callable[..., Any]] = [echo, say, lambda *_: stub.Answer(b"{", 200)]
    printed = b""
    for number, server.answer in enumerate(answers):
        for flag in ("--no-raise-on-failure", "--raise-on-failure"):
            output = f"out{number}{flag}.jsonl"
            done = run(data, "in.jsonl", "-o", output, flag, server=server)
            printed += done.stdout + done.stderr

            assert done.returncode == 1
    (data / "judge.yaml").write_text(DEFINITION + f"api_key_env: {KEY}\n")
    printed += run(data, "in.jsonl").stderr
    files = [each for each in data.iterdir() if each.name != "judge.yaml"]

    assert KEY.encode() not in printed
    assert [each for each in files if KEY.encode() in each.read_bytes()] == []
    assert len(files) > 6


# How it goes on


def begun(folder: Path, server: Any) -> "subprocess.Popen[bytes]":
    """Start a run that writes to out.json."""
    return subprocess.Popen(  # noqa: S603 - the command is ours
        command("in.jsonl", "-o", "out.json", "--concurrency", WIDTH),
        cwd=folder,
        env={**os.environ, **variables(server)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A run in the background of a shell is started without it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - nothing else runs here
    )


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait until a condition is true, or fail."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.005)


def wait_until_unchanged(count: Callable[[], int]) -> None:
    """Wait until a count has kept its value for half a second, or fail."""
    seen = [count(), time.monotonic()]

    def is_unchanged() -> bool:
        if count() != seen[0]:
            seen[:] = count(), time.monotonic()
        return time.monotonic() > seen[1] + 0.5

    wait_until(is_unchanged)


def ended(process: "subprocess.Popen[bytes]") -> tuple[int, str]:
    """Return the exit code of a run and its messages."""
    _, printed = process.communicate(timeout=PATIENCE)
    return process.returncode, printed.decode()


@pytest.mark.parametrize(
    "count", [100, pytest.param(1000, marks=pytest.mark.long)], ids=str
)
def test_killed_run_sends_no_answered_row_again(tmp_path: Path, count: int) -> None:
    """After SIGKILL no answered row is sent again, and no row is missing.

    A tenth of the rows fail once. The kill comes when every request under way is held
    and no further one comes (up to WIDTH: rows answered ahead of a held one count too).
    The server counts those once more, each failure too, and every row once, but for the
    few that were on their way.
    """
    prepare(tmp_path, count)
    with stub.JudgeServer(failing=10, hold_after=count // 2) as server:
        process = begun(tmp_path, server)
        wait_until(lambda: not server.open.is_set())
        wait_until_unchanged(lambda: server.total)
        process.kill()
        process.communicate(timeout=PATIENCE)
        answered, at_kill = set(server.answered), server.asked.copy()
        # One that was about to fail is counted as a failure already.
        broken = [
            each
            for each in at_kill.keys() - answered
            if at_kill[each] > server.failed[each]
        ]
        server.open.set()
        wait_until(lambda: server.now == 0)
        done = run(tmp_path, "in.jsonl", "-o", "out.json", server=server)
    written = json.loads((tmp_path / "out.json").read_bytes())
    failed = server.failed.total()

    assert done.returncode == 0, done.stderr
    assert written["results"] == [{"score": 1}] * count
    assert sum(each["cached"] for each in written["meta"]) == len(answered)
    assert [each for each in answered if server.asked[each] != at_kill[each]] == []
    assert len(server.asked) == count
    assert 0 < failed < count / 4
    assert 0 < len(broken) <= WIDTH
    # Requests that were on their way when the process was killed come late, and more.
    assert 0 <= server.total - (count + failed + len(broken)) <= WIDTH


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.long)],
)
def test_a_run_that_is_stopped_says_how_to_go_on(
    tmp_path: Path, number: int, code: int
) -> None:
    """A stopped run keeps pending replies, writes no output, and can be continued."""
    prepare(tmp_path, 60)
    with stub.JudgeServer(delay=0.05) as server:
        process = begun(tmp_path, server)
        wait_until(lambda: server.answered.total() >= 10)
        process.send_signal(number)
        found, printed = ended(process)
        left = names(tmp_path)
        before = server.total
        server.delay = 0
        done = run(tmp_path, "in.jsonl", "-o", "out.json", server=server)

    assert (found, done.returncode) == (code, 0)
    assert "is in out.json.judge-cache: the same command goes on from there" in printed
    assert "Traceback" not in printed
    assert left == {"in.jsonl", "judge.yaml", "out.json.judge-cache"}
    assert 10 <= before < 60
    assert server.total == 60


def test_a_server_that_hangs_does_not_keep_a_stopped_run(tmp_path: Path) -> None:
    """A second signal ends a run at once, even with pending requests."""
    prepare(tmp_path, 10)
    with stub.JudgeServer() as server:
        server.open.clear()
        process = begun(tmp_path, server)
        wait_until(lambda: server.now == WIDTH)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        found, printed = ended(process)

    assert found == 130
    assert "Traceback" not in printed
    assert time.monotonic() - start < 4


@pytest.mark.long
def test_kills_at_any_moment_lose_nothing(tmp_path: Path) -> None:
    """A run that is killed many times ends with every row; few are sent twice.

    Only what was under way at a kill can have been answered without being kept.
    """
    count, kills, random = 400, 8, Random(5)  # noqa: S311 - moments, and no secrets
    prepare(tmp_path, count)
    with stub.JudgeServer(failing=10, delay=0.005) as server:
        for each in range(kills):
            process = begun(tmp_path, server)
            goal = (each + 1) * count // (kills + 2)
            with contextlib.suppress(TimeoutError):
                wait_until(lambda goal=goal: server.total >= goal)  # type: ignore[misc]  # bound at once
            time.sleep(random.random() / 50)
            process.kill()
            process.communicate(timeout=PATIENCE)
        done = run(tmp_path, "in.jsonl", "-o", "out.json", server=server)
    written = json.loads((tmp_path / "out.json").read_bytes())
    failed = server.failed.total()

    assert done.returncode == 0, done.stderr
    assert written["results"] == [{"score": 1}] * count
    assert count + failed <= server.total <= count + failed + kills * WIDTH


def test_documentation_lists_every_option() -> None:
    """The documentation page names every option of the command, and no other one."""
    help_ = subprocess.run(  # noqa: S603 - the command is ours
        [*COMMAND, "judge", "--help-all"],
        env={**os.environ, "COLUMNS": "200", "NO_COLOR": "1"},
        capture_output=True,
        check=True,
    ).stdout.decode()
    off = {f"--no-{name}" for name in re.findall(r"--\[no-\]([a-z-]+)", help_)}
    help_ = help_.replace("--[no-]", "--")
    known = set(re.findall(r"--[a-z][a-z-]+", help_)) - {"--help", "--help-all"}
    page = (ROOT / "docs" / "how-to" / "judge.md").read_text(encoding="utf-8")
    # That section, and commands that begin with score, are about others.
    before, _, rest = page.partition("## Agreement of judges")
    own = before + rest[rest.index("\n## ") :]
    own = re.sub(r"`score[^`]*`", "", own)
    documented = set(re.findall(r"--[a-z][a-z-]+", own))

    assert known - documented == set()
    assert documented - known - off == set()
