"""Checks of the limits of outputs, of scores, of the judge and of the page of view."""

import json
import time
from pathlib import Path
from typing import Any

from asgi_client import Client
from harpia_formats.conversion import output_files
from harpia_formats.conversion.mapping import answer_groups
from harpia_formats.conversion.subsets import merge, row_assignment
from harpia_formats.evaluation.llm_judge import endpoint, judge_definition
from harpia_formats.evaluation.llm_judge.endpoint import (
    ApiKey,
    Budget,
    Endpoint,
    OpenAIClient,
)
from harpia_formats.evaluation.metrics import error_rates, question_metrics
from harpia_formats.evaluation.metrics.metric import Parameters
from harpia_formats.evaluation.scoring.measures import question_scores
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.expectations import relations
from harpia_formats.reporters import sarif
from harpia_formats.view import record_scan, systems, viewed_file
from harpia_formats.view.access import Access, Secrets
from harpia_formats.view.notes import Notes
from harpia_formats.view.options import ViewOptions
from harpia_formats.view.record_scan import RecordColumns, scan_file
from harpia_formats.view.row_index import index_file
from harpia_formats.view.session import ViewSession
from json_lines import jsonl
from judge_server import Answer, JudgeServer, completion
from limit_bench import Bench, Outcome, check, raised
from model_answers import model_answers
from ready_session import ready


def _categories(bench: Bench, count: int) -> Path:
    rows = (
        json.dumps({"id": number, "prompt": "q", "category": f"c{number}"}) + "\n"
        for number in range(count)
    )
    return bench.file("d.jsonl", "".join(rows))


@check("output files")
def _(bench: Bench) -> Outcome:
    bench.lower(3, (output_files, "MAX_FILES"), (row_assignment, "MAX_FILES"))
    found = []
    for count in (3, 4):
        output = bench.folder / f"{count}-{{value}}.jsonl"
        words = ("split", _categories(bench, count), "--by", "category", "-o", output)
        found.append(bench.printed(*words))
    return found[0], found[1]


@check("repeated ids")
def _(bench: Bench) -> Outcome:
    bench.lower(3, (merge, "MOST_REPEATED"))
    found = []
    for count in (2, 3):
        path = bench.file("a.jsonl", "".join(_rows_with_ids(count) * 2))
        output = bench.folder / f"{count}.jsonl"
        words = ("merge", path, "-o", output, "--on-duplicate", "skip")
        found.append(bench.printed(*words, "--from", "harpia"))
    return found[0], found[1]


def _rows_with_ids(count: int) -> list[str]:
    return [
        json.dumps({"id": f"{each}", "input": "q", "references": ["a"]}) + "\n"
        for each in range(count)
    ]


@check("examples")
def _(bench: Bench) -> Outcome:
    row = '{"prompt":1,"outputs":[]}\n'
    at, beyond = (bench.validated(row * (bench.number + more)) for more in (0, 1))
    return at, beyond


@check("problems")
def _(bench: Bench) -> Outcome:
    row = '{"prompt":1,"outputs":[]}\n'
    at, beyond = (
        bench.validated(row * (bench.number + more), "--examples", "0")
        for more in (0, 1)
    )
    return at, beyond


@check("sarif")
def _(bench: Bench) -> Outcome:
    bench.lower(1, (sarif, "MOST"))
    wrong = '{"prompt":1,"outputs":[]}\n'
    rows = (wrong, wrong + '{"prompt":"q","outputs":[],"id":[]}\n')
    at, beyond = (bench.validated(row, "--output-format", "sarif") for row in rows)
    return at, beyond


@check("groups")
def _(bench: Bench) -> Outcome:
    bench.lower(3, (answer_groups, "MOST"))
    found = []
    for count in (3, 4):
        rows = (
            {"id": f"{at}", "prompt": "q", "references": ["a"], "category": f"c{at}"}
            | {"outputs": [{"model": "m", "text": "a"}]}
            for at in range(count)
        )
        path = bench.file("d.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        found.append(bench.printed("score", path, "-m", "em", "--by", "category"))
    return found[0], found[1]


@check("replicates")
def _(bench: Bench) -> Outcome:
    def error_for(count: int) -> str:
        return raised(lambda: ScoreOptions(replicates=count))

    at = error_for(bench.number)
    assert at == ""
    return at, error_for(bench.number + 1)


@check("metric parameter")
def _(bench: Bench) -> Outcome:
    def error_for(value: int) -> str:
        return raised(lambda: Parameters("m", {"n": value}).whole("n"))

    at = error_for(bench.number)
    assert at == ""
    return at, error_for(bench.number + 1)


@check("labels")
def _(bench: Bench) -> Outcome:
    bench.lower(3, (question_scores, "MOST_LABELS"))
    found = []
    for count in (3, 4):
        rows = (
            {"id": f"{at}", "prompt": "q", "references": [f"label {at}"]}
            | {"outputs": [{"model": "m", "text": f"label {at}"}]}
            for at in range(count)
        )
        path = bench.file("d.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        found.append(bench.printed("score", path, "-m", "f1-macro"))
    return found[0], found[1]


@check("words")
def _(bench: Bench) -> Outcome:
    # A metric tries itself on some words, of which none may be too many.
    bench.lower(200, (error_rates, "MOST_WORDS"))
    found = []
    for count in (bench.number, bench.number + 1):
        row: dict[str, Any] = {"id": "1", "prompt": "q", "references": ["a b"]}
        row |= {"outputs": [{"model": "m", "text": "a " * count}]}
        path = bench.file("d.jsonl", json.dumps(row))
        found.append(bench.printed("score", path, "-m", "ter"))
    return found[0], found[1]


@check("majority")
def _(bench: Bench) -> Outcome:
    bench.lower(6, (question_metrics, "MOST"))

    def error_for(total: int) -> str:
        answers = ((total, total),)
        return raised(lambda: question_metrics._score(answers, total, 2))  # noqa: SLF001 - cheap

    at = error_for(3)
    assert at == ""
    return at, error_for(4)


@check("models of preflight")
def _(bench: Bench) -> Outcome:
    bench.lower(2, (relations, "MOST_MODELS"))
    found = []
    for count in (2, 3):
        models = [f"m{number}" for number in range(count)]
        bench.file("d.jsonl", model_answers(models, range(2), lambda *_: True))
        lines = '[datasets.a]\nfiles = "d.jsonl"\nanswers-per-question = 1\n'
        path = bench.file("preflight.toml", lines)
        found.append(bench.printed("preflight", path))
    return found[0], found[1]


@check("definition bytes")
def _(bench: Bench) -> Outcome:
    def error_for(size: int) -> str:
        path = bench.file("d.json", b"{}".ljust(size))
        return raised(lambda: judge_definition.arguments_from(path))

    return error_for(bench.number), error_for(bench.number + 1)


@check("definition values")
def _(bench: Bench) -> Outcome:
    def error_for(count: int) -> str:
        # The object and its list are values, too.
        path = bench.file("d.json", json.dumps({"a": [0] * (count - 2)}))
        return raised(lambda: judge_definition.arguments_from(path))

    return error_for(bench.number), error_for(bench.number + 1)


def _judged(bench: Bench, option: str) -> Outcome:
    """Return what a dry run prints with the largest value of an option, and more."""
    rows = bench.file("d.jsonl", model_answers(["m"], [1], lambda *_: True))
    words = ("judge", rows, "-d", "faithfulness", "--dry-run", option)
    return bench.printed(*words, bench.number), bench.printed(*words, bench.number + 1)


@check("votes")
def _(bench: Bench) -> Outcome:
    return _judged(bench, "--votes")


@check("requests")
def _(bench: Bench) -> Outcome:
    return _judged(bench, "--concurrency")


@check("judge answer")
def _(bench: Bench) -> Outcome:
    bench.lower(1 << 20, (endpoint, "LONGEST_ANSWER"))
    body = completion("x").body

    def error_for(size: int) -> str:
        answer = Answer(body.ljust(size))
        with JudgeServer(lambda *_: answer) as server:
            place = Endpoint(url=server.url, max_retries=0)
            client = OpenAIClient(place, ApiKey("a key of a test"))
            found = raised(lambda: client.ask("q", Budget()))
            client.close()
        return found

    at, beyond = error_for(bench.number), error_for(bench.number + 1)
    assert at == ""
    return at, beyond


@check("request")
def _(bench: Bench) -> Outcome:
    async def app(_: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            continue
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"well"})

    secrets = Secrets()
    client = Client(Access(app, secrets, lambda _: None), secrets)
    at, beyond = (
        client.post("/api/notes", b"x" * (bench.number + more)).body.decode()
        for more in (0, 1)
    )
    return at, beyond


def _note_error(bench: Bench, **note: str) -> str:
    data = bench.file("d.jsonl", model_answers(["m"], [1], lambda *_: True))
    notes = Notes(bench.folder / "notes.jsonl", [str(data)])
    return raised(lambda: notes.add(str(data), {"record": 1}, note))


@check("verdict")
def _(bench: Bench) -> Outcome:
    at, beyond = (
        _note_error(bench, verdict="v" * (bench.number + more)) for more in (0, 1)
    )
    assert at == ""
    return at, beyond


@check("note")
def _(bench: Bench) -> Outcome:
    at, beyond = (
        _note_error(bench, text="t" * (bench.number + more)) for more in (0, 1)
    )
    assert at == ""
    return at, beyond


def _scanned(folder: Path, rows: list[dict[str, Any]]) -> RecordColumns:
    """Return the columns of a file of some rows."""
    path, base = folder / "a.jsonl", str(folder / "0")
    path.write_bytes(jsonl(*rows))
    list(index_file(str(path), ViewOptions(), base))
    list(scan_file(str(path), ViewOptions(), base))
    return RecordColumns(base)


@check("view models")
def _(bench: Bench) -> Outcome:
    found = []
    for count in (bench.number, bench.number + 1):
        rows = [
            {"id": at, "prompt": "q", "outputs": [{"model": f"m{at}", "text": "a"}]}
            for at in range(count)
        ]
        state = _scanned(bench.folder, rows).state
        assert len(state.models) == bench.number
        is_left = bool(state.other_answers)
        found.append("one column for all further ones" if is_left else "")
    return found[0], found[1]


@check("view categories")
def _(bench: Bench) -> Outcome:
    bench.lower(3, (record_scan, "CATEGORIES"))
    found = []
    for count in (3, 4):
        rows = [
            {"id": at, "prompt": "q", "category": f"c{at}", "outputs": []}
            for at in range(count)
        ]
        state = _scanned(bench.folder, rows).state
        assert len(state.categories) == 3
        is_left = bool(state.other_categories)
        found.append("records of further ones are not told apart" if is_left else "")
    return found[0], found[1]


@check("view metrics")
def _(bench: Bench) -> Outcome:
    found = []
    for count in (bench.number, bench.number + 1):
        scores = [{"metric": f"s{at}", "value": 0.5} for at in range(count)]
        output = {"model": "m", "text": "a", "scores": scores}
        row = {"id": 1, "prompt": "q", "outputs": [output]}
        metrics = _scanned(bench.folder, [row]).state.metrics
        assert len(metrics) == bench.number
        found.append("no column" if len(metrics) < count else "")
    return found[0], found[1]


@check("search")
def _(bench: Bench) -> Outcome:
    path = bench.file("a.jsonl", json.dumps({"prompt": "a" * 60, "outputs": []}))
    session = ready(ViewSession([str(path)], ViewOptions()))

    def reason_for(pattern: str) -> str:
        query = {"file": "0", "regex": "1", "text": pattern}
        end = time.monotonic() + 30
        while time.monotonic() < end:
            found = session.rows(query)
            if found["complete"]:
                return str(found["searched"]["reason"])
            time.sleep(0.05)
        raise AssertionError(pattern)

    try:
        at = reason_for("aaa")
        bench.lower(1.0, (viewed_file, "LIMIT"))
        return at, reason_for("(a|.)*$x")
    finally:
        session.close()


@check("matched")
def _(bench: Bench) -> Outcome:
    bench.lower(3, (systems, "MOST_MATCHED"))

    def error_for(count: int) -> str:
        rows = model_answers(["one", "two"], range(count), lambda *_: True)
        path = bench.file(f"{count}.jsonl", rows)
        session = ready(ViewSession([str(path)], ViewOptions()))
        query = {"a": "0.0", "b": "0.1", "metric": "", "count": "10"}
        found = raised(lambda: session.compare(query))
        session.close()
        return found

    return error_for(3), error_for(4)
