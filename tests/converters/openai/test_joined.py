"""Results of a batch that are read with the requests that they answer."""

import gzip
import os
import tracemalloc
from io import BytesIO
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any

import pytest

from harpia_formats import (
    CompanionError,
    HarpiaFormatsError,
    Record,
    convert,
    read,
    score,
    validate,
)
from harpia_formats.conversion.reading.companions import Partners
from harpia_formats.conversion.reading.reader import partners_in
from json_lines import jsonl, jsonl_rows
from shared_small_files import share_small_files

QUESTIONS = [
    {"id": f"q{n}", "prompt": f"{n} + {n}?", "references": [str(2 * n)], "outputs": []}
    for n in range(1, 6)
]


def provided(request: dict[str, Any]) -> dict[str, Any]:
    """Return what a provider writes for a request: the sum, and for 3 an error."""
    asked = request["body"]["messages"][-1]["content"]
    number = int(asked.split()[0])
    custom_id = request["custom_id"]
    if number == 3:
        error = {"code": "batch_expired", "message": "too late"}
        return {"custom_id": custom_id, "response": None, "error": error}
    message = {"role": "assistant", "content": str(2 * number)}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 5, "completion_tokens": 1, "total_tokens": 6}
    model = f"{request['body']['model']}-2026"
    body = {"model": model, "choices": [choice], "usage": usage}
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"custom_id": custom_id, "response": response, "error": None}


@pytest.fixture
def batch(tmp_path: Path) -> tuple[Path, Path]:
    """Return the requests for some questions, and their results in another order."""
    asked, answered = tmp_path / "requests.jsonl", tmp_path / "results.jsonl"
    constants = {"body.model": "m", "body.temperature": 0}
    to: Any = "openai-batch-input"
    convert(
        jsonl(*QUESTIONS), to=to, output=asked, constants=constants, keep_extra=True
    )
    requests = jsonl_rows(asked)
    results = [provided(request) for request in requests]
    Random(1).shuffle(results)  # noqa: S311 - a test needs a seed, not secrecy
    answered.write_bytes(jsonl(*results))
    return asked, answered


def joined(batch: tuple[Path, Path], to: str, **options: Any) -> tuple[bytes, Any]:
    """Return the results, read with their requests, in another format."""
    asked, answered = batch
    output = BytesIO()
    report = convert(answered, to=to, output=output, companion=asked, **options)
    return output.getvalue(), report


def test_batch_comes_back_as_answers_to_its_questions(
    batch: tuple[Path, Path],
) -> None:
    """Each result has the question, settings and references of its request."""
    asked, answered = batch
    records = {each.id: each for each in read(answered, companion=asked)}
    one = records["q4"]

    assert validate(asked, lint=True).problems == ()
    assert (one.prompt, one.references) == ("4 + 4?", ["8"])
    assert one.params == {"model": "m", "temperature": 0}
    assert (one.outputs[0].model, one.outputs[0].text) == ("m", "8")
    assert one.outputs[0].extra
    assert one.outputs[0].extra["openai-batch"]["model"] == "m-2026"
    assert [each.id for each in read(answered)] == list(records)


def test_failed_request_is_one_of_its_model(batch: tuple[Path, Path]) -> None:
    """What was not run is an error of the model that was asked, without a text."""
    asked, answered = batch
    (failed,) = [each for each in read(answered, companion=asked) if each.id == "q3"]
    (output,) = failed.outputs

    assert (output.model, output.text, output.error) == ("m", None, "too late")


def test_response_without_answers_keeps_the_name_of_its_model(
    batch: tuple[Path, Path],
) -> None:
    """A response without answers is of the model that was asked, and keeps its own."""
    asked, _ = batch
    body = {"model": "m-2026", "choices": []}
    response = {"status_code": 200, "request_id": "r", "body": body}
    row = {"custom_id": "q1", "response": response, "error": None}
    (record,) = read(jsonl(row), companion=asked)
    (output,) = record.outputs

    assert (output.model, output.text) == ("m", None)
    assert output.extra == {"openai-batch": {"model": "m-2026"}}


def test_unknown_key_of_a_choice_is_kept_next_to_the_name_of_the_model(
    batch: tuple[Path, Path],
) -> None:
    """A member `model` of a choice is no name of the response, and both are kept."""
    asked, _ = batch
    choice = {"model": "own", "message": {"role": "assistant", "content": "2"}}
    body = {"model": "m-2026", "choices": [choice]}
    response = {"status_code": 200, "request_id": "r", "body": body}
    row = {"custom_id": "q1", "response": response, "error": None}
    (record,) = read(jsonl(row), companion=asked)
    (output,) = record.outputs

    assert (output.model, output.text) == ("m", "2")
    assert output.extra == {
        "openai-batch": {"model": "m-2026", "choice": {"model": "own"}}
    }


@pytest.mark.parametrize("key", ["note", "request"])
def test_unknown_keys_of_one_name_are_kept_of_both(
    batch: tuple[Path, Path], key: str
) -> None:
    """What the request has with another value is next to what the result has."""
    asked, answered = batch
    request, result = jsonl_rows(asked)[0], {"custom_id": "q1", "response": None}
    asked.write_bytes(jsonl(request | {key: 1, "same": [1], "other": 0}))
    error = {"message": "too late"}
    answered.write_bytes(jsonl(result | {"error": error, key: True, "same": [1]}))
    (record,) = read(answered, companion=asked)
    place = "request_" if key == "request" else "request"

    assert record.extra == {
        "openai-batch": {key: True, "same": [1], "other": 0, place: {key: 1}}
    }


@pytest.mark.parametrize("to", ["nemo-output", "eee@0.3.0"])
def test_batch_becomes_the_formats_of_others(batch: tuple[Path, Path], to: str) -> None:
    """Joined results are rows of other vendors, with their questions."""
    given = {"evaluation_id": "e", "evaluation_name": "n"}
    scored = {"constants": given, "score": "em"} if to == "eee@0.3.0" else {}
    data, report = joined(batch, to, on_invalid="skip", **scored)
    found = {
        each.prompt: (each.references, each.outputs[0].text) for each in read(data)
    }

    assert report.written
    assert validate(data, format=to).ok
    assert found["1 + 1?"] == (["2"], "2")
    assert len(found) >= 4


def test_answers_are_scored_with_the_references_of_requests(
    batch: tuple[Path, Path],
) -> None:
    """`score` takes the references from the requests; an error is no right answer."""
    asked, answered = batch
    result = score(answered, metrics=["em"], companion=asked, missing="skip")
    (system,) = result.systems

    assert (system.answers, result["em"].value) == (5, 1.0)


@pytest.mark.parametrize("jobs", [1, 2])
def test_any_number_of_processes_joins_the_same(
    batch: tuple[Path, Path], jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows and notes are the same for several processes, of which one is used."""
    share_small_files(monkeypatch, 20_000)
    batch[1].write_bytes(batch[1].read_bytes() * 400)
    once, first = joined(batch, "nemo-output", jobs=1)
    again, second = joined(batch, "nemo-output", jobs=jobs)

    assert once == again
    assert (first.rows, first.notes) == (second.rows, second.notes)
    assert first.rows == 2_000


def test_records_without_a_partner_are_counted(
    batch: tuple[Path, Path], tmp_path: Path
) -> None:
    """Results of no request and requests without a result are said and counted."""
    asked, answered = batch
    fewer, other = tmp_path / "fewer.jsonl", tmp_path / "other.jsonl"
    rows = asked.read_bytes().splitlines(keepends=True)
    fewer.write_bytes(b"".join(rows[:4]))
    results = answered.read_bytes().splitlines(keepends=True)
    other.write_bytes(b"".join(line for line in results if b'"q1"' not in line))
    _, report = joined((fewer, other), "record")
    notes = "\n".join(report.notes)
    problems = validate(other, companion=fewer).problems

    assert f"1 id of a row has no partner in {fewer}" in notes
    assert f"1 record of {fewer} has no partner among" in notes
    assert [problem.code for problem in problems] == ["O304"]


def test_rows_that_are_read_twice_are_counted_once(
    batch: tuple[Path, Path], tmp_path: Path
) -> None:
    """A row is read again to say why it cannot be written; its id counts once."""
    asked, answered = batch
    fewer = tmp_path / "fewer.jsonl"
    rows = asked.read_bytes().splitlines(keepends=True)
    fewer.write_bytes(b"".join(rows[:2]))
    _, report = joined((fewer, answered), "nemo-output", on_invalid="skip")

    assert any(
        note.startswith("3 ids of rows have no partner") for note in report.notes
    )


def test_requests_in_a_pipe_are_refused(
    batch: tuple[Path, Path], tmp_path: Path
) -> None:
    """Requests are read twice, which a pipe cannot be; the error says so."""
    asked, answered = batch
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = Thread(target=pipe.write_bytes, args=(asked.read_bytes(),), daemon=True)
    writer.start()

    with pytest.raises(HarpiaFormatsError, match="is a pipe; it must be a file"):
        convert(answered, to="record", output=BytesIO(), companion=pipe)
    writer.join()


def test_results_are_read_without_their_requests(batch: tuple[Path, Path]) -> None:
    """Without the requests, a note says that what was asked is not known."""
    report = convert(batch[1], to="record", output=BytesIO())

    assert any("what was asked is not known" in note for note in report.notes)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: data + data.splitlines(keepends=True)[0], "twice"),
        (lambda data: data.replace(b"POST", b"GET"), "method must be"),
        (lambda data: data[:-9], "is not valid"),
    ],
)
def test_broken_requests_stop_the_conversion(
    batch: tuple[Path, Path], change: Any, reason: str
) -> None:
    """Requests that are not valid, or not unique, are an error that names the file."""
    asked, _ = batch
    asked.write_bytes(change(asked.read_bytes()))

    with pytest.raises(HarpiaFormatsError, match=reason) as caught:
        joined(batch, "record")

    assert str(asked) in str(caught.value)


def test_partners_are_held_on_disk() -> None:
    """Many records with long texts take little memory."""

    def records() -> Any:
        for number in range(20_000):
            yield Record(id=str(number), prompt=f"{number}" * 500)

    tracemalloc.start()
    partners = Partners("file", records())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    found = partners.of("7")

    assert peak < 20_000_000
    assert found == Record(id="7", prompt="7" * 500)
    assert partners.of(7) is None
    assert (partners.count, partners.unmet, partners.missing) == (20_000, 19_999, 1)


def test_partners_need_ids() -> None:
    """A record without an id has no partner, so its file cannot be used."""
    with pytest.raises(CompanionError, match=r"^file: has a record without an id$"):
        Partners("file", [Record(prompt="q")])


def test_requests_that_end_inside_of_a_file_are_refused(
    batch: tuple[Path, Path], tmp_path: Path
) -> None:
    """Requests that cannot be read to their end are partners of no rows."""
    packed = tmp_path / "requests.jsonl.gz"
    packed.write_bytes(gzip.compress(batch[0].read_bytes())[:-9])

    with pytest.raises(CompanionError, match=f"^{packed}: .* is truncated$"):
        list(partners_in(packed, "openai-batch-input", 10_000))
