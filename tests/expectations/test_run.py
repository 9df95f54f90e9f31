"""Expectations are checked against data, and what breaks them is placed."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from harpia_formats import PreflightError, Report
from harpia_formats.reporters import REPORTERS, Options

#: Writes rows as lines of JSON into a file below the folder of the test.
Write = Callable[..., Path]


def checked(folder: Path, text: str, **options: Any) -> Report:
    """Return the report of a preflight file in a folder."""
    path = folder / "preflight.toml"
    path.write_text(text, encoding="utf-8")
    return harpia_formats.preflight(path, **options)


def states(report: Report) -> dict[str, str]:
    """Return the state of each check that a key states, by data set and key."""
    return {f"{one.data_set}.{one.key}": one.state.value for one in report.checks}


def places(report: Report) -> list[tuple[str, str, int]]:
    """Return the code, the name of the file and the line of each problem."""
    return [
        (one.code, Path(one.place.path).name, one.place.line) for one in report.problems
    ]


def data_set(name: str, *lines: str, format_: str = "record") -> str:
    """Return the table of a data set in one file."""
    start = [f"[datasets.{name}]", f'files = "{name}.jsonl"', f'format = "{format_}"']
    return "\n".join([*start, *lines, ""])


def answered(prompt: str, *models: str, **more: Any) -> dict[str, Any]:
    """Return a record with an answer of each model."""
    outputs = [{"model": model, "text": "4"} for model in models]
    return {"prompt": prompt, "outputs": outputs, **more}


def test_data_that_meets_everything_is_ok(tmp_path: Path, write: Write) -> None:
    """All expectations are met, and there is no problem."""
    write("a.jsonl", answered("1", "m", "n", id=1), answered("2", "m", "n", id=2))
    write("q.jsonl", {"prompt": "1", "id": 1}, {"prompt": "2", "id": "2"})
    text = data_set("q") + data_set(
        "a",
        "min-records = 2",
        "max-records = 2",
        "min-records-per-file = 2",
        "max-records-per-file = 2",
        "max-invalid = 0",
        'max-warnings = "50 %"',
        "max-findings = { X101 = 0 }",
        'models = ["m", "n"]',
        "answers-per-question = 1",
        "max-missing-answers = 0",
        "max-prompt-characters = 1",
        "max-prompt-bytes = 1",
        'allowed-values = { "outputs.model" = ["m", "n"] }',
        "required-values = { id = [1, 2] }",
        'ids-in = "q"',
        'same-ids-as = "q"',
        'same-prompts-as = "q"',
        'prompts-in = "q"',
        "no-prompts-of = []",
    )

    report = checked(tmp_path, text)

    assert report.ok
    assert report.problems == ()
    assert set(states(report).values()) == {"met"}
    assert report.to_dict()["checks"][0]["state"] == "met"


def test_limits_are_placed_at_the_record_the_file_or_the_line(
    tmp_path: Path, write: Write
) -> None:
    """A record, a file, or the line of the limit is named, with the limit as reason."""
    write("a.jsonl", answered("long", "m"), answered("x", "n", "o"))
    text = data_set(
        "a",
        "min-records = 3",
        "min-records-per-file = 3",
        'models = ["m", "p"]',
        "max-prompt-characters = 3",
    )

    report = checked(tmp_path, text)

    assert not report.ok
    assert places(report) == [
        ("P101", "preflight.toml", 4),
        ("P101", "a.jsonl", 1),
        ("P202", "a.jsonl", 2),
        ("P202", "a.jsonl", 2),
        ("P201", "preflight.toml", 6),
        ("P301", "a.jsonl", 1),
    ]
    (because,) = report.problems[-1].because
    assert (Path(because.path).name, because.line, because.value) == (
        "preflight.toml",
        7,
        "3",
    )
    assert report.errors == sum(group.count for group in report.groups) == 6


@pytest.mark.parametrize(
    ("record", "longest"),
    [
        ({"prompt": "abc", "system": "abc"}, 6),
        ({"prompt": "abc", "system": "de", "contexts": ["f", "f"]}, 7),
        ({"system": "abc", "messages": [("system", "abc"), ("user", "de")]}, 5),
        ({"system": "abc", "messages": [("system", "xyz"), ("user", "de")]}, 8),
        ({"system": "abc", "messages": [("user", "abc")]}, 6),
    ],
)
def test_a_system_message_is_counted_once(
    tmp_path: Path, write: Write, record: dict[str, Any], longest: int
) -> None:
    """Some formats have it among the messages, too."""
    messages = [
        {"role": role, "content": text} for role, text in record.pop("messages", [])
    ]
    write("a.jsonl", {**record, **({"messages": messages} if messages else {})})

    report = checked(tmp_path, data_set("a", "max-prompt-characters = 9"))

    assert report.checks[-1].found == f"the longest has {longest}"


def test_the_value_is_marked_in_its_row(tmp_path: Path, write: Write) -> None:
    """Where a value is found in its row, the place is that of the value."""
    write("a.jsonl", {"id": 1, "prompt": "long", "metadata": {"x": ["b"]}})
    text = data_set(
        "a",
        "max-prompt-characters = 3",
        'allowed-values = { id = 2, metadata.y = "a" }',
    )

    report = checked(tmp_path, text)

    marked = [
        one.excerpt and one.excerpt.text[one.excerpt.start : one.excerpt.end]
        for one in report.problems
    ]
    assert marked == ['"long"', "1", None]
    assert [one.place.column for one in report.problems] == [36, 23, 1]


@pytest.mark.parametrize(
    ("mapped", "reason"),
    [
        ("answers.text[right]", "record 1 of .*: no label is 'C' .A."),
        ("number", "it is not a text in record 1 of "),
    ],
)
def test_a_mapped_value_of_no_use_is_an_error_of_a_family(
    tmp_path: Path, write: Write, mapped: str, reason: str
) -> None:
    """Of several formats the map is first checked as records are read."""
    answers = {"text": ["4"], "label": ["A"]}
    chat = {"messages": [{"role": "user", "content": "q"}]}
    write("a.jsonl", chat | {"answers": answers, "right": "C", "number": 5})
    lines = f'map = {{ response = "{mapped}" }}', "max-prompt-bytes = 9"

    with pytest.raises(PreflightError, match=f"{re.escape(mapped)}': {reason}"):
        checked(tmp_path, data_set("a", *lines, format_="tencent"))


def test_data_without_prompts_is_not_ok(tmp_path: Path) -> None:
    """A limit on prompts is not met by data that has none, such as a wrong column."""
    (tmp_path / "a.csv").write_text("question\n2+2?\n")
    text = data_set("a", "max-prompt-bytes = 9", format_="csv")
    text = text.replace("a.jsonl", "a.csv")

    without = checked(tmp_path, text)
    mapped = checked(tmp_path, f'{text}map = {{ prompt = "question" }}\n')

    assert places(without) == [("P301", "preflight.toml", 4)]
    assert mapped.ok
    assert states(mapped)["a.max-prompt-bytes"] == "met"


def test_counts_are_exact_where_examples_are_capped(
    tmp_path: Path, write: Write
) -> None:
    """The groups count all findings, and the first examples are kept, in order."""
    write("a.jsonl", *({"prompt": "xx", "id": one} for one in range(20)))
    write("b.jsonl", {"id": "none of them"})
    text = data_set("a", "max-prompt-characters = 1", 'ids-in = "b"') + data_set("b")

    report = checked(tmp_path, text, examples=2)

    kept = [one for one in places(report) if one[0].startswith("P")]
    assert kept == [(code, "a.jsonl", n) for code in ("P301", "P401") for n in (1, 2)]
    assert [(group.code, group.count) for group in report.groups][:2] == [
        ("P301", 20),
        ("P401", 20),
    ]
    assert checked(tmp_path, text, max_problems=1).problems == report.problems[:1]


def test_a_data_set_may_have_any_name(tmp_path: Path, write: Write) -> None:
    """Braces in its name are shown as they are, also in what is wrong with others."""
    write("q.jsonl", {"prompt": "1", "id": 1})
    write("a.jsonl", {"prompt": "2", "id": 2})
    name = '"q{v1} {}"'
    keys = ("ids-in", "same-ids-as", "prompts-in")
    text = data_set("a", *(f"{key} = {name}" for key in keys))
    text += data_set("q").replace("[datasets.q]", f"[datasets.{name}]")

    messages = [one.message for one in checked(tmp_path, text).problems]

    assert messages == [
        "the id '2' is not in q{v1} {}",
        "the id '2' is not in q{v1} {}",
        "the id '1' is not in a",
        "the prompt is not in q{v1} {}",
    ]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_unreadable_file_leaves_nothing_met(
    tmp_path: Path, write: Write, jobs: int
) -> None:
    """A run with a file that is cut off has no check that is met, and is not ok."""
    write("good.jsonl", {"prompt": "1"})
    packed = gzip.compress(b'{"prompt": "1", "outputs": []}\n' * 9)
    (tmp_path / "bad.jsonl.gz").write_bytes(packed[:-12])
    text = data_set("good", "max-records = 0") + data_set(
        "bad", "max-prompt-bytes = 9", 'prompts-in = "good"'
    ).replace("bad.jsonl", "bad.jsonl.gz")

    report = checked(tmp_path, text, jobs=jobs)

    assert not report.ok
    assert len(report.failures) == 1
    found = {one.state for one in report.checks}
    assert found == {"undecided", "broken"}
    assert states(report)["good.max-records"] == "broken"
    assert {state for key, state in states(report).items() if key != "bad.files"} == {
        "undecided",
        "broken",
    }


def test_the_report_is_the_same_for_any_number_of_workers(
    tmp_path: Path, write: Write
) -> None:
    """Data sets with and without limits on records, in one process and in two."""
    for number in range(3):
        write(f"a/{number}.jsonl", *({"prompt": "x", "id": one} for one in range(3)))
    write("b.jsonl", {"prompt": "xx"}, {"id": 1, "prompt": "xx"}, {"id": 1})
    text = data_set("b", "max-prompt-bytes = 1", 'ids-in = "a"', 'same-ids-as = "c"')
    text += '[datasets.a]\nfiles = "a"\nmax-records = 1\n[datasets.c]\nfiles = "a"\n'

    one, two = (checked(tmp_path, text, jobs=jobs) for jobs in (1, 2))

    assert one.to_dict() == two.to_dict()
    assert {"P101", "P301", "P401"} <= {group.code for group in one.groups}


def test_a_pattern_that_matches_nothing_stops_before_anything_is_read(
    tmp_path: Path, write: Write
) -> None:
    """The file is a failure, and every other expectation is undecided."""
    write("a.jsonl", {"prompt": "1"})

    report = checked(
        tmp_path, data_set("a") + '[datasets.b]\nfiles = "no/*.jsonl"\nlint = true\n'
    )

    assert [one.reason for one in report.failures] == ["no file matches this pattern"]
    assert report.problems == ()
    found = [(one.data_set, one.state.value) for one in report.checks]
    assert ("b", "broken") in found
    assert "met" not in dict(map(reversed, found))  # type: ignore[arg-type]  # pairs


def test_invalid_records_are_counted_and_leave_records_undecided(
    tmp_path: Path, write: Write
) -> None:
    """Beyond the limit, what is expected of records is not known; within, it is."""
    path = write("a.jsonl", *({"prompt": "1"} for _ in range(99)))
    with path.open("a") as file:
        file.write("{}\n")
    lines = ["max-prompt-bytes = 1"]

    strictly = checked(tmp_path, data_set("a", *lines))
    allowed = checked(tmp_path, data_set("a", *lines, 'max-invalid = "1 %"'))
    too_many = checked(tmp_path, data_set("a", *lines, 'max-invalid = "0.5 %"'))

    assert states(strictly)["a.max-prompt-bytes"] == "undecided"
    assert not strictly.ok
    assert allowed.ok
    assert allowed.errors == 1
    assert not too_many.ok
    assert too_many.problems[-1].code == "P102"


def test_what_may_be_in_invalid_records_is_not_reported(
    tmp_path: Path, write: Write
) -> None:
    """What is missing is not known then; what was found is reported all the same."""
    write("a.jsonl", answered("1", "m", id=1), answered("2", "o", id=2))
    with write("b.jsonl", {"prompt": "1", "id": 1}).open("a") as file:
        file.write('{"prompt": "2", "id": 2}\n')
    text = data_set("b") + data_set(
        "a", 'ids-in = "b"', 'prompts-in = "b"', 'no-prompts-of = "b"'
    )

    of_other = checked(tmp_path, text)
    of_own = checked(
        tmp_path,
        data_set("b", 'models = ["m", "n"]', "answers-per-question = 1"),
    )

    assert [code for code, *_ in places(of_other)] == ["S101", "P404"]
    assert states(of_other)["a.ids-in"] == "undecided"
    assert states(of_other)["a.prompts-in"] == "undecided"
    assert states(of_other)["a.no-prompts-of"] == "broken"
    assert [code for code, *_ in places(of_own)] == ["S101"]
    assert states(of_own)["b.models"] == "undecided"


@pytest.mark.parametrize(
    ("limits", "lines"),
    [
        (['allowed-models = ["m", "n", "o"]'], [2]),
        (['allowed-models = ["m", "o"]'], []),
        (['models = ["m", "n", "o"]'], [1, 2]),
        (['required-models = ["m"]'], [2]),
        ([], [2]),
    ],
)
def test_answers_are_counted_of_the_models_of_the_data(
    tmp_path: Path, write: Write, limits: list[str], lines: list[int]
) -> None:
    """A model that only may have answers needs none; others are not counted then."""
    write("a.jsonl", answered("1", "m", "n", id=1), answered("2", "m", id=2))
    text = data_set("a", *limits, "answers-per-question = 1")

    report = checked(tmp_path, text)

    found = [line for code, _, line in places(report) if code == "P203"]
    assert found == lines


def test_invalid_records_that_are_allowed_are_not_compared(
    tmp_path: Path, write: Write
) -> None:
    """A relation holds for the others, and says how many are left out."""
    write("a.jsonl", {"prompt": "1"}, {"prompt": "2", "outputs": 3})
    write("b.jsonl", {"prompt": "2"}, {"prompt": "3"})
    text = data_set("b") + data_set("a", "max-invalid = 1", 'no-prompts-of = "b"')

    check = checked(tmp_path, text).checks[-1]

    assert check.state == "met"
    assert check.found == "1 prompt compared; 1 invalid record not compared"


def test_an_invalid_document_next_to_records(tmp_path: Path) -> None:
    """A document that rows are read with is no record, and must be valid, too."""
    fixtures = Path(__file__).parents[2] / "fixtures"
    rows = (fixtures / "lm-eval-samples/valid/choices.jsonl").read_bytes()
    results = fixtures / "lm-eval-results/invalid/S102-results-list.json"
    (tmp_path / "data").mkdir()
    (tmp_path / "data/samples.jsonl").write_bytes(rows)
    (tmp_path / "data/results_2024.json").write_bytes(results.read_bytes())

    report = checked(tmp_path, '[datasets.a]\nfiles = "data"\nmax-invalid = "50 %"\n')

    assert not report.ok
    assert states(report)["a.max-invalid"] == "broken"
    assert report.checks[-1].found.endswith("; 1 invalid document next to them")


def test_warnings_of_documents_next_to_records_count(tmp_path: Path) -> None:
    """A document that rows are read with has warnings as files of rows have."""
    fixtures = Path(__file__).parents[2] / "fixtures"
    rows = (fixtures / "lm-eval-samples/valid/choices.jsonl").read_bytes()
    results = (fixtures / "lm-eval-results/valid/results.json").read_bytes()
    (tmp_path / "data").mkdir()
    (tmp_path / "data/samples.jsonl").write_bytes(rows)

    def warnings(document: bytes) -> int:
        (tmp_path / "data/results_2024.json").write_bytes(document)
        text = '[datasets.a]\nfiles = "data"\nmax-warnings = 0\n'
        checks = checked(tmp_path, text).checks
        return int(next(one.found for one in checks if one.key == "max-warnings"))

    assert warnings(b"\xef\xbb\xbf" + results) == warnings(results) + 1


def test_an_empty_data_set_is_not_ok(tmp_path: Path, write: Write) -> None:
    """There must be a record, unless the file says that there need be none."""
    write("a.jsonl")
    (tmp_path / "a.jsonl").write_text("\n")

    assert not checked(tmp_path, data_set("a")).ok
    assert places(checked(tmp_path, data_set("a")))[-1] == ("P101", "preflight.toml", 1)


@pytest.mark.parametrize(
    ("lines", "format_", "message"),
    [
        (
            ['models = "m"'],
            "nemo-input",
            ":4: datasets.a.models: cannot be checked: a is nemo-input, with no model",
        ),
        (["answers-per-question = 1"], "nemo-input", "with no answers"),
        (
            ['allowed-values = { langage = "pt" }'],
            "nemo-input",
            "nemo-input has no langage",
        ),
        (
            ['allowed-values = { categori = "pt" }'],
            "nemo-input",
            "has no categori; did you mean category?",
        ),
        (["max-prompt-bytes = 1"], "nemo-config", "a document without records"),
        (
            ['ids-in = "b"'],
            "nemo-input",
            ":4: datasets.a.ids-in: cannot be checked: b is nemo-input, with no id",
        ),
        (
            ["max-findings = { X102 = 0 }"],
            "record",
            "X102 is not checked; add lint = true",
        ),
        (
            ['ignore = "X"', "lint = true", "max-findings = { X102 = 0 }"],
            "record",
            "X102 is not checked; take it out of ignore",
        ),
        (
            ['select = "J"', "lint = true", "max-findings = { X102 = 0 }"],
            "record",
            "X102 is not checked; add it to select",
        ),
        (["max-findings = { P101 = 0 }"], "record", "it is no rule on the files"),
        (
            ["max-findings = { K = 0 }"],
            "nemo-input",
            "K is of Haystack, and the format",
        ),
        (
            ['select = "X101"', "max-prompt-bytes = 1"],
            "record",
            ":4: datasets.a.select: leaves out",
        ),
    ],
)
def test_what_cannot_be_checked_is_an_error(
    tmp_path: Path, write: Write, lines: list[str], format_: str, message: str
) -> None:
    """An expectation that a format cannot have is refused with its line."""
    write("a.jsonl", {"prompt": "1"})
    write("b.jsonl", {"prompt": "1"})
    text = data_set("a", *lines, format_=format_) + data_set("b", format_="nemo-input")

    with pytest.raises(PreflightError) as caught:
        checked(tmp_path, text.replace('"nemo-input"', '"record"', "ids-in" in text))

    assert message in str(caught.value)


def test_a_format_is_detected_before_anything_is_read(tmp_path: Path) -> None:
    """Without a format, that of the first records tells what cannot be checked."""
    row = {"prompt": "2+2?", "ideal_response": "4", "category": ""}
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")

    with pytest.raises(PreflightError, match=r":3: .*a is nemo-input, with no model"):
        checked(tmp_path, '[datasets.a]\nfiles = "a.jsonl"\nmodels = "m"\n')
    schema = '[datasets.a]\nfiles = "a.jsonl"\nschema = "s.json"\nmodels = "m"\n'
    (tmp_path / "s.json").write_text("{}")
    with pytest.raises(PreflightError, match=r":4: .*a is validated by a schema"):
        checked(tmp_path, schema)


def test_each_model_must_answer_each_question(tmp_path: Path, write: Write) -> None:
    """One answer less or more of a model is found at the question's first record."""
    write(
        "a.jsonl",
        answered("1", "m", "n"),
        answered("2", "m"),
        answered("2", "n"),
        answered("3", "m", "m", "n"),
        answered("4"),
    )

    report = checked(tmp_path, data_set("a", "answers-per-question = 1"))

    assert places(report) == [("P203", "a.jsonl", 4), ("P203", "a.jsonl", 5)]
    assert report.problems[0].message == 'the question has 2 answers of "m", not 1'


def test_a_required_model_is_seen_among_any_number(
    tmp_path: Path, write: Write
) -> None:
    """Of many models not all names are kept, but those of required ones are."""
    write("a.jsonl", answered("1", *(f"m-{number}" for number in range(1002))))
    required = 'required-models = ["m-0", "m-1001", "m-1002"]'

    report = checked(tmp_path, data_set("a", required))

    messages = [one.message.partition(";")[0] for one in report.problems]
    assert messages == ['no answer is of the model "m-1002"']


def test_missing_answers_are_counted_as_a_share(tmp_path: Path, write: Write) -> None:
    """Those within the limit are no findings; beyond it, each of them is one."""
    bad: list[dict[str, Any]] = [
        {"outputs": [{"model": "m", "text": None}]},
        {"outputs": [{"model": "m", "text": "x", "error": "HTTP 429"}]},
        {"outputs": []},
        {"outputs": [{"model": "m", "text": ""}]},
        {"outputs": [{"text": " \n\u00a0"}]},
    ]
    good = [{"outputs": [{"text": "."}, {"text": "", "turns": [{"role": "user"}]}]}] * 5
    write("a.jsonl", *bad, *good)

    few = checked(tmp_path, data_set("a", 'max-missing-answers = "33.4 %"'))
    many = checked(tmp_path, data_set("a", 'max-missing-answers = "33.3 %"'))

    assert few.ok
    assert places(few) == []
    assert places(many) == [("P204", "a.jsonl", line) for line in range(1, 6)]
    assert [problem.message for problem in many.problems] == [
        'the answer of "m" is missing',
        'the answer of "m" is missing: "HTTP 429"',
        "there is no answer",
        'the answer of "m" is empty',
        "the answer is only white space",
    ]


def test_values_of_any_field_are_compared(tmp_path: Path, write: Write) -> None:
    """Fields below metadata, numbers, and a record without the field."""
    write(
        "a.jsonl",
        {"metadata": {"language": "pt", "shots": 5}},
        {"metadata": {"language": "PT", "shots": 5.0}},
        {"metadata": {"shots": 5}},
    )
    text = data_set(
        "a",
        'allowed-values = { metadata.language = ["pt", "en"], metadata.shots = 5 }',
        'required-values = { metadata.language = ["pt", "en"] }',
    )

    report = checked(tmp_path, text)

    assert places(report) == [
        ("P302", "a.jsonl", 2),
        ("P302", "a.jsonl", 3),
        ("P303", "preflight.toml", 5),
    ]
    assert "did you mean" in report.problems[0].message


@pytest.mark.parametrize("jobs", [1, 2])
def test_redacted_reports_show_no_value(
    tmp_path: Path, write: Write, jobs: int
) -> None:
    """Problems, checks and every reporter are without values; the counts stay."""
    mark = "ሀለሐ"
    rows = [
        answered(mark, mark, id=mark, category=mark, metadata={"x": mark}),
        {"prompt": mark, "id": 1, "outputs": [{"model": "m", "error": mark}]},
        {"prompt": mark, "id": mark, "outputs": [{"model": "m"}]},
    ]
    write("a.jsonl", *rows)
    write("b.jsonl", {"prompt": "x" + mark, "id": mark})
    text = data_set("b", 'no-prompts-of = "a"', "min-records-per-file = 1") + data_set(
        "a",
        "max-records = 1",
        'models = ["m", "n"]',
        "answers-per-question = 1",
        "max-missing-answers = 0",
        "max-prompt-characters = 1",
        'allowed-values = { category = "c" }',
        'required-values = { category = "c" }',
        'ids-in = "b"',
        'same-prompts-as = "b"',
        'prompts-in = "b"',
    )
    plain = checked(tmp_path, text, jobs=jobs)

    report = checked(tmp_path, text, redact=True, jobs=jobs)

    assert mark in repr(plain.problems) + repr(plain.checks)
    assert [one.state for one in report.checks] == [one.state for one in plain.checks]
    assert report.summary() == plain.summary()
    with_values = {"models", "allowed-values", "required-values"}
    for one, redacted in zip(plain.checks, report.checks, strict=True):
        assert redacted.found  # of values their number
        assert redacted.found == one.found or one.key in with_values
    shown = [repr((report.problems, report.checks, report.groups))]
    for reporter in REPORTERS.values():
        reporter.write(iter(report.problems), lambda: report, shown.append, Options())
    for text in shown:
        assert not set(mark) & set(text)
        assert "\\u12" not in text


def test_a_missing_file_is_named_with_redaction(tmp_path: Path) -> None:
    """The name of a file, however long a number, is shown with the reason."""
    name = f"{'1' * 60}x.jsonl"
    text = f'[datasets.a]\nfiles = "{name}"\n'

    check = checked(tmp_path, text, redact=True).checks[0]

    assert check.found.endswith(f"{name}: does not exist")


def test_long_values_are_compared_and_shown_in_short(
    tmp_path: Path, write: Write
) -> None:
    """Values that begin alike differ; what is kept of them does not grow with them."""
    long = "x" * 9000
    write("a.jsonl", {"prompt": long + "1"}, {"prompt": long + "2"})
    required = f'required-values = {{ prompt = ["{long}1", "{long}3"] }}'

    one = checked(tmp_path, data_set("a", f'allowed-values = {{ prompt = "{long}1" }}'))
    two = checked(tmp_path, data_set("a", required))
    both = checked(tmp_path, data_set("a", required.replace("3", "2")))

    assert places(one) == [("P302", "a.jsonl", 2)]
    assert places(two) == [("P303", "preflight.toml", 4)]
    assert both.ok
    assert len(both.checks[-1].found) < 500


def test_counts_are_those_of_answers_and_agree_with_their_nouns(
    tmp_path: Path, write: Write
) -> None:
    """Two answers of one model in a record are two; one finding is not several."""
    equal = answered("1", "m")
    write("a.jsonl", answered("2", "m", "n", "n"), equal, equal)
    limits = ('allowed-models = ["m"]', "lint = true", "max-findings = { X102 = 0 }")
    report = checked(tmp_path, data_set("a", *limits))
    (models,) = (one for one in report.checks if one.key == "allowed-models")

    assert models.found == "m, n; 2 answers of other models"
    messages = [one.message for one in report.problems]
    assert "there is 1 finding of X102, more than 0" in messages


def test_advice_names_keys_of_the_preflight_file(tmp_path: Path, write: Write) -> None:
    """What help says of options of commands works when it is written into the file."""
    write("u.jsonl", {"ask": "a", "gold": "b"})
    (tmp_path / "s.csv").write_text("id;prompt;response\n1;a;b\n", encoding="utf-8")
    text = "".join(
        f'[datasets.{one[0]}]\nfiles = "{one}"\n' for one in ("u.jsonl", "s.csv")
    )
    help_ = {one.code: one.help for one in checked(tmp_path, text).problems}

    assert help_["J307"] == 'read the table with `delimiter = ";"`'
    assert '`map = { prompt = "KEY" }`' in help_["S301"]
    assert "name a format with `format`" in help_["S301"]
    assert "--" not in "".join(help_.values())
    read = text.replace('s.csv"', 's.csv"\ndelimiter = ";"')
    assert "J307" not in [one.code for one in checked(tmp_path, read).problems]
