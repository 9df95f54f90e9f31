"""`harpia-formats roundtrip`, and `roundtrip` of the API."""

import io
import itertools
import json
from pathlib import Path

import pytest
from msgspec import UNSET

import command_runs
from cases import for_each_case
from harpia_formats import ConversionError, MapError, Place
from json_lines import jsonl
from known_formats import WRITABLE
from required_values import REQUIRED
from sample_rows import NEMO_QUESTION, eee_sample, harpia_instance
from unchecked import roundtrip

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "fixtures"


def run(*arguments: object, stdin: bytes = b"") -> command_runs.Result:
    """Run `roundtrip` with the arguments given."""
    return command_runs.run("roundtrip", *arguments, stdin=stdin)


ASKED, UNASKED = (
    {"messages": [{"role": role, "content": "q"}], "ref_answer": "r"}
    for role in ("user", "system")
)
CHAT = {
    "messages": [{"role": "user", "content": "q"}],
    "ref_answer": "r",
    "id": "a",
    "model_outputs": [
        {"model_name": "m1", "responses": [{"content": "x"}]},
        {"model_name": "m2", "responses": [{"content": "y"}]},
    ],
}
INSTANCE = harpia_instance(1, **{"expected-output": ["r", "s"]})


@for_each_case("source", WRITABLE)
def test_every_fixture_comes_back_through_our_own_records(source: str) -> None:
    """Each valid fixture is as it was, but for what its own format fills in."""
    filled_in = {"category", "source", "outputs.model"}
    for file in sorted((FIXTURES / source / "valid").iterdir()):
        if source == "tencent-csv" and "T105" in file.name:
            continue  # columns that are not documented are not written again
        report = roundtrip(file, via="record", from_=source)

        assert report.records > 0 or source in {"harpia", "tencent-csv"}, file.name
        assert set(report.fields) <= filled_in, file.name
        for each in report.fields.values():
            assert each.example is not None
            assert each.example.left is UNSET


@for_each_case(
    "via, source",
    itertools.product(WRITABLE, ["harpia", "nemo-output", "tencent-outputs"]),
)
def test_differences_never_exceed_the_records(source: str, via: str) -> None:
    """Through any format every record is counted, and there is no traceback."""
    file = FIXTURES / source / "valid" / "array.json"
    if not file.exists():
        file = FIXTURES / source / "valid" / "answers.json"
    report = roundtrip(file, via=via, constants=REQUIRED)

    assert report.records > 0
    assert 0 <= report.differing <= report.records
    assert all(each.count <= report.records for each in report.fields.values())


def test_lost_field_has_its_count_and_place() -> None:
    """Each field that differs has a line with both values and a count."""
    rows = [INSTANCE | {"id": str(each)} for each in range(3)]
    rows[1] = rows[1] | {"expected-output": ["r"]}
    result = run("--via", "nemo", stdin=jsonl(*rows))
    lines = result.stdout.decode().splitlines()

    assert result.returncode == 1
    assert '<stdin>:1:1: references: ["r","s"] became ["r"] (2 records)' in lines
    assert '<stdin>:1:1: id: "0" became "1" (3 records)' in lines
    assert b"3 records through nemo-output, 3 differ" in result.stderr


def test_unchanged_record_is_no_difference() -> None:
    """A record that the other format holds completely is unchanged; the code is 0."""
    result = run("--via", "csv", stdin=jsonl(INSTANCE))

    assert (result.returncode, result.stdout) == (0, b"")
    assert b"1 record through csv, 0 differ" in result.stderr


def test_expanded_rows_come_together_again() -> None:
    """Several answers that become rows of one each are one record again."""
    report = roundtrip(
        jsonl(CHAT),
        via="eee",
        constants={"evaluation_id": "e", "evaluation_name": "n"},
        score="em",
    )

    assert set(report.fields) <= {
        "outputs.interaction_type",
        "outputs.attribution",
        "outputs.scores.value",
        "outputs.scores.is_correct",
    }


def test_the_header_is_compared_too() -> None:
    """Metrics that another format cannot hold are a difference."""
    document = {"instances": [INSTANCE], "metrics": [{"id": "BLEU-NLTK"}]}
    lost = roundtrip(json.dumps(document).encode(), via="csv")
    kept = roundtrip(json.dumps(document).encode(), via="record")

    assert (lost.ok, lost.differing) == (False, 0)
    assert list(lost.fields) == ["header.metrics"]
    assert kept.ok


def test_a_record_that_cannot_go_there_differs() -> None:
    """A record that the other format cannot say is counted, with the reason."""
    result = run("--via", "tencent-csv", stdin=jsonl(UNASKED, ASKED, UNASKED))

    assert result.returncode == 1
    assert b"<stdin>:1:1: messages: no message is of the user" in result.stdout
    assert b"(2 records)" in result.stdout
    assert b"3 records through tencent-csv, 2 differ" in result.stderr


def test_without_values_a_difference_has_no_reason_and_a_failure_has_one() -> None:
    """With `redact` types stand for values, and no reason of a failure is told."""
    rows = jsonl(ASKED | {"id": "a"}, UNASKED, UNASKED)
    report = roundtrip(rows, via="tencent-csv", redact=True)
    names = "field", "records", "left", "right", "line", "reason"

    assert [tuple(row[name] for name in names) for row in report.table()] == [
        ("id", 1, "text of 1 character", "nothing", 1, ""),
        ("messages", 2, None, None, 2, "cannot be converted"),
    ]


def test_a_row_that_is_not_valid_ends_it() -> None:
    """An invalid row is named with its place, and the code is 1."""
    result = run("--via", "csv", stdin=jsonl(INSTANCE, {"id": "2", "input": 7}))

    assert result.returncode == 1
    assert b"<stdin>:2:" in result.stderr


def test_extra_fields_come_back_where_there_is_room() -> None:
    """With --keep-extra what a format has no place for comes back from it."""
    row = INSTANCE | {"id": "é", "note": {"deep": [1]}}
    constants = {"evaluation_id": "e", "evaluation_name": "n", "outputs.model": "m"}
    given = {"via": "eee", "constants": constants, "score": "em"}
    without = roundtrip(jsonl(row), **given)
    kept = roundtrip(jsonl(row), keep_extra=True, **given)

    assert "extra.harpia.note" in without.fields
    assert "extra.harpia.note" not in kept.fields
    assert "references" not in kept.fields


def test_kept_columns_of_the_own_vendor_come_back() -> None:
    """With --keep-extra columns that are not documented come back in their table."""
    table = b"system,prompt,response,level\n,q,a,1\n"
    given = ["--from", "tencent-csv", "--via", "record"]
    kept = run(*given, "--keep-extra", stdin=table)
    without = run(*given, stdin=table)

    assert (kept.returncode, kept.stdout) == (0, b"")
    assert without.returncode == 1
    assert b'extra.tencent.level: "1" became nothing' in without.stdout


def test_kept_fields_that_appear_are_differences() -> None:
    """What the other format adds, and --keep-extra keeps on the way back, is shown."""
    row = {"input": [{"role": "user", "content": "q"}], "ideal": "b"}
    given = ["--from", "openai-evals", "--via", "openai-chat"]
    result = run(*given, "--keep-extra", stdin=jsonl(row))

    assert result.returncode == 1
    assert result.stdout == b'<stdin>:1:1: gt: nothing became "b" (1 record)\n'


def test_lists_of_answers_stay_lists_on_the_way_back(tmp_path: Path) -> None:
    """Several answers of one row are one row again, as with `--responses list`."""
    row = INSTANCE | {"expected-output": "r", "actual-output": ["x", "y"]}
    there, back = tmp_path / "there.jsonl", tmp_path / "back.json"
    result = run("--via", "record", stdin=jsonl(row))
    command_runs.run("convert", "--to", "record", "-o", there, stdin=jsonl(row))
    listed = ["--to", "harpia", "--responses", "list", "-o", back]
    command_runs.run("convert", there, *listed)
    found = command_runs.run("diff", "-", back, stdin=jsonl(row))

    assert (result.returncode, found.returncode) == (0, 0)
    assert b"1 record matched by id, 0 differ" in found.stderr


def test_missing_required_value_is_one_error() -> None:
    """A value that the other format requires and the input lacks is one error."""
    with pytest.raises(ConversionError, match='score="em" or score="f1"'):
        roundtrip(jsonl(INSTANCE), via="eee")
    result = run("--via", "nem", stdin=jsonl(INSTANCE))

    assert result.returncode == 2
    assert b"did you mean nemo?" in result.stderr


# The way back


def test_failed_conversion_back_names_the_options() -> None:
    """If the conversion back fails, one line names all options that it needs."""
    result = run("--via", "haystack", stdin=jsonl(CHAT))
    line = result.stdout.decode()

    assert result.returncode == 1
    assert line.startswith("<stdin>:1:1: outputs.model: on the way back: ")
    assert "give `--set model_outputs.model_name=VALUE`" in line


@pytest.mark.parametrize(
    "name", ["model_outputs.model_name", "model_name", "outputs.model", "model"]
)
def test_constants_replace_fields_lost_on_the_way(name: str) -> None:
    """The named option supplies the lost field, and a right value is no difference."""
    one = CHAT | {"model_outputs": CHAT["model_outputs"][:1]}
    right = roundtrip(jsonl(one), via="haystack", constants={name: "m1"})
    wrong = roundtrip(jsonl(one), via="haystack", constants={name: "other"})
    example = wrong.fields["outputs.model"].example

    assert right.ok, right.fields
    assert list(wrong.fields) == ["outputs.model"]
    assert example is not None
    assert (example.left, example.right) == ("m1", "other")


def test_constants_give_nothing_that_a_record_did_not_have() -> None:
    """What a record lacked is not filled in on the way back, so that it is the same."""
    bare = {"prompt": "q", "outputs": []}
    rows = jsonl(bare, bare | {"category": "c"})
    constants = {"category": "c"}
    report = roundtrip(rows, via="haystack", from_="record", constants=constants)

    assert report.ok, report.fields


def test_scores_are_filled_in_on_the_way_back() -> None:
    """A metric gives a score that the other format has no place for."""
    wrong = {"score": 0.0, "is_correct": False}
    row = eee_sample(
        schema_version="instance_level_eval_0.2.0",
        output={"raw": "r"},
        evaluation=wrong,
    )
    given = {"evaluation_id": "e", "evaluation_name": "n"}
    without = roundtrip(jsonl(row), via="nemo", constants=given)
    scored = roundtrip(jsonl(row), via="nemo", constants=given, score="em")

    assert 'score="em"' in without.fields["outputs.scores.value "].reason
    assert {"outputs.scores.value", "outputs.scores.is_correct"} <= set(scored.fields)
    assert "outputs.scores.evaluation_id" not in scored.fields
    with pytest.raises(ConversionError, match="neither harpia nor nemo-output"):
        roundtrip(jsonl(INSTANCE), via="nemo", score="em")


def test_constant_of_neither_format_is_an_error() -> None:
    """A constant for a field of neither format is one error, with exit code 2."""
    result = run("--via", "haystack", "--set", "promt=x", stdin=jsonl(CHAT))

    assert (result.returncode, result.stdout) == (2, b"")
    assert b"no field is called 'promt'" in result.stderr


def test_each_record_counts_once_for_a_field() -> None:
    """A field that differs in two answers of one record differs in one record."""
    constants = {"model": "other"}
    report = roundtrip(jsonl(CHAT), via="haystack", constants=constants)

    assert report.fields["outputs.model"].count == 1


# The options of `convert`


def test_model_selects_the_answers() -> None:
    """With --model the answers of other models are not compared."""
    rows = jsonl(CHAT)
    every = run("--via", "nemo", stdin=rows)
    one = roundtrip(rows, via="csv", model="m2")
    lost = roundtrip(rows, via="haystack", model="m2", constants={"model": "m2"})

    assert every.returncode == 1
    assert one.ok
    assert lost.ok


@pytest.mark.parametrize("via", ["csv", "nemo-output", "harpia"])
def test_absent_model_is_an_error_that_lists_the_models(via: str) -> None:
    """If no answer is of the model, one error lists the models, with exit code 2."""
    result = run("--via", via, "--model", "m3", stdin=jsonl(CHAT))

    assert (result.returncode, result.stdout) == (2, b"")
    assert b"no answer is of the model 'm3' (there are: 'm1', 'm2')" in result.stderr


def test_error_for_a_record_without_the_model_lists_its_models() -> None:
    """If only some records have the model, the errors list the models of the others."""
    other = CHAT | {"model_outputs": CHAT["model_outputs"][:1]}
    report = roundtrip(jsonl(CHAT, other), via="nemo-output", model="m2")
    reasons = [each.reason for each in report.fields.values() if each.reason]

    assert reasons == ["no answer of the record is of the model 'm2' (there are: 'm1')"]


def test_a_row_that_convert_would_refuse_is_a_failure() -> None:
    """A value that the other format's rules refuse is reported as `convert` does."""
    record = {"id": "1", "prompt": "q", "outputs": [{"text": "a"}]}
    wrong = {"outputs.index": -5}
    report = roundtrip(jsonl(record), via="record", from_="record", constants=wrong)
    reasons = [each.reason for each in report.fields.values() if each.reason]

    assert ["must be at least 0" in reason for reason in reasons] == [True]


def test_answers_decide_through_which_of_a_family_records_go(tmp_path: Path) -> None:
    """It is the one that `convert` writes, by all answers, also mapped ones."""
    path = tmp_path / "asked.jsonl"
    path.write_bytes(jsonl(NEMO_QUESTION | {"said": "a"}))
    unanswered = jsonl({"prompt": "q", "references": ["r"], "outputs": []})
    mapped = run(path, "--via", "nemo", "--map", "response=said")
    without = run("--via", "nemo", "--from", "record", stdin=unanswered)
    behind = roundtrip(unanswered, jsonl(CHAT), via="nemo")

    assert b"1 record through nemo-output" in mapped.stderr
    assert b"1 record through nemo-input" in without.stderr
    assert set(behind.fields) >= {"outputs.text "}


def test_columns_of_a_table_are_mapped() -> None:
    """--map names the columns of a CSV file that is read, or that it goes through."""
    table = b"question,gold\nq,r\n"
    columns = {"prompt": "question", "references": "gold"}
    read = roundtrip(table, via="nemo-input", columns=columns)
    mapped = ["--map", "prompt=question,references=gold"]
    there = run("--via", "csv", "--from", "harpia", *mapped, stdin=jsonl(INSTANCE))
    both = jsonl(INSTANCE | {"question": "x"})
    one_of_two = roundtrip(both, via="csv", from_="harpia", columns=columns)

    with pytest.raises(MapError, match=r"no row of .* has such a key"):
        roundtrip(jsonl(INSTANCE), via="nemo", from_="harpia", columns=columns)
    assert read.records == 1
    assert not {"prompt", "references"} & set(read.fields)
    assert (there.returncode, there.stdout) == (0, b"")
    assert one_of_two.ok, one_of_two.fields


@pytest.mark.parametrize("via", ["nemo", "nemo-output"])
def test_a_mapped_key_has_what_the_other_format_requires(via: str) -> None:
    """Rows go through the format of answers if a map names theirs, as in `convert`."""
    rows = jsonl(NEMO_QUESTION | {"said": "a"})
    given = {"from_": "nemo-input", "columns": {"response": "said"}}
    report = roundtrip(rows, via=via, **given)
    words = ("--via", via, "--from", "nemo-input", "--map", "response=said")
    result = run(*words, stdin=rows)

    # The first format has no place for what the key holds.
    assert set(report.fields) == {"outputs"}
    assert result.returncode == 1
    assert result.stderr == b"1 record through nemo-output, 1 differ\n"


def test_a_filter_needs_a_place_for_scores() -> None:
    """--filter is refused where the other format holds no scores, as by `convert`."""
    reason = "nemo-input has no place for a score, so that filter chooses none"
    row = {"id": "1", "prompt": "q", "references": ["r"], "outputs": []}

    with pytest.raises(ConversionError, match=reason):
        roundtrip(jsonl(row), via="nemo-input", from_="record", filter="all")


def test_rows_that_are_not_valid_are_left_out_if_asked() -> None:
    """With --on-invalid skip the rest is compared, and what is left out is counted."""
    rows = jsonl(INSTANCE, {"id": "2", "input": 7})
    result = run("--via", "csv", "--on-invalid", "skip", stdin=rows)
    report = roundtrip(rows, via="csv", on_invalid="skip")
    nothing = roundtrip(jsonl({"id": "2", "input": 7}), via="csv", from_="harpia")

    assert result.returncode == 0
    assert b"<stdin>:2:" in result.stderr
    assert b"1 record through csv, 0 differ, 1 not valid and left out" in result.stderr
    assert (report.ok, report.records, report.skipped) == (True, 1, 1)
    assert not nothing.ok


def test_nothing_left_is_no_success() -> None:
    """Where every row is left out, nothing has come back."""
    rows = jsonl({"id": "2", "input": 7})
    result = run("--via", "csv", "-f", "harpia", "--on-invalid", "skip", stdin=rows)

    assert result.returncode == 1


def test_rows_are_not_put_aside() -> None:
    """Only a conversion puts rows aside; here it is refused."""
    with pytest.raises(ConversionError, match="fail or skip"):
        roundtrip(jsonl(INSTANCE), via="csv", on_invalid="quarantine")
    result = run("--via", "csv", "--on-invalid", "quarantine", stdin=b"")

    assert result.returncode == 2
    assert b"is not one of fail, skip" in result.stderr


def test_only_the_first_of_several_headers_comes_back(tmp_path: Path) -> None:
    """A conversion of several files writes one header, so that the others differ."""
    files = []
    for number, name in enumerate(["BLEU-NLTK", "ROUGE", "F1"]):
        instance = INSTANCE | {"id": f"{number}"}
        files.append(tmp_path / f"{number}.json")
        document = {"instances": [instance], "metrics": [{"id": name}]}
        files[-1].write_text(json.dumps(document))
    report = roundtrip(*files, via="record")

    assert (report.ok, report.headers) == (False, 2)
    (line,) = report.fields.values()
    assert (line.path, line.count) == ("header.metrics", 2)
    assert line.place == Place(str(files[1]), 1, 1, 2, 0)


def test_repeated_ids_are_a_difference() -> None:
    """Ids that a conversion refuses, or that join rows of two records, are named."""
    rows = [
        {"id": "7", "prompt": prompt, "outputs": [{"text": "x"}, {"text": "y"}]}
        for prompt in "ab"
    ]
    joined = run("--via", "csv", "--from", "record", stdin=jsonl(*rows))
    refused = run("--via", "harpia", "--from", "record", stdin=jsonl(*rows))

    assert (joined.returncode, refused.returncode) == (1, 1)
    assert b"id: rows of several records would be joined by one id" in joined.stdout
    assert b"id: several rows of harpia would have one id" in refused.stdout


def test_repeated_ids_have_the_place_of_the_last_file() -> None:
    """With the last file it is known that ids of several files repeat."""
    row = jsonl({"id": "7", "prompt": "q", "outputs": [{"text": "x"}]})
    report = roundtrip(*(io.BytesIO(row) for _ in range(3)), via="harpia")
    (line,) = report.fields.values()

    assert (line.path, line.count, report.repeated) == ("id", 2, 2)
    assert line.place is not None
    assert line.place.path == "<stream> (3)"


def test_an_id_that_is_given_is_that_of_all_records() -> None:
    """--set id=VALUE is taken instead of numbers, and repeats, as in `convert`."""
    rows = jsonl(NEMO_QUESTION, NEMO_QUESTION | {"prompt": "p"})
    numbered = roundtrip(rows, via="harpia", constants={"response": "a"})
    given = roundtrip(rows, via="harpia", constants={"response": "a", "id": "x"})

    assert numbered.ok, numbered.fields
    assert [*given.fields] == ["id several rows of harpia would have one id"]


def test_rows_that_cannot_be_joined_are_a_difference() -> None:
    """A record whose rows have no id, or other references, does not come back."""
    answers = [{"text": "x"}, {"text": "y"}]
    nameless = {"prompt": "q", "references": ["r"], "outputs": answers}
    expanded = {"id": "1", "prompt": "q", "references": ["r", "s"], "outputs": []}
    without_id = roundtrip(jsonl(nameless), via="haystack", from_="record")
    other = roundtrip(
        jsonl(expanded), via="haystack", from_="record", references="expand"
    )

    assert "no id by which they could be joined" in without_id.fields["id "].reason
    assert "the same references" in other.fields["references "].reason


def test_fields_kept_on_the_way_there_need_no_value_back() -> None:
    """With --keep-extra a required field comes back, and without it that is named."""
    row = eee_sample()
    lost = roundtrip(jsonl(row), via="haystack")
    (line,) = lost.fields.values()

    assert line.reason.startswith("on the way back: the record has nothing for")
    assert "keep_extra=True keeps it" in line.reason
    assert roundtrip(jsonl(row), via="haystack", keep_extra=True).ok


@pytest.mark.parametrize(("chosen", "value"), [(None, 0.0), ("loose", 1.0)])
def test_the_filter_of_the_written_scores_is_chosen(
    chosen: str | None, value: float
) -> None:
    """Scores of `--filter` make the round trip, and those of the first without it."""
    scores = [
        {"metric": "em", "value": value, "is_correct": bool(value)}
        | {"evaluation_name": "n", "signature": f"em|impl:tool|filter:{name}"}
        for name, value in (("strict", 0.0), ("loose", 1.0))
    ]
    answer = {"model": "o/m", "text": "a", "scores": scores}
    row = {"id": "1", "prompt": "q", "references": ["r"], "outputs": [answer]}
    found = roundtrip(
        jsonl(row),
        via="eee@0.2.0",
        from_="record",
        filter=chosen,
        constants={"evaluation_id": "e"},
    )
    change = found.fields.get("outputs.scores.value")
    arguments = () if chosen is None else ("--filter", chosen)
    words = ("--via", "eee@0.2.0", "--set", "evaluation_id=e", *arguments)
    printed = run(*words, stdin=jsonl(row)).stdout

    assert (change is not None) == bool(value)
    assert (b"0.0 became 1.0" in printed) == bool(value)


def test_the_prompt_that_makes_the_round_trip_is_chosen() -> None:
    """With --prompt formatted the text that the model got is the prompt."""
    answer = {"model": "m", "text": "a", "formatted_prompt": "Q: q A:"}
    row = {"id": "1", "prompt": "q", "references": ["r"], "outputs": [answer]}
    words = ("--via", "nemo-output", "--prompt", "formatted")

    assert b'prompt: "q" became "Q: q A:"' in run(*words, stdin=jsonl(row)).stdout
