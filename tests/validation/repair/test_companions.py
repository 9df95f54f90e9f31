"""An aggregate follows when its samples file is repaired."""

import gzip
import hashlib
import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each_case
from effort import examples
from harpia_formats import FixReport, fix
from known_formats import RULES

RULE = RULES["E204"]
AGGREGATE: dict[str, Any] = json.loads(RULE.companion)
#: The key and the name of the samples file in the aggregate.
DETAILS = "detailed_evaluation_results"
NAME = AGGREGATE[DETAILS]["file_path"].rpartition("/")[2]
MARK = b"\xef\xbb\xbf"
#: A samples file with two faults, and what it is after its repair.
BROKEN = MARK + RULE.good.replace(b'"sample_id"', b'"sampel_id"')
FIXED = RULE.good


def aggregate(samples: bytes, algorithm: str = "sha256", **details: Any) -> bytes:
    """Return the aggregate of samples with these bytes."""
    checksum = hashlib.new(algorithm, samples).hexdigest()
    found = AGGREGATE[DETAILS] | {"hash_algorithm": algorithm, "checksum": checksum}
    return json.dumps(AGGREGATE | {DETAILS: found | details}, indent=1).encode()


def pair(folder: Path, document: bytes, samples: bytes = BROKEN) -> tuple[Path, Path]:
    """Write an aggregate and its samples file; return their paths."""
    paths = folder / "run.json", folder / NAME
    for path, data in zip(paths, (document, samples), strict=True):
        path.write_bytes(data)
    return paths


def codes(report: FixReport) -> list[str]:
    """Return the rules of the changes, in order."""
    return [change.code for change in report.changes]


@pytest.mark.parametrize("is_samples_first", [False, True])
@pytest.mark.parametrize("algorithm", ["sha256", "md5"])
def test_the_checksum_follows_in_the_same_run(
    algorithm: str, *, is_samples_first: bool, tmp_path: Path
) -> None:
    """Whatever the order of the files; nothing is left, and a second run is idle."""
    paths = pair(tmp_path, aggregate(BROKEN, algorithm))
    inputs = paths[::-1] if is_samples_first else paths
    report = fix(*inputs)

    assert [path.read_bytes() for path in paths] == [aggregate(FIXED, algorithm), FIXED]
    assert codes(report) == ["J201", "S103", "E204"]
    assert report.changes[-1].pointer == f"/{DETAILS}/checksum"
    assert (report.ok, report.unfollowed) == (True, ())
    assert codes(fix(*inputs)) == []


def test_the_repairs_of_the_aggregate_are_made_with_it(tmp_path: Path) -> None:
    """It is written once, even if the key that holds its checksum was misspelt."""
    document = aggregate(BROKEN).replace(
        DETAILS.encode(), b"detailed_evaluation_result"
    )
    paths = pair(tmp_path, document)
    report = fix(*paths)

    assert paths[0].read_bytes() == aggregate(FIXED)
    assert codes(report) == ["J201", "S103", "S104", "E204"]
    assert report.written == (str(paths[1]), str(paths[0]))
    assert report.ok


def test_a_checksum_that_did_not_hold_stays(tmp_path: Path) -> None:
    """It is an error of its own, which unsafe repairs leave too."""
    document = aggregate(b"other")
    paths = pair(tmp_path, document)
    report = fix(*paths, unsafe=True)

    assert paths[0].read_bytes() == document
    assert codes(report) == ["J201", "S103"]
    assert report.report is not None
    assert [one.code for one in report.report.problems] == ["S202", "E204"]


def test_a_diff_shows_what_a_repair_writes(tmp_path: Path) -> None:
    """The changes are the same, and nothing is written."""
    document = aggregate(BROKEN)
    paths = pair(tmp_path, document)
    shown = fix(*paths, diff=True)

    assert [path.read_bytes() for path in paths] == [document, BROKEN]
    assert shown.changes == fix(*paths).changes
    checksums = [
        json.loads(data)[DETAILS]["checksum"] for data in (document, aggregate(FIXED))
    ]
    for sign, checksum in zip("-+", checksums, strict=True):
        assert f'{sign}  "checksum": "{checksum}"'.encode() in shown.diff


@pytest.mark.parametrize("is_input", [False, True])
def test_an_aggregate_that_is_named_follows(*, is_input: bool, tmp_path: Path) -> None:
    """Its names do not matter; nothing else of it is repaired if it is no input."""
    document = MARK + aggregate(BROKEN, file_path="data/a/b/c/other_samples.jsonl")
    paths = pair(tmp_path, document)
    inputs = paths if is_input else paths[1:]
    report = fix(*inputs, companion=paths[0])

    expected = aggregate(FIXED, file_path="data/a/b/c/other_samples.jsonl")
    assert paths[0].read_bytes() == (expected if is_input else MARK + expected)
    assert report.unfollowed == ()
    assert codes(report)[-1] == "E204"


def test_ignored_rules_are_not_followed(tmp_path: Path) -> None:
    """A run that ignores checksums leaves them."""
    document = aggregate(BROKEN)
    paths = pair(tmp_path, document)
    report = fix(*paths, ignore=("E204",))

    assert paths[0].read_bytes() == document
    assert codes(report) == ["J201", "S103"]


def test_repaired_samples_without_their_aggregate_are_reported(tmp_path: Path) -> None:
    """So are those of a run with an output, whose input keeps the checksum."""
    paths = pair(tmp_path, aggregate(BROKEN))
    output = tmp_path / "out.jsonl"
    report = fix(paths[1], output=output, companion=paths[0])
    assert (output.read_bytes(), report.unfollowed) == (FIXED, (str(paths[1]),))
    assert paths[0].read_bytes() == aggregate(BROKEN)

    assert fix(paths[1]).unfollowed == (str(paths[1]),)
    assert paths[0].read_bytes() == aggregate(BROKEN)


@for_each_case(
    "name, document, is_told",
    [
        ("run.json", aggregate(BROKEN, file_path=f"data/x/{NAME}"), True),
        ("other.json.gz", gzip.compress(aggregate(BROKEN)), True),
        ("marked.json", MARK + aggregate(BROKEN), True),
        ("run.json", aggregate(BROKEN, checksum=""), False),
        ("run.json", aggregate(BROKEN, file_path="data/other_samples.jsonl"), False),
        ("run.json", b"[1]", False),
        ("run.json", b"{", False),
        ("run.json", b'{"\x94": 1}', False),
        ("run.txt", aggregate(BROKEN), False),
        (NAME.replace(".jsonl", "_of_mine.jsonl"), BROKEN, False),
    ],
)
def test_a_checksum_is_reported_only_where_there_is_one(
    name: str, document: bytes, tmp_path: Path, *, is_told: bool
) -> None:
    """In a document next to the samples file, whatever it is called."""
    samples = tmp_path / NAME
    samples.write_bytes(BROKEN)
    (tmp_path / name).write_bytes(document)
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")

    assert fix(samples).unfollowed == (str(samples),) * is_told
    assert samples.read_bytes() == FIXED


def test_repaired_samples_that_are_alone_are_not_told(tmp_path: Path) -> None:
    """Nothing is out of date where there is no aggregate."""
    samples = tmp_path / NAME
    for output in (None, tmp_path / "out.jsonl"):
        samples.write_bytes(BROKEN)
        assert fix(samples, output=output).unfollowed == ()


@examples(15)
@given(
    indent=st.none() | st.integers(0, 3),
    keys=st.permutations(list(AGGREGATE)),
    algorithm=st.sampled_from(["sha256", "md5"]),
    is_upper=st.booleans(),
)
def test_only_the_bytes_of_the_checksum_change(
    indent: int | None, keys: list[str], algorithm: str, *, is_upper: bool
) -> None:
    """Whatever the layout and the order of keys of the aggregate."""
    before, after = (
        hashlib.new(algorithm, samples).hexdigest() for samples in (BROKEN, FIXED)
    )
    if is_upper:
        before, after = before.upper(), after.upper()
    details = {"checksum": before, "hash_algorithm": algorithm}
    changed = AGGREGATE | {DETAILS: AGGREGATE[DETAILS] | details}
    document = json.dumps({key: changed[key] for key in keys}, indent=indent).encode()
    with TemporaryDirectory() as folder:
        paths = pair(Path(folder), document)
        assert fix(*paths).ok
        found = paths[0].read_bytes()

    assert found == document.replace(before.encode(), after.encode())
