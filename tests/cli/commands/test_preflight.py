"""`harpia-formats preflight`: exit codes, the check list, and preflight files."""

import json
import os
import tomllib
from pathlib import Path

import jsonschema
import pytest

import harpia_formats
from fixture_files import schema_file
from harpia_formats.reporters import REPORTERS
from in_process import InProcess

QUESTIONS = "".join(
    json.dumps({"prompt": f"{n}+{n}?", "ideal_response": str(2 * n), "category": "m"})
    + "\n"
    for n in range(3)
)
PREFLIGHT = """\
[datasets.questions]
files = "questions/*.jsonl"
min-records = 3
max-prompt-characters = 4
"""
CHECKS = """\
questions:
  ok    files read to the end: 1 file
  ok    records at least 3: 3
  ok    invalid records at most 0: 0 of 3
  ok    characters of each prompt at most 4: the longest has 4
ok: all 4 expectations are met
"""


@pytest.fixture
def main(
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
    tmp_path: Path,
) -> InProcess:
    """Return what runs the command in a folder with a preflight file and its data."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "questions").mkdir()
    (tmp_path / "questions" / "q.jsonl").write_text(QUESTIONS)
    (tmp_path / "preflight.toml").write_text(PREFLIGHT)
    return InProcess(monkeypatch, capfdbinary)


def edit(old: str, new: str) -> None:
    """Replace text in the preflight file."""
    path = Path("preflight.toml")
    path.write_text(path.read_text().replace(old, new))


def test_met_expectations_are_listed_and_end_with_0(main: InProcess) -> None:
    """The check list has each expectation with what was found."""
    run = main("preflight")

    assert (run.code, run.out) == (0, "")
    assert run.err.endswith(CHECKS)


def test_a_broken_expectation_ends_with_1_and_all_are_listed(main: InProcess) -> None:
    """The finding is on standard output, and the list goes on behind it."""
    edit("min-records = 3", "min-records = 4")

    run = main("preflight", "preflight.toml")

    assert run.code == 1
    assert run.out == (
        "preflight.toml:3:1: P101 record-count questions has 3 records, fewer than 4 "
        "(see what is missing or too much, or change the limit) "
        "[/datasets/questions/min-records]\n"
    )
    assert "  FAIL  records at least 4: 3 (preflight.toml:3)\n" in run.err
    assert "\npreflight.toml: 1 error (preflight)\n1 file, 3 records: 3 " in run.err
    assert "  ok    characters of each prompt at most 4" in run.err
    assert run.err.endswith("not ok: 1 of 4 expectations is not met\n")


@pytest.mark.parametrize("name", REPORTERS)
def test_each_reporter_writes_a_preflight(main: InProcess, name: str) -> None:
    """The check list is seen with any output, and the exit code is the same."""
    edit("min-records = 3", "min-records = 4")

    run = main("preflight", "--output-format", name)

    assert run.code == 1
    assert "P101" in run.out
    assert "records at least 4" in run.out + run.err
    if name == "json":
        report = json.loads(run.out)
        jsonschema.validate(report, schema_file("report-1"))
        assert [check["state"] for check in report["checks"]].count("broken") == 1


def test_a_file_that_is_not_there_ends_with_2_and_nothing_is_ok(
    main: InProcess,
) -> None:
    """The file is named with its line, and no expectation is called ok."""
    edit("questions/*", "nothing/*")

    run = main("preflight")

    assert run.code == 2
    assert "FAIL  files read to the end: nothing/*.jsonl: no file matches" in run.err
    assert not any(line.strip().startswith("ok") for line in run.err.splitlines())
    assert "records at least 3: not decided, as not all records were read\n" in run.err


def test_a_mistake_in_the_file_ends_with_2(main: InProcess) -> None:
    """It is one line with its place and a suggestion."""
    edit("min-records", "min-rows")

    run = main("preflight")

    assert (run.code, run.out) == (2, "")
    assert run.err.startswith("error: preflight.toml:3: datasets.questions.min-rows: ")
    assert run.err.count("\n") == 1


def test_findings_that_are_not_shown_are_counted_for_a_file_of_several_data_sets(
    main: InProcess,
) -> None:
    """Its findings of one kind are one group, of which five are shown for each."""
    Path("questions/q.jsonl").write_text('{"prompt": "q"}\n' * 8)
    sets = [
        f'[datasets.{name}]\nfiles = "questions"\nformat = "nemo-input"\n'
        for name in ("first", "second")
    ]
    Path("preflight.toml").write_text("".join(sets))

    run = main("preflight", "--report", "report.json")

    assert "S101 missing-key (ideal_response): 16 in all, 10 shown\n" in run.out
    groups = json.loads(Path("report.json").read_text())["groups"]
    assert [(one["key"], one["count"]) for one in groups] == [("ideal_response", 16)]


def test_variables_and_reports(main: InProcess) -> None:
    """A value is given on the command line, and reports go next to the file."""
    edit("questions/*", "${WHERE}/*")
    edit("[datasets", 'reports = "out.json"\n[datasets')

    run = main("preflight", "--var", "WHERE=questions", "--report", "more.jsonl")

    assert run.code == 0
    assert len(json.loads(Path("out.json").read_text())["checks"]) == 4
    assert Path("more.jsonl").exists()
    assert main("preflight").code == main("preflight", "--var", "WHER").code == 2


def test_dry_run_checks_nothing(main: InProcess) -> None:
    """Files with their sizes and expectations are listed; broken data is not seen."""
    Path("questions/q.jsonl").write_text("{broken\n" + QUESTIONS)

    run = main("preflight", "--dry-run")

    assert (run.code, run.err) == (0, "")
    assert "questions/q.jsonl (1" in run.out
    assert "to check: records at least 3 (preflight.toml:3)\n" in run.out
    listed = run.out.count("to check: ")
    assert f"nothing was checked: {listed} expectations" in run.out
    assert not any(line.split()[0] == "ok" for line in run.out.splitlines())


@pytest.mark.parametrize(("limit", "shown"), [("1", "1"), ('"40 %"', '"40 %"')])
def test_a_limit_is_shown_as_it_is_stated(
    main: InProcess, limit: str, shown: str
) -> None:
    """The reason of a finding has a number without quotes, and a share with them."""
    answers = '{"prompt": "q", "outputs": [{"model": "m", "text": ""}]}\n' * 2
    Path("a.jsonl").write_text(answers)
    stated = f'[datasets.a]\nfiles = "a.jsonl"\nmax-missing-answers = {limit}\n'
    Path("limit.toml").write_text(stated)

    run = main("preflight", "limit.toml")

    assert f"because datasets.a.max-missing-answers is {shown}\n" in run.out


def test_init_writes_a_file_that_the_data_meets(main: InProcess) -> None:
    """The file is checked at once, and edited later; it replaces no other one."""
    Path("answers").mkdir()
    for model in ("m ~\x7f$", "n"):
        rows = [
            {"input": json.loads(line), "response": "4", "llm_name": model}
            for line in QUESTIONS.splitlines()
        ]
        text = "".join(json.dumps(row) + "\n" for row in rows)
        Path(f"answers/{model[0]} [1].jsonl").write_text(text)
    data = ["questions/q.jsonl", "answers"]

    refused = main("preflight", "--init", *data, "-o", "preflight.toml")
    run = main("preflight", "--init", *data, "-o", "sub/new.toml")
    shown = main("preflight", "--init", *data)

    assert refused.code == run.code == 2
    Path("sub").mkdir()
    assert main("preflight", "--init", *data, "-o", "sub/new.toml").code == 0
    text = Path("sub/new.toml").read_text()
    assert 'files = "../questions/q.jsonl"' in text
    assert "answers-per-question = 1" in text
    assert shown.out.count("[datasets.") == 2
    assert main("preflight", "sub/new.toml").code == 0
    assert harpia_formats.preflight("sub/new.toml").ok
    commented = text.replace("\n# ", "\n")
    Path("sub/all.toml").write_text(commented[commented.index("[datasets") :])
    assert main("preflight", "sub/all.toml").code == 0


def test_init_proposes_only_relations_that_can_be_checked(main: InProcess) -> None:
    """Ids are compared with a data set that has them, and prompts with any other."""
    row = {"id": "a", "prompt": "2+2?", "outputs": [{"model": "m", "text": "4"}]}
    Path("r.jsonl").write_text(f"{json.dumps(row)}\n")
    table = "id,prompt,response,model\na,2+2?,4,m\n"
    Path("t.csv").write_text(table)

    main("preflight", "--init", "r.jsonl", "questions/q.jsonl", "-o", "two.toml")
    main("preflight", "--init", "r.jsonl", "questions", "t.csv", "-o", "three.toml")

    two, three = (Path(f"{name}.toml").read_text() for name in ("two", "three"))
    assert '# prompts-in = "q"' in two
    assert "ids-in" not in two
    assert '# ids-in = "t"' in three
    for text in (two, three):
        Path("all.toml").write_text(text.replace("\n# ", "\n").partition("\n\n")[2])
        assert main("preflight", "all.toml", "--dry-run").code == 0


def test_init_gives_each_data_set_a_name_of_its_own(main: InProcess) -> None:
    """A number that the name of another file ends with is not given again."""
    for path in ("a/q-2.jsonl", "b/q.jsonl", "c/q.jsonl"):
        Path(path).parent.mkdir()
        Path(path).write_text(QUESTIONS)

    shown = main("preflight", "--init", "a", "b", "c", "-o", "new.toml")

    assert shown.code == 0
    data_sets = tomllib.loads(Path("new.toml").read_text())["datasets"]
    assert {name: each["files"] for name, each in data_sets.items()} == {
        "q-2": "a/q-2.jsonl",
        "q": "b/q.jsonl",
        "q-3": "c/q.jsonl",
    }


def test_init_names_files_as_they_are_found_from_a_linked_folder(
    main: InProcess,
) -> None:
    """The folder above a link is not the one above the folder that it leads to."""
    Path("real/deep").mkdir(parents=True)
    Path("link").symlink_to("real/deep", target_is_directory=True)

    written = main("preflight", "--init", "questions/q.jsonl", "-o", "link/new.toml")

    assert written.code == 0
    assert 'files = "../../questions/q.jsonl"' in Path("link/new.toml").read_text()
    assert main("preflight", "link/new.toml").code == 0


def test_the_state_and_a_report_do_not_replace_each_other(main: InProcess) -> None:
    """A report has no place of the file with the numbers of the last run."""
    path = Path("preflight.toml")
    path.write_text(f'state = "s.json"\n{path.read_text()}')
    same = main("preflight", "--report", "s.json")
    assert main("preflight").code == 0
    state = Path("s.json").read_text()
    later = main("validate", "questions", "--report", "s.json")

    assert (same.code, later.code) == (2, 2)
    assert "s.json: is an input or an output of this run" in same.err
    assert "s.json: already exists and is no json report" in later.err
    assert Path("s.json").read_text() == state


@pytest.mark.skipif(os.name != "posix", reason="names are bytes")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("\udcff.jsonl", "its path is not UTF-8"),
        ("a${b}.jsonl", "its path has a ${NAME}, which a preflight file takes for"),
    ],
)
def test_init_says_which_file_it_cannot_name(
    main: InProcess, name: str, reason: str
) -> None:
    """A path that is not UTF-8, or has a variable, has no place there: exit code 2."""
    Path("questions", name).write_text(QUESTIONS)

    written = main("preflight", "--init", "questions", "-o", "new.toml")
    shown = main("preflight", "--init", "questions")

    for run in (written, shown):
        assert (run.code, run.out) == (2, "")
        assert reason in run.err
    assert not Path("new.toml").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.toml", "b.toml"], "only one preflight file"),
        (["--init"], "`--init` needs the data files"),
        (["--init", "x", "--var", "A=b"], "`--init` and `--var` cannot be combined"),
        (["--output", "x"], "`--output` and `--overwrite` are for `--init`"),
        (["--init", "nothing.jsonl"], "nothing.jsonl: does not exist"),
        (["nothing.toml"], "nothing.toml: no such file"),
        ([], "there is no preflight.toml here; name the preflight file, or write one"),
        (["own.jsonl"], "own.jsonl:1: is not TOML: Invalid statement; if it is data"),
        (["--init", "own.jsonl"], "own.jsonl: no known format: none has a key of"),
        (["--init", "own.jsonl"], 'such as with format = "json" and a map'),
    ],
)
def test_wrong_use_ends_with_2(
    main: InProcess, arguments: list[str], message: str
) -> None:
    """It is one line that says what to do."""
    Path("own.jsonl").write_text('{"frage": "q"}\n')
    if not arguments:
        Path("preflight.toml").unlink()
    run = main("preflight", *arguments)

    assert (run.code, run.out) == (2, "")
    assert message in run.err


@pytest.mark.parametrize("column", ["response", "answer"])
def test_records_are_not_read_if_answers_may_be_expected_ones(
    main: InProcess, column: str
) -> None:
    """Neither is a file proposed nor an answer counted; a format makes it known."""
    Path("a.csv").write_text(f"prompt,{column}\n2+2?,4\n")
    Path("preflight.toml").write_text('[datasets.a]\nfiles = "a.csv"\n')

    assert main("preflight").code == 0
    Path("preflight.toml").write_text(
        '[datasets.a]\nfiles = "a.csv"\nmax-missing-answers = 0\n'
    )
    proposed, checked = main("preflight", "--init", "a.csv"), main("preflight")
    for run in (proposed, checked):
        assert run.code == 2
        assert "ok" not in run.err.split()
        assert f"a.csv: nothing tells whether `{column}` holds" in run.err
        assert 'format = "tencent-csv" if the answers are expected ones' in run.err
    line = 'format = "csv"\n' + 'map = {response = "answer"}\n' * (column == "answer")
    edit("max", f"{line}max")
    assert main("preflight").code == 0
