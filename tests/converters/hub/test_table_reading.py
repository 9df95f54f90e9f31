"""Reading tables of Parquet, Arrow and Feather."""

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import to_builtins

import harpia_formats
from cases import for_each_case
from corpora import CORPORA
from harpia_formats import (
    MapError,
    Record,
    SubsetError,
    ValidationFailed,
    convert,
    detect,
    head,
    read,
    validate,
)
from json_lines import jsonl_rows

pa = pytest.importorskip("pyarrow", reason="the extra arrow is not installed")
feather = pytest.importorskip("pyarrow.feather")
pq = pytest.importorskip("pyarrow.parquet")

ROOT = Path(__file__).parents[3]
TABLES = CORPORA / "neighbours/tables"
ROWS: list[dict[str, Any]] = [
    {
        "name": f"r{number}",
        "question": f"{number} + {number}?",
        "options": {
            "text": [str(number), str(2 * number)],
            "label": ["A", "B"],
        },
        "key": "B",
    }
    for number in range(1, 6)
]
MAP = {
    "id": "name",
    "prompt": "question",
    "choices": "options.text",
    "references": "options.text[key]",
}
#: The description of a column by Hugging Face.
LABELS = {"info": {"features": {"key": {"names": ["A", "B"], "_type": "ClassLabel"}}}}


def as_parquet(table: Any, path: Path) -> None:
    """Write a table as Parquet, two rows in each row group."""
    pq.write_table(table, path, row_group_size=2)


def as_stream(table: Any, path: Path) -> None:
    """Write a table as a stream of Arrow."""
    with pa.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


def as_arrow(table: Any, path: Path) -> None:
    """Write a table as a file of Arrow."""
    with pa.ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


def as_feather(table: Any, path: Path) -> None:
    """Write a table as Feather, compressed."""
    feather.write_feather(table, str(path), compression="zstd")


WRITERS: dict[str, Callable[[Any, Path], None]] = {
    "rows.parquet": as_parquet,
    "rows.arrow": as_arrow,
    "rows.feather": as_feather,
    "rows.stream": as_stream,
}


def dicts(records: Any) -> list[dict[str, Any]]:
    """Return records as plain objects."""
    return [to_builtins(record) for record in records]


def neighbour(name: str) -> Path:
    """Return a file of the corpus."""
    return TABLES / name


@pytest.mark.parametrize("name", WRITERS)
def test_each_container_holds_the_same_rows(name: str, tmp_path: Path) -> None:
    """Parquet, Arrow, Feather and a stream are detected, and read row for row."""
    WRITERS[name](pa.Table.from_pylist(ROWS), tmp_path / name)
    (found,) = detect(tmp_path / name)
    records = list(read(tmp_path / name, columns=MAP))

    assert (found.format, found.possible, found.records) == (None, "parquet", 5)
    assert validate(tmp_path / name, columns=MAP).ok
    assert [record.id for record in records] == [row["name"] for row in ROWS]
    assert [record.prompt for record in records] == [row["question"] for row in ROWS]
    assert records[2].choices == ["3", "6"]
    assert records[2].references == ["6"]


def test_list_of_objects_is_as_an_object_of_lists(tmp_path: Path) -> None:
    """A column of structs in a list gives the same choices and references."""
    rows = [
        {
            **row,
            "options": [
                {"text": text, "label": label}
                for text, label in zip(*row["options"].values(), strict=True)
            ],
        }
        for row in ROWS
    ]
    as_parquet(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    as_parquet(pa.Table.from_pylist(ROWS), tmp_path / "b.parquet")
    columns = {key: MAP[key] for key in ("id", "choices", "references")}
    left, right = (
        [(one.id, one.choices, one.references) for one in read(path, columns=columns)]
        for path in (tmp_path / "a.parquet", tmp_path / "b.parquet")
    )

    assert left == right


def test_rows_of_a_vendor_are_in_its_format(tmp_path: Path) -> None:
    """Rows that a vendor's format describes are detected and validated as such."""
    source = ROOT / "fixtures/nemo-output/valid/answers.jsonl"
    rows = jsonl_rows(source)
    as_parquet(pa.Table.from_pylist(rows), tmp_path / "answers.parquet")
    (found,) = detect(tmp_path / "answers.parquet")

    assert found.format == "nemo-output"
    assert dicts(read(tmp_path / "answers.parquet")) == dicts(read(source))


@pytest.mark.parametrize(
    "name",
    ["tencent-outputs", "tencent-manual", "eee@0.3.0", "sharegpt"],
)
def test_optional_keys_of_a_vendor_may_be_null(name: str, tmp_path: Path) -> None:
    """Rows of different keys are valid as a table, where those they lack are null."""
    for path in sorted((ROOT / "fixtures" / name / "valid").glob("*.jsonl")):
        rows = jsonl_rows(path)
        keys = dict.fromkeys(key for row in rows for key in row)
        try:
            table = pa.table({key: [row.get(key) for row in rows] for key in keys})
        except pa.ArrowException:  # a column of two types
            continue
        as_parquet(table, tmp_path / "a.parquet")
        report = validate(tmp_path / "a.parquet")

        assert report.ok, (path, report.problems)
        assert report.files[0].format == name


def test_place_of_a_problem_is_its_row(tmp_path: Path) -> None:
    """The line of a problem is the number of the row in the table."""
    rows: list[dict[str, Any]] = [
        {"prompt": "p", "ideal_response": "a", "category": "", "source": ""}
    ] * 3
    table = pa.Table.from_pylist(rows)
    table = table.set_column(1, "ideal_response", pa.array(["a", None, "c"]))
    as_parquet(table, tmp_path / "bad.parquet")
    report = validate(tmp_path / "bad.parquet")

    assert [problem.place.line for problem in report.problems] == [2]


def save_to_disk(folder: Path, *tables: Any) -> None:
    """Write tables as `datasets` writes the shards of a data set, not by name."""
    folder.mkdir()
    names = [f"data-{number}.arrow" for number in range(len(tables), 0, -1)]
    for name, table in zip(names, tables, strict=True):
        as_stream(table, folder / name)
    state = {"_data_files": [{"filename": name} for name in names]}
    (folder / "state.json").write_text(json.dumps(state))
    info = {"features": LABELS["info"]["features"]}
    (folder / "dataset_info.json").write_text(json.dumps(info))


def test_saved_data_set_is_one_input(tmp_path: Path) -> None:
    """The files of a folder are read as `state.json` orders them; labels get names."""
    tables = [
        pa.table({"question": ["a", "b"], "key": [0, 1]}),
        pa.table({"question": ["c"], "key": [-1]}),
    ]
    save_to_disk(tmp_path / "set", *tables)
    records = list(read(tmp_path / "set", columns={"prompt": "question"}))

    assert [record.prompt for record in records] == ["a", "b", "c"]
    assert [dict(record.extra or {}) for record in records] == [
        {"parquet": {"key": "A"}},
        {"parquet": {"key": "B"}},
        {},
    ]


def test_place_in_a_saved_data_set_is_in_its_file(tmp_path: Path) -> None:
    """A problem names the file in the folder, and the row there."""
    rows: list[dict[str, Any]] = [
        {"prompt": "p", "ideal_response": "a", "category": "", "source": ""}
    ] * 2
    bad = pa.Table.from_pylist(rows)
    bad = bad.set_column(1, "ideal_response", pa.array(["a", None]))
    save_to_disk(tmp_path / "set", pa.Table.from_pylist(rows), bad)
    (problem,) = validate(tmp_path / "set").problems

    assert (problem.place.member, problem.place.line) == ("data-1.arrow", 2)


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ('{"_data_files": [{"filename": "../x.arrow"}]}', "which is not in it"),
        ('{"_data_files": [{"filename": "none.arrow"}]}', "No such file|no such file"),
        ("{}", "does not name its files"),
        ("{", "is no JSON"),
    ],
)
def test_folder_with_a_wrong_state_is_refused(
    state: str, reason: str, tmp_path: Path
) -> None:
    """A data file that is missing or lies outside of the folder is one error."""
    save_to_disk(tmp_path / "set", pa.table({"a": [1]}))
    (tmp_path / "set/state.json").write_text(state)
    report = validate(tmp_path / "set")

    with pytest.raises(harpia_formats.HarpiaFormatsError, match=reason):
        report.raise_for_errors()


def test_class_label_of_parquet_has_its_name(tmp_path: Path) -> None:
    """A label is its name, by which a choice is found; a hidden one is none."""
    table = pa.table({"q": ["a", "b"], "c": [["x", "y"]] * 2, "key": [1, -1]})
    metadata = {b"huggingface": json.dumps(LABELS).encode()}
    as_parquet(table.replace_schema_metadata(metadata), tmp_path / "l.parquet")
    columns = {"prompt": "q", "references": "c[key]"}
    records = list(read(tmp_path / "l.parquet", columns=columns))

    assert dicts(records)[0]["references"] == ["y"]
    assert "references" not in dicts(records)[1]


def test_columns_named_as_fields_are_read_as_such(tmp_path: Path) -> None:
    """Without a map, columns with the names of fields are these fields."""
    row = {"id": 2**40, "prompt": "p", "references": ["a"], "response": "r", "x": None}
    as_parquet(pa.Table.from_pylist([{**row, "score": 0.5}]), tmp_path / "f.parquet")
    (record,) = read(tmp_path / "f.parquet")

    assert to_builtins(record) == {
        "id": 2**40,
        "prompt": "p",
        "references": ["a"],
        "outputs": [{"text": "r", "scores": [{"value": 0.5}]}],
    }


def test_column_may_be_called_as_the_header(tmp_path: Path) -> None:
    """A column `header` that is no header of a data set is a column like others."""
    as_parquet(pa.table({"header": [{"note": "n"}]}), tmp_path / "a.parquet")
    (record,) = read(tmp_path / "a.parquet", format="parquet")

    assert to_builtins(record)["extra"] == {"parquet": {"header": {"note": "n"}}}


@for_each_case(
    "columns, error",
    [
        ({"prompt": "qestion"}, "did you mean question"),
        ({"choices": "options.txt"}, "did you mean options.text"),
        ({"references": "options.text[keys]"}, "did you mean key"),
        ({"references": "options.text[name]"}, "no label is 'r1' .A, B."),
        ({"gt": "name", "category": "name"}, "that of gt already"),
    ],
)
def test_wrong_path_is_refused(
    columns: dict[str, str], error: str, tmp_path: Path
) -> None:
    """A path that no row has, and a label without an item, are named."""
    as_parquet(pa.Table.from_pylist(ROWS), tmp_path / "a.parquet")
    with pytest.raises((MapError, ValidationFailed), match=error):
        list(read(tmp_path / "a.parquet", columns=columns))


def test_mapped_field_has_no_second_column(tmp_path: Path) -> None:
    """A column named as a field is not dropped where another is mapped to it."""
    table = pa.table({"prompt": ["a"], "question": ["b"], "id": [7]})
    as_parquet(table, tmp_path / "a.parquet")
    columns = {"prompt": "question", "category": "prompt"}
    with pytest.raises(MapError, match="map the other one, too"):
        list(read(tmp_path / "a.parquet", columns={"prompt": "question"}))
    (record,) = read(tmp_path / "a.parquet", columns=columns)

    assert (record.id, record.prompt, record.category) == (7, "b", "a")


def broken(name: str, change: Callable[[bytes], bytes], folder: Path) -> Path:
    """Return a file whose bytes were changed."""
    WRITERS[name](pa.Table.from_pylist(ROWS * 50), folder / name)
    path = folder / f"broken-{name}"
    path.write_bytes(change((folder / name).read_bytes()))
    return path


@for_each_case(
    "name, change, reason",
    [
        ("rows.parquet", lambda data: data[:-20], "is cut"),
        ("rows.parquet", lambda data: data[:4], "is cut"),
        ("rows.parquet", lambda data: b"PARE" + data[4:], "is encrypted"),
        ("rows.parquet", lambda data: data[:-30] + b"\xff" * 22 + data[-8:], "corrupt"),
        ("rows.arrow", lambda data: data[:-20], "is cut"),
        ("rows.feather", lambda data: data[:50], "is cut"),
        ("rows.stream", lambda data: data[:-100], "is cut"),
    ],
)
def test_broken_file_is_one_error(
    name: str, change: Callable[[bytes], bytes], reason: str, tmp_path: Path
) -> None:
    """A file that is cut, encrypted or corrupt is reported, and never a traceback."""
    report = validate(broken(name, change, tmp_path))

    assert reason in str(report.files[0].reason)
    assert not report.ok


def test_rows_before_a_corrupt_page_are_counted(tmp_path: Path) -> None:
    """What can be read is validated, and the error names the last row."""
    path = tmp_path / "a.parquet"
    table = pa.table({"text": [os.urandom(500).hex() for _ in range(3_000)]})
    pq.write_table(table, path, row_group_size=1_000, use_dictionary=False)
    data = bytearray(path.read_bytes())
    begin = pq.ParquetFile(path).metadata.row_group(2).column(0).data_page_offset
    data[begin : begin + 60] = b"\xff" * 60
    path.write_bytes(data)
    (count,) = validate(path).files

    assert count.records == 2_000
    assert "behind row 2,000" in str(count.reason)


def test_without_pyarrow_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the package there is one error with the command that installs it."""
    as_parquet(pa.Table.from_pylist(ROWS), tmp_path / "a.parquet")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    report = validate(tmp_path / "a.parquet")

    assert 'pip install "harpia-formats[arrow]"' in str(report.files[0].reason)


def test_table_is_read_from_a_stream_and_from_bytes() -> None:
    """A pipe cannot seek; its bytes are read as those of a file."""
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), sink)
    data = sink.getvalue()

    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: int) -> int:
            raise io.UnsupportedOperation

    piped = read(Pipe(data), format="parquet", columns=MAP)

    assert dicts(piped) == dicts(read(data, columns=MAP))


def test_remote_table_is_read_in_ranges(tmp_path: Path) -> None:
    """A file of a store is read as one on the disk, and so is one that is cut there."""
    fsspec = pytest.importorskip("fsspec", reason="the extra remote is not installed")
    as_parquet(pa.Table.from_pylist(ROWS * 30), tmp_path / "a.parquet")
    data = (tmp_path / "a.parquet").read_bytes()
    fsspec.filesystem("memory").pipe("/a.parquet", data)
    fsspec.filesystem("memory").pipe("/cut.parquet", data[:-9])
    remote = dicts(read("memory://a.parquet", columns=MAP))

    assert remote == dicts(read(tmp_path / "a.parquet", columns=MAP))
    assert "is cut" in str(validate("memory://cut.parquet").files[0].reason)


def test_long_rows_are_read_in_small_batches(tmp_path: Path) -> None:
    """Rows of a megabyte come back whole and in order."""
    texts = [str(number) * 1_000_000 for number in range(8)]
    as_parquet(pa.table({"prompt": texts}), tmp_path / "long.parquet")

    assert [record.prompt for record in read(tmp_path / "long.parquet")] == texts


def only_fields(record: Record) -> tuple[Any, ...]:
    """Return the fields that the corpus's assertions are about."""
    return record.prompt, record.choices, record.references


@pytest.mark.corpora
def test_questions_of_the_corpus() -> None:
    """The data sets in the shapes of ARC, MMLU and SQuAD give their references."""
    arc = list(
        read(
            neighbour("arc_like.parquet"),
            columns={
                "prompt": "question",
                "choices": "choices.text",
                "references": "choices.text[answerKey]",
            },
        )
    )
    mmlu = list(
        read(
            neighbour("mmlu_like_classlabel.parquet"),
            columns={"prompt": "question", "references": "choices[answer]"},
        )
    )
    map_of_squad = {"prompt": "question", "references": "answers.text"}
    squad = list(read(neighbour("squad_like_zstd.parquet"), columns=map_of_squad))
    from_feather = list(read(neighbour("squad_like.feather"), columns=map_of_squad))

    assert len(arc) == len(mmlu) == len(squad) == 5
    assert only_fields(arc[0]) == ("What is 2+2?", ["1", "2", "3", "4"], ["4"])
    assert mmlu[0].references == ["4"]
    assert dict(mmlu[0].extra or {})["parquet"]["answer"] == "D"
    assert (squad[1].id, squad[1].references) == ("s1", ["6"])
    assert dicts(from_feather) == dicts(squad)


@pytest.mark.corpora
def test_chats_of_the_corpus() -> None:
    """The stream of `save_to_disk` equals the Parquet file of the same chats."""
    rows = dicts(read(neighbour("messages.parquet")))
    saved = dicts(read(neighbour("messages_save_to_disk")))

    assert saved == rows
    assert len(rows) == 5
    assert all({"system", "prompt", "gt"} <= row.keys() for row in rows)


def test_table_converts_to_a_vendor(tmp_path: Path) -> None:
    """Mapped columns become the rows of a vendor, the same for any number of jobs."""
    as_parquet(pa.Table.from_pylist(ROWS * 40), tmp_path / "a.parquet")
    columns = {"prompt": "question", "references": "options.text[key]"}
    outputs = []
    for jobs in (1, 2):
        output = tmp_path / f"{jobs}.jsonl"
        convert(
            tmp_path / "a.parquet",
            to="nemo-input",
            output=output,
            columns=columns,
            jobs=jobs,
        )
        outputs.append(output.read_bytes())

    assert outputs[0] == outputs[1]
    assert json.loads(outputs[0].splitlines()[0])["ideal_response"] == "2"


@pytest.mark.parametrize("options", [{}, {"delimiter": ";"}, {"redact": True}])
@pytest.mark.parametrize("format_", ["csv", "tencent-csv"])
def test_table_is_not_read_as_one_of_text(
    format_: str, options: dict[str, Any], tmp_path: Path
) -> None:
    """It has one error; its rows as JSON were cut by commas, and some were valid."""
    path = tmp_path / "a.parquet"
    as_parquet(pa.Table.from_pylist([{"prompt": "q", "response": "a"}] * 3), path)
    report = validate(path, format=format_, **options)
    (problem,), (file,) = report.problems, report.files

    assert (problem.code, file.records, report.ok) == ("S201", 0, False)
    assert problem.message == f"the file is not {format_}: it is no text"
    assert problem.help == "leave out format, so that its format is detected"
    with pytest.raises(ValidationFailed, match="it is no text"):
        list(read(path, format=format_))
    with pytest.raises(SubsetError, match="rows are no text; leave out from_"):
        head(path, 1, output=io.BytesIO(), from_=format_)


@pytest.mark.parametrize("options", [{"ignore": ["S201"]}, {"select": ["J3"]}])
def test_table_read_as_text_has_no_verdict_without_its_error(
    options: dict[str, Any], tmp_path: Path
) -> None:
    """Its rows are not cut by commas where the error of the file is left out either."""
    path = tmp_path / "a.parquet"
    as_parquet(pa.Table.from_pylist([{"prompt": "q", "response": "a"}] * 3), path)
    report = validate(path, format="csv", delimiter=";", **options)
    (file,) = report.files

    assert (report.problems, report.ok) == ((), False)
    assert (file.records, file.valid, file.invalid) == (3, 0, 0)
    assert file.unreported == ("S201",)
