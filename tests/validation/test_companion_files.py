"""Pairs of files in a run, and the findings on them."""

import gzip
import io
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from corpora import CORPORA
from effort import examples
from harpia_formats import CompanionError, Report, validate
from json_lines import jsonl
from known_formats import RULES

ROOT = Path(__file__).parents[2]
SAMPLES = CORPORA / "eee" / "samples"
#: A samples file of one row, and its aggregate, which says its checksum.
ROW, AGGREGATE = RULES["E204"].good, json.loads(RULES["E204"].companion)
#: What its aggregate calls the samples file.
NAME = AGGREGATE["detailed_evaluation_results"]["file_path"].rpartition("/")[2]
#: A row that its aggregate does not describe, and the rules that it breaks.
OTHER, BROKEN_RULES = RULES["E201"].bad, {"E201": 1, "E204": 1}
#: Findings on the rows of all real pairs.
KNOWN = {"E201": 12, "E205": 33}


def aggregate(**details: Any) -> bytes:
    """Return the aggregate with some details of its samples changed."""
    changed = AGGREGATE["detailed_evaluation_results"] | details
    return json.dumps(AGGREGATE | {"detailed_evaluation_results": changed}).encode()


def codes(report: Report) -> Counter[str]:
    """Return how often each rule on a pair was broken."""
    found: Counter[str] = Counter()
    for each in report.groups:
        if each.code.startswith(("E2", "H2")):
            found[each.code] += each.count
    return found


def write(folder: Path, **files: bytes) -> list[Path]:
    """Write files, `_` for the dot of their names, and return them in this order."""
    paths = [folder / name.replace("__", ".") for name in files]
    for path, data in zip(paths, files.values(), strict=True):
        path.write_bytes(data)
    return paths


@pytest.mark.parametrize("samples_first", [True, False])
@pytest.mark.parametrize(
    ("samples", "other"),
    [
        (NAME, "scores.json"),
        ("run_samples.jsonl", "run.json"),
        ("run_samples.jsonl", "run_aggregate.json"),
    ],
)
def test_pairs_are_found_by_name(
    tmp_path: Path, samples: str, other: str, *, samples_first: bool
) -> None:
    """Samples are found by the path that is given or by stem, in either order."""
    paths = [tmp_path / samples, tmp_path / other]
    paths[0].write_bytes(OTHER)
    paths[1].write_bytes(aggregate())
    report = validate(*(paths if samples_first else reversed(paths)))
    counts = {Path(each.path).name: each for each in report.files}

    assert codes(report) == BROKEN_RULES
    assert (counts[samples].invalid, counts[samples].errors) == (1, 2)
    assert (counts[other].invalid, counts[other].errors) == (0, 0)


def test_aggregate_that_is_no_json_names_no_samples(tmp_path: Path) -> None:
    """The samples are checked against the aggregate that their own name belongs to."""
    broken = aggregate(file_path="data/run_samples.jsonl")[:-1]
    write(tmp_path, a__json=broken, run__json=aggregate(), run_samples__jsonl=OTHER)

    assert codes(validate(tmp_path)) == BROKEN_RULES


def test_pair_that_agrees_is_silent(tmp_path: Path) -> None:
    """Samples with the rows, the bytes and the ids that they should have are fine."""
    (tmp_path / NAME).write_bytes(ROW)
    (tmp_path / "a.json").write_bytes(aggregate(total_rows=1))

    assert validate(tmp_path).ok


@pytest.mark.parametrize(
    "files",
    [
        [f"one/{NAME}", "two/a.json"],
        ["one/other_samples.jsonl", "one/a.json"],
        [f"one/{NAME}"],
        ["one/a.json"],
    ],
)
def test_files_that_do_not_belong_together(tmp_path: Path, files: list[str]) -> None:
    """Files in other folders, of other names, or alone are checked against nothing."""
    for each in files:
        path = tmp_path / each
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(aggregate() if path.suffix == ".json" else OTHER)

    assert codes(validate(tmp_path)) == {}


def test_every_pair_of_a_folder_is_checked(tmp_path: Path) -> None:
    """Several pairs side by side are kept apart, and each is counted by itself."""
    for each in "123":
        name = NAME.replace("0", each)
        details = {"file_path": f"data/x/org/m/{name}", "total_rows": 1}
        (tmp_path / f"{each}.json").write_bytes(aggregate(**details))
        (tmp_path / name).write_bytes(OTHER if each == "2" else ROW)
    report = validate(tmp_path)
    wrong = [Path(each.path).name for each in report.files if each.errors]

    assert codes(report) == BROKEN_RULES
    assert wrong == [NAME.replace("0", "2")]


@pytest.mark.parametrize("wrong", [b"{", b"", b'{"evaluation_results": 3}'])
def test_broken_aggregate_stops_nothing(tmp_path: Path, wrong: bytes) -> None:
    """A broken aggregate has its own problems; no file is checked against it."""
    (tmp_path / "x_samples.jsonl").write_bytes(OTHER)
    (tmp_path / "x.json").write_bytes(wrong)
    report = validate(tmp_path)

    assert not report.ok
    assert codes(report) == {}
    assert [each.complete for each in report.files] == [True, True]


def as_path(data: bytes, folder: Path) -> Path:
    """Return a file with a name that no aggregate gives."""
    path = folder / "rows.jsonl"
    path.write_bytes(data)
    return path


INPUTS: list[Callable[[bytes, Path], Any]] = [
    as_path,
    lambda data, _: data,
    lambda data, _: io.BytesIO(data),
]


@pytest.mark.parametrize("as_input", INPUTS, ids=["path", "bytes", "stream"])
def test_aggregate_that_is_named(tmp_path: Path, as_input: Any) -> None:
    """Samples from a path, bytes or a stream are checked against the named file."""
    (path,) = write(tmp_path, scores__json=aggregate(total_rows=2))
    report = validate(as_input(OTHER, tmp_path), companion=path)
    places = {each.code: each.place.path for each in report.problems}

    assert codes(report) == BROKEN_RULES | {"E203": 1}
    assert places["E203"] == places["E204"] == str(path)
    assert places["E201"] == report.files[0].path
    assert report.files[0].invalid == 1


def test_aggregate_that_is_named_is_for_all(tmp_path: Path) -> None:
    """Each file of a fitting format is checked against the named one, no other file."""
    (path,) = write(tmp_path, scores__json=aggregate())
    report = validate(OTHER, OTHER, b'{"header": {}}', companion=path)

    assert [each.errors for each in report.files[:2]] == [2, 2]
    assert codes(report) == {"E201": 2, "E204": 2}


def test_file_that_nothing_belongs_to(tmp_path: Path) -> None:
    """An aggregate that is named for files of another kind is a mistake."""
    (path,) = write(tmp_path, scores__json=aggregate())

    with pytest.raises(CompanionError, match="is eee-aggregate, which none of the "):
        validate(RULES["H201"].good, companion=path)


def test_file_of_no_known_format_may_belong_to_any(tmp_path: Path) -> None:
    """A file in no known format is the only error, not the companion that is named."""
    (path,) = write(tmp_path, scores__json=aggregate())
    report = validate(b'{"question": "2+2?"}', companion=path)

    assert [each.code for each in report.groups] == ["S301"]


@pytest.mark.parametrize(
    "data", [b"[]", b"", b"[", b'{"id": "ROUGE", "parameters": {}, "score": 1']
)
def test_empty_or_broken_output_lacks_no_metric(tmp_path: Path, data: bytes) -> None:
    """An output that is empty or broken is not reported to lack metrics."""
    path = tmp_path / "input.json"
    path.write_bytes(RULES["H201"].companion)
    report = validate(data, format="harpia-output", companion=path)

    assert len(report.problems) == 1
    assert report.problems[0].code.startswith("J1")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (None, "no such file"),
        (b"", "is in no known format"),
        (b'{"question": "2+2?"}', "is in no known format"),
        (b"\x1f\x8b\x08", "truncated"),
    ],
)
def test_file_named_that_cannot_be_read(
    tmp_path: Path, data: bytes | None, reason: str
) -> None:
    """A named file that cannot be a companion raises `CompanionError`."""
    path = tmp_path / "scores.json"
    if data is not None:
        path.write_bytes(data)

    with pytest.raises(CompanionError, match=reason) as caught:
        validate(ROW, companion=path)

    assert str(caught.value) == f"{path}: {caught.value.reason}"


@pytest.mark.parametrize("options", [{"limit": 1}, {"fail_fast": True}])
def test_file_that_was_not_read_to_its_end(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    """A file that is not read to its end is not compared in rows and bytes."""
    rows = ROW.replace(b'"sample_id": "1"', b'"sample_id": 1') + ROW
    (tmp_path / NAME).write_bytes(rows)
    (tmp_path / "a.json").write_bytes(aggregate(total_rows=7))

    assert codes(validate(tmp_path, **options)) == {}


def test_first_error_is_the_only_one_if_asked_for(tmp_path: Path) -> None:
    """With `fail_fast` a pair has one error, and no later file is opened."""
    (tmp_path / NAME).write_bytes(OTHER)
    (path,) = write(tmp_path, a__json=aggregate())
    write(tmp_path, b__json=b"{}")
    found = validate(tmp_path, fail_fast=True)
    named = validate(OTHER, companion=path, fail_fast=True)

    assert (found.errors, named.errors) == (1, 1)
    assert [Path(each.path).name for each in found.files] == [NAME, "a.json"]


@pytest.mark.parametrize("options", [{"limit": 1}])
def test_file_named_is_used_by_a_file_that_is_not_read_whole(
    tmp_path: Path, options: dict[str, Any]
) -> None:
    """A named aggregate is used by a file that is not read to its end."""
    (path,) = write(tmp_path, a__json=aggregate(total_rows=7))
    second = ROW.replace(b'"sample_id": "1"', b'"sample_id": "2"')
    report = validate(ROW + second, companion=path, **options)

    assert codes(report) == {}


@pytest.mark.parametrize("is_named", [True, False])
def test_file_that_breaks_off_is_not_counted(tmp_path: Path, *, is_named: bool) -> None:
    """A truncated file is not compared in rows and bytes."""
    rows = b"".join(
        ROW.replace(b'"sample_id": "1"', b'"sample_id": "%d"' % each)
        for each in range(2_000)
    )
    path = tmp_path / "a.json"
    path.write_bytes(aggregate(total_rows=2_000))
    (tmp_path / NAME).write_bytes(gzip.compress(rows)[:-2_000])
    options: dict[str, Any] = {"companion": path} if is_named else {}
    report = validate(tmp_path / NAME, path, **options)
    (failed,) = report.failures

    assert failed.records > 1_000
    assert codes(report) == {}


def test_rules_on_pairs_can_be_left_out(tmp_path: Path) -> None:
    """A rule that is not active reports nothing and makes no record invalid."""
    (tmp_path / NAME).write_bytes(OTHER)
    (tmp_path / "a.json").write_bytes(aggregate())
    report = validate(tmp_path, ignore=("E2",))

    assert report.ok
    assert report.summary()["valid"] == 2


@pytest.mark.corpora
def test_real_pairs_are_found_in_their_folder() -> None:
    """The 18 real pairs agree on rows and bytes, and on ids as far as is known."""
    assert codes(validate(SAMPLES)) == KNOWN


@pytest.mark.corpora
def test_named_real_pairs_have_the_same_findings() -> None:
    """Each pair gives the same findings where its aggregate is named."""
    found: Counter[str] = Counter()
    for each in sorted(SAMPLES.glob("*_aggregate.json")):
        stem = each.name.removesuffix("_aggregate.json")
        samples = SAMPLES / f"{stem}_samples.jsonl"
        found += codes(validate(samples, companion=each))

    assert found == KNOWN


BLEU: dict[str, Any] = {"id": "BLEU-NLTK", "enable": True, "parameters": {"max": 4}}
CHRF: dict[str, Any] = {"id": "chrF", "enable": True, "parameters": {}}
OFF: dict[str, Any] = {"id": "BERTScore", "enable": False, "parameters": {}}
TWICE_OFF = [
    ("H202", 1, "/id"),
    ("H202", 2, "/id"),
    ("H201", None, ""),
    ("H201", None, ""),
]
INSTANCE = {"input": "?", "actual-output": "!", "expected-output": ["!"]}


def lab_input(*metrics: Any, ids: tuple[Any, ...] = ("1", "2")) -> bytes:
    """Return an input of HarpIA Lab with these metrics and instances."""
    instances = [{"id": each, **INSTANCE} for each in ids]
    return json.dumps({"instances": instances, "metrics": metrics}).encode()


def output(*metrics: dict[str, Any]) -> bytes:
    """Return an output with an object for each of these metrics."""
    items = [
        {
            "id": each["id"],
            "parameters": each["parameters"],
            "score": 0.5,
            "elapsed time": 0.1,
        }
        for each in metrics
    ]
    return json.dumps(items).encode()


def log(*rows: tuple[dict[str, Any], Any]) -> bytes:
    """Return a log of these metrics on these instances."""
    lines = [
        {
            "id": metric["id"],
            "parameters": metric["parameters"],
            "result": 0.5,
            "instance_id": instance,
        }
        for metric, instance in rows
    ]
    return jsonl(*lines)


@pytest.fixture
def lab_input_file(tmp_path: Path) -> Path:
    """Return an input of two metrics that are enabled and one that is not."""
    path = tmp_path / "input.json"
    path.write_bytes(lab_input(BLEU, CHRF, OFF))
    return path


def found(report: Report) -> list[tuple[str, int | None, str]]:
    """Return code, record and pointer of each finding on a pair."""
    return [
        (each.code, each.place.record, each.place.pointer)
        for each in report.problems
        if each.code.startswith("H2")
    ]


@pytest.mark.parametrize(
    ("metrics", "expected"),
    [
        ([BLEU, CHRF], []),
        ([CHRF, BLEU], []),
        ([BLEU], [("H201", None, "")]),
        ([BLEU, CHRF, OFF], [("H202", 3, "/id")]),
        ([BLEU, CHRF, CHRF | {"id": "TER"}], [("H203", 3, "/id")]),
        ([BLEU | {"parameters": {"max": 2}}, CHRF], [("H204", 1, "/parameters")]),
        ([BLEU | {"parameters": {"max": 4.0}}, CHRF], []),
        ([BLEU, CHRF, BLEU], [("H206", None, "")]),
        ([OFF, OFF], [*TWICE_OFF, ("H206", None, "")]),
    ],
)
def test_output_is_checked_against_its_input(
    lab_input_file: Path, metrics: list[dict[str, Any]], expected: list[Any]
) -> None:
    """Each enabled metric has one object with its parameters, and no other has any."""
    report = validate(output(*metrics), companion=lab_input_file)
    (count,) = report.files
    wrong = {record for _, record, _ in expected if record}

    assert found(report) == expected
    assert (count.records, count.invalid) == (len(metrics), len(wrong))
    assert count.errors == len(expected)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(BLEU, "1"), (BLEU, "2"), (CHRF, "1")], []),
        ([(BLEU, 1), (BLEU, 2)], []),
        ([(BLEU, "1"), (BLEU, "3")], [("H205", 2, "/instance_id")]),
        ([(OFF, "1")], [("H202", 1, "/id")]),
        ([(OFF, "9"), (BLEU, "1")], [("H202", 1, "/id"), ("H205", 1, "/instance_id")]),
    ],
)
def test_log_is_checked_against_its_input(
    lab_input_file: Path, rows: list[Any], expected: list[Any]
) -> None:
    """Rows name metrics that are run and instances that are there, text or number."""
    report = validate(log(*rows), companion=lab_input_file)
    (count,) = report.files

    assert found(report) == expected
    assert count.invalid == len({record for _, record, _ in expected})


def test_record_with_several_findings_is_invalid_once(lab_input_file: Path) -> None:
    """A record that its schema refuses too is one invalid record."""
    rows = log((OFF, "9"), (BLEU, "1"), (OFF, "1")).replace(
        b'"result": 0.5', b'"r": 1', 1
    )
    (count,) = validate(rows, companion=lab_input_file).files

    assert (count.records, count.valid, count.invalid) == (3, 1, 2)


@for_each_case(
    "code",
    [
        each
        for each, rule in RULES.items()
        # Some of these rules need only one file.
        if each[:2] in {"H2", "E2"} and rule.companion
    ],
)
def test_findings_on_pairs_have_places(code: str, tmp_path: Path) -> None:
    """Every finding of a pair is at a place in the file that it names."""
    rule = RULES[code]
    path = tmp_path / "beside.json"
    path.write_bytes(rule.companion)
    (problem,) = validate(
        rule.bad, format=str(rule.validated_as), companion=path, select=(code,)
    ).problems
    data = rule.companion if problem.place.path == str(path) else rule.bad
    last = problem.place.pointer.rpartition("/")[2].encode()
    line = data[: problem.place.byte_offset].count(b"\n") + 1

    assert 0 <= problem.place.byte_offset < len(data)
    assert problem.place.line == line
    if last and not last.isdigit():
        before = data[: problem.place.byte_offset].rstrip()
        assert before.endswith(b'"' + last + b'":')


def test_findings_have_physical_lines(lab_input_file: Path) -> None:
    """In a file with blank lines the place of a finding is the physical one."""
    rows = b"\n\n".join(log((BLEU, "1"), (BLEU, "é"), (OFF, "2")).splitlines())
    first, second = (
        each
        for each in validate(rows, companion=lab_input_file).problems
        if each.code != "J202"
    )

    assert (first.code, first.place.line, first.place.record) == ("H202", 5, 3)
    assert (second.code, second.place.line, second.place.record) == ("H205", 3, 2)
    assert rows[second.place.byte_offset :].startswith(json.dumps("é").encode())


@examples(13)
@given(
    ids=st.lists(
        st.sampled_from(["1", "2", "10", "é", "(1,)"]), max_size=4, unique=True
    ),
    seen=st.lists(
        st.sampled_from(["1", "2", 10, "é", "(1,)", 3]), min_size=1, max_size=9
    ),
)
def test_unknown_instances_are_reported(
    tmp_path_factory: pytest.TempPathFactory, ids: list[Any], seen: list[Any]
) -> None:
    """Exactly the rows with an instance that the input lacks, as text, are reported."""
    path = tmp_path_factory.mktemp("pair") / "input.json"
    path.write_bytes(lab_input(BLEU, ids=("never", *ids)))
    report = validate(log(*((BLEU, each) for each in seen)), companion=path, examples=0)
    wrong = [number for number, each in enumerate(seen, 1) if str(each) not in ids]

    assert found(report) == [("H205", each, "/instance_id") for each in wrong]
    assert report.files[0].invalid == len(wrong)
    assert Counter(each.code for each in report.problems)["H205"] == len(wrong)


@pytest.mark.parametrize("change", [b'"id":, ', b'"id": nul', b"NaN"])
def test_a_row_is_not_said_to_refer_to_nothing_where_something_cannot_be_read(
    tmp_path: Path, change: bytes
) -> None:
    """An input with a broken instance may have any id, so that it cannot be used."""
    data = lab_input(BLEU, ids=("1", "2")).replace(b'"id": "2"', change)
    (path,) = write(tmp_path, input__json=data)

    with pytest.raises(CompanionError, match="has records that cannot be read"):
        validate(log((BLEU, "2")), companion=path)
    assert not validate(log((BLEU, "2")), companion=path, ignore=["H205"]).problems


def test_records_behind_the_end_of_a_file_that_is_cut_off_are_not_known(
    tmp_path: Path,
) -> None:
    """An array of whole rows that is not closed cannot be used, either."""
    question = {"question_id": 1, "category": "writing", "turns": ["a"]}
    choice = {"index": 0, "turns": ["b"]}
    answer = {"question_id": 2, "answer_id": "a", "model_id": "m", "choices": [choice]}
    rows = json.dumps({**answer, "tstamp": 1.0}).encode()
    whole = json.dumps([question]).encode()
    (path,) = write(tmp_path, questions__json=whole)
    assert [one.code for one in validate(rows, companion=path).problems] == ["B103"]
    path.write_bytes(whole[:-1] + b",")

    with pytest.raises(CompanionError, match="has records that cannot be read"):
        validate(rows, companion=path)


@for_each_case(
    "given, meant, is_known", [(1.0, 1, True), (1, 1.0, True), (1, 7.0, False)]
)
def test_an_id_may_be_written_as_a_float(
    tmp_path: Path, given: Any, meant: Any, is_known: bool
) -> None:
    """An id of 1.0 is that of an instance 1, and one of 7.0 is that of none."""
    instance = {"id": given, "input": "q", "actual-output": "a"}
    metric = {"id": "BLEU", "enable": True, "parameters": {}}
    document = json.dumps({"instances": [instance], "metrics": [metric]}).encode()
    (companion,) = write(tmp_path, input__json=document)
    line = {"id": "BLEU", "parameters": {}, "instance_id": meant, "result": 0.5}

    report = validate(jsonl(line), format="harpia-log", companion=companion)

    assert codes(report) == ({} if is_known else {"H205": 1})
