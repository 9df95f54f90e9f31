"""`harpia-formats diff`, and `diff` of the API."""

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

import command_runs
from harpia_formats import ConversionError, UnknownFormat
from json_lines import jsonl
from sample_rows import harpia_instance as instance
from sample_rows import nemo_answer
from unchecked import convert, diff

#: A row of HarpIA whose input is no text.
INVALID: dict[str, Any] = {"id": "2", "input": 7}


def run(*arguments: object, cwd: Path) -> command_runs.Result:
    """Run `diff` with the arguments given."""
    return command_runs.run("diff", *arguments, cwd=cwd)


def compared(
    folder: Path, left: bytes, right: bytes, *arguments: object
) -> tuple[command_runs.Result, set[str]]:
    """Return the result of `diff` on data, and the fields that it did not compare."""
    for name, data in (("left", left), ("right", right)):
        (folder / name).write_bytes(data)
    result = run("left", "right", *arguments, cwd=folder)
    (line,) = re.findall(rb"not compared, .* cannot hold it: (.*)", result.stderr)
    return result, set(line.decode().split(", "))


def test_the_order_of_records_does_not_matter() -> None:
    """Two files with the same records in another order do not differ."""
    rows = [instance(each) for each in range(3_000)]
    shuffled = [rows[number * 7 % 3_000] for number in range(3_000)]
    report = diff(jsonl(*rows), jsonl(*shuffled))

    assert report.ok
    assert report.records == 3_000


def test_numbers_that_only_their_texts_differ_in() -> None:
    """A number that is written in another way differs, and is shown as written."""
    row = b'{"prompt": "q", "ideal_response": "r", "n": 1}'
    other = row.replace(b"1", b"1e0")
    (found,) = diff(row, other, from_="nemo-input", to="nemo-input").table()

    shown = (found["field"], found["left"], found["right"])
    assert shown == ("extra.nemo.n", "1", "1e0")


def test_each_difference_has_its_count_and_first_place() -> None:
    """Differences are reported by field, with the first record of the first side."""
    left = [instance(each) for each in range(100)]
    right = [dict(each) for each in left]
    for number in (40, 7, 99):
        right[number]["actual-output"] = f"b{number}"
    report = diff(jsonl(*left), jsonl(*right))
    line = report.fields["outputs.text"]

    assert (report.differing, line.count) == (3, 3)
    assert line.place is not None
    assert (line.place.line, line.place.record) == (8, 8)
    assert line.example is not None
    assert (line.example.left, line.example.right) == ("a7", "b7")


def test_records_of_one_side_only_are_counted() -> None:
    """What only one side has is counted on that side."""
    left, right = (jsonl(*map(instance, each)) for each in ((1, 2), (2, 3, 4)))
    report = diff(left, right)

    assert (report.only_left, report.only_right, report.differing) == (1, 2, 0)
    assert not report.ok
    assert report.report == report.reports[0]


def test_what_the_first_side_has_alone_stands_in_front() -> None:
    """Of many records on one side only, those of the first side are listed first."""
    left, right = (
        jsonl(*map(instance, range(start, start + 300))) for start in (200, 0)
    )
    counts = [(path, line.count) for path, line in diff(left, right).fields.items()]

    assert counts == [("only in the first", 200), ("only in the second", 200)]


def test_data_sets_of_several_files_are_compared_as_one(tmp_path: Path) -> None:
    """Where files begin and end does not matter, and a place names its file."""
    rows = [instance(each) for each in range(900)]
    whole, parts = tmp_path / "whole.jsonl", tmp_path / "parts"
    whole.write_bytes(jsonl(*rows))
    parts.mkdir()
    rows[777] = instance(777, **{"actual-output": "b"})
    for name, part in (("a", rows[:500]), ("b", rows[500:])):
        (parts / f"{name}.jsonl").write_bytes(jsonl(*part))
    for sides, place in (
        ((whole, parts), (str(whole), 778)),
        ((parts, whole), (str(parts / "b.jsonl"), 278)),
    ):
        report = diff(*sides)
        (line,) = report.fields.values()

        assert (report.records, report.differing) == (900, 1)
        assert line.place is not None
        assert (line.place.path, line.place.line) == place


def test_the_validation_that_is_reported_is_of_the_side_with_errors(
    tmp_path: Path,
) -> None:
    """It is that of the first side if neither has errors, or both have the same."""
    good, bad = jsonl(instance(1)), jsonl(INVALID)
    for name, data in (("good", good), ("same", good), ("bad", bad), ("worse", bad)):
        (tmp_path / name).write_bytes(data)
    shown = {}
    for sides in ("good same", "good bad", "bad good", "bad worse", "bad none"):
        report = diff(*(tmp_path / name for name in sides.split()), from_="harpia")
        (file,) = report.to_dict()["report"]["files"]
        shown[sides] = Path(file["path"]).name

    assert shown == {
        "good same": "good",
        "good bad": "bad",
        "bad good": "bad",
        "bad worse": "bad",
        "bad none": "none",
    }


def test_formats_are_compared_in_common_fields(tmp_path: Path) -> None:
    """HarpIA and NeMo records are matched by prompt and compared in common fields."""
    left = jsonl(*map(instance, range(10)))
    right = jsonl(*map(nemo_answer, reversed(range(10))))
    result, left_out = compared(tmp_path, left, right)

    assert (result.returncode, result.stdout) == (0, b"")
    assert b"10 records matched by prompt, 0 differ" in result.stderr
    assert {"id", "category", "source", "outputs.model"} <= left_out


def test_a_difference_between_formats_is_found() -> None:
    """A text that is different in the other format is reported."""
    left = jsonl(*(instance(each) for each in range(10)))
    right = jsonl(*map(nemo_answer, range(9)), nemo_answer(9, response="b"))
    report = diff(left, right)

    assert report.differing == 1
    assert list(report.fields) == ["outputs.text"]


@pytest.mark.parametrize("to", ["nemo", "record", "haystack", "tencent-outputs"])
def test_a_conversion_does_not_differ_from_its_input(tmp_path: Path, to: str) -> None:
    """What is converted is the same as what it was made from, as far as both go."""
    given = jsonl(*(instance(each) for each in range(50)))
    output = tmp_path / "out.data"
    convert(given, to=to, output=output, constants={"outputs.model": "m"})
    report = diff(given, output)

    assert report.ok, report.fields
    assert report.records == 50


def test_numbers_differ_by_their_spelling() -> None:
    """1 and 1.0 are two values."""
    record = '{"prompt": "q", "metadata": {"x": %s}, "outputs": []}\n'
    report = diff((record % "1").encode(), (record % "1.0").encode())
    same = diff((record % "1.0").encode(), (record % "1.0").encode())

    assert list(report.fields) == ["metadata.x"]
    assert same.ok


def test_records_without_ids_are_matched_in_their_order() -> None:
    """Equal prompts are matched one by one, and unmatched records are reported."""
    left = jsonl(nemo_answer(1), nemo_answer(1, response="b"), nemo_answer(1))
    right = jsonl(nemo_answer(1), nemo_answer(1, response="b"))
    report = diff(left, right)

    assert (report.records, report.differing, report.only_left) == (2, 0, 1)


@pytest.mark.parametrize(
    "other",
    [None, b'{"a": 1}\n', jsonl(instance(1), INVALID)],
    ids=["no such file", "no known format", "an invalid row"],
)
def test_nothing_is_said_of_what_was_not_read(
    tmp_path: Path, other: bytes | None
) -> None:
    """No records are counted as equal if one side has an error, on either side."""
    (tmp_path / "a.jsonl").write_bytes(jsonl(instance(1)))
    if other is not None:
        (tmp_path / "b.jsonl").write_bytes(other)
    for sides in (("a.jsonl", "b.jsonl"), ("b.jsonl", "a.jsonl")):
        found = run(*sides, "--report", "x.html", cwd=tmp_path)
        page = (tmp_path / "x.html").read_text()

        assert found.returncode == (2 if other is None else 1)
        assert b"differ" not in found.stderr
        assert b"nothing is compared: not all of the input" in found.stderr
        assert "Nothing is compared." in page
        assert "0 differ" not in page


def test_the_command_tells_by_its_code(tmp_path: Path) -> None:
    """No difference is 0, a difference 1, and what cannot be read 2."""
    files = {
        "a": [instance(1), instance(2)],
        "b": [instance(2), instance(1)],
        "c": [instance(1), instance(2, input="x")],
        "bad": [instance(1), INVALID],
    }
    for name, rows in files.items():
        (tmp_path / f"{name}.jsonl").write_bytes(jsonl(*rows))
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


# The options of `convert`


def chat(number: int, **answers: str) -> dict[str, Any]:
    """Return a row of Tencent's with an answer of each model."""
    return {
        "id": str(number),
        "messages": [{"role": "user", "content": f"q{number}"}],
        "ref_answer": f"r{number}",
        "model_outputs": [
            {"model_name": name, "responses": [{"content": text}]}
            for name, text in answers.items()
        ],
    }


def test_formats_can_be_given() -> None:
    """--from is the format of the first data set, and --to that of the second."""
    left, right = jsonl(instance(1)), jsonl(nemo_answer(1))

    assert diff(left, right, from_="harpia", to="nemo").ok
    assert not diff(left, right, from_="nemo", to="nemo").ok
    assert not diff(left, right, from_="harpia", to="harpia").ok
    with pytest.raises(UnknownFormat, match="did you mean nemo"):
        diff(left, right, to="nem")


def test_the_command_takes_both_formats(tmp_path: Path) -> None:
    """The command takes them by the names that `convert` has for them."""
    (tmp_path / "a").write_bytes(jsonl(instance(1)))
    (tmp_path / "b").write_bytes(jsonl(nemo_answer(1)))
    right = run("a", "b", "--from", "harpia", "--to", "nemo", cwd=tmp_path)
    wrong = run("a", "b", "--from", "harpia", "--to", "eee", cwd=tmp_path)
    unknown = run("a", "b", "--from", "harpa", cwd=tmp_path)

    assert right.returncode == 0
    assert wrong.returncode == 1
    assert (unknown.returncode, unknown.stdout) == (2, b"")
    assert b"did you mean harpia?" in unknown.stderr


@pytest.mark.parametrize("name", ["b.csv", "b.txt"])
def test_advice_on_the_second_side_names_its_option(tmp_path: Path, name: str) -> None:
    """The format of the second data set is `--to`, and that of the first `--from`."""
    record = {"prompt": "q1", "outputs": [{"text": "a1"}]}
    (tmp_path / "a.jsonl").write_bytes(jsonl(record))
    (tmp_path / name).write_bytes(b"prompt,response\nq1,a1\n")
    first = run(name, "a.jsonl", cwd=tmp_path)
    second = run("a.jsonl", name, cwd=tmp_path)
    followed = run("a.jsonl", name, "--to", "csv", cwd=tmp_path)

    assert b"`--from csv`" in first.stdout + first.stderr
    assert b"`--to csv`" in second.stdout + second.stderr
    assert b"--from" not in second.stdout + second.stderr
    assert followed.returncode == 0


TABLE = b"question,gold,said\nq1,r1,a1\nq2,r2,a2\n"
COLUMNS = {"prompt": "question", "references": "gold", "response": "said"}


def test_map_applies_to_the_table_side(tmp_path: Path) -> None:
    """--map applies to the side that is a plain table, whichever side it is."""
    rows = jsonl(
        *(
            {"prompt": f"q{n}", "references": [f"r{n}"], "outputs": [{"text": f"a{n}"}]}
            for n in (1, 2)
        )
    )
    (tmp_path / "table.csv").write_bytes(TABLE)
    (tmp_path / "rows.jsonl").write_bytes(rows)
    parts = ["--map", ",".join(f"{name}={each}" for name, each in COLUMNS.items())]
    first = run("table.csv", "rows.jsonl", *parts, cwd=tmp_path)
    second = run("rows.jsonl", "table.csv", *parts, cwd=tmp_path)

    assert (first.returncode, first.stdout) == (0, b"")
    assert (second.returncode, second.stdout) == (0, b"")
    assert diff(TABLE, TABLE, columns=COLUMNS).ok
    assert diff(rows, io.BytesIO(TABLE), to="csv", columns=COLUMNS).ok


def test_map_without_a_table_is_an_error() -> None:
    """If neither side is detected as a table, an error says how to name the format."""
    rows = jsonl(nemo_answer(1))
    with pytest.raises(ConversionError, match='from_="csv" or to="csv"'):
        diff(rows, rows, columns=COLUMNS)
    with pytest.raises(ConversionError, match='from_="csv" or to="csv"'):
        diff(rows, io.BytesIO(TABLE), columns=COLUMNS)


def test_answers_of_one_model_are_compared() -> None:
    """With --model only its answers count, on each side whose format names models."""
    both, other = jsonl(chat(1, a="x", b="y")), jsonl(chat(1, b="y", c="z"))
    unnamed = jsonl(instance(1, **{"actual-output": "y"}))

    assert not diff(both, other).ok
    assert diff(both, other, model="b").ok
    assert diff(both, unnamed, model="b").ok
    assert not diff(both, unnamed, model="a").ok


def test_model_missing_on_one_side_is_an_error() -> None:
    """The error for a side without the model lists the models which that side has."""
    both, other = jsonl(chat(1, aaa="x", b="y")), jsonl(chat(1, b="y"))
    with pytest.raises(ConversionError) as caught:
        diff(both, other, model="aaa")

    assert str(caught.value) == (
        "no answer in the second data set is of the model 'aaa' (there are: 'b')"
    )


def test_rows_that_are_not_valid_are_left_out_if_asked(tmp_path: Path) -> None:
    """With --on-invalid skip the rest is compared, and what is left out is counted."""
    (tmp_path / "a.jsonl").write_bytes(jsonl(instance(1), INVALID))
    (tmp_path / "b.jsonl").write_bytes(jsonl(INVALID | {"id": "3"}, instance(1)))
    failed = run("a.jsonl", "b.jsonl", cwd=tmp_path)
    skipped = run("a.jsonl", "b.jsonl", "--on-invalid", "skip", cwd=tmp_path)
    missing = run("a.jsonl", "no.jsonl", "--on-invalid", "skip", cwd=tmp_path)

    assert failed.returncode == 1
    counts = b"1 record matched by id, 0 differ, 2 not valid and left out"
    assert (skipped.returncode, skipped.stdout) == (0, b"")
    assert counts in skipped.stderr
    assert missing.returncode == 2
    with pytest.raises(ConversionError, match="fail or skip"):
        diff(b"", b"", on_invalid="quarantine")


def test_each_record_counts_once_for_a_field() -> None:
    """A field that differs in two answers of one record differs in one record."""
    report = diff(jsonl(chat(1, a="x", b="y")), jsonl(chat(1, a="v", b="w")))

    assert report.fields["outputs.text"].count == 1


# Headers


def with_metrics(*names: str) -> bytes:
    """Return a file of HarpIA that asks for metrics."""
    instance = {"id": "1", "input": "q", "actual-output": "a"}
    metrics = [{"id": name} for name in names]
    return json.dumps({"instances": [instance], "metrics": metrics}).encode()


def test_headers_are_compared() -> None:
    """Two data sets with the same records and other metrics differ."""
    differing = diff(with_metrics("BLEU-NLTK"), with_metrics("ROUGE"))
    missing = diff(with_metrics("BLEU-NLTK"), with_metrics())

    assert (differing.ok, differing.differing) == (False, 0)
    assert list(differing.fields) == ["header.metrics"]
    example = differing.fields["header.metrics"].example
    assert example is not None
    assert (example.left, example.right) == ([{"id": "BLEU-NLTK"}], [{"id": "ROUGE"}])
    assert not missing.ok
    assert diff(with_metrics("ROUGE"), with_metrics("ROUGE")).ok


def test_header_without_a_place_on_one_side_is_left_out(tmp_path: Path) -> None:
    """What one of the formats cannot hold is named as not compared."""
    table = b"id,prompt,model,response\n1,q,,a\n"
    result, left_out = compared(tmp_path, with_metrics("ROUGE"), table, "--to", "csv")

    assert (result.returncode, result.stdout) == (0, b"")
    assert "header.metrics" in left_out


# Records of one id


def variant(answer: str, **given: Any) -> dict[str, Any]:
    """Return a record of the id that all have."""
    return {"id": "q", "prompt": "P", "outputs": [{"text": answer}], **given}


OTHER = {"id": "o", "prompt": "O", "outputs": [{"text": "o"}]}


@pytest.mark.parametrize("to", ["record", "csv"])
@pytest.mark.parametrize(
    ("left", "right", "counts"),
    [
        ("ab", "ba", (2, 0, 0, 0)),
        ("ab", "b", (1, 0, 1, 0)),
        ("b", "ab", (1, 0, 0, 1)),
        ("ac", "ba", (2, 1, 0, 0)),
        ("aaob", "obaa", (4, 0, 0, 0)),
        ("aboc", "cdoa", (4, 1, 0, 0)),
        ("abc", "xyb", (3, 2, 0, 0)),
        ("aab", "abb", (3, 1, 0, 0)),
        ("abco", "oa", (2, 0, 2, 0)),
    ],
)
def test_equal_records_of_one_id_are_matched_whatever_their_order(
    left: str, right: str, counts: tuple[int, ...], to: str
) -> None:
    """Of the records with one id only those differ that have no equal one."""
    first, second = (
        [OTHER if each == "o" else variant(each) for each in side]
        for side in (left, right)
    )
    other = io.BytesIO()
    convert(jsonl(*second), from_="record", to=to, output=other)
    found = diff(jsonl(*first), other.getvalue(), from_="record", to=to)

    only = found.only_left, found.only_right
    assert (found.records, found.differing, *only) == counts


def test_the_rest_of_the_records_of_one_id_is_matched_in_order() -> None:
    """Those that have no equal one are compared with each other, the first first."""
    left = [variant(each, category=each) for each in ("b", "a", "c")]
    right = [variant("x"), variant("b", category="b"), variant("y", category="c")]
    found = diff(jsonl(*left), jsonl(*right), from_="record", to="record")

    assert (found.records, found.differing) == (3, 2)
    counts = {path: line.count for path, line in found.fields.items()}
    assert counts == {"outputs.text": 2, "category": 1}
    example = found.fields["category"].example
    assert example is not None
    assert example.left == "a"


def test_unknown_keys_of_records_of_one_id_have_no_order() -> None:
    """Records of one id are equal if only the order of their unknown keys differs."""
    left = [variant("a", extra={"v": {"x": 1, "y": {"k": 1, "l": 2}}}), variant("a")]
    right = [variant("a"), variant("a", extra={"v": {"y": {"l": 2, "k": 1}, "x": 1}})]
    found = diff(jsonl(*left), jsonl(*right), from_="record", to="record")

    assert (found.ok, found.records) == (True, 2)


def test_many_records_of_one_id_are_matched_in_any_order(tmp_path: Path) -> None:
    """Thousands of records with one id, one of them changed, have one difference."""
    rows = [variant(f"a{number % 1_500}") for number in range(3_000)]
    shuffled = [rows[number * 7 % 3_000] for number in range(3_000)]
    shuffled[40] = variant("changed")
    (tmp_path / "a.jsonl").write_bytes(jsonl(*rows))
    (tmp_path / "b.jsonl").write_bytes(jsonl(*shuffled))
    result = run("a.jsonl", "b.jsonl", cwd=tmp_path)

    assert result.returncode == 1
    assert b"3,000 records matched by id, 1 differ" in result.stderr
