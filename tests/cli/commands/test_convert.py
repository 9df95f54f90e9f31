"""`harpia-formats convert`: inputs, outputs, messages and failed runs."""

import bz2
import contextlib
import fcntl
import gzip
import json
import lzma
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import command_runs
from command_runs import COMMAND, TIMEOUT, begun, read_all
from json_lines import jsonl, jsonl_rows
from processes import children_of

GOOD = [
    {
        "id": str(each),
        "input": f"q{each}",
        "expected-output": ["r"],
        "actual-output": "a",
    }
    for each in range(3)
]
#: A row that is not valid, as text.
WRONG = b'{"id": "x",  "input": 7}'
#: A record that no row of NeMo can be made from.
UNASKED = {"messages": [{"role": "system", "content": "s"}], "ref_answer": "r"}
#: Runs `harpia-formats convert` with arguments.
run = partial(command_runs.run, "convert")


def on_terminal(*arguments: object, cwd: Path, width: int) -> str:
    """Run `convert` with a terminal for standard error; return what is on it."""
    ours, theirs = os.openpty()
    size = struct.pack("HHHH", 24, width, 0, 0)
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, size)
    gone = {"COLUMNS", "FORCE_COLOR"}
    kept = {key: each for key, each in os.environ.items() if key not in gone}
    variables = {**kept, "NO_COLOR": "1", "TERM": "dumb"}
    process = begun(["convert", *arguments], cwd, variables, [None, None, theirs])
    os.close(theirs)
    text = read_all(ours)
    process.wait(TIMEOUT)
    os.close(ours)
    return text.decode().replace("\r\n", "\n")


def names(folder: Path) -> list[str]:
    """Return what is in a folder, hidden files included."""
    return sorted(each.name for each in folder.iterdir())


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a folder with a good file and one with a row that is not valid."""
    (tmp_path / "good.jsonl").write_bytes(jsonl(*GOOD))
    rows = [jsonl(GOOD[0]), WRONG + b"\n", jsonl(GOOD[1])]
    (tmp_path / "bad.jsonl").write_bytes(b"".join(rows))
    return tmp_path


# Where it reads from and writes to


@pytest.mark.parametrize("inputs", [[], ["-"]], ids=["none", "-"])
@pytest.mark.parametrize("output", [[], ["-o", "-"]], ids=["none", "-o -"])
def test_standard_input_becomes_standard_output(
    inputs: list[str], output: list[str]
) -> None:
    """Without a file it reads standard input, and writes standard output."""
    result = run(*inputs, "--to", "nemo", *output, stdin=jsonl(*GOOD))

    assert result.returncode == 0
    assert [each["response"] for each in json.loads(result.stdout)] == ["a", "a", "a"]
    assert b"<stdout>: 3 rows of nemo-output" in result.stderr


def test_output_name_selects_array_or_lines(data: Path) -> None:
    """.json gives one array and .jsonl gives lines, unless --container is given."""
    for name, *more in (
        ("a.json",),
        ("l.jsonl",),
        ("b.json", "--container", "lines"),
        ("m.jsonl", "--container", "array"),
    ):
        result = run("good.jsonl", "--to", "nemo", "-o", name, *more, cwd=data)

        assert result.returncode == 0
    array, lines = (data / "a.json").read_bytes(), (data / "l.jsonl").read_bytes()

    assert len(json.loads(array)) == len(lines.splitlines()) == 3
    assert (data / "b.json").read_bytes() == lines
    assert (data / "m.jsonl").read_bytes() == array


@pytest.mark.parametrize(
    ("suffix", "opened"),
    [(".gz", gzip.open), (".bz2", bz2.open), (".xz", lzma.open)],
    ids=[".gz", ".bz2", ".xz"],
)
def test_output_is_compressed_by_its_name(data: Path, suffix: str, opened: Any) -> None:
    """A compressed output is read again, and has the same bytes in every run."""
    first, second = f"first.jsonl{suffix}", f"second.jsonl{suffix}"
    plain = run("good.jsonl", "--to", "nemo", "--container", "lines", cwd=data)
    for name in (first, second):
        run("good.jsonl", "--to", "nemo", "-o", name, cwd=data)
        time.sleep(1.1 if name == first and suffix == ".gz" else 0)
    with opened(data / first) as stream:
        text = stream.read()
    again = run(first, "--to", "nemo", "--container", "lines", cwd=data)

    assert text == plain.stdout == again.stdout
    assert (data / first).read_bytes() == (data / second).read_bytes()


def test_an_existing_output_stays_without_overwrite(data: Path) -> None:
    """An output is not replaced without --overwrite, and is with it."""
    output = data / "out.json"
    output.write_bytes(b"mine")
    refused = run("good.jsonl", "--to", "nemo", "-o", "out.json", cwd=data)
    kept = output.read_bytes()
    done = run("good.jsonl", "--to", "nemo", "-o", "out.json", "--overwrite", cwd=data)

    assert (refused.returncode, kept) == (2, b"mine")
    assert b"--overwrite" in refused.stderr
    assert done.returncode == 0
    assert len(json.loads(output.read_bytes())) == 3


def test_the_output_can_be_the_input(data: Path) -> None:
    """A file can be converted into itself: it is replaced once all of it was read."""
    (data / "good.jsonl").write_bytes(jsonl(*GOOD) * 1)
    result = run(
        "good.jsonl", "--to", "nemo", "-o", "good.jsonl", "--overwrite", cwd=data
    )
    rows = jsonl_rows(data / "good.jsonl")

    assert result.returncode == 0
    assert [each["input"]["prompt"] for each in rows] == ["q0", "q1", "q2"]


def test_an_output_keeps_its_permissions_and_its_link(data: Path) -> None:
    """What a link points to is replaced, with the permissions that it had."""
    (data / "real.json").write_bytes(b"old")
    (data / "real.json").chmod(0o640)
    (data / "link.json").symlink_to("real.json")
    run("good.jsonl", "--to", "nemo", "-o", "link.json", "--overwrite", cwd=data)

    assert (data / "link.json").is_symlink()
    assert (data / "real.json").stat().st_mode & 0o777 == 0o640
    assert len(json.loads((data / "real.json").read_bytes())) == 3


def test_output_pipe_is_written_and_stays_a_pipe(data: Path) -> None:
    """A pipe given as output gets the data and is still a pipe afterwards."""
    pipe = data / "pipe"
    os.mkfifo(pipe)
    command = [*COMMAND, "convert", "good.jsonl", "--to", "nemo", "-o", "pipe"]
    with subprocess.Popen(command, cwd=data, stderr=subprocess.PIPE) as process:  # noqa: S603 - the command is ours
        text = pipe.read_bytes()
        process.communicate(timeout=TIMEOUT)

    assert process.returncode == 0
    assert len(json.loads(text)) == 3
    assert pipe.is_fifo()


def test_a_missing_folder_is_named(data: Path) -> None:
    """An output in no folder, or that is a folder, is an error with its name."""
    result = run("good.jsonl", "--to", "nemo", "-o", "no/out.json", cwd=data)
    folder = run("good.jsonl", "--to", "nemo", "-o", ".", cwd=data)

    assert (result.returncode, folder.returncode) == (2, 2)
    assert b"cannot write no/out.json" in result.stderr
    assert b"is a folder" in folder.stderr


# What is left behind


def test_nothing_is_left_of_a_run_with_an_invalid_row(data: Path) -> None:
    """An invalid row ends the run with its place, and no file is written."""
    before = names(data)
    result = run("bad.jsonl", "--to", "nemo", "-o", "out.json", cwd=data)

    assert result.returncode == 1
    assert result.stderr.startswith(b"bad.jsonl:2:")
    assert b"nothing was written" in result.stderr
    assert names(data) == before


def test_nothing_is_left_of_a_record_that_cannot_be_converted(data: Path) -> None:
    """A record that cannot be converted is named with its place and its reason."""
    asked = {"messages": [{"role": "user", "content": "q"}], "ref_answer": "r"}
    (data / "chats.jsonl").write_bytes(jsonl(asked, UNASKED))
    before = names(data)
    result = run("chats.jsonl", "--to", "nemo", "-o", "out.json", cwd=data)

    assert result.returncode == 1
    assert result.stderr.startswith(b"chats.jsonl:2:1: L201 unconvertible")
    assert names(data) == before


def test_nothing_is_left_of_a_broken_archive(data: Path) -> None:
    """A truncated compressed input is a failure, and no file is written."""
    whole = gzip.compress(jsonl(*GOOD * 500))
    (data / "cut.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    before = names(data)
    result = run("cut.jsonl.gz", "--to", "nemo", "-o", "out.json", cwd=data)

    assert result.returncode == 2
    assert b"error: cut.jsonl.gz: " in result.stderr
    assert names(data) == before


@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(signal.SIGHUP, 129, marks=pytest.mark.long),
        (signal.SIGINT, 130),
        (signal.SIGTERM, 143),
    ],
)
def test_nothing_is_left_of_a_run_that_is_ended(
    data: Path, number: signal.Signals, code: int
) -> None:
    """A run that is ended by a signal takes away what it has written."""
    before = names(data)
    heed = "import signal; signal.signal(2, signal.default_int_handler)"
    call = f"{heed}; from harpia_formats.cli import main; main()"
    arguments = ["convert", "-", "--to", "nemo", "-o", "out.json", "-f", "harpia"]
    pipe = subprocess.PIPE
    process = subprocess.Popen(  # noqa: S603 - the command is ours
        [sys.executable, "-c", call, *arguments],
        cwd=data,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
    )
    with process:
        assert process.stdin
        process.stdin.write(jsonl(*GOOD) * 3_000)
        process.stdin.flush()
        _wait_for_more_than(data, before)
        process.send_signal(number)
        _, message = process.communicate(timeout=TIMEOUT)

    assert (process.returncode, message) == (code, b"")
    assert names(data) == before


def _wait_for_more_than(folder: Path, before: list[str]) -> None:
    """Wait until a temporary file stands in `folder`."""
    end = time.monotonic() + TIMEOUT
    while names(folder) == before and time.monotonic() < end:
        select.select([], [], [], 0.01)


@pytest.mark.parametrize("option", [["--set", "promt=x"], ["--score", "bleu"]])
def test_nothing_is_left_of_options_that_cannot_be_met(
    data: Path, option: list[str]
) -> None:
    """If options are refused, no file is opened, not even for quarantine."""
    before = names(data)
    arguments = ["bad.jsonl", "--to", "nemo", "-o", "o.json", *option]
    result = run(*arguments, "--on-invalid", "quarantine", cwd=data)

    assert result.returncode == 2
    assert result.stderr.startswith(b"error: ")
    assert names(data) == before


# Rows that are not valid


def test_invalid_rows_are_skipped_and_counted(data: Path) -> None:
    """With skip the good rows are written, and the others counted."""
    result = run("bad.jsonl", "--to", "nemo", "--on-invalid", "skip", cwd=data)

    assert result.returncode == 0
    assert len(json.loads(result.stdout)) == 2
    assert b"2 rows of nemo-output, 1 record left out" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        "convert --to nemo",
        "score -m em",
        "stats",
        "diff broken.json",
        "roundtrip --via record",
    ],
)
@pytest.mark.parametrize(
    "broken", ["", "[{good}, ", "[{good}, {wrong}, ", "[{good},,{good}]"]
)
def test_files_that_may_lack_records_are_failures(
    data: Path, words: str, broken: str
) -> None:
    """With skip the exit code is 1 if a file has no records, or a broken array."""
    row = jsonl(GOOD[0]).decode().strip()
    text = broken.replace("{good}", row).replace("{wrong}", WRONG.decode())
    (data / "broken.json").write_text(text)
    files = ["broken.json"] if "diff" in words else ["good.jsonl", "broken.json"]
    command, *options = words.split()
    result = command_runs.run(
        command, *options, *files, "--on-invalid", "skip", cwd=data
    )

    assert result.returncode == 1
    assert b"broken.json:1:" in result.stderr + result.stdout
    if command == "convert":
        assert len(json.loads(result.stdout)) == len(GOOD) + broken.count("{good}")


def test_invalid_rows_are_quarantined_byte_for_byte(data: Path) -> None:
    """Quarantine writes the bytes of a row to one file and its problems to another."""
    arguments = ["bad.jsonl", "--to", "nemo", "-o", "out.json"]
    result = run(*arguments, "--on-invalid", "quarantine", cwd=data)
    findings = (data / "out.invalid.findings.jsonl").read_bytes().splitlines()
    places = [json.loads(each) for each in findings]

    assert result.returncode == 0
    assert len(json.loads((data / "out.json").read_bytes())) == 2
    assert (data / "out.invalid.jsonl").read_bytes() == WRONG + b"\n"
    assert places
    assert {each["line"] for each in places} == {2}


def test_quarantine_file_needs_quarantine(data: Path) -> None:
    """--quarantine without --on-invalid quarantine ends with 2 and one line."""
    result = run("bad.jsonl", "--to", "nemo", "--quarantine", "aside.jsonl", cwd=data)

    assert result.returncode == 2
    assert (
        result.stderr == b"error: `--quarantine FILE` needs `--on-invalid quarantine`\n"
    )


def test_quarantine_to_standard_output_needs_a_file_name(data: Path) -> None:
    """With standard output as output, --quarantine must name a file."""
    arguments = ["bad.jsonl", "--to", "nemo", "--on-invalid", "quarantine"]
    refused = run(*arguments, cwd=data)
    done = run(*arguments, "--quarantine", "aside.jsonl", cwd=data)

    assert refused.returncode == 2
    assert b"--quarantine" in refused.stderr
    assert done.returncode == 0
    assert (data / "aside.jsonl").read_bytes() == WRONG + b"\n"


def test_unconvertible_records_are_quarantined(data: Path) -> None:
    """A valid row that the target cannot hold is quarantined like an invalid one.

    An output without any row is not written: it would look like an empty input.
    """
    text = json.dumps(UNASKED, indent=None).encode()
    (data / "chats.jsonl").write_bytes(text + b"\n")
    arguments = ["chats.jsonl", "--to", "nemo", "-o", "out.json"]
    result = run(*arguments, "--on-invalid", "quarantine", cwd=data)

    assert result.returncode == 1
    assert not (data / "out.json").exists()
    assert (data / "out.invalid.jsonl").read_bytes() == text + b"\n"
    assert b"nothing was written" not in result.stderr
    written = b"only out.invalid.jsonl and out.invalid.findings.jsonl"
    assert written in result.stderr


@pytest.mark.parametrize("target", ["record", "csv", "haystack", "nemo-input"])
def test_input_without_records_has_no_output(tmp_path: Path, target: str) -> None:
    """Columns without values are valid, but a file without records is not."""
    (tmp_path / "empty.json").write_bytes(b'{"questions": [], "contexts": []}')
    result = run("empty.json", "--to", target, "-o", "out.json", cwd=tmp_path)

    assert result.returncode == 1
    assert b"nothing was written: there is no record in the input" in result.stderr
    assert names(tmp_path) == ["empty.json"]


@pytest.mark.parametrize(
    "arguments",
    [["convert", "--to", "record"], ["roundtrip", "--via", "record"], ["diff", "."]],
    ids=["convert", "roundtrip", "diff"],
)
def test_document_without_records_in_a_folder_is_passed_over(
    tmp_path: Path, arguments: list[str]
) -> None:
    """An aggregate next to samples is reported and counted; named, it is an error."""
    fixtures = Path(__file__).parents[3] / "fixtures"
    (aggregate, *_) = sorted((fixtures / "eee-aggregate" / "valid").glob("*.json"))
    samples = fixtures / "eee@0.3.0" / "valid" / "full.jsonl"
    (tmp_path / "samples.jsonl").write_bytes(samples.read_bytes())
    (tmp_path / "quiz.json").write_bytes(aggregate.read_bytes())

    met = command_runs.run(*arguments, ".", cwd=tmp_path)
    named = command_runs.run(*arguments, "quiz.json", cwd=tmp_path)

    assert met.returncode == 0, met.stderr
    assert b"passed over: 1 file without records (quiz.json)" in met.stderr
    assert named.returncode == 2
    assert b"a document without records" in named.stderr


# What is lost


@pytest.mark.parametrize(
    ("output", "name"), [([], b"<stdout>"), (["-o", "/dev/stdout"], b"/dev/stdout")]
)
def test_rows_on_standard_output_are_not_denied(output: list[str], name: bytes) -> None:
    """Where a stream or a pipe holds rows, a run that fails does not deny them."""
    twice = b'{"id": "a", "prompt": "Why?", "outputs": []}\n' * 2
    to = ("--to", "openai-batch-input", "--set", "body.model=m")
    result = run("--from", "record", *to, *output, stdin=twice)

    assert result.stdout
    assert result.returncode == 1
    assert b"the output in " + name + b" is not complete: see above" in result.stderr
    assert b"nothing was written" not in result.stderr


def test_a_loss_that_is_a_failure_writes_nothing(data: Path) -> None:
    """With --on-loss fail a loss ends with 1 and no output is written."""
    before = names(data)
    arguments = ["good.jsonl", "--to", "nemo", "-o", "out.json"]
    result = run(*arguments, "--on-loss", "fail", cwd=data)

    assert result.returncode == 1
    assert b"nothing was written: something would be lost" in result.stderr
    assert names(data) == before


def test_losses_are_not_printed_on_request(data: Path) -> None:
    """--on-loss ignore leaves out the table, and --quiet everything."""
    arguments = ["good.jsonl", "--to", "nemo"]
    ignored = run(*arguments, "--on-loss", "ignore", cwd=data)
    quiet = run(*arguments, "--quiet", cwd=data)

    assert ignored.returncode == quiet.returncode == 0
    assert b"records" not in ignored.stderr
    assert b"3 rows of nemo-output" in ignored.stderr
    assert quiet.stderr == b""


def test_the_table_names_each_field_that_is_lost(data: Path) -> None:
    """Each field has its count, what became of it and the first place."""
    result = run("good.jsonl", "--to", "nemo", cwd=data)
    lines = [each.split() for each in result.stderr.decode().splitlines()]

    assert ["id", "3", "0", "dropped", "3", "good.jsonl:1:1"] in lines
    assert [
        "category", "0", "0", "defaulted", "3", "is", '""', "good.jsonl:1:1",
    ] in lines  # fmt: skip
    assert b"kept as they are: input, expected-output, actual-output" in result.stderr


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_the_table_fits_the_terminal(data: Path, width: int) -> None:
    """On a terminal no line of the table is wider than it, and no place is cut."""
    name = "a-folder-with-a-long-name/and-another-one"
    (data / name).mkdir(parents=True)
    (data / name / "good.jsonl").write_bytes(jsonl(*GOOD))
    text = on_terminal(f"{name}/good.jsonl", "--to", "nemo", cwd=data, width=width)
    lines = text.splitlines()
    table = lines[1 : next(n for n, each in enumerate(lines) if "kept as" in each)]

    assert max(map(len, table)) <= max(width, len(f"    first: {name}/good.jsonl:1:1"))
    assert f"{name}/good.jsonl:1:1" in text
    assert "…" not in text


def test_a_long_name_is_whole_on_a_terminal(data: Path) -> None:
    """A cell with a word that is longer than a line is whole, on a terminal, too."""
    key = "k" * 150
    (data / "long.jsonl").write_bytes(jsonl(*({**each, key: 1} for each in GOOD)))
    arguments = ["long.jsonl", "--to", "nemo"]
    shown = on_terminal(*arguments, cwd=data, width=80)
    piped = run(*arguments, cwd=data).stderr.decode()

    assert key in piped
    assert key in shown.replace("\r\n", "")


def test_table_lists_fields_before_other_keys(data: Path) -> None:
    """The table lists fields first, then metadata keys, unknown keys and the rest."""
    row = {
        "metadata": {"level": 1},
        "extra": {"x": {"note": 2}},
        "prompt": "q",
        "references": ["r", "s"],
        "choices": ["c"],
        "outputs": [],
    }
    (data / "record.jsonl").write_bytes(jsonl(row))
    message = run("record.jsonl", "--to", "nemo", cwd=data).stderr.decode()
    names_ = [each.split()[0] for each in message.splitlines()[2:-2]]
    own_columns = [each for each in names_ if each.startswith(("metadata", "extra"))]

    assert {"choices", "references"} <= set(names_)
    assert len(own_columns) == 2
    assert names_[-2:] == own_columns


# What it refuses


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--to", "nem"], ["nemo?"]),
        (["--to", "nemo-config"], ["document", "nemo-output"]),
        (
            ["--to", "eee"],
            ["`--set evaluation_id=VALUE ", "`--score em` or `--score f1`"],
        ),
        (["--to", "nemo", "--set", "promt=x"], ["promt"]),
        (["--to", "nemo", "--set", "category"], ["FIELD=VALUE"]),
        (["--to", "nemo", "--set", "prompt=x", "--set", "prompt=y"], ["already"]),
        (["--to", "nemo", "--score", "bleu"], ["em, f1"]),
        (["--to", "tencent-outputs", "--group", "model"], ["id", "prompt"]),
        (["--to", "csv", "--map", "promt=x"], ["promt"]),
        (["--to", "nemo", "missing.jsonl"], ["missing.jsonl"]),
        (["--to", "nemo", "--from", "harpa"], ["did you mean harpia?"]),
        (["--to", "nemo", "--from", "harpia", "--map", "prompt=x"], ["such a key"]),
    ],
    ids=" ".join,
)
def test_usage_error_is_one_line(
    data: Path, arguments: list[str], words: list[str]
) -> None:
    """Each usage error is one line with the remedy, exit code 2, and no traceback."""
    result = run("good.jsonl", *arguments, cwd=data)
    message = result.stderr.decode()

    assert (result.returncode, result.stdout) == (2, b"")
    assert "Traceback" not in message
    assert "error: " in message
    assert all(each in message for each in words), message


@pytest.mark.parametrize(
    ("option", "word", "near"),
    [
        ("--references", "frist", "first"),
        ("--responses", "lists", "list"),
        ("--turns", "transcripts", "transcript"),
        ("--container", "line", "lines"),
        ("--on-loss", "fial", "fail"),
        ("--on-invalid", "quarantaine", "quarantine"),
    ],
)
def test_a_word_that_is_no_choice_suggests_the_nearest(
    data: Path, option: str, word: str, near: str
) -> None:
    """An unknown choice ends with 2, all choices and the most similar one."""
    result = run("good.jsonl", "--to", "nemo", option, word, cwd=data)
    strange = run("good.jsonl", "--to", "nemo", option, "zzzzzz", cwd=data)
    message = result.stderr.decode()

    assert (result.returncode, result.stdout) == (2, b"")
    assert f"error: {option}: '{word}' is not one of " in message
    assert f"did you mean {near}?" in message
    assert strange.returncode == 2
    assert "did you mean" not in strange.stderr.decode()


def test_a_missing_field_is_reported_before_the_input_is_read() -> None:
    """A field that a format never has is reported once the format is known."""
    arguments = ["convert", "-", "--to", "eee", "--from", "harpia"]
    pipe = subprocess.PIPE
    with subprocess.Popen(  # noqa: S603 - the command is ours
        [*COMMAND, *arguments], stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        assert process.stdin
        assert process.stderr
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(jsonl(*GOOD) * 20_000)
            process.stdin.flush()
        assert select.select([process.stderr], [], [], TIMEOUT)[0]
        message = process.stderr.readline()
        with contextlib.suppress(BrokenPipeError):
            process.communicate(timeout=TIMEOUT)

    assert process.returncode == 2
    assert b"`--score em` or `--score f1`" in message


def test_a_file_for_each_model_is_needed_to_be_new(data: Path) -> None:
    """An existing file stays without --overwrite, also with {model} in its name."""
    row = {"prompt": "q", "references": ["r"], "outputs": [{"model": "m", "text": "a"}]}
    (data / "m.json").write_bytes(b"mine")
    before = names(data)
    arguments = ["-f", "record", "--to", "nemo", "-o", "{model}.json"]
    refused = run(*arguments, stdin=jsonl(row), cwd=data)
    after = names(data)
    done = run(*arguments, "--overwrite", stdin=jsonl(row), cwd=data)

    assert (refused.returncode, after) == (2, before)
    assert done.returncode == 0
    assert json.loads((data / "m.json").read_bytes())[0]["llm_name"] == "m"


def test_losses_are_written_as_a_report(data: Path) -> None:
    """--loss-report writes each loss with its code, its place and its count."""
    arguments = ["good.jsonl", "--to", "nemo", "-o", "out.json"]
    result = run(*arguments, "--loss-report", "losses.json", cwd=data)
    report = json.loads((data / "losses.json").read_bytes())
    codes = {each["code"] for each in report["groups"]}

    assert result.returncode == 0
    assert codes == {"L101", "L103"}


@pytest.mark.parametrize(
    "words",
    [
        "convert bad.jsonl --to nemo -o out.json --loss-report -",
        "convert bad.jsonl --to nemo --on-invalid quarantine --quarantine -",
        "split bad.jsonl --valid out.jsonl --findings -",
    ],
)
def test_only_rows_go_to_standard_output(data: Path, words: str) -> None:
    """`-` is no name for what is written next to rows, and nothing is done."""
    before = names(data)
    result = command_runs.run(*words.split(), cwd=data)

    assert (result.returncode, result.stdout) == (2, b"")
    assert b"cannot write -: only rows go to standard output" in result.stderr
    assert names(data) == before


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_a_killed_worker_is_survived(tmp_path: Path) -> None:
    """If a worker is killed, the others do its work and nothing is lost."""
    count = 60_000
    rows = (
        b'{"prompt": "%s", "ideal_response": "r", "category": "", "source": "%d"}\n'
        % (b"q" * 180, each)
        for each in range(count)
    )
    (tmp_path / "large.jsonl").write_bytes(b"".join(rows))
    arguments = ["convert", "large.jsonl", "--to", "tencent-csv", "--jobs", "2"]
    with subprocess.Popen(  # noqa: S603 - the command is ours
        [*COMMAND, *arguments, "-o", "out.csv"], cwd=tmp_path, stderr=subprocess.PIPE
    ) as process:
        workers: list[int] = []
        end = time.monotonic() + TIMEOUT
        while process.poll() is None and not workers and time.monotonic() < end:
            workers = children_of(process.pid)
        for each in workers[:1]:
            os.kill(each, signal.SIGKILL)
        _, errors = process.communicate(timeout=TIMEOUT)

    assert (workers != [], process.returncode) == (True, 0), errors
    assert (tmp_path / "out.csv").read_bytes().count(b"\n") == count + 1
    assert names(tmp_path) == ["large.jsonl", "out.csv"]


@pytest.mark.parametrize("name", ["good.jsonl", "out.json"])
def test_loss_report_does_not_overwrite_data(data: Path, name: str) -> None:
    """--loss-report cannot name an input or the output."""
    before = (data / "good.jsonl").read_bytes()
    arguments = ["good.jsonl", "--to", "nemo", "-o", "out.json", "--overwrite"]
    result = run(*arguments, "--loss-report", name, cwd=data)

    assert result.returncode == 2
    assert b"is an input or the output" in result.stderr
    assert (data / "good.jsonl").read_bytes() == before
    assert names(data) == ["bad.jsonl", "good.jsonl"]
