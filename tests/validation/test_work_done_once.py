"""What is built, read and decoded once, for many files and for many rows.

It may change how fast they are validated, and nothing that is found.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixture_files import valid_rows
from harpia_formats import infer_schema, validate
from harpia_formats.files.framing.chunk import Chunk, Cursor
from harpia_formats.files.framing.columns import decoded_or_none
from harpia_formats.files.io import source
from harpia_formats.files.io.source import Source
from harpia_formats.formats.schema import bundled_schemas
from harpia_formats.formats.schema.decoder_types import UnsupportedSchemaError
from harpia_formats.formats.schema.typed_decoder import typed_decoder_of
from harpia_formats.validation.diagnosis import messages
from harpia_formats.validation.diagnosis.messages import problem_of
from harpia_formats.validation.parallel import small_files
from harpia_formats.validation.unit import row_validator
from harpia_formats.validation.unit.row_checks import RowChecks
from harpia_formats.validation.unit.row_validator import (
    DECODERS,
    FIRST_ROWS,
    ROWS_BEFORE_DECODER,
    RowValidator,
)
from json_lines import jsonl
from known_formats import bundled_schema
from worker_units import Here, small_units

ROOT = Path(__file__).parents[2]
AGGREGATES = sorted(ROOT.glob("fixtures/eee-aggregate/valid/*-0.3.0.json"))
#: One of each kind, valid and not, some of them in pairs.
FILES = [
    path
    for kind in ("eee-aggregate", "eee@0.3.0", "eee@0.2.0", "harpia", "nemo-output")
    for verdict in ("valid", "invalid")
    for path in sorted(ROOT.glob(f"fixtures/{kind}/{verdict}/*"))
]


#: Values of members of rows.
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from([None, True, 1, 0.5, "a", "ü", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "d/e", ""]), inner, max_size=3)
    ),
    max_leaves=8,
)


def found(paths: list[Path], **options: Any) -> tuple[list[Any], Any]:
    """Return the problems of files, and the counts of each by its name."""
    report = validate(*paths, **options)
    return list(report.problems), report.files


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Return a list that has the schema of each schema engine that is built."""
    schemas = []
    build = bundled_schemas.schema_validator_of

    def noted(schema: Any, **more: Any) -> Any:
        schemas.append(schema)
        return build(schema, **more)

    place = "harpia_formats.validation.unit.row_validator.schema_validator_of"
    monkeypatch.setattr(place, noted)
    return schemas


def test_schema_engine_is_built_once_for_files_of_one_kind(
    tmp_path: Path, built: list[Any]
) -> None:
    """The schema engine of a format is built once, however many files are in it."""
    data = (ROOT / "fixtures/eee-aggregate/valid/full-0.3.0.json").read_bytes()
    paths = [tmp_path / f"{number}.json" for number in range(20)]
    for path in paths:
        path.write_bytes(data)

    assert [file.valid == 1 for file in found(paths, jobs=1)[1]] == [True] * 20
    assert len(built) == 1


def test_a_worker_builds_the_engine_again_after_a_file_that_it_gives_back(
    tmp_path: Path, built: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What an unfinished file may have left behind is not used for the next one."""
    small_units(monkeypatch, 100, whole_files=1_000_000)
    monkeypatch.setattr(small_files, "GROUP_LIMIT", 1)
    paths = [tmp_path / f"{number}.jsonl" for number in range(3)]
    for path in paths:
        path.write_bytes(b'{"model_id": 1}\n' * 9)
    found(paths, format="eee@0.2.0", executor=Here())

    # This process validates all three in the end, with one engine.
    assert len(built) == len(paths) + 1


def test_rows_of_texts_are_not_validated_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A table is validated by its columns alone if any texts are valid in them."""
    validated = []
    validate_decoded = RowValidator.validate_decoded

    def noted(self: RowValidator, number: int, *given: Any, **more: Any) -> None:
        validated.append(number)
        validate_decoded(self, number, *given, **more)

    monkeypatch.setattr(RowValidator, "validate_decoded", noted)
    data = b"prompt,response\n" + b"a,b\n" * 1_000

    for format_ in ("csv", "tencent-csv"):
        validated.clear()
        report = validate(data, format=format_)
        assert (report.files[0].valid, len(validated)) == (1_000, 1)


def test_valid_aggregate_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A valid aggregate without samples next to it is opened once."""
    opened = []
    open_stream = source._stream_of  # noqa: SLF001 - every file is opened there

    def noted(given: source.Source) -> Any:
        opened.append(given.name)
        return open_stream(given)

    monkeypatch.setattr(source, "_stream_of", noted)
    path = tmp_path / "one.json"
    path.write_bytes(
        (ROOT / "fixtures/eee-aggregate/valid/full-0.3.0.json").read_bytes()
    )
    found([path], jobs=1)

    assert opened == [str(path)]


def test_files_share_validators_without_an_effect() -> None:
    """Files validated together have the findings that they have alone."""
    together, counts = found(FILES, jobs=1, examples=0, max_problems=0)
    alone: list[Any] = []
    alone_counts: list[Any] = []
    for path in FILES:
        problems, files = found([path], jobs=1, examples=0, max_problems=0)
        alone += problems
        alone_counts += files

    assert together == alone
    assert counts == tuple(alone_counts)


@pytest.mark.parametrize("path", AGGREGATES, ids=lambda path: path.stem)
def test_samples_named_by_an_aggregate_are_found(path: Path, tmp_path: Path) -> None:
    """Samples are found by the name that a document gives, read once or again."""
    document = json.loads(path.read_bytes())
    details = {"file_path": "any/rows.jsonl", "format": "jsonl", "total_rows": 9}
    document["detailed_evaluation_results"] = details
    rows = (ROOT / "fixtures/eee@0.3.0/valid/full.jsonl").read_bytes()
    (tmp_path / "rows.jsonl").write_bytes(rows)
    for name, text in (
        ("valid.json", json.dumps(document, indent=1)),
        ("valid.json", json.dumps(document)),
        ("invalid.json", json.dumps(document | {"schema_version": 3})),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
        problems, _ = found([tmp_path / name, tmp_path / "rows.jsonl"], jobs=1)
        (tmp_path / name).unlink()

        assert "E203" in {problem.code for problem in problems}


@pytest.mark.parametrize("key", ["id", "n"])
def test_rows_beyond_the_examples_are_not_described(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the problems of a group as many are described as are shown, in any chunks."""
    described = []

    def noted(finding: Any, *given: Any) -> Any:
        described.append(finding)
        return problem_of(finding, *given)

    monkeypatch.setattr(messages, "problem_of", noted)
    schema = {"properties": {"id": {"type": "string"}, "n": {"maximum": 9}}}
    data = b"".join(b'{"%s": %d}\n' % (key.encode(), 10**8 + n) for n in range(9_000))
    report = validate(data, schema=schema, examples=2)

    assert (report.errors, len(report.problems)) == (9_000, 2)
    assert len(described) == 2


def test_row_is_decoded_once_for_lints(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row that lints look at is decoded once for those of rows and across rows."""
    decoded = []

    def noted(text: bytes) -> Any:
        decoded.append(text)
        return decoded_or_none(text)

    place = "harpia_formats.validation.unit.row_linter.decoded_or_none"
    monkeypatch.setattr(place, noted)
    rows = [
        b'{"messages": [{"role": "user", "content": "What is %d?"}, '
        b'{"role": "assistant", "content": "A number."}]}' % number
        for number in range(20)
    ]
    report = validate(b"\n".join(rows), format="openai-chat", lint=True, jobs=1)

    assert report.files[0].valid == len(rows)
    assert decoded == rows


def test_document_is_decoded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The value by which a format is recognised is the one that is validated."""
    decoded = 0
    decode = row_validator._decode  # noqa: SLF001 - rows are decoded there

    def counted(text: bytes) -> Any:
        nonlocal decoded
        decoded += 1
        return decode(text)

    monkeypatch.setattr(row_validator, "_decode", counted)
    aggregate = (ROOT / "fixtures/eee-aggregate/valid/full-0.3.0.json").read_bytes()
    data = [aggregate, b"\n " + aggregate, b"// a comment\n" + aggregate]
    paths = [tmp_path / f"{number}.json" for number in range(len(data))]
    for path, text in zip(paths, data, strict=True):
        path.write_bytes(text)
    _, files = found(paths, jobs=1)

    assert [file.invalid for file in files] == [0, 0, 1]
    assert decoded == 1


def test_value_that_was_decoded_is_not_taken_for_another(tmp_path: Path) -> None:
    """Files of the same value in other texts have findings at their own places."""
    path = ROOT / "fixtures/eee-aggregate/valid/full-0.3.0.json"
    document = json.loads(path.read_bytes()) | {"evaluation_id": 7}
    places = []
    for indent in (None, 1, 8):
        (tmp_path / "a.json").write_text(json.dumps(document, indent=indent), "utf-8")
        ((problem, *_), _) = found([tmp_path / "a.json"], jobs=1)
        places.append((problem.place.line, problem.place.column))

    assert len(set(places)) == len(places)


def test_later_batches_have_more_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of many files, in their order, the first batches are small and no one large."""
    monkeypatch.setattr(small_files, "BATCH", 3 * small_files.FILE)
    monkeypatch.setattr(small_files, "LARGEST", 9 * small_files.FILE)
    path = tmp_path / "empty.json"
    path.touch()
    sources = [Source(str(number), path) for number in range(100)]
    batches = list(small_files._batches(sources, is_far=False))  # noqa: SLF001 - how files are put together

    assert [one for batch in batches for one in batch.sources] == sources
    sizes = [len(batch.sources) for batch in batches]
    assert sizes[:-1] == sorted(sizes[:-1])
    assert (sizes[0], max(sizes)) == (3, 9)


def test_small_file_is_read_by_two_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of less than a block is read at once, and then its end is seen.

    One that is a valid object, without white space in front, is not read in blocks.
    """
    sizes = []
    pull = source.SourceReader._pull  # noqa: SLF001 - all bytes of files come from it

    def noted(reader: source.SourceReader, size: int) -> bytes:
        sizes.append(size)
        return pull(reader, size)

    monkeypatch.setattr(source.SourceReader, "_pull", noted)
    path = tmp_path / "one.json"
    path.write_bytes(b"\n" + AGGREGATES[0].read_bytes())
    found([path], jobs=1)

    assert len(sizes) == 2


@pytest.mark.parametrize("bad", [b"", b'{"id": 7}\n', b"{\n"])
def test_a_chunk_of_many_rows_has_a_decoder_at_once(bad: bytes) -> None:
    """A decoder is built before the first of many rows, whatever these are."""
    row = b'{"id": "a", "n": 1, "free": [[[[1]]]]}\n'
    schema = {"type": "object", "required": ["n"], "properties": {"n": {}}}
    few, many = (RowValidator(schema, RowChecks()) for _ in range(2))
    few.validate(Chunk(row * (FIRST_ROWS - 1), Cursor()))
    verdict = many.validate(Chunk(bad + row * FIRST_ROWS, Cursor()))

    assert few.decoder is None
    assert many.training.decoder is not None or bad == b"{\n"
    assert [each.row for each in verdict.findings] == [0] * bool(bad)
    assert (verdict.accepted is None) == bool(bad)
    assert bad != b'{"id": 7}\n' or verdict.values[-1] is not None
    # One wrong row delays no other chunk.
    assert many.validate(Chunk(row * FIRST_ROWS, Cursor())).accepted is not None
    assert many.accepted(Chunk(row * FIRST_ROWS, Cursor())) is not None


def test_small_chunks_have_a_decoder_after_some_rows() -> None:
    """It is built after as many valid rows, and again only for what it cannot read."""
    validator = RowValidator({"type": "object", "properties": {"n": {}}}, RowChecks())
    for _ in range(FIRST_ROWS):
        assert validator.decoder is None
        validator.validate(Chunk(b'{"n": 1}', Cursor()))
    decoders = [validator.decoder]
    deep = Chunk(b'{"n": [[[[[[[[1]]]]]]]]}', Cursor())
    for _ in range(3):
        for _ in range(ROWS_BEFORE_DECODER):
            validator.validate(deep)
        decoders.append(validator.decoder)

    assert decoders[0] is not None
    assert decoders[1] is not decoders[0]
    assert decoders[1:] == decoders[1:2] * 3


def test_a_file_has_so_many_decoders_at_most() -> None:
    """Rows that have new keys all the time are validated by the schema in the end."""
    validator = RowValidator({"type": "object", "properties": {"n": {}}}, RowChecks())
    built = []
    for turn in range(DECODERS + 3):
        text = b'{"key %d": 1, "n": [[[[[[[[1]]]]]]]]}' % turn
        for _ in range(ROWS_BEFORE_DECODER):
            validator.validate(Chunk(text, Cursor()))
        if validator.decoder not in built:
            built.append(validator.decoder)

    assert len(built) == DECODERS


def test_a_decoder_that_cannot_be_built_is_tried_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A schema that no types express is known after the first rows."""
    tried = []

    def fail(*_: Any, **__: Any) -> Any:
        tried.append(1)
        raise UnsupportedSchemaError

    monkeypatch.setattr(row_validator, "typed_decoder_of", fail)
    validator = RowValidator({"type": "object", "not": {}}, RowChecks())
    for _ in range(5):
        validator.validate(Chunk(b'{"n": 1}\n' * FIRST_ROWS, Cursor()))

    assert tried == [1]


@pytest.mark.parametrize(
    "checks",
    [
        RowChecks(),
        RowChecks(keeps_texts=False),
        RowChecks(repeated_keys=False),
        RowChecks(formats=True),
    ],
)
def test_many_valid_rows_are_accepted_at_once(checks: RowChecks) -> None:
    """Whatever is checked of rows, those that the decoder accepts are not looked at."""
    rows = [row | {"sample_id": "é" * 40} for row in valid_rows("eee@0.3.0")]
    chunk = Chunk(jsonl(*rows * FIRST_ROWS), Cursor())

    RowValidator(bundled_schema("eee@0.3.0"), checks).validate(chunk)

    assert chunk.is_utf8


def test_keys_that_come_late_are_learned() -> None:
    """A key that turns up after a decoder was built gets a new decoder in the end."""
    validator = RowValidator(bundled_schema("eee@0.2.0"), RowChecks())
    row = valid_rows("eee@0.2.0")[0]
    late = json.dumps(row | {"late": 1}).encode()
    for text in [json.dumps(row).encode()] * 70 + [late] * 200:
        validator.validate(Chunk(text, Cursor()))
    decoder = validator.decoder

    assert decoder is not None
    assert decoder.accept(late) is not None


@given(st.lists(st.dictionaries(st.sampled_from("abcé"), VALUES), min_size=1))
def test_a_typed_decoder_is_built_of_a_schema_that_is_inferred(rows: list[Any]) -> None:
    """Rows can be validated at the speed of parsing by the schema of such rows."""
    schema = infer_schema(rows).schema
    assert schema is not None
    decoder = typed_decoder_of(schema)

    accepted = [decoder.accept(json.dumps(row).encode()) for row in rows]
    assert None not in accepted
