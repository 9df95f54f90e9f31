"""Columns with any names: those of CSV and of Haystack, read and written."""

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats import ConversionError, MapError, preflight, read, validate
from in_process import completed_in
from unchecked import convert, converted, diff, roundtrip, score

COLUMNS = {"prompt": "queries", "response": "answers", "references": "gold"}
DOCUMENT = {
    "queries": ["q1", "q2"],
    "answers": ["a1", "a2"],
    "gold": ["r1", "r2"],
    "topic": ["t1", None],
}
OWN = {
    "questions": ["q1", "q2"],
    "predicted_answers": ["a1", "a2"],
    "ground_truth_answers": ["r1", "r2"],
    "topic": ["t1", None],
}


def text_of(value: Any) -> bytes:
    """Return a value as JSON."""
    return json.dumps(value).encode()


def written(*inputs: Any, to: str, **options: Any) -> bytes:
    """Return the bytes that a conversion writes."""
    data, report = converted(*inputs, to=to, **options)
    report.raise_for_errors()
    return data


@pytest.mark.parametrize("from_", [None, "haystack"])
def test_columns_of_haystack_that_are_read(from_: str | None) -> None:
    """Mapped columns are read as fields, whether the format is given or detected."""
    mapped = written(text_of(DOCUMENT), to="nemo", columns=COLUMNS, from_=from_)

    assert mapped == written(text_of(OWN), to="nemo")


@pytest.mark.parametrize("to", ["csv", "haystack"])
def test_keys_of_unknown_rows_are_read_for_a_table(to: str) -> None:
    """Where a table is written a map is that of JSON rows in no known format."""
    row = {"Frage": "q1", "Antwort": "a1", "Gold": "r1"}
    columns = {"prompt": "Frage", "response": "Antwort", "references": "Gold"}
    named = written(text_of(row), to=to, columns=columns, from_="json")

    assert b"q1" in named
    assert written(text_of(row), to=to, columns=columns) == named


def test_columns_of_components_are_read() -> None:
    """The columns of each component are mapped."""
    mapped = text_of({"one": DOCUMENT, "two": DOCUMENT})
    own = text_of({"one": OWN, "two": OWN})

    assert written(mapped, to="nemo", columns=COLUMNS) == written(own, to="nemo")


def test_columns_of_haystack_that_are_written() -> None:
    """Fields go into mapped columns, and what is read with the map is the same."""
    rows = written(text_of(OWN), to="record")
    document = written(rows, to="haystack", columns=COLUMNS)
    again = written(document, to="record", columns=COLUMNS)

    assert {"queries", "answers", "gold"} <= set(json.loads(document))
    assert again == rows


def test_a_table_is_read_with_a_map_into_haystack() -> None:
    """Where the input is seen to be a table the map is that of the table."""
    table = b"queries,gold\nq1,r1\n"
    columns = {"prompt": "queries", "references": "gold"}
    document = json.loads(written(table, to="haystack", columns=columns))

    assert document == {"questions": ["q1"], "ground_truth_answers": ["r1"]}


def test_missing_column_is_an_error_that_suggests_the_nearest() -> None:
    """Mapping a missing column is an error that suggests the nearest name."""
    with pytest.raises(MapError, match="did you mean queries"):
        written(text_of(DOCUMENT), to="nemo", columns={"prompt": "querys"})


def test_a_field_without_a_column_is_refused() -> None:
    """A field that Haystack has no column for is refused, to read and to write."""
    given: dict[str, Any] = {"from_": "haystack", "columns": {"category": "topic"}}
    for to in ("nemo", "haystack"):
        with pytest.raises(MapError, match="haystack has no column for category"):
            written(text_of(DOCUMENT), to=to, **given)


def test_two_columns_never_become_one(tmp_path: Path) -> None:
    """Where a map gives two columns one name nothing is written, and nothing lost."""
    output = tmp_path / "out"
    table, level = b"question,prompt,gold\nx,y,r\n", b"prompt,level\nx,y\n"
    given = {"prompt": "question", "references": "gold"}
    rows = written(text_of(OWN), to="record")
    both = text_of(DOCUMENT | {"questions": ["o1", "o2"]})
    cases = [
        ("prompt", table, "nemo", given),
        ("level", level, "csv", {"prompt": "level"}),
        ("questions", both, "nemo", COLUMNS),
        ("topic", rows, "haystack", {"prompt": "topic"}),
    ]
    for name, data, to, columns in cases:
        with pytest.raises(MapError, match=f"'{name}': two columns"):
            convert(data, to=to, columns=columns, output=output)

    assert not output.exists()


def test_a_map_of_other_formats_is_refused() -> None:
    """A map for a document, whose keys are all known, is reported as an error."""
    with pytest.raises(ConversionError, match="is for csv and haystack"):
        convert(b"{}", from_="nemo-results", to="nemo", columns={"prompt": "x"})


def test_a_map_says_what_columns_of_any_text_table_hold() -> None:
    """Also where the header is one of Tencent's, in which answers are expected ones."""
    table = b"system,prompt,response\ns,p,r\n"
    columns = {"prompt": "prompt", "response": "response"}

    assert validate(table, columns=columns).ok
    assert [record.outputs[0].text for record in read(table, columns=columns)] == ["r"]


def test_files_that_are_left_out_have_no_part_in_a_map(tmp_path: Path) -> None:
    """Whatever they are, the map is that of the files that are read."""
    (tmp_path / "a.jsonl").write_bytes(b'{"q": "1"}\n')
    (tmp_path / "x.csv").write_bytes(b"prompt,references\nhi,there\n")
    (tmp_path / "y.json").write_bytes(b'{\n"a": 1\n}\n')
    options: dict[str, Any] = {"columns": {"prompt": "q"}, "exclude": ("x.*", "y.*")}
    data_set = {"files": tmp_path, "map": {"prompt": "q"}, "exclude": ["x.*", "y.*"]}

    assert validate(tmp_path, **options).ok
    assert [record.prompt for record in read(tmp_path, **options)] == ["1"]
    assert b"1" in written(tmp_path, to="csv", **options)
    assert preflight({"datasets": {"a": data_set}}).ok


def test_files_of_different_formats_have_no_map(tmp_path: Path) -> None:
    """In either order they are refused by name; `json` reads all rows by their keys."""
    texts = {
        "rows.jsonl": b'{"q": "1"}\n',
        "table.csv": b"q,other\n2,x\n",
        "records.jsonl": b'{"id": "3", "prompt": "3", "q": "3", "outputs": []}\n',
        "chat.jsonl": b'{"q": "4", "messages": [{"role": "user", "content": "x"}]}\n',
    }
    paths = {name: tmp_path / name for name in texts}
    for name, text in texts.items():
        paths[name].write_bytes(text)
    columns = {"prompt": "q"}
    pairs = (("rows.jsonl", other) for other in [*texts][1:])
    for names in itertools.chain.from_iterable(map(itertools.permutations, pairs)):
        both = [paths[name] for name in names]
        with pytest.raises(ConversionError, match="for files of one format") as caught:
            [*read(*both, columns=columns)]
        assert all(name in str(caught.value) for name in names)
        with pytest.raises(ConversionError, match="for files of one format"):
            validate(*both, columns=columns)
    both = [paths["rows.jsonl"], paths["chat.jsonl"]]
    found = read(*both, format="json", columns=columns)
    assert [one.prompt for one in found] == ["1", "4"]


def test_round_trips_and_comparisons_take_the_map_too() -> None:
    """Haystack's columns may have any names there as well, on either side."""
    mapped, own = text_of(DOCUMENT), text_of(OWN)

    assert roundtrip(mapped, via="csv", from_="haystack", columns=COLUMNS).ok
    assert roundtrip(own, via="haystack", from_="record", columns=COLUMNS).records == 0
    assert diff(mapped, mapped, columns=COLUMNS).ok
    assert diff(mapped, own, from_="haystack", to="record").only_left == 0


ROWS = text_of(
    {
        "prompt": "q",
        "references": ["r"],
        "outputs": [{"model": "m1", "text": "x"}, {"model": "m2", "text": "y"}],
    }
)


@pytest.mark.parametrize("to", ["csv", "haystack", "nemo-input"])
def test_absent_model_is_an_error_that_lists_the_models(
    tmp_path: Path, to: str
) -> None:
    """If no answer is of the model, the error lists the models; nothing is written."""
    output = tmp_path / "out"
    reason = r"^no answer is of the model 'm3' \(there are: 'm1', 'm2'\)$"
    with pytest.raises(ConversionError, match=reason):
        convert(ROWS, to=to, model="m3", output=output)

    assert not output.exists()


def test_only_the_first_of_many_models_are_listed() -> None:
    """An error lists five models."""
    outputs = [{"model": f"m{number}", "text": "x"} for number in range(7)]
    row = text_of({"prompt": "q", "references": ["r"], "outputs": outputs})
    reason = r"'absent' \(there are: 'm0', 'm1', 'm2', 'm3', 'm4' and 2 more\)$"
    with pytest.raises(ConversionError, match=reason):
        converted(row, to="csv", model="absent")


def test_error_for_a_missing_model_lists_the_models() -> None:
    """The error for a row without an answer of the model lists the row's models."""
    _, report = converted(ROWS, to="nemo-output", model="m3")
    (problem,) = report.report.problems

    assert problem.message == (
        "no answer of the record is of the model 'm3' (there are: 'm1', 'm2')"
    )


def test_errors_of_convert_name_python_parameters(tmp_path: Path) -> None:
    """Errors of the function name options as Python parameters."""
    output = tmp_path / "out"
    output.write_bytes(b"mine")
    row = {"prompt": "q", "outputs": []}
    with pytest.raises(Exception, match="overwrite=True replaces it"):
        convert(ROWS, to="nemo", output=output)
    _, report = converted(text_of(row), to="nemo-input", from_="record")
    (problem,) = report.report.problems

    assert problem.help == 'give it with constants={"ideal_response": VALUE}'


# Maps that cannot be used


def test_unknown_names_suggest_the_nearest() -> None:
    """An unknown field, column, choice or key of groups has the nearest name."""
    with pytest.raises(MapError, match="did you mean prompt"):
        validate(b"a\n1\n", format="csv", columns={"promt": "a"})
    with pytest.raises(MapError, match="did you mean gold"):
        written(text_of(DOCUMENT), to="nemo", columns={"references": "golds"})
    with pytest.raises(ValueError, match="did you mean first"):
        convert(b"", to="nemo", references="frist")
    with pytest.raises(ConversionError, match="did you mean prompt"):
        convert(b"", to="nemo", group="promts")


@for_each_case(
    "parts, reason",
    [
        (["prompt"], "write it as FIELD=COLUMN"),
        (["prompt="], "write it as FIELD=COLUMN, in double quotes if it has a comma"),
        (['"prompt=a'], 'no field is called "prompt'),
        (["prompt=a" + "[b" * 21 + "]" * 21], "has more than 20 paths in []"),
        (["prompt=a", "prompt=b"], "prompt has a column already, a"),
        (["promt=a"], "no field is called promt; did you mean prompt?"),
        (["prompt=a", "gt=a"], "that of prompt already"),
    ],
)
def test_invalid_parts_of_a_map_are_refused(
    parts: list[str], reason: str, tmp_path: Path
) -> None:
    """A part without a column, a repeated field and an unknown field are refused."""
    words = ["validate", "table.csv", "--format", "csv", "--map", ",".join(parts)]
    (tmp_path / "table.csv").write_bytes(b"a,b\n1,2\n")
    result = completed_in(tmp_path, *words, variables={"COLUMNS": "1000"})

    assert (result.returncode, result.stdout) == (2, b"")
    assert reason in result.stderr.decode()


@for_each_case(
    "header, given",
    [
        ('"Frage, ganz",Soll', '"prompt=Frage, ganz",references=Soll'),
        ('Soll,"Frage, ganz"', 'references=Soll, "prompt=Frage, ganz"'),
        ('"a ""b"", c",d', '"prompt=a ""b"", c",references=d'),
        ('"a ""b""",d', 'prompt=a "b",references=d'),
        ('"a\nb",d', "prompt=a\nb,references=d"),
        ("Frage , Soll", "prompt=Frage , references= Soll"),
        ("question,gold=1", "prompt=question,references=gold=1"),
    ],
)
def test_column_of_any_name_is_mapped(header: str, given: str, tmp_path: Path) -> None:
    """A part of a map with a comma in it is quoted as in CSV; other parts are not.

    Names are those that the header has, spaces and the sign behind a field included.
    """
    cells = "r,q" if given.startswith("references") else "q,r"
    (tmp_path / "table.csv").write_text(f"{header}\n{cells}\n")
    words = ["convert", "table.csv", "--to", "record", "--map", given, "-q"]
    result = completed_in(tmp_path, *words, variables={})
    record = {"prompt": "q", "references": ["r"], "outputs": []}

    assert (result.returncode, result.stderr) == (0, b"")
    assert json.loads(result.stdout) == record


def test_every_field_can_be_mapped() -> None:
    """All fields are known by name."""
    fields = (
        "id prompt system messages references gt choices contexts category source "
        "response model reasoning score"
    ).split()
    header = ",".join(f"column of {each}" for each in fields)
    columns = {each: f"column of {each}" for each in fields}

    assert validate(
        f"{header}\n{'1,' * 13}1\n".encode(), format="csv", columns=columns
    ).ok


def test_missing_column_is_one_error_at_the_header(tmp_path: Path) -> None:
    """A missing column is one error at the header, and no row is called valid."""
    path = tmp_path / "rows.csv"
    path.write_bytes(b"question,answer\na,b\nc,d\n")
    wrong = validate(path, format="csv", columns={"prompt": "question", "gt": "truth"})
    right = validate(path, format="csv", columns={"prompt": "question"})

    (problem,) = wrong.problems
    assert (problem.code, problem.place.line, problem.place.record) == ("S101", 1, None)
    assert (wrong.files[0].undetermined, wrong.files[0].valid) == (2, 0)
    assert right.ok


@pytest.mark.parametrize("format_", ["tencent-csv", "eee"])
def test_columns_belong_to_tables_of_any_columns(format_: str) -> None:
    """Columns without the format that they are of are refused."""
    with pytest.raises(ValueError, match='columns are those of format "csv"'):
        validate(b"{}", format=format_, columns={"prompt": "a"})


@for_each_case(
    "given, command",
    itertools.product(
        [
            b"id,prompt\n1,q\n",
            b"id,prompt\n",
            b'{"questions": ["q"], "responses": ["a"]}',
            b'{"id": "1", "prompt": "q", "outputs": []}\n',
            b'{"id": "1", "input": "q", "actual-output": "a"}\n',
        ],
        [convert, diff, roundtrip, score],
    ),
)
def test_missing_column_is_an_error_in_every_format(
    command: Any, given: bytes, tmp_path: Path
) -> None:
    """A map to a column that no row has ends every command, and nothing is written.

    `diff` takes a map of columns only, and says so for other formats.
    """
    file = tmp_path / ("in.csv" if given.startswith(b"id") else "in.json")
    file.write_bytes(given)
    output = tmp_path / "out.jsonl"
    of_command: dict[Any, dict[str, Any]] = {
        convert: {"to": "record", "output": output, "on_invalid": "skip"},
        roundtrip: {"via": "record"},
        score: {"metrics": ("em",)},
    }
    options = of_command.get(command, {})
    inputs = [file, file] if command is diff else [file]
    of_columns = command is not diff or b'"id"' not in given
    error = MapError if of_columns else ConversionError
    with pytest.raises(error):
        command(*inputs, columns={"prompt": "nosuch"}, **options)

    assert not output.exists()
