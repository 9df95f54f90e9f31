"""Each limit of `docs/reference/limits.md` is obeyed, and what is within it is read."""

import gzip
import importlib
import io
import json
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from asgi_client import Client
from harpia_converters.hub import read_table, table_metadata
from harpia_converters.inspect_ai import archive_text
from harpia_formats.conversion import output_files
from harpia_formats.conversion.mapping import answer_groups
from harpia_formats.conversion.subsets import merge, row_assignment
from harpia_formats.evaluation.llm_judge import endpoint, judge_definition
from harpia_formats.evaluation.llm_judge.endpoint import (
    ApiKey,
    Budget,
    Endpoint,
    NoReplyError,
    OpenAIClient,
)
from harpia_formats.evaluation.metrics import error_rates, question_metrics
from harpia_formats.evaluation.metrics.metric import Parameters
from harpia_formats.evaluation.scoring.measures import label_totals
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.expectations import relations
from harpia_formats.files.io import discovery, zip_archive
from harpia_formats.files.io.zip_archive import Member, ZipDirectory
from harpia_formats.files.toml import toml_document
from harpia_formats.model.problem import HarpiaFormatsError
from harpia_formats.reporters import sarif
from harpia_formats.validation import schema_inference
from harpia_formats.validation.unit import guarded_rows
from harpia_formats.view import systems, viewed_file
from harpia_formats.view.access import Access, Secrets
from harpia_formats.view.notes import Notes
from harpia_formats.view.options import ViewOptions
from harpia_formats.view.record_scan import RecordColumns, scan_file
from harpia_formats.view.row_index import index_file
from harpia_formats.view.session import ViewSession
from in_process import InProcess
from judge_server import Answer, JudgeServer, completion
from model_answers import model_answers
from ready_session import ready

TOOLS = Path(__file__).parents[2] / "docs" / "tools"


def table() -> ModuleType:
    """Return the module that has the table of the page."""
    if str(TOOLS) not in sys.path:
        sys.path.append(str(TOOLS))
    return importlib.import_module("limit_table")


LIMITS = table().all_limits()


@dataclass
class Bench:
    """What a check needs: commands, a folder, and a smaller number for a constant."""

    run: InProcess
    folder: Path
    patch: pytest.MonkeyPatch
    #: The limit, which is that of the table unless it is lowered.
    number: Any

    def lower(self, number: float, *places: tuple[Any, str]) -> None:
        """Lower a limit that is a constant at some places: it is cheap to pass."""
        for module, name in places:
            assert getattr(module, name) >= number
            self.patch.setattr(module, name, number)
        self.number = number

    def file(self, name: str, content: str | bytes) -> Path:
        """Write a file, and return its path."""
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def printed(self, *words: object) -> str:
        """Return all that a command prints."""
        done = self.run(*words)
        assert "Traceback" not in done.err, done.err
        return done.out + done.err

    def validated(self, content: str | bytes, *words: object) -> str:
        """Return what `validate` prints on records."""
        path = self.file("data.jsonl", content)
        return self.printed("validate", path, "--from", "record", *words)


#: What is printed or raised at a limit, and beyond it.
Outcome = tuple[str, str]
CHECKS: dict[str, Callable[[Bench], Outcome]] = {}


def check(name: str) -> Callable[[Callable[[Bench], Outcome]], None]:
    """Return a decorator that makes a function the check of a limit."""

    def decorate(function: Callable[[Bench], Outcome]) -> None:
        CHECKS[name] = function

    return decorate


def raised(function: Callable[[], object]) -> str:
    """Return the words of the error that a call raises, "" if it raises none."""
    try:
        function()
    except (HarpiaFormatsError, ValueError, NoReplyError) as error:
        return str(error)
    return ""


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> InProcess:
    """Return what runs commands in this process."""
    return InProcess(monkeypatch, capfdbinary)


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


@check("row bytes")
def _(bench: Bench) -> Outcome:
    frame = len('{"outputs":[],"prompt":""}')
    texts = ("a" * (bench.number - frame + more) for more in (0, 1))
    rows = (f'{{"outputs":[],"prompt":"{text}"}}' for text in texts)
    at, beyond = map(bench.validated, rows)
    return at, beyond


@check("depth")
def _(bench: Bench) -> Outcome:
    rows = []
    for levels in (bench.number, bench.number + 1):
        lists = "[" * (levels - 2) + "]" * (levels - 2)
        rows.append(f'{{"prompt":"q","outputs":[],"metadata":{{"a":{lists}}}}}')
    at, beyond = map(bench.validated, rows)
    return at, beyond


@check("digits")
def _(bench: Bench) -> Outcome:
    rows = (
        f'{{"prompt":"q","outputs":[],"metadata":{{"a":{"1" * count}}}}}'
        for count in (bench.number, bench.number + 1)
    )
    at, beyond = map(bench.validated, rows)
    return at, beyond


@check("columns")
def _(bench: Bench) -> Outcome:
    found = []
    for count in (bench.number, bench.number + 1):
        head = ",".join(f"c{number}" for number in range(bench.number))
        path = bench.file("t.csv", f"{head}\n{',' * (count - 1)}\n")
        found.append(bench.printed("validate", path, "--from", "csv"))
    return found[0], found[1]


@check("schema errors")
def _(bench: Bench) -> Outcome:
    rows = (
        json.dumps({"prompt": "q", "outputs": [], "references": [1] * count})
        for count in (bench.number, bench.number + 1)
    )
    at, beyond = map(bench.validated, rows)
    assert "S102" in at
    return at, beyond


@check("other findings")
def _(bench: Bench) -> Outcome:
    rows = []
    for count in (bench.number, bench.number + 1):
        members = ",".join(['"a":1'] * (count + 1))
        rows.append(f'{{"prompt":"q","outputs":[],"metadata":{{{members}}}}}')
    at, beyond = map(bench.validated, rows)
    assert "J105" in at
    return at, beyond


@check("files")
def _(bench: Bench) -> Outcome:
    bench.lower(2, (discovery, "MOST_FILES"))
    data = bench.folder / "data"
    data.mkdir()
    found = []
    for name in "abc":
        (data / f"{name}.jsonl").write_text('{"prompt":"q"}\n')
        found.append(bench.printed("detect", data))
    return found[1], found[2]


@check("side file")
def _(bench: Bench) -> Outcome:
    data = bench.file("data.jsonl", '{"prompt":"q"}')
    found = []
    for more in (0, 1):
        schema = bench.file("s.json", b"{}".ljust(bench.number + more))
        found.append(bench.printed("validate", data, "--schema", schema))
    return found[0], found[1]


@check("members")
def _(bench: Bench) -> Outcome:
    bench.lower(2, (zip_archive, "MOST_MEMBERS"))
    at, beyond = (_error_of_archive(_archive("abc"[:count])) for count in (2, 3))
    assert at == ""
    return at, beyond


def _archive(names: str) -> io.BytesIO:
    """Return an archive with empty members."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, b"")
    return file


def _error_of_archive(file: io.BytesIO) -> str:
    return raised(lambda: zip_archive.read_directory(file, "x.zip"))


@check("expansion")
def _(bench: Bench) -> Outcome:
    packed = zip_archive.LARGEST // bench.number + 1
    most = packed * bench.number

    def error_for(size: int) -> str:
        directory = ZipDirectory()
        directory.add(Member("a", 0, packed, size, 8, 0))
        of_all = raised(lambda: zip_archive.check_expansion(directory, "x"))
        pieces = zip_archive.member_pieces(io.BytesIO(), directory.member(0), "x")
        of_one = raised(lambda: next(pieces))
        assert ("bomb" in of_all) == ("bomb" in of_one)
        return of_all

    return error_for(most), error_for(most + 1)


@check("header")
def _(bench: Bench) -> Outcome:
    text = json.dumps({"version": 2, "eval": {}})
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("header.json", text)

    def error_for(most: int) -> str:
        bench.lower(most, (archive_text, "LARGEST"))
        return raised(lambda: list(archive_text.text_of_log(file, "x.eval")))

    return error_for(len(text)), error_for(len(text) - 1)


def _table_file(bench: Bench) -> Path:
    """Write a table of Parquet with one record."""
    rows = bench.file("r.jsonl", model_answers(["m"], [1], lambda *_: True))
    path = bench.folder / "t.parquet"
    bench.printed("convert", rows, "--to", "parquet", "-o", path)
    return path


@check("table text")
def _(bench: Bench) -> Outcome:
    path = _table_file(bench)
    size = path.stat().st_size
    with path.open("rb") as file:
        text = sum(map(len, read_table._lines_of(file, "x", {})))  # noqa: SLF001 - the exact number

    def error_for(most: int) -> str:
        bench.patch.setattr(read_table, "LARGEST", most)
        bench.patch.setattr(read_table, "RATIO", 0)
        return bench.printed("validate", path)

    assert size * bench.number > text
    return error_for(text), error_for(text - 1)


@check("footer")
def _(bench: Bench) -> Outcome:
    path = _table_file(bench)
    length = int.from_bytes(path.read_bytes()[-8:-4], "little")

    def error_for(most: int) -> str:
        for module in (read_table, table_metadata):
            bench.patch.setattr(module, "DESCRIBED", most)
        return bench.printed("validate", path)

    return error_for(length), error_for(length - 1)


@check("table record")
def _(bench: Bench) -> Outcome:
    path = _table_file(bench)
    sizes = []
    real = vars(read_table)["batch_size"]

    def noted(batch: Any) -> int:
        sizes.append(int(real(batch)))
        return sizes[-1]

    bench.patch.setattr(read_table, "batch_size", noted)
    at = bench.printed("validate", path)
    bench.lower(max(sizes), (read_table, "LONGEST_RECORD"))
    at += bench.printed("validate", path)
    bench.lower(max(sizes) - 1, (read_table, "LONGEST_RECORD"))
    return at, bench.printed("validate", path)


def _toml_error(data: bytes) -> str:
    return raised(lambda: toml_document(data, "x.toml"))


@check("settings bytes")
def _(bench: Bench) -> Outcome:
    at, beyond = (_toml_error(b"#".ljust(bench.number + more, b" ")) for more in (0, 1))
    assert at == ""
    return at, beyond


@check("settings keys")
def _(bench: Bench) -> Outcome:
    at, beyond = (
        _toml_error(b"".join(b"a%d=1\n" % key for key in range(count)))
        for count in (bench.number, bench.number + 1)
    )
    assert at == ""
    return at, beyond


@check("settings depth")
def _(bench: Bench) -> Outcome:
    at, beyond = (
        _toml_error(b"a=" + b"[" * count + b"]" * count)
        for count in (bench.number - 1, bench.number)
    )
    assert at == ""
    return at, beyond


@check("schema depth")
def _(bench: Bench) -> Outcome:
    data = bench.file("data.jsonl", '{"prompt":"q"}')
    found = []
    for levels in (bench.number, bench.number + 1):
        schema: Any = {}
        for _ in range(levels - 1):
            schema = {"not": schema}
        path = bench.file("s.json", json.dumps(schema))
        found.append(bench.printed("validate", data, "--schema", path))
    return found[0], found[1]


@check("schema check")
def _(bench: Bench) -> Outcome:
    schema = bench.file("s.json", '{"properties":{"a":{"pattern":"(?=a)a"}}}')
    data = bench.file("data.jsonl", '{"a":"a"}')
    at = bench.printed("validate", data, "--schema", schema)
    guarded_rows.end_process()
    bench.lower(1e-9, (guarded_rows, "CHECK_SECONDS"))
    return at, bench.printed("validate", data, "--schema", schema)


@check("row time")
def _(bench: Bench) -> Outcome:
    # Each definition is evaluated twice by the one before it, where a row is hard.
    following = [{"$ref": f"#/definitions/d{level + 1}"} for level in range(40)]
    made = {f"d{level}": {"allOf": [each] * 2} for level, each in enumerate(following)}
    schema = {
        "if": {"required": ["hard"]},
        "then": {"$ref": "#/definitions/d0"},
        "definitions": {**made, "d40": {"required": ["id"]}},
    }
    path = bench.file("s.json", json.dumps(schema))
    at, beyond = (
        bench.printed(
            *("validate", bench.file("d.jsonl", row), "--schema", path),
            *("--row-timeout", "0.3"),
        )
        for row in ('{"id":1}', '{"id":1,"hard":1}')
    )
    return at, beyond


@check("inferred places")
def _(bench: Bench) -> Outcome:
    found = []
    for count in (3, 4):
        row = {f"k{number}": 1 for number in range(count)}
        path = bench.file("d.jsonl", json.dumps(row))
        # The record itself is a place, too.
        bench.patch.setattr(schema_inference, "PLACES", 4)
        found.append(bench.printed("schema", "infer", path))
    bench.number = 4
    return found[0], found[1]


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
    bench.lower(3, (label_totals, "MOST_LABELS"))
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


@check("judge answer")
def _(bench: Bench) -> Outcome:
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


def test_a_compressed_answer_of_a_judge_is_bounded() -> None:
    """An answer counts as it is decompressed, and a short one is read."""

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
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
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
