"""Tables whose fields are separated by another character than a comma."""

from pathlib import Path
from typing import Any

import pytest

import command_runs
from cases import for_each_case
from harpia_formats import convert, detect, diff, read, roundtrip, score, validate

SEMICOLONS = b"id;prompt;references;response;model\n1;2+2?;4;4;m\n2;3,5?;5;5,1;m\n"
#: Tables by the delimiter that the error names.
OTHERS = {
    ";": SEMICOLONS,
    "tab": SEMICOLONS.replace(b";", b"\t"),
    "|": SEMICOLONS.replace(b";", b"|"),
    "; ": b'"a";"b;c"\n"1";"2;3"\n',
    "tab ": b'a\tb\n"x\ty"\tz\n',
}
#: Commands that read tables, with the arguments behind the name of the file.
COMMANDS: dict[str, tuple[str, ...]] = {
    "validate": (),
    "detect": (),
    "convert": ("--to", "record"),
    "score": ("-m", "em"),
    "roundtrip": ("--via", "record"),
    "diff": ("table.csv",),
}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return a table with semicolons, called .csv."""
    path = tmp_path / "table.csv"
    path.write_bytes(SEMICOLONS)
    return path


@for_each_case("name", OTHERS)
def test_other_delimiter_is_one_error_that_names_it(name: str, tmp_path: Path) -> None:
    """If header and rows hold another delimiter, it is named, and no row is valid."""
    path = tmp_path / "table.csv"
    path.write_bytes(OTHERS[name])
    report = validate(path)
    (problem,) = report.problems

    assert (problem.code, report.ok, report.files[0].valid) == ("J307", False, 0)
    assert problem.help == f'read the table with delimiter="{name.strip()}"'
    assert detect(path)[0].format is None


def test_named_delimiter_reads_the_table(table: Path) -> None:
    """With the delimiter, all rows are read, with commas in their fields."""
    report = validate(table, delimiter=";")

    assert report.ok
    assert not report.problems
    assert report.files[0].records == report.files[0].valid == 2
    assert [record.prompt for record in read(table, delimiter=";")] == ["2+2?", "3,5?"]
    assert detect(table, delimiter=";")[0].format == "csv"


def test_python_functions_take_a_delimiter(table: Path, tmp_path: Path) -> None:
    """Each function that reads tables reads them with a delimiter."""
    out = tmp_path / "out.jsonl"
    convert(table, to="record", output=out, delimiter=";")

    assert out.read_bytes().count(b"\n") == 2
    assert roundtrip(table, via="record", delimiter=";").records == 2
    assert diff(table, table, delimiter=";").records == 2
    assert score(table, metrics=("em",), delimiter=";").report.ok


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_names_the_delimiter_and_takes_it(
    command: str, table: Path
) -> None:
    """A command fails with the name of the delimiter, and succeeds if it is given."""
    arguments = (command, table.name, *COMMANDS[command])
    refused = command_runs.run(*arguments, cwd=table.parent)
    taken = command_runs.run(*arguments, "--delimiter", ";", cwd=table.parent)

    assert refused.returncode == 1
    assert b"--delimiter ';'" in refused.stdout + refused.stderr
    assert taken.returncode == 0, taken.stderr


def test_several_processes_read_with_the_delimiter(table: Path) -> None:
    """Files that are validated in other processes are read with the delimiter, too."""
    for number in range(4):
        (table.parent / f"more-{number}.csv").write_bytes(SEMICOLONS)
    one, two = (validate(table.parent, delimiter=";", jobs=jobs) for jobs in (1, 2))

    assert one.ok
    assert one.files == two.files


@pytest.mark.parametrize("name", ["table.tsv", "table.TSV"])
def test_file_called_tsv_is_read_with_tabs(name: str, tmp_path: Path) -> None:
    """A .tsv file has tabs between its fields, unless another delimiter is named."""
    path = tmp_path / name
    path.write_bytes(SEMICOLONS.replace(b";", b"\t"))
    report = validate(path)

    assert (report.ok, report.files[0].format) == (True, "csv")
    path.write_bytes(SEMICOLONS)
    assert [each.code for each in validate(path).problems] == ["J307"]
    assert validate(path, delimiter=";").ok


@pytest.mark.parametrize(
    "data",
    [
        b"question\nWhat is a; b?\n",
        b"a|b\n1\n",
        b"a;b,c\n1;2,3\n",
        b'"a;b"\n"1;2"\n',
    ],
)
def test_delimiters_inside_of_texts_are_no_error(data: bytes, tmp_path: Path) -> None:
    """Semicolons in texts, in quotes, and without an equal number below are text."""
    path = tmp_path / "table.csv"
    path.write_bytes(data)

    assert validate(path, format="csv").ok
    assert [each.code for each in validate(path).problems] == ["S301"]


@for_each_case(
    "data, name",
    [
        ("prompt，response\n你好，世界\n", "full-width comma"),
        ('问题，回答\n"你好，世界"，"a, b"\n', "full-width comma"),
        ("prompt，response\n你好，世界，你好\n", "full-width comma"),
        ("prompt；response\n1；2\n", "full-width semicolon"),
        ("\ufeffprompt、references\r\n1、2\r\n", "ideographic comma"),
        ("prompt｜references\n1｜2", "full-width vertical bar"),
    ],
)
def test_delimiter_of_full_width_is_named(data: str, name: str, tmp_path: Path) -> None:
    """A character of full width that cuts the header is J307, by its name."""
    path = tmp_path / "table.csv"
    path.write_bytes(data.encode())
    problems = [each for each in validate(path).problems if each.code != "J201"]

    assert [each.code for each in problems] == ["J307"]
    assert f"a {name} separates the fields" in problems[0].message
    assert "fix(unsafe=True)" in problems[0].help
    assert "delimiter" not in problems[0].help


def test_table_without_a_name_has_its_full_width_comma_named() -> None:
    """S301 on such a table of standard input names the character in its header."""
    (problem,) = validate("prompt，references\n1，2\n".encode()).problems
    (other,) = validate("尊敬的先生，您好\n谢谢，再见\n".encode()).problems

    assert (problem.code, other.code) == ("S301", "S301")
    assert "a full-width comma separates the fields" in problem.help
    assert "full-width" not in other.help


@pytest.mark.parametrize(
    "data",
    [
        "问题，含背景\n你好\n你好，世界，你好\n",
        "问题\n你好，世界\n",
        '"问题，含背景"\n"你好，世界"\n',
    ],
)
def test_punctuation_of_texts_is_no_delimiter(data: str, tmp_path: Path) -> None:
    """Full-width commas of one column of texts do not make several of it."""
    path = tmp_path / "table.csv"
    path.write_bytes(data.encode())

    assert [each.code for each in validate(path).problems] == ["S301"]


def test_row_with_full_width_commas_is_advised_on_them() -> None:
    """Below a header with commas, what should be commas in a row is named."""
    data = "id,prompt,references\n1，2，3\n1，2\n".encode()
    first, second = validate(data, format="csv").problems

    assert first.help == "write a comma for each full-width comma"
    assert second.help.startswith("add the fields")


@pytest.mark.parametrize(
    ("data", "delimiter", "codes"),
    [
        (b'"a,b"\n1\n', None, []),
        (b"a;b\n1\n", None, ["J306"]),
        (b"a,b\n1\n", ";", ["J306"]),
        (b'"a;b"\n1\n', ";", []),
    ],
)
def test_header_that_may_be_several_columns_is_doubtful(
    data: bytes, delimiter: str | None, codes: list[str]
) -> None:
    """A header of one column with another delimiter in it gets a warning."""
    report = validate(data, format="csv", delimiter=delimiter)

    assert report.ok
    assert [problem.code for problem in report.problems] == codes


def test_advice_names_the_delimiter() -> None:
    """A row with too many fields is advised on the delimiter of its table."""
    (problem,) = validate(b"id;prompt\n1;a;b\n", delimiter=";").problems

    assert problem.help == "put a field with a semicolon or a line end in quotes"


def test_delimiter_claims_a_text_as_a_table(tmp_path: Path) -> None:
    """A text for which a delimiter is named is a table, whatever it is called."""
    path = tmp_path / "table.txt"
    path.write_bytes(SEMICOLONS)

    assert not validate(path).ok
    assert validate(path, delimiter=";").ok


@pytest.mark.parametrize(
    "call",
    [
        lambda path: validate(path, delimiter=";;"),
        lambda path: detect(path, delimiter=";;"),
        lambda path: score(path, delimiter=";;"),
        lambda path: convert(path, to="record", delimiter=";;"),
    ],
)
def test_what_is_no_delimiter_is_refused(call: Any, table: Path) -> None:
    """A text of several characters that names no delimiter is an error."""
    with pytest.raises(ValueError, match="is no delimiter"):
        call(table)


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(("delimiter", "shown"), [(";", ";"), ("\t", "tab")])
def test_table_without_a_name_has_its_delimiter_named(
    delimiter: str, shown: str, jobs: int
) -> None:
    """S301 on a table of standard input names the delimiter that reads it."""
    data = SEMICOLONS.replace(b";", delimiter.encode())
    (problem,) = validate(data, jobs=jobs).problems

    assert problem.code == "S301"
    assert f'read it with format="csv", delimiter="{shown}";' in problem.help
    assert validate(data, format="csv", delimiter=shown).summary()["records"] == 2


@pytest.mark.parametrize(
    "data", [b"a;b\n1;2\n", b"id;prompt\n1;2;3\n", b"Dear A; prompt\nB\n"]
)
def test_other_text_has_no_delimiter_named(data: bytes) -> None:
    """Text whose lines differ, or without a known column, is not called a table."""
    (problem,) = validate(data).problems

    assert problem.code == "S301"
    assert "delimiter" not in problem.help
