"""The text of `ValidationFailed`: how many errors there are, and the first ones."""

from pathlib import Path

import pytest

import harpia_formats as hf
from harpia_formats.api.testing import assert_valid


def text_of(data: bytes, **options: object) -> str:
    """Return the text of the exception that the report on some rows raises."""
    report = hf.validate(data, format="nemo-input", **options)  # type: ignore[arg-type]  # any option
    with pytest.raises(hf.ValidationFailed) as raised:
        report.raise_for_errors()
    return str(raised.value)


ROW = b'{"prompt": "1", "ideal_response": "2", "category": "", "source": ""}\n'


def test_one_error_is_one_line() -> None:
    """A single error has its place, its rule and its message in one line."""
    assert text_of(ROW.replace(b'"1"', b"1")) == (
        "1 error, first <data>:1:12 S102: prompt must be text, found the number 1"
    )


def test_the_first_of_different_errors_are_shown() -> None:
    """Of equal errors one is shown, of others three; the rest is counted."""
    bad = ROW.replace(b'"1"', b"1")
    data = bad * 1_000 + b'{"prompt": "1"}\n' + ROW.replace(b'"2"', b"2") + b"{]\n"
    lines = text_of(data).splitlines()

    assert lines[0] == (
        "1,003 errors, first <data>:1:12 S102: prompt must be text, found the number 1"
    )
    assert lines[1:3] == [
        "  <data>:1001:1 S101: ideal_response is missing",
        "  <data>:1002:35 S102: ideal_response must be text, found the number 2",
    ]
    assert lines[3:] == ["  and 1,000 more"]


def test_names_and_values_are_escaped(tmp_path: Path) -> None:
    """No text turns the rest of a line around, in a path, a key or a proposal."""
    (tmp_path / "\u202egnp.jsonl").write_bytes(b'{"\xe2\x80\xae": 1}\n')
    texts = []
    for name in ("gnp.jsonl", "\u202egnp.jsonl"):
        report = hf.validate(tmp_path / name, format="nemo-input", strict=True)
        with pytest.raises(hf.ValidationFailed) as raised:
            report.raise_for_errors()
        with pytest.raises(AssertionError) as failed:
            assert_valid(tmp_path / name, "nemo-input", strict=True)
        texts += [str(raised.value), str(failed.value)]

    assert all(r"\u202egnp.jsonl" in text for text in texts)
    assert not any("\u202e" in text for text in texts)


def test_an_error_without_example_is_counted() -> None:
    """A report that kept no examples says how many errors there are."""
    assert hf.validate(ROW).ok
    report = hf.validate(ROW.replace(b'"1"', b"1"), format="nemo-input")
    bare = hf.Report(report.files, report.groups, ())
    with pytest.raises(hf.ValidationFailed, match=r"^1 error$"):
        bare.raise_for_errors()
