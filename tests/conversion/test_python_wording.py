"""Sentences for programs name options as a call has them."""

import json
from typing import Any

import pytest

from harpia_formats import diff, roundtrip
from harpia_formats.conversion.python_wording import in_python, speaking_python
from harpia_formats.io.sink import SinkError
from harpia_formats.mapping.requirements import ConversionError


def lines_of(*rows: Any) -> bytes:
    """Return rows as lines of JSON."""
    return b"".join(json.dumps(each).encode() + b"\n" for each in rows)


INSTANCE = {"id": "1", "input": "q", "expected-output": ["r"], "actual-output": "a"}


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("nothing of options", "nothing of options"),
        ("give --set a.b=VALUE", 'give constants={"a.b": VALUE}'),
        (
            "give --set a=VALUE, --set b=VALUE and --score em or --score f1",
            'give constants={"a": VALUE, "b": VALUE} and score="em" or score="f1"',
        ),
        (
            "give --set a=VALUE and --set b=VALUE",
            'give constants={"a": VALUE, "b": VALUE}',
        ),
        ("is there; --overwrite replaces it", "is there; overwrite=True replaces it"),
        ("--prefix-ids puts", "prefix_ids=True puts"),
        ("--on-invalid skip leaves", 'on_invalid="skip" leaves'),
        ("--group id makes", 'group="id" makes'),
        ("choose with --responses", "choose with responses"),
        ("take --responses expand", 'take responses="expand"'),
        ("or take --turns transcript", 'or take turns="transcript"'),
        ("name a file with --quarantine", "name a file with quarantine"),
        ("say --from csv or --to csv", 'say from_="csv" or to="csv"'),
        ("the limit with --max-row-bytes", "the limit with max_row_bytes"),
        ("a--set and --settle are words", "a--set and --settle are words"),
    ],
)
def test_options_are_those_of_a_call(sentence: str, told: str) -> None:
    """Each option becomes the argument of that meaning, and the rest stays."""
    assert in_python(sentence) == told


def test_errors_that_pass_speak_so() -> None:
    """The sentence of an error is put into other words, and it stays what it was."""
    with pytest.raises(ConversionError) as conversion, speaking_python():
        raise ConversionError("give --set a=VALUE")
    with pytest.raises(SinkError) as sink, speaking_python():
        raise SinkError("--set a=VALUE", "is there already; --overwrite replaces it")

    assert str(conversion.value) == 'give constants={"a": VALUE}'
    assert str(sink.value) == (
        "cannot write --set a=VALUE: is there already; overwrite=True replaces it"
    )


def test_round_trips_and_comparisons_speak_so() -> None:
    """What they raise, and the reasons that they return, are for programs."""
    row = {
        "messages": [{"role": "user", "content": "q"}],
        "model_outputs": [{"model_name": "m", "responses": [{"content": "x"}]}],
    }
    with pytest.raises(ConversionError, match=r'constants=\{"evaluation_id": VALUE'):
        roundtrip(lines_of(INSTANCE), via="eee")
    with pytest.raises(ConversionError, match='from_="csv" or to="csv"'):
        diff(lines_of(INSTANCE), lines_of(INSTANCE), columns={"prompt": "q"})
    report = roundtrip(lines_of(row), via="haystack")
    (line,) = report.fields.values()

    assert line.reason.endswith('give constants={"model_outputs.model_name": VALUE}')
