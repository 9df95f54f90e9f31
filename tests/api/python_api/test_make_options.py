"""Wrong options of the Python functions are refused with the near ones."""

import io
from collections.abc import Callable
from typing import Any

import pytest

import harpia_formats
from cases import for_each_case
from harpia_formats import HarpiaFormatsError, OptionError

ROW = b'{"prompt": "q", "ideal_response": "r", "category": "", "source": ""}\n'


def convert(**options: Any) -> Any:
    """Convert a row with options."""
    return harpia_formats.convert(ROW, to="nemo", **options)


def score(**options: Any) -> Any:
    """Score a row with options."""
    return harpia_formats.score(ROW, **options)


def stats(**options: Any) -> Any:
    """Count a row with options."""
    return harpia_formats.stats(ROW, **options)


def validate(**options: Any) -> Any:
    """Validate a row with options."""
    return harpia_formats.validate(ROW, **options)


def infer(**options: Any) -> Any:
    """Infer a schema from a row with options."""
    return harpia_formats.infer_schema(ROW, **options)


def check_schema(**options: Any) -> Any:
    """Check a schema with options."""
    return harpia_formats.check_schema(b"{}", **options)


def merge(**options: Any) -> Any:
    """Merge a row with options."""
    return harpia_formats.merge(ROW, **{"output": io.BytesIO()} | options)


def diff(**options: Any) -> Any:
    """Compare a row with itself with options."""
    return harpia_formats.diff(ROW, ROW, **options)


def roundtrip(**options: Any) -> Any:
    """Convert a row there and back with options."""
    return harpia_formats.roundtrip(ROW, via="record", **options)


def read(**options: Any) -> Any:
    """Read a row with options."""
    return harpia_formats.read(ROW, **options)


def detect(**options: Any) -> Any:
    """Detect the format of a row with options."""
    return harpia_formats.detect(ROW, **options)


def compare(**options: Any) -> Any:
    """Compare the scores of a row with themselves with options."""
    return harpia_formats.compare_scores(ROW, ROW, **options)


def answers(**options: Any) -> Any:
    """Score the answers of a row with options."""
    return harpia_formats.score_answers(ROW, **options)


def sample(**options: Any) -> Any:
    """Take a row of a file of one with options."""
    return harpia_formats.sample(ROW, 1, output=io.BytesIO(), **options)


def preflight(path: Any) -> Any:
    """Check data sets by a file, by the place of the argument."""
    return harpia_formats.preflight(path)


WRONG: list[tuple[Callable[..., Any], dict[str, Any], str]] = [
    (validate, {"formt": "nemo"}, "no option formt; did you mean format"),
    (validate, {"examples": "5"}, "examples must be a whole number, not '5'"),
    (validate, {"lint": 1}, "lint must be true or false, not 1"),
    (validate, {"jobs": True}, "jobs must be a whole number, not True"),
    (validate, {"select": [1]}, "select must be several names"),
    (validate, {"progress": 3}, "progress must be a function or None"),
    (validate, {"columns": ["a"]}, "columns must be a mapping to texts or None"),
    (score, {"columns": {"id": 3}}, "columns must be a mapping to texts or None"),
    (convert, {"columns": {3: "id"}}, "columns must be a mapping to texts or None"),
    (validate, {"row_timeout": "1"}, "row_timeout must be a number"),
    (convert, {"refrences": "first"}, "did you mean references"),
    (convert, {"references": "expnd"}, "did you mean expand"),
    (convert, {"on_loss": "fial"}, "did you mean fail"),
    (convert, {"overwrite": "yes"}, "overwrite must be true or false"),
    (score, {"metric": ("em",)}, "did you mean metrics"),
    (score, {"missing": "zro"}, "did you mean 'zero'"),
    (score, {"level": "0.9"}, "level must be a number"),
    (score, {"level": 0}, "level must be above 0 and at most 0.999999999999999, not 0"),
    (score, {"level": 1 - 1e-16}, "at most 0.999999999999999, not 0.9999999999999999"),
    (score, {"replicates": 100_001}, "replicates must be from 0 to 100,000, not 100,0"),
    (score, {"on_invalid": "x"}, "cannot be 'x' \\(known: 'fail', 'skip'\\)"),
    (stats, {"on_invalid": "x"}, "cannot be 'x' \\(known: 'fail', 'skip'\\)"),
    (score, {"seed": 2**64}, "seed must be an integer from 0 to 2.64 - 1"),
    (score, {"jobs": -1}, "jobs and min_records must not be negative, nor max_row_"),
    (diff, {"ids": "hash"}, "no option ids \\(known: from_, columns"),
    (diff, {"keep_extra": True}, "no option keep_extra"),
    (roundtrip, {"overwrite": True}, "no option overwrite"),
    (roundtrip, {"min_records": 1}, "no option min_records"),
    (roundtrip, {"turns": "lst"}, "did you mean last"),
    (score, {"zzz": 1}, "known: from_, columns"),
    (validate, {"jobs": -1}, "jobs must be at least 0, not -1"),
    (validate, {"limit": 0}, "limit must be at least 1, not 0"),
    (validate, {"examples": -3}, "examples must be at least 0, not -3"),
    (validate, {"max_row_bytes": 0}, "max_row_bytes must be at least 1, not 0"),
    (validate, {"row_timeout": 0}, "row_timeout must be above 0"),
    (validate, {"delimiter": "ab"}, "'ab' is no delimiter"),
    (validate, {"cluster_timeout": -1}, "must be finite and above 0, not -1"),
    (convert, {"correct_from": 10**400}, "correct_from must be a number or None"),
    (compare, {"detect": -(10**5000)}, "number or None, not a whole number beyond all"),
    (validate, {"format": "nemo", "schema": {}}, "schema and format exclude each"),
    (convert, {"jobs": -1}, "jobs and min_records must not be negative, nor max_row_"),
    (convert, {"quarantine": "q.jsonl"}, "quarantine is the file of on_invalid"),
    (infer, {"enum_limit": 99}, "enum_limit must be from 0 to"),
    (infer, {"map_keys": 0}, "map_keys must be at least 1, not 0"),
    (check_schema, {"examples": -1}, "examples must be at least 0"),
    (merge, {"on_duplicate": "skp"}, "did you mean skip"),
    (convert, {"output": io.StringIO()}, "an open binary file, not StringIO"),
    (merge, {"output": 5}, "a path or an open binary file, not int"),
    (merge, {"on_duplicate": 1}, "on_duplicate must be a text, not 1"),
    (diff, {"to": ["csv"]}, r"to must be a text or None, not \['csv'\]"),
    (read, {"format": 1}, "format must be a text or None, not 1"),
    (read, {"from_": 1}, "from_ must be a text or None, not 1"),
    (detect, {"redact": "no"}, "redact must be true or false, not 'no'"),
    (detect, {"delimiter": 9}, "delimiter must be a text or None, not 9"),
    (compare, {"models": 1}, "models must be a text or several names, not 1"),
    (compare, {"baseline": ["a"]}, "baseline must be a text or None"),
    (score, {"systems": {"a": "A"}}, "systems names 'a', which is no input"),
    (answers, {"systems": {"a": "A"}}, "systems names 'a', which is no input"),
    (compare, {"systems": {"a": "A"}}, "systems names 'a', which is no input"),
    (sample, {"seed": None}, "seed must be a whole number or a text, not None"),
    (preflight, {"path": 1}, "path must be a text or a path or a mapping, not 1"),
]


@for_each_case("run, options, message", WRONG)
def test_a_wrong_option_is_a_type_error(
    run: Callable[..., Any], options: dict[str, Any], message: str
) -> None:
    """A name or value that no option has raises a `TypeError` that says what has."""
    with pytest.raises(TypeError, match=message) as raised:
        run(**options)

    assert isinstance(raised.value, OptionError)
    assert isinstance(raised.value, HarpiaFormatsError)


def test_lists_are_taken_for_several_names() -> None:
    """A list of rules or metrics is as good as a tuple."""
    report = harpia_formats.validate(ROW, select=["J", "S"], format="nemo-input")

    assert report.ok
