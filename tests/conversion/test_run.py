"""Conversions from bytes to bytes, for every ordered pair of record formats."""

import io
import itertools
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from effort import drawn, pairs, some_pairs
from fixture_files import valid_files
from harpia_formats import ConversionError, validate
from harpia_formats.plugins import Outcome
from json_lines import jsonl, jsonl_rows
from known_formats import WRITABLE, adapter_named
from outcomes_of_fields import field_lines_in
from required_values import REQUIRED
from sample_rows import NEMO_QUESTION, eee_sample, harpia_instance, nemo_answer
from shared_small_files import share_small_files
from unchecked import convert, converted

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
FORMATS = list(WRITABLE)
#: What no format has to give, for those that ask for it; ids are made.
CONSTANTS = {name: REQUIRED[name] for name in REQUIRED if name != "id"}
RUN = {"evaluation_id": "e", "evaluation_name": "n", "model": "org/m"}
#: Numbers that most programs spell in another way when they have read them.
NUMBERS = ["18446744073709551616", "123456789012345678901", "1", "1.0", "-0.0", "1e2"]


def rows_of(data: bytes) -> list[dict[str, Any]]:
    """Return the rows of a file of lines, an array or an object around one."""
    try:
        whole = json.loads(data)
    except json.JSONDecodeError:
        return jsonl_rows(data)
    if isinstance(whole, dict):
        return list(whole.get("instances", [whole]))
    return list(whole)


# Every pair


@for_each_case("source, target", some_pairs(FORMATS, FORMATS))
def test_many_pairs_write_valid_rows(source: str, target: str) -> None:
    """The records of any format become valid rows of some other ones."""
    check_pair(valid_files(source)[: drawn(3)], source, target)


@pytest.mark.long
@for_each_case("source, target", itertools.product(FORMATS, FORMATS))
def test_every_pair_writes_valid_rows(source: str, target: str) -> None:
    """The records of any format become valid rows of any other one."""
    check_pair(valid_files(source), source, target)


def check_pair(files: list[Path], source: str, target: str) -> None:
    """Check what is written for some files of a format."""
    for file in files:
        output, report = converted(
            file, to=target, from_=source, constants=CONSTANTS, on_invalid="skip"
        )
        codes = {each.code for each in report.report.problems}

        assert codes <= {"L201", "L202"}, file.name
        # A file with one record of which a format asks for more has no row left.
        assert report.written or "L202" in codes or report.rows == 0, file.name
        if report.written and report.rows:
            validated = validate(output, format=target, ignore=("X",))
            assert validated.problems == () or validated.ok, file.name


@for_each_case("source", FORMATS)
def test_a_record_keeps_all_of_its_row(source: str) -> None:
    """Through our own records each format comes back without a loss.

    A format whose rows have its documented keys only needs --keep-extra for others.
    """
    check_way_back(valid_files(source)[: drawn(3)], source)


@pytest.mark.long
@for_each_case("source", FORMATS)
def test_a_record_keeps_all_of_its_row_long(source: str) -> None:
    """The same holds for all fixtures."""
    check_way_back(valid_files(source), source)


def check_way_back(files: list[Path], source: str) -> None:
    """Check that rows of some files come back from our own records."""
    keeps = adapter_named(source).with_own_extra is not None
    for file in files:
        there, first = converted(file, to="record", from_=source, on_invalid="skip")
        if not first.written or not first.rows:
            continue
        _, second = converted(
            there, to=source, from_="record", responses="list", keep_extra=keeps
        )
        assert first.lossless, file.name
        assert second.written, file.name
        assert second.lossless, (file.name, second.losses[0].losses.counts)


@for_each_case("number, via", itertools.product(NUMBERS, ["record", "eee@0.2.0"]))
def test_numbers_come_back_as_they_are_spelt(via: str, number: str) -> None:
    """A number that a program would spell in another way comes back to the digit."""
    row = (
        '{"schema_version":"0.2.0","evaluation_id":"e","model_id":"m","evaluation_name"'
        ':"n","sample_id":"1","interaction_type":"single_turn","input":{"raw":"q",'
        '"reference":"r"},"output":{"raw":"a"},"answer_attribution":[],"evaluation":'
        f'{{"score":{number},"is_correct":true}},"metadata":{{"x":{number}}}}}'
    ).encode()
    there, _ = converted(row + b"\n", to=via)
    back, report = converted(there, to="eee@0.2.0")

    assert f'"score":{number},'.encode() in there.replace(b'"value"', b'"score"')
    assert f'"x":{number}}}'.encode() in there
    assert back == row + b"\n"
    assert report.lossless


# Families


def test_nemo_is_input_without_answers_and_output_with_one() -> None:
    """The name of a family stands for the format that the records ask for."""
    bare = {"prompt": "q", "references": ["r"], "outputs": []}
    answered = bare | {"outputs": [{"text": "a"}]}
    rows = [bare] * 999
    _, none = converted(jsonl(*rows, bare), to="nemo", from_="record")
    _, late = converted(
        jsonl(*rows, answered), to="nemo", from_="record", on_invalid="skip"
    )
    _, too_late = converted(jsonl(bare, *rows, answered), to="nemo", from_="record")

    assert (none.target, none.rows) == ("nemo-input", 1000)
    assert (late.target, late.rows, late.skipped) == ("nemo-output", 1, 999)
    assert (too_late.target, too_late.rows) == ("nemo-input", 1001)


def test_answers_decide_wherever_they_are_read_from() -> None:
    """An answer of a mapped key counts, and one of a file behind one without."""
    asked = {"messages": [{"role": "user", "content": "q"}], "ref_answer": "r"}
    later = jsonl(nemo_answer(1))
    columns = {"response": "said"}
    output, mapped = converted(jsonl(asked | {"said": "a"}), to="nemo", columns=columns)
    _, behind = converted(jsonl(asked), later, to="nemo", on_invalid="skip")

    assert (mapped.target, behind.target) == ("nemo-output", "nemo-output")
    assert [each["response"] for each in rows_of(output)] == ["a"]
    assert (behind.rows, behind.skipped) == (1, 1)


def test_records_that_wait_for_the_format_are_of_their_own_file() -> None:
    """What is lost of them has the reasons of their format, not of a later file's."""
    table = b'prompt,references,score\nq,r,"0,5"\n'
    chat = jsonl({"messages": [{"role": "user", "content": "q"}], "ref_answer": "r"})
    chosen, named = [
        converted(table, chat, to=to)[1] for to in ("tencent", "tencent-messages")
    ]

    assert chosen.target == named.target
    assert chosen.losses == named.losses
    assert [each.how for each in chosen.losses[0].losses.counts] == ["is not a number"]


def test_a_mapped_key_has_what_the_format_of_answers_requires() -> None:
    """A format without answers is enough for one with answers if a map names them."""
    rows = jsonl(NEMO_QUESTION | {"said": "a"}, NEMO_QUESTION)
    columns = {"response": "said"}
    output, mapped = converted(rows, to="nemo", columns=columns, on_invalid="skip")

    assert (mapped.target, mapped.rows, mapped.skipped) == ("nemo-output", 1, 1)
    assert [each["response"] for each in rows_of(output)] == ["a"]
    with pytest.raises(ConversionError, match=r"tencent-outputs needs .*_name"):
        converted(rows, to="tencent", columns=columns)


def test_later_files_stay_in_order() -> None:
    """Records that wait until the format is known keep their order and their file."""
    waiting = jsonl({"prompt": "first", "references": ["r"], "outputs": []})
    question = jsonl(NEMO_QUESTION | {"prompt": "second"})
    output, report = converted(waiting, question, to="nemo")

    assert [each["prompt"] for each in rows_of(output)] == ["first", "second"]
    assert [each.losses.carried["prompt"] for each in report.losses] == [1, 1]


def test_missing_model_becomes_offline() -> None:
    """A field that NeMo requires and a record lacks has its default, which is noted."""
    output, report = converted(jsonl(harpia_instance(1)), to="nemo", from_="harpia")
    (written,) = rows_of(output)
    lines = field_lines_in(report)

    assert written["llm_name"] == "offline"
    assert written["input"]["category"] == written["input"]["source"] == ""
    assert lines["category"].outcomes[Outcome.DEFAULTED] == 1


# Several answers and models


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("from_", "to"), [("record", "csv"), ("csv", "record")])
def test_a_model_is_found_behind_many_answers_of_another(
    tmp_path: Path, jobs: int, from_: str, to: str
) -> None:
    """--model finds a model that only rows converted in batches name."""
    models = ["m1"] * 900 + ["m2"] * 100
    data = b"prompt,model,response\n"
    data += b"".join(b"q,%b,a\n" % each.encode() for each in models)
    if from_ == "record":
        data = jsonl(
            *({"prompt": "q", "outputs": [{"model": m, "text": "a"}]} for m in models)
        )
    file, output = tmp_path / "in", tmp_path / "out"
    file.write_bytes(data)
    report = convert(file, from_=from_, to=to, output=output, model="m2", jobs=jobs)

    assert report.ok
    assert output.read_bytes().count(b"m2") == 100
    assert b"m1" not in output.read_bytes()


@pytest.mark.parametrize(
    ("model", "answers"),
    [(None, {"org_m1.json": "x", "m2.json": "y"}), ("m2", {"m2.json": "y"})],
)
def test_there_is_a_file_for_each_model(
    tmp_path: Path, model: str | None, answers: dict[str, str]
) -> None:
    """{model} in the name makes a file for each model, and ids may be in several.

    With --model no other model gets a file, and its answers are lost.
    """
    outputs = [{"model": "org/m1", "text": "x"}, {"model": "m2", "text": "y"}]
    record = {"id": "1", "prompt": "q", "references": ["r"], "outputs": outputs}
    name = tmp_path / "{model}.json"
    report = convert(
        jsonl(record), to="harpia", output=name, from_="record", model=model
    )
    written = {each.name: rows_of(each.read_bytes())[0] for each in tmp_path.iterdir()}

    assert report.written
    assert not report.lossless
    assert (Outcome.DROPPED in field_lines_in(report)["outputs"].outcomes) == bool(
        model
    )
    assert {name: row["actual-output"] for name, row in written.items()} == answers
    assert {row["id"] for row in written.values()} == {"1"}


def test_a_record_without_answers_is_not_lost_among_models(tmp_path: Path) -> None:
    """Where there is a file for each model, a record of none has one as well."""
    records = [
        {"id": "1", "prompt": "q", "outputs": [{"model": "m1", "text": "x"}]},
        {"id": "2", "prompt": "q", "outputs": []},
    ]
    name = tmp_path / "{model}.jsonl"
    report = convert(jsonl(*records), to="record", output=name, from_="record")

    assert report.rows == 2
    assert {each.name for each in tmp_path.iterdir()} == {"m1.jsonl", "model.jsonl"}


# Headers


HEADED = {
    "instances": [harpia_instance(number) for number in range(3)],
    "metrics": [{"id": "BLEU-NLTK", "enable": True, "parameters": {}}],
    "note": {"of": "ours"},
}


@pytest.mark.parametrize("container", ["lines", "array"])
def test_metrics_ride_on_the_first_record_and_come_back(container: str) -> None:
    """What stands around HarpIA's instances is in the first record, and comes back."""
    given = json.dumps(HEADED).encode()
    there, first = converted(given, to="record", container=container)
    back, second = converted(there, to="harpia")
    rows = rows_of(there)

    assert [list(each).count("header") for each in rows] == [1, 0, 0]
    assert rows[0]["header"]["metrics"] == HEADED["metrics"]
    assert json.loads(back) == HEADED
    assert (first.lossless, second.lossless) == (True, True)


def test_dropped_header_is_reported() -> None:
    """Header metrics that the target cannot hold are reported as dropped."""
    _, report = converted(json.dumps(HEADED).encode(), to="nemo")
    lines = field_lines_in(report)

    assert lines["header.metrics"].outcomes == {Outcome.DROPPED: 1}
    assert not report.lossless


def test_different_header_of_second_file_is_reported() -> None:
    """Two files with different metrics are merged with the metrics of the first."""
    more = HEADED | {"metrics": [{"id": "em", "enable": True, "parameters": {}}]}
    given = [json.dumps(HEADED).encode(), json.dumps(more).encode()]
    for index, each in enumerate(given):
        given[index] = each.replace(b'"id": "', b'"id": "%d-' % index)
    output, report = converted(*given, to="harpia")

    assert json.loads(output)["metrics"][0]["id"] == "0-BLEU-NLTK"
    assert not report.lossless
    assert [len(each.losses.counts) for each in report.losses] == [0, 1]


# Tables of losses


def test_losses_are_counted_exactly() -> None:
    """Each field has the number of records that had it, kept it and lost it."""
    rows = [
        nemo_answer(number, **({"score": 1} if number % 3 == 0 else {}))
        for number in range(1_000)
    ]
    _, report = converted(jsonl(*rows), to="haystack")
    lines = field_lines_in(report)

    assert (lines["score"].records, lines["score"].kept) == (334, 0)
    assert lines["score"].outcomes == {Outcome.DROPPED: 334}
    assert lines["score"].place is not None
    assert lines["score"].place.line == 1
    assert (lines["llm_name"].records, lines["llm_name"].kept) == (1_000, 0)
    assert (lines["response"].records, lines["response"].kept) == (1_000, 1_000)


def test_an_empty_list_of_answers_is_no_loss_and_a_text_is_one() -> None:
    """Rows of the same types may have a null, or a text that is dropped."""
    asked = {"input": {"raw": "q", "reference": ["r"]}}
    rows = (
        eee_sample(sample_id=f"s{number}", output={"raw": answers}, **asked)
        for number, answers in enumerate([[]] * 700 + [["a"]] * 300)
    )
    _, report = converted(jsonl(*rows), to="nemo-input", from_="eee@0.2.0-tag")

    assert field_lines_in(report)["output.raw"].outcomes == {
        Outcome.DROPPED: 300,
        Outcome.NULL: 700,
    }


def test_on_loss_fail_writes_nothing(tmp_path: Path) -> None:
    """Where a loss is a failure, nothing is there in the end."""
    output = tmp_path / "o.json"
    report = convert(
        jsonl(nemo_answer(1)), to="haystack", output=output, on_loss="fail"
    )

    assert (report.written, report.failed_by_loss, report.ok) == (False, True, False)
    assert list(tmp_path.iterdir()) == []


def test_on_loss_fail_allows_lossless_conversions() -> None:
    """If nothing is lost, --on-loss fail changes nothing."""
    output, report = converted(jsonl(nemo_answer(1)), to="record", on_loss="fail")

    assert report.ok
    assert rows_of(output)[0]["prompt"] == "q1"


# Ids


#: Converts where files may have no more than 100 kB, and says what is raised.
TOO_LARGE = """
import resource, sys
import harpia_formats

resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
source, target, output = sys.argv[1:]
try:
    harpia_formats.convert(source, to=target, output=output)
except harpia_formats.SinkError as error:
    print(error)
"""


def test_id_in_two_files_needs_prefix_ids(tmp_path: Path) -> None:
    """Equal ids in two files are an error that `prefix_ids` avoids."""
    folder = [tmp_path / "x.jsonl", tmp_path / "y.jsonl"]
    for file in folder:
        file.write_bytes(jsonl(harpia_instance(1)))
    _, clash = converted(*folder, to="harpia")
    output, report = converted(*folder, to="harpia", prefix_ids=True)
    (problem,) = clash.report.problems

    assert (problem.code, clash.written) == ("L202", False)
    assert "prefix_ids=True" in (problem.help or "")
    assert [each["id"] for each in rows_of(output)] == ["x/1", "y/1"]
    assert report.ok


@for_each_case(
    "names, prefixes",
    [
        (["1/a", "2/a", "1/a-2"], ["a", "a-2", "a-2-2"]),
        (["1/a", "1/a-2", "2/a", "3/a"], ["a", "a-2", "a-3", "a-4"]),
    ],
)
def test_two_files_have_no_prefix_in_common(
    tmp_path: Path, names: list[str], prefixes: list[str]
) -> None:
    """A file called like another one with a number gets a prefix of its own."""
    files = [tmp_path / f"{name}.jsonl" for name in names]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b'{"id": "1", "prompt": "q", "outputs": []}\n')
    output, _ = converted(*files, to="record", prefix_ids=True)

    assert [each["id"] for each in jsonl_rows(output)] == [f"{p}/1" for p in prefixes]


@pytest.mark.parametrize(("own", "turned"), [(2, False), (3, True)])
def test_an_id_that_is_the_number_of_another_record_is_refused(
    own: int, *, turned: bool
) -> None:
    """A record's own id and the number that another gets for an id may not meet."""
    files = [jsonl(*many(3)), jsonl(harpia_instance(own))]
    _, report = converted(*(files[::-1] if turned else files), to="harpia")

    assert [each.code for each in report.report.problems] == ["L202"]
    assert not report.written


def test_an_id_that_was_kept_may_not_be_the_number_of_another_record() -> None:
    """A format without ids may keep that of a record, which is one of the output's."""
    asked = [{"prompt": "q", "response": "r"}]
    rows = [
        {"conversation": asked, "harpia-formats": {"id": "2"}},
        {"conversation": asked},
    ]
    constants = {"actual-output": "a"}
    _, report = converted(
        jsonl(*rows), to="harpia", from_="tencent-manual", constants=constants
    )

    assert [each.code for each in report.report.problems] == ["L202"]


def test_two_models_with_one_file_name_are_an_error(tmp_path: Path) -> None:
    """One id without a model and of a model called `model` in one file is an error."""
    source = tmp_path / "in.jsonl"
    rows = [nemo_answer(1, llm_name="model"), nemo_answer(1, llm_name="")]
    source.write_bytes(jsonl(*rows))
    name = tmp_path / "{model}.json"
    report = convert(source, to="harpia", output=name, group="prompt")

    assert [each.code for each in report.report.problems] == ["L202"]
    assert [each.name for each in tmp_path.iterdir()] == ["in.jsonl"]


@pytest.mark.parametrize("name", ["x" * 300, "none.jsonl"])
def test_system_error_about_a_name_is_an_input_failure(name: str) -> None:
    """A file name that the operating system refuses is reported as a failed input."""
    _, report = converted(name, to="harpia")

    assert [each.path for each in report.report.failures] == [name]


@pytest.mark.parametrize(
    "target",
    [
        "haystack",
        pytest.param("csv", marks=pytest.mark.long),
        pytest.param("harpia", marks=pytest.mark.long),
    ],
)
def test_a_file_that_gets_too_large_leaves_nothing(tmp_path: Path, target: str) -> None:
    """Where no more may be written, the output is named and nothing is left of it."""
    source, output = tmp_path / "in.jsonl", tmp_path / "out"
    source.write_bytes(jsonl(*many(3_000)))
    result = subprocess.run(  # noqa: S603 - the command is ours
        [sys.executable, "-c", TOO_LARGE, str(source), target, str(output)],
        capture_output=True,
        check=True,
        text=True,
    )

    assert f"cannot write {output}: file too large" in result.stdout
    assert [each.name for each in tmp_path.iterdir()] == ["in.jsonl"]


def test_inputs_are_put_together_in_order() -> None:
    """Rows of several inputs follow each other, even in different formats."""
    question = {"messages": [{"role": "user", "content": "q2"}], "ref_answer": "r"}
    more = question | {
        "model_outputs": [{"model_name": "m", "responses": [{"content": "a2"}]}]
    }
    given = [jsonl(nemo_answer(1)), jsonl(more), jsonl(nemo_answer(3))]
    output, report = converted(*given, to="nemo-output")

    assert [each["response"] for each in rows_of(output)] == ["a1", "a2", "a3"]
    assert [each.source.id for each in report.losses if each.source] == [
        "nemo-output",
        "tencent-outputs",
        "nemo-output",
    ]


# Tables


TRICKY: list[dict[str, Any]] = [
    {"id": "1", "prompt": 'a "quoted", text', "references": ["x\ny"]},
    {"id": "2", "prompt": "nul \0 here", "references": []},
    {"id": "3", "prompt": "", "category": "é 雨"},
    {"id": "4", "prompt": "cr\r\nlf", "source": ""},
    {"id": "5", "prompt": " spaces ", "references": ["x", "y"]},
    {"id": "6", "prompt": "=1+1", "references": ["[1]"], "gt": "null"},
]


def test_cells_come_back_through_a_table() -> None:
    """NUL, quotes, lines, and empty against missing cells come back from a table."""
    given = [each | {"outputs": []} for each in TRICKY]
    there, first = converted(jsonl(*given), to="csv", from_="record")
    back, second = converted(there, to="record", from_="csv")

    assert rows_of(back) == given
    assert (first.lossless, second.lossless) == (True, True)


@pytest.mark.parametrize("via", ["record", "csv", "tencent-messages", "haystack"])
def test_a_table_comes_back_through_others(via: str) -> None:
    """A table comes back byte for byte where the other format holds all of it."""
    table = (
        b"id,prompt,references\n"
        b'a,"one ""quoted"", text","[""x""]"\n'
        b'b,"two\nlines","[""\xe9\x9b\xa8""]"\n'
    )
    there, _ = converted(table, to=via, from_="csv")
    back, report = converted(there, to="csv", from_=via)

    assert back == table
    assert report.lossless


def test_columns_have_the_names_that_are_given() -> None:
    """--map names the columns that are read, and those that are written."""
    table = b"Frage,Antwort\nq,r\n"
    columns = {"prompt": "Frage", "references": "Antwort"}
    there, _ = converted(table, to="nemo-input", from_="csv", columns=columns)
    back, _ = converted(there, to="csv", columns=columns | {"category": "Art"})

    assert rows_of(there)[0]["prompt"] == "q"
    assert back == b'Frage,Antwort,Art,source\nq,"[""r""]","",""\n'


def test_columns_of_unequal_presence_have_nulls() -> None:
    """A column that some records lack has null there, and comes back without it."""
    records = [
        {"id": "1", "prompt": "a", "outputs": []},
        {"id": "2", "prompt": "b", "references": ["r"], "outputs": []},
        {"id": "3", "prompt": "c", "outputs": [{"text": "x"}]},
    ]
    there, _ = converted(jsonl(*records), to="haystack", from_="record")
    back, _ = converted(there, to="record", from_="haystack")

    assert json.loads(there) == {
        "query_id": ["1", "2", "3"],
        "questions": ["a", "b", "c"],
        "ground_truth_answers": [None, "r", None],
        "predicted_answers": [None, None, "x"],
    }
    assert rows_of(back) == records


# Refusals


@for_each_case(
    "options, words",
    [
        ({"to": "nem"}, ["did you mean nemo?"]),
        ({"to": "unheard of"}, ["known: ", "nemo", "harpia"]),
        ({"to": "nemo", "group": "model"}, ["grouped", "prompt"]),
        ({"to": "nemo", "score": "bleu"}, ["bleu", "em, f1"]),
        ({"to": "nemo-input", "constants": {"promt": "x"}}, ["promt", "prompt?"]),
        ({"to": "eee", "constants": {"is_correct": "maybe"}}, ["true or false"]),
    ],
)
def test_unknown_names_are_refused_at_once(
    options: dict[str, Any], words: list[str]
) -> None:
    """An unknown target, field or metric is reported before anything is read."""
    with pytest.raises(ConversionError) as caught:
        convert(b"", **options)

    assert all(each in str(caught.value) for each in words), str(caught.value)


def test_a_document_has_no_records() -> None:
    """A document is refused as an input, with the formats that hold records."""
    document = FIXTURES / "nemo-config" / "valid" / "offline.json"
    with pytest.raises(ConversionError) as caught:
        convert(document, to="nemo")

    assert "nemo-config" in str(caught.value)
    assert all(each in str(caught.value) for each in FORMATS)


@pytest.mark.parametrize(
    ("metric", "score", "is_correct"), [("em", 0.0, False), ("f1", 0.8, False)]
)
def test_scores_come_from_a_metric(metric: str, score: float, is_correct: bool) -> None:
    """--score gives the score and whether it is right, --set the rest.

    The score is that of the reference that is written, not of one that is dropped.
    """
    texts = {"expected-output": ["a small brown bird", "brown bird"]}
    instance = harpia_instance(1, **texts, **{"actual-output": "A brown bird!"})
    output, report = converted(
        jsonl(instance), to="eee@0.2.0", constants=RUN, score=metric
    )
    (row,) = rows_of(output)

    assert report.written
    assert row["evaluation"]["score"] == pytest.approx(score)
    assert row["evaluation"]["is_correct"] is is_correct
    assert row["evaluation_id"] == "e"


def test_a_score_that_is_filled_in_has_the_name_of_its_metric() -> None:
    """The name of another metric, whose score is missing, does not stay with it."""
    table = b"id,prompt,response,references,metric\n1,q,a,a,bleu\n2,q,a,b,em\n"
    output, report = converted(table, to="record", from_="csv", score="em")
    scores = [row["outputs"][0]["scores"][0] for row in rows_of(output)]

    assert [(one["metric"], one["value"]) for one in scores] == [("em", 1), ("em", 0)]
    assert field_lines_in(report)["metric"].outcomes == {Outcome.CHANGED: 1}


# Several processes


@pytest.fixture
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have small files done in ranges, too."""
    share_small_files(monkeypatch, 10 * 1024)


def many(count: int) -> Iterator[dict[str, Any]]:
    """Yield rows of more than one shape."""
    extras: itertools.cycle[dict[str, Any]] = itertools.cycle(
        [{}, {"score": 1}, {"response": "é" * 40}, {"note": {"deep": [1.50]}}, {}]
    )
    for number in range(count):
        yield nemo_answer(number, **next(extras))


def counts_in(report: Any) -> list[tuple[Any, ...]]:
    """Return the name of each field in a report, and its numbers of records."""
    return [
        (name, each.records, each.kept, each.outcomes)
        for name, each in field_lines_in(report).items()
    ]


BAD_ROWS = (b'{"input": 1}', b'{"bad"', b"", b'{"response":"a","response":"b"}', b"7")


@pytest.mark.usefixtures("small_ranges")
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("target", "rarity"), pairs(["harpia", "haystack", "nemo-input"], [3, 40])
)
def test_invalid_rows_do_not_change_the_output_of_valid_ones(
    tmp_path: Path, target: str, jobs: int, rarity: int
) -> None:
    """Output and losses are those of the valid rows; the invalid rows are kept."""
    chance = random.Random(rarity)  # noqa: S311 - a test needs a seed, not secrecy
    good = jsonl(*many(500)).splitlines()
    mixed = []
    for each in good:
        if chance.randrange(rarity) == 0:
            mixed.append(chance.choice(BAD_ROWS))
        mixed.append(each)
    files = [tmp_path / "good.jsonl", tmp_path / "mixed.jsonl"]
    for file, rows in zip(files, (good, mixed), strict=True):
        file.write_bytes(b"\n".join(rows) + b"\n")
    outputs = [tmp_path / "one", tmp_path / "two"]
    kept = tmp_path / "kept"
    options = {"on_invalid": "quarantine", "quarantine": kept, "jobs": jobs}
    alone = convert(files[0], to=target, output=outputs[0], jobs=jobs)
    among = convert(files[1], to=target, output=outputs[1], **options)
    refused = [each for each in mixed if each in BAD_ROWS and each]

    assert outputs[1].read_bytes() == outputs[0].read_bytes()
    assert kept.read_bytes().splitlines() == refused
    assert among.skipped == len(refused)
    assert counts_in(among) == counts_in(alone)


# Memory


#: Targets into which rows are converted without being grouped.
WHOLE = ("harpia", "haystack", "csv", "record")
PEAK = """
import sys
from pathlib import Path
from harpia_formats import convert
convert(sys.argv[1], to=sys.argv[2], output=sys.argv[3], overwrite=True,
        group=sys.argv[4] or None)
# What getrusage tells begins with the process that this one was begun by.
status = Path("/proc/self/status").read_text().splitlines()
print(next(each.split()[1] for each in status if each.startswith("VmHWM")))
"""


@pytest.mark.long
@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the system tells no memory"
)
@pytest.mark.parametrize(
    ("target", "group"),
    [*((each, "") for each in WHOLE), ("tencent", "prompt")],
)
def test_memory_does_not_grow_with_the_file(
    tmp_path: Path, target: str, group: str
) -> None:
    """A file ten times as large takes about as much memory."""
    peaks = []
    for megabytes in (6, 60):
        file = tmp_path / "in.jsonl"
        with file.open("wb") as stream:
            numbers = itertools.count()
            while stream.tell() < megabytes * 1_000_000:
                rows = (nemo_answer(next(numbers)) for _ in range(1_000))
                stream.write(jsonl(*rows))
        output = tmp_path / "out"
        command = [sys.executable, "-c", PEAK, str(file), target, str(output), group]
        result = subprocess.run(command, capture_output=True, check=True)  # noqa: S603 - the command is ours
        peaks.append(int(result.stdout) * 1024)

    assert peaks[1] < peaks[0] + 60_000_000
    assert peaks[1] < 200_000_000


def test_an_id_that_is_made_was_not_carried() -> None:
    """An id that is the number of its record counts as a default, and not as kept."""
    _, report = converted(jsonl(*many(300)), to="harpia")
    line = field_lines_in(report)["id"]

    assert (line.records, line.kept, line.outcomes[Outcome.DEFAULTED]) == (0, 0, 300)


def test_a_record_of_a_further_file_has_its_own_number() -> None:
    """The place of a loss has the number that the record has in its file."""
    rows = [nemo_answer(n) for n in range(200)]
    odd = [*rows, nemo_answer(200, extra={"a": 1})]
    _, report = converted(jsonl(*rows), jsonl(*odd), to="harpia")
    (place,) = [
        each.place
        for file in report.losses
        for each in file.losses.counts.values()
        if each.field_outcome.path == "extra.nemo.extra"
    ]

    assert place is not None
    assert place.record == 201


def test_losses_are_counted_where_a_loss_is_a_failure() -> None:
    """What was met before the loss that ends a run is counted all the same."""
    rows = [{"prompt": "q", "references": ["r"], "outputs": []} for _ in range(500)]
    rows += [{"prompt": "q", "references": ["r"], "system": "s", "outputs": []}]
    rows = [each | {"category": "", "source": ""} for each in rows]
    _, report = converted(jsonl(*rows), to="nemo-input", on_loss="fail")
    line = field_lines_in(report)["system"]

    assert not report.written
    assert (line.records, line.outcomes[Outcome.DROPPED]) == (1, 1)


def test_optional_modules_are_not_loaded(tmp_path: Path) -> None:
    """A conversion of a small file loads no metric, grouping or process modules."""
    (tmp_path / "in.jsonl").write_bytes(jsonl(nemo_answer(1)))
    code = (
        "import sys; from harpia_formats import convert\n"
        "report = convert('in.jsonl', to='harpia', output='out.json', jobs=2)\n"
        "report.raise_for_errors()\n"
        "print(*sys.modules)"
    )
    done = subprocess.run(  # noqa: S603 - our own code in our own interpreter
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        check=True,
        text=True,
    )
    unwanted = (
        "harpia_formats.evaluation.metrics",
        "harpia_formats.conversion.fill_scores",
        "harpia_formats.conversion.record_groups",
        "harpia_formats.conversion.quarantine",
        "harpia_formats.conversion.parallel.range_converter",
        "concurrent.futures",
        "multiprocessing",
    )
    loaded = set(done.stdout.split())

    assert "harpia_formats.conversion.row_conversion" in loaded
    assert loaded & set(unwanted) == set()
    # A module that was renamed is never loaded, and would prove nothing.
    assert [name for name in unwanted if find_spec(name) is None] == []


def test_a_header_of_the_user_is_kept_as_an_unknown_key() -> None:
    """A row of HarpIA may have a text called `header`, which is no header."""
    row = jsonl({"id": 1, "input": "q", "actual-output": "a", "header": "mine"})
    output, report = converted(row, to="record", from_="harpia")

    assert report.ok
    assert json.loads(output)["extra"] == {"harpia": {"header": "mine"}}


def test_rows_of_components_that_share_their_numbers_are_counted() -> None:
    """More rows of two components can be left out than the file has numbers."""
    columns = {"contexts": [["c"]]}
    data = json.dumps({"one": columns, "two": columns}).encode()
    _, report = converted(data, to="nemo-input", from_="haystack", on_invalid="skip")

    assert [each.code for each in report.report.problems] == ["L201", "L201"]
    assert (report.skipped, report.report.files[0].valid) == (2, 0)


@pytest.mark.parametrize("to", ["csv", "record"])
def test_numbers_of_unknown_keys_keep_their_text(
    to: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that a typed decoder accepts keep numbers such as 1E+2 in the extra."""
    monkeypatch.setattr(
        "harpia_formats.validation.unit.row_validator.ROWS_BEFORE_DECODER", 2
    )
    data = jsonl(nemo_answer(1, note=1.5)).replace(b"1.5", b"1E+2") * 3_000
    output, report = converted(io.BytesIO(data), to=to, from_="nemo-output")

    assert report.ok
    assert output.count(b"1E+2") == 3_000


@pytest.mark.parametrize("letter", [b"-", b"\\u002D"])
def test_numbers_of_restored_fields_keep_their_text_in_many_rows(letter: bytes) -> None:
    """Numbers that --keep-extra stored in a row keep their text where it is read."""
    chat = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]
    row = {"messages": chat, "harpia-formats": {"extra": {"nemo": {"n": 1.5}}}}
    data = (jsonl(row) * 100).replace(b"1.5", b"1E+2").replace(b"a-f", b"a%bf" % letter)
    output, report = converted(
        data, to="nemo-input", from_="openai-chat", reference_from="gt"
    )

    assert report.ok
    assert output.count(b'"n":1E+2') == 100


@pytest.mark.parametrize("key", ["extra", "e\\u0078tra"])
def test_numbers_of_extra_fields_keep_their_text_in_many_records(key: str) -> None:
    """Numbers in the extra of a record keep their text where it is written."""
    row = '{"prompt":"q","references":["r"],"outputs":[],"%s":{"nemo":{"n":1E+2}}}\n'
    data = (row % key).encode() * 100
    output, report = converted(data, to="nemo-input", from_="record")

    assert report.ok
    assert output.count(b'"n":1E+2') == 100


def test_each_file_is_read_as_its_own_format() -> None:
    """Numbers of a later file keep their text where those of the first one are lost."""
    first = {"prompt": "q", "references": ["r"], "outputs": [{"text": "a"}]}
    second = jsonl(*[nemo_answer(1) | {"note": 1.5}] * 100).replace(b"1.5", b"1E+2")
    output, _ = converted(jsonl(*[first] * 100), second, to="nemo-output")

    assert output.count(b"1E+2") == 100
