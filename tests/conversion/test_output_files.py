"""Names of models in data never choose where a conversion writes."""

import gzip
import io
import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, BinaryIO, cast

import pytest

import harpia_formats
from cases import for_each_case
from command_runs import TIMEOUT, begun, environment_with
from harpia_formats import ConversionError, SinkError, convert
from harpia_formats.plugins import Outcome
from json_lines import jsonl


def record_of(*models: str) -> bytes:
    """Return a record with an answer of each model, whose text is its number."""
    outputs = [{"model": name, "text": str(n)} for n, name in enumerate(models)]
    record = {"id": "1", "prompt": "q", "references": ["r"], "outputs": outputs}
    return jsonl(record)


def files_in(folder: Path) -> dict[str, str]:
    """Return the answer in each file below a folder, by its path."""
    return {
        str(path.relative_to(folder)): json.loads(path.read_bytes())[0]["response"]
        for path in folder.rglob("*.json")
    }


def written(folder: Path, name: str, *models: str, **options: Any) -> Any:
    """Convert a record of `models` to a file for each model."""
    options = {"to": "nemo", "from_": "record"} | options
    return convert(record_of(*models), output=folder / name, **options)


@for_each_case("model", ["..", ".", "../up", "/tmp/x", "a/../../b"])  # noqa: S108 - the name of a model
def test_a_model_does_not_lead_out_of_the_folder(tmp_path: Path, model: str) -> None:
    """A model whose name is a path writes to one folder below the one that is named."""
    folder = tmp_path / "deep" / "out"
    for name in ("_", "__up", "_tmp_x", "a_.._.._b"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    report = written(folder, "{model}/rows.json", model)
    (path,) = tmp_path.rglob("rows.json")

    assert report.ok
    assert path.parent.parent == folder


@pytest.mark.parametrize(
    "models", [("a/b", "a_b"), ("M", "m"), ("x y", "x/y", "x:y"), ("e\u0301", "\u00e9")]
)
def test_models_of_one_name_have_files_of_their_own(
    tmp_path: Path, models: tuple[str, ...]
) -> None:
    """Names that would give one file get suffixes, which notes say; no row is lost."""
    report = written(tmp_path, "{model}.json", *models)
    files = files_in(tmp_path)

    assert sorted(files.values()) == [str(n) for n in range(len(models))]
    assert len(report.notes) == len(models) - 1
    assert all("-" in note for note in report.notes)


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("bad", {"on_invalid": "quarantine", "quarantine": "bad.json"}),
        ("bad.findings", {"on_invalid": "quarantine", "quarantine": "bad.jsonl"}),
        ("losses", {"loss_report": "losses.json"}),
    ],
)
def test_a_model_does_not_get_the_place_of_another_output(
    tmp_path: Path, model: str, options: dict[str, Any]
) -> None:
    """The rows of a model named like another output are in a file of their own."""
    for key in {"quarantine", "loss_report"} & options.keys():
        options[key] = tmp_path / options[key]
    suffix = ".jsonl" if "findings" in model else ".json"
    data = record_of(model) + b'{"id": 5, "prompt": 5}\n'
    name = tmp_path / f"{{model}}{suffix}"
    options = {"on_invalid": "skip", **options}
    report = convert(data, to="nemo", from_="record", output=name, **options)

    assert (report.ok, report.rows, len(report.notes)) == (True, 1, 1)
    assert [Path(output).name for output in report.outputs] == [f"{model}-2{suffix}"]
    assert b'"response":"0"' in (tmp_path / f"{model}-2{suffix}").read_bytes()


def test_a_model_does_not_replace_an_input(tmp_path: Path) -> None:
    """A model named like an input gets another file, even with `overwrite`."""
    source = tmp_path / "in.json"
    source.write_bytes(record_of("in"))
    output = tmp_path / "{model}.json"
    report = convert(source, to="nemo", from_="record", output=output, overwrite=True)

    assert source.read_bytes() == record_of("in")
    assert [Path(name).name for name in report.outputs] == ["in-2.json"]


def test_two_outputs_of_one_place_are_refused(tmp_path: Path) -> None:
    """A report of losses and a quarantine cannot be one file."""
    both = dict.fromkeys(("quarantine", "loss_report"), tmp_path / "side.json")
    with pytest.raises(SinkError, match="two outputs"):
        written(tmp_path, "out.json", "m", on_invalid="quarantine", **both)

    assert not list(tmp_path.iterdir())


def test_a_file_that_came_while_it_was_converted_is_kept(tmp_path: Path) -> None:
    """Without `overwrite`, a file that another program made meanwhile is not replaced.

    Nothing of the conversion remains then.
    """
    rows = [record_of("m")]
    output = tmp_path / "out.json"

    class Slow:
        """A stream during whose reading another program writes the output."""

        name = "rows"

        def read(self, _size: int = -1) -> bytes:
            if rows:
                return rows.pop()
            output.write_bytes(b"theirs")
            return b""

    with pytest.raises(SinkError, match="has appeared meanwhile"):
        convert(Slow(), to="nemo", from_="record", output=output)

    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]
    assert output.read_bytes() == b"theirs"


@pytest.mark.parametrize(
    "to",
    [
        *("haystack", "record"),
        *(pytest.param(each, marks=pytest.mark.long) for each in ("nemo", "csv")),
    ],
)
def test_a_reader_that_stops_ends_the_conversion_quietly(
    tmp_path: Path, to: str
) -> None:
    """If nobody reads standard output any more, the exit code is 141, without a word.

    That holds for formats that are written at once, and for those at the end.
    """
    source = tmp_path / "in.jsonl"
    row = {"prompt": "q" * 5_000, "references": ["r"], "outputs": []}
    source.write_bytes(jsonl(*({"id": str(n), **row} for n in range(500))))
    command = [sys.executable, "-m", "harpia_formats", "convert", str(source)]
    with subprocess.Popen(  # noqa: S603 - the command is ours
        [*command, "--from", "record", "--to", to, "--quiet"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(1)
        process.stdout.close()
        errors = process.stderr.read()

    assert (process.returncode, errors) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("to", ["nemo", "haystack", "csv"])
def test_an_error_of_standard_output_names_it(tmp_path: Path, to: str) -> None:
    """A full disk behind standard output is not taken for one of temporary files."""
    source = tmp_path / "in.jsonl"
    source.write_bytes(record_of("m"))
    words = ["convert", source, "--from", "record", "--to", to, "--quiet"]
    errors = tmp_path / "errors"
    with Path("/dev/full").open("wb") as full, errors.open("wb") as stderr:
        streams = [None, full.fileno(), stderr.fileno()]
        code = begun(words, tmp_path, environment_with({}), streams).wait(TIMEOUT)

    assert code == 2
    assert b"standard output: no space left" in errors.read_bytes().lower()
    assert b"temporary" not in errors.read_bytes()


@pytest.mark.parametrize(
    "name", ["{modle}.json", "{Model}.json", "out/{models}/x.json"]
)
def test_misspelt_word_in_a_name_is_refused(name: str) -> None:
    """A name with a word near {model} is refused, with that word."""
    with pytest.raises(SinkError, match=r"did you mean \{model\}"):
        convert(record_of("m"), to="nemo", output=name, overwrite=True)


def test_scores_have_no_file_per_model() -> None:
    """The word {model} in the name of a result file is refused."""
    with pytest.raises(SinkError, match="in one file"):
        harpia_formats.score(
            record_of("m"), metrics="em", to="csv", output="{model}.csv", overwrite=True
        )


#: A record whose texts have what separates cells of tables.
CELLS = jsonl(
    {
        "id": "1",
        "prompt": "a\tb",
        "references": ["c, d", 'e"f\ng'],
        "outputs": [{"model": "m", "text": "x,y;z"}],
    }
)


SUFFIXES = (".tsv", ".TSV", ".tsv.gz")


@for_each_case(
    "jobs, to, suffix",
    itertools.product([1, 2], [None, "csv", "tencent-csv"], SUFFIXES),
)
def test_a_table_called_tsv_has_tabs(
    tmp_path: Path, suffix: str, to: str | None, jobs: int
) -> None:
    """The cells of a .tsv file have tabs between them, and come back as they were."""
    output, other = tmp_path / f"x{suffix}", tmp_path / "x.csv"
    for path in (output, other):
        convert(CELLS, to=to, output=path, from_="record", jobs=jobs)
    opened = gzip.open if suffix.endswith(".gz") else open
    with opened(output, "rt") as file:
        header = file.readline()

    assert "\t" in header
    assert "," not in header
    assert "\t" not in other.read_text().partition("\n")[0]
    first, second = (
        list(harpia_formats.read(path, format=to or "csv")) for path in (output, other)
    )
    assert first == second


def test_scores_in_a_file_called_tsv_have_tabs(tmp_path: Path) -> None:
    """The table of scores of single answers has the delimiter of its name."""
    output = tmp_path / "scores.tsv"
    harpia_formats.score(CELLS, format="record", metrics="em", to="csv", output=output)

    assert output.read_text() == "id\tmodel\tcategory\tem\n1\tm\t\t0.0\n"


@for_each_case(
    "format_, name",
    [
        *(("csv", each) for each in ("x.csv", "x.tsv", "{model}.CSV.gz")),
        *(("parquet", each) for each in ("x.parquet", "x.arrow", "x.feather")),
    ],
)
def test_the_suffix_of_an_output_names_its_format(
    tmp_path: Path, format_: str, name: str
) -> None:
    """Without a format to write, a suffix that can mean one only decides."""
    report = convert(CELLS, output=tmp_path / name)

    assert report.target == format_


@for_each_case("name", ["x.jsonl", "x.json", "x.txt", "x", "csv", None])
def test_another_suffix_names_no_format(tmp_path: Path, name: str | None) -> None:
    """Without a format, a suffix of several formats or of none is an error."""
    output = tmp_path / name if name else None
    with pytest.raises(ConversionError, match=r"^to is missing: Format to write"):
        convert(CELLS, output=output)

    assert list(tmp_path.iterdir()) == []


def test_a_table_of_tencent_has_its_documented_columns(tmp_path: Path) -> None:
    """Other columns are losses, unless extra fields are kept."""
    row = b'{"messages":[{"role":"user","content":"q"}],"ref_answer":"r","k":"v"}\n'
    bare, whole = tmp_path / "bare.csv", tmp_path / "whole.csv"
    report = convert(row, to="tencent-csv", output=bare)
    kept = convert(row, to="tencent-csv", output=whole, keep_extra=True)
    lost = {(each.outcome, each.path) for each in report.losses[0].losses.counts}

    assert bare.read_text() == "system,prompt,response\n,q,r\n"
    assert whole.read_text() == "system,prompt,response,k\n,q,r,v\n"
    assert lost == {(Outcome.DROPPED, "extra.tencent.k"), (Outcome.DEFAULTED, "system")}
    assert [each.path for each in kept.losses[0].losses.counts] == ["system"]


def test_losses_of_a_table_bear_the_names_of_its_columns(tmp_path: Path) -> None:
    """Columns of Parquet, and of a dialect, have their own names in the losses."""
    arrow = pytest.importorskip("pyarrow")
    columns = {"prompt": ["q"], "response": ["a"], "score": [0.5], "foo": ["x"]}
    table = arrow.table({**columns, "references": [["r"]]})
    output = tmp_path / "x.csv"
    report = convert(table, to="tencent-csv", output=output, from_="parquet")
    losses = report.losses[0].losses
    named = {losses.names.of(each.path) for each in losses.counts}

    assert {"response", "score", "foo"} <= named


class ShortWrites(io.RawIOBase):
    """A stream that takes at most ten bytes at once, as a pipe without a buffer may."""

    def __init__(self) -> None:
        super().__init__()
        self.data = b""

    def writable(self) -> bool:
        """Return true."""
        return True

    def write(self, data: Any, /) -> int:
        """Take some of the data."""
        self.data += bytes(data[:10])
        return min(10, len(data))


def test_stream_that_takes_a_part_gets_all_rows() -> None:
    """Rows are written to the end to a stream that takes a part of each write."""
    stream = ShortWrites()
    rows = [{"prompt": f"question {n}", "outputs": []} for n in range(50)]
    convert(rows, from_="record", to="record", output=cast("BinaryIO", stream))

    assert len(stream.data.splitlines()) == 50
    assert json.loads(stream.data.splitlines()[-1])["prompt"] == "question 49"
