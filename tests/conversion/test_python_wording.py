"""Messages of the Python functions name arguments, not options."""

import json
from typing import Any

import pytest

from harpia_formats import diff, roundtrip
from harpia_formats.conversion.python_wording import (
    errors_with_arguments,
    with_arguments,
)
from harpia_formats.files.io.sink import SinkError
from harpia_formats.model.errors import ConversionError


def lines_of(*rows: Any) -> bytes:
    """Return rows as lines of JSON."""
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


INSTANCE = {"id": "1", "input": "q", "expected-output": ["r"], "actual-output": "a"}


@pytest.mark.parametrize(
    ("message", "reworded"),
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
        ("with --from csv --delimiter ';'", 'with from_="csv", delimiter=";"'),
        ("with --delimiter tab", 'with delimiter="tab"'),
        ("or give --delimiter", "or give delimiter"),
        (
            "with --map prompt=KEY, where KEY is one",
            'with columns={"prompt": KEY}, where KEY is one',
        ),
        ("--map prompt=KEYS, or", 'columns={"prompt": "KEYS"}, or'),
        ("a--set and --settle are words", "a--set and --settle are words"),
    ],
)
def test_options_become_arguments(message: str, reworded: str) -> None:
    """Each option becomes the argument with its meaning; other text stays."""
    assert with_arguments(message) == reworded


def test_errors_name_arguments() -> None:
    """The message of an error is reworded, and its type stays."""
    with pytest.raises(ConversionError) as conversion, errors_with_arguments():
        raise ConversionError("give --set a=VALUE")
    with pytest.raises(SinkError) as sink, errors_with_arguments():
        raise SinkError("--set a=VALUE", "is there already; --overwrite replaces it")

    assert str(conversion.value) == 'give constants={"a": VALUE}'
    assert str(sink.value) == (
        "cannot write --set a=VALUE: is there already; overwrite=True replaces it"
    )


def test_round_trips_and_comparisons_name_arguments() -> None:
    """Their errors, and the reasons in their reports, name arguments."""
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
