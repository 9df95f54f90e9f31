import gzip
import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from any_rows import ANY_ROWS
from cases import for_each_case
from harpia_formats import Detected, detect
from in_process import InProcess
from known_formats import FORMATS, bundled_schema

FIXTURES = Path(__file__).parents[3] / "fixtures"
QUESTION = b'{"messages":[{"role":"user","content":"Oi"}],"ref_answer":"Hi"}\n'
ANSWERED = b'{"messages":[],"model_outputs":[]}\n'
TEXT = "no known format: the file is neither JSON nor called .csv or .tsv"
STRANGE = b'{"zz":1}\n'


def only(given: Any) -> Detected:
    """Return the detected format of the only file behind an input."""
    (found,) = detect(given)
    return found


def test_every_valid_fixture_is_detected_as_its_format() -> None:
    """Each fixture is detected as the format of its folder, and as no other."""
    paths = [
        path
        for path in sorted(FIXTURES.glob("*/valid/*"))
        if path.parts[-3] not in ANY_ROWS
    ]
    found = detect(*paths)

    assert [each.path for each in found] == [str(each) for each in paths]
    shared = {each.format for each in found if each.rival}
    assert shared == {"tencent-messages", "csv"}
    formats = [
        each.rival.partition(" ")[0]
        if each.format == "csv" and each.rival
        else each.format
        for each in found
    ]
    assert formats == [each.parts[-3] for each in paths]
    assert all(not each.others for each in found)
    assert {(each.confidence, bool(each.rival)) for each in found} == {
        (1.0, False),
        (0.6, True),
    }
    dialects = {(each.format, each.dialect) for each in found}
    assert dialects <= {
        (format_.id, dialect.name)
        for format_ in FORMATS.values()
        for dialect in format_.dialects
    }


def test_records_are_counted_with_the_reason() -> None:
    """The reason says how many records match the format, and by what."""
    assert only(QUESTION * 100) == Detected(
        "<data>",
        format="tencent-messages",
        container="JSON Lines",
        confidence=1.0,
        why="`messages` in 100 of 100 records",
        records=100,
        matching=100,
    )


def test_others_are_counted() -> None:
    """The result for a mixed file lists the formats of the other records."""
    found = only(QUESTION * 90 + ANSWERED * 6 + STRANGE * 4)

    assert (found.name, found.confidence) == ("tencent-messages", 0.9)
    assert found.why == "`messages` in 90 of 100 records"
    assert found.others == (("tencent-outputs", 6),)
    assert found.strangers == 4


def test_only_the_beginning_is_read() -> None:
    """Records behind the sample are not read."""
    size = 32 * 1024 * 1024
    stream = io.BytesIO(QUESTION * (size // len(QUESTION)) + ANSWERED)
    found = only(stream)

    assert found.confidence == 1.0
    assert 1_000 <= found.records < 100_000
    assert stream.tell() < size // 2


@for_each_case(
    "path, why, container",
    [
        ("nemo-config/valid/*.json", " in the document", "a JSON object"),
        ("haystack/valid/*.json", " in the document", "a JSON object"),
        ("harpia-output/valid/wrapped*.json", " in the document", "a JSON object"),
        ("tencent-csv/valid/*.csv", " in the header", "a table"),
        ("record/valid/array.json", " in 3 of 3 records", "a JSON array"),
    ],
)
def test_reason_names_where_the_format_was_detected(
    path: str, why: str, container: str
) -> None:
    """The reason names the document, the header of a table, or the records."""
    for each in detect(str(FIXTURES / path)):
        assert each.why.endswith(why)
        assert each.container.startswith(container)


def test_rival_is_named() -> None:
    """If all records match another format as well, it is the rival."""
    rows = (FIXTURES / "eee@0.2.0" / "valid" / "runs.jsonl").read_bytes()
    scores: dict[str, Any] = {"groups": {"g": {"metrics": {"f1": {"scores": {}}}}}}
    row = json.loads(rows.splitlines()[0]) | scores
    found = only(json.dumps(row).encode())

    assert (found.format, found.rival) == ("eee@0.2.0", "nemo-results")


def test_unknown_file_lists_the_nearest_formats() -> None:
    """For an unknown format, the nearest formats and missing keys are listed."""
    found = only(b'{"prompts": "Oi", "category": "a"}\n' * 3)

    assert (found.format, found.name, found.confidence) == (None, "unknown", 0.0)
    assert found.records == 3
    assert found.why.startswith("no known format; the nearest are ")
    assert "nemo-input lacks prompt" in found.nearest


def test_missing_keys_are_counted_behind_the_first() -> None:
    """Of the keys that an unknown file lacks four are named."""
    found = only(b'{"doc_id": 0}\n')

    listed = "lm-eval-samples lacks doc, target, arguments, resps and 1 more"
    assert found.nearest.endswith(f"; {listed}")


@pytest.mark.parametrize(("mark", "wide"), [(":", "："), (",", "，")])
def test_document_with_wide_punctuation_is_detected(mark: str, wide: str) -> None:
    """All of a document is looked at whose only fault is a mark of full width."""
    text = json.dumps({"x": 1, "run_name": "a", "inputs": {}, "results": {}}, indent=1)
    found = only(text.replace(mark, wide, 1).encode())

    assert found.format == "haystack-run"


def test_contested_answers_are_told() -> None:
    """Why the answers of a table may be a model's or expected ones is in the result."""
    found = only(io.BytesIO(b"prompt,response\n2+2?,4\n"))

    assert found.format == "csv"
    assert found.contested.startswith(
        "nothing tells whether `response` holds a model's"
    )


@for_each_case(
    "text, why, container",
    [
        (b"", "the file holds no records", "nothing"),
        (b"\n \n", "the file holds no records", "nothing"),
        (b"[]", "the file holds no records", "a JSON array"),
        (b"hello\nworld\n", TEXT, "text"),
        (b"x" * 17_000_000, TEXT, "text"),
        (b"{hello}\n{}}\n", "none of the first records can be read", "JSON Lines"),
        (b"1\n2\n", "no known format: the records are not objects", "JSON Lines"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_file_without_readable_records_is_unknown(
    text: bytes, why: str, container: str
) -> None:
    """A file without readable records is unknown, with the reason."""
    found = only(text)

    assert (found.format, found.why, found.container) == (None, why, container)
    assert found.reason is None


def test_broken_records_are_passed_over() -> None:
    """Records that are not JSON do not influence the result."""
    found = only(b'{"messages": nan}\n' + QUESTION * 2)

    assert (found.format, found.records, found.confidence) == (
        "tencent-messages",
        2,
        1.0,
    )


def test_unreadable_file_has_a_reason(tmp_path: Path) -> None:
    """A missing or unreadable file is reported along with the readable files."""
    good, wide = tmp_path / "good.jsonl", tmp_path / "wide.jsonl"
    good.write_bytes(QUESTION)
    wide.write_bytes(QUESTION.decode().encode("utf-16"))
    missing, unread, known = detect(tmp_path / "none.jsonl", wide, good)

    assert "does not exist" in (missing.reason or "")
    assert "UTF-16" in (unread.reason or "")
    assert (missing.format, unread.format, missing.container) == (None, None, "")
    assert (known.format, known.reason) == ("tencent-messages", None)


def test_truncated_file_is_detected_by_its_good_part() -> None:
    """A truncated compressed file is detected by its good part, with the reason."""
    rows = b"".join(b'{"ref_answer":"","id":%d}\n' % (n * n) for n in range(9_000))
    packed = gzip.compress(rows)
    found = only(packed[: len(packed) // 20])

    assert found.format == "tencent-messages"
    assert "truncated" in (found.reason or "")


def test_folder_and_stream_are_inputs() -> None:
    """Inputs are those of `validate`, each of them once."""
    folder = FIXTURES / "nemo-results"
    found = detect(folder, folder, io.BytesIO(QUESTION))

    assert len({each.path for each in found}) == len(found)
    assert len(found) == len([*folder.glob("*/*")]) + 1


def test_no_input_is_an_error() -> None:
    """No input is a `ValueError`, and a wrong type a `TypeError`."""
    with pytest.raises(ValueError, match="nothing to read"):
        detect()
    with pytest.raises(TypeError, match="not int"):
        detect(1)  # type: ignore[arg-type]  # the mistake that is tested


def test_detection_keeps_its_contract(tmp_path: Path, run: InProcess) -> None:
    """The JSON result is valid by the built-in schema, and has what the API returns."""
    (tmp_path / "mixed.jsonl").write_bytes(QUESTION + STRANGE + ANSWERED)
    (tmp_path / "nothing").touch()
    (tmp_path / "odd.json").write_bytes(b'{"a": 1}')
    paths = [FIXTURES, tmp_path, tmp_path / "none.json"]
    result = run("detect", *paths, "--output-format", "json")
    whole = json.loads(result.out)

    jsonschema.Draft7Validator(bundled_schema("detection-1")).validate(whole)
    for each, printed in zip(detect(*paths), whole["files"], strict=True):
        assert printed["format"] == each.format
        assert [(o["name"], o["records"]) for o in printed["others"]] == [*each.others]
