import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from harpia_formats.conversion.losses.by_format_pair import (
    PairLosses,
    all_pairs,
    line_of,
    losses_of_pair,
    pair_as_dict,
)
from harpia_formats.mapping.choices import Choices
from harpia_formats.mapping.requirements import ConversionError, check_requirements
from harpia_formats.mapping.to_rows import RecordMapper
from harpia_formats.model.field_fates import Fate, FieldFate, Unconvertible
from harpia_formats.registry import adapter_of, readable_formats, writable_formats

FIXTURES = Path(__file__).parents[3] / "fixtures"
FORMATS = readable_formats()
WRITABLE = writable_formats()
PAIRS = [(source, target) for source in FORMATS for target in WRITABLE]
PAIRS = [each for each in PAIRS if each[0] != each[1]]
#: What makes every record with a question fit for every format.
CONSTANTS: dict[str, Any] = {
    "id": "1",
    "prompt": "q",
    "references": ["r"],
    "outputs.model": "org/m",
    "outputs.text": "a",
    "outputs.scores.value": 1,
    "outputs.scores.is_correct": True,
    "outputs.scores.evaluation_id": "e",
    "outputs.scores.evaluation_name": "n",
}
#: Paths that the table lists as a whole, as answers and scores.
WHOLES = {"outputs", "outputs.scores"}


def pair(source: str, target: str) -> PairLosses:
    """Return what is lost between two formats."""
    return losses_of_pair(FORMATS[source], FORMATS[target])


def is_listed(note: FieldFate, of: PairLosses) -> bool:
    """Tell whether the table lists the dropped field of a fate."""
    is_in_table = any(
        note.path == each or note.path.startswith(f"{each}.") for each in of.paths
    )
    is_place = note.path == "outputs.index" and "answers: one row each" in of.changed
    return is_in_table or is_place or note.path in WHOLES


def run(*arguments: str) -> str:
    """Return what `formats` writes with `arguments`, which must go well."""
    done = subprocess.run(  # noqa: S603 - the command is ours
        [sys.executable, "-m", "harpia_formats", "formats", *arguments],
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout.decode()


def test_every_ordered_pair_is_there_once() -> None:
    """The table has each ordered pair of two record formats, and no other."""
    found = [(each.source, each.target) for each in all_pairs()]

    assert found == PAIRS


@pytest.mark.parametrize("source", FORMATS)
def test_table_lists_every_field_that_fixtures_lose(source: str) -> None:
    """The table lists each field that a conversion of a fixture drops."""
    files = sorted((FIXTURES / source / "valid").iterdir())
    records = [
        each for file in files for each in harpia_formats.read(file, format=source)
    ]
    untold = set()
    for target, format_ in WRITABLE.items():
        known = pair(source, target)
        mapper = RecordMapper(adapter_of(format_), Choices(constants=CONSTANTS))
        for record in records:
            try:
                fates = mapper.map(record).fates
            except Unconvertible:
                continue
            # What only some values lose has a reason, and no place in the table.
            dropped = [
                each for each in fates if each.fate is Fate.DROPPED and not each.how
            ]
            untold |= {
                (target, each.path) for each in dropped if not is_listed(each, known)
            }

    assert records
    assert set() == untold


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_needed_fields_are_those_that_stop_a_conversion(
    source: str, target: str
) -> None:
    """A pair needs a field exactly if a conversion without it is refused."""
    ours, theirs = FORMATS[source], FORMATS[target]
    try:
        check_requirements(
            ours, adapter_of(ours), theirs, adapter_of(theirs), (), scored=False
        )
        message = ""
    except ConversionError as error:
        message = str(error)
    needs = pair(source, target).needs

    assert bool(message) == bool(needs)
    assert all(each in message for each in needs)


def test_the_hub_takes_every_field_of_every_format() -> None:
    """Nothing is lost on the way into the hub's own format."""
    found = {
        each: pair(each, "record").is_lossless for each in FORMATS if each != "record"
    }

    assert dict.fromkeys(found, True) == found


def test_several_answers_become_one_row_each() -> None:
    """Several answers are listed as one row each if a row holds one answer."""
    found = pair("tencent-outputs", "nemo-output")

    assert found.changed == ("answers: one row each", "chats: the last question")
    assert "max_tokens" in found.dropped


def test_only_the_first_reference_is_kept() -> None:
    """Several references are listed as cut to the first if a row holds one."""
    assert "references: the first" in pair("harpia", "nemo-output").changed
    assert "references: the first" not in pair("nemo-output", "harpia").changed


def test_loss_of_conversations_is_listed() -> None:
    """A conversation is listed as a chat, as its last answer, or as dropped."""
    whole = pair("eee@0.3.0", "tencent-outputs")
    short = pair("eee@0.3.0", "nemo-output")
    gone = pair("eee@0.3.0", "nemo-input")

    assert "conversations: a chat and the answer" in whole.changed
    assert "conversations: the last answer" in short.changed
    assert "messages" in gone.dropped


def test_line_lists_kept_fields_if_most_are_dropped() -> None:
    """If most fields are dropped, the line lists the fields that are kept."""
    line = line_of(pair("eee@0.2.0", "nemo-input"))

    assert line == "drops all but input.raw, input.reference"


def test_fields_below_one_key_are_listed_as_one() -> None:
    """If all fields below a key are lost or needed, the line names the key once."""
    lost = line_of(pair("tencent-outputs", "tencent-messages"))
    needed = line_of(pair("nemo-input", "eee@0.3.0"))

    assert lost.startswith("drops model_outputs.*, rest of answers")
    assert needed.endswith(
        "needs evaluation_id, model_id, evaluation_name, evaluation.*"
    )


def test_key_of_several_fields_lists_the_lost_ones() -> None:
    """A key that holds several fields is listed with those fields that are lost."""
    found = pair("tencent-messages", "haystack")

    assert "messages (gt)" in found.dropped
    assert "messages (system)" in found.dropped
    assert "messages (prompt)" not in found.dropped


def test_write_only_field_is_not_lost() -> None:
    """A field that is never read from a key is not listed as lost."""
    assert pair("tencent-csv", "nemo-input").dropped == ("system", "other keys")


def test_line_states_whether_keep_extra_helps() -> None:
    """The line states whether --keep-extra keeps the dropped fields."""
    kept = line_of(pair("nemo-output", "haystack"))
    lost = line_of(pair("nemo-output", "harpia"))
    header = line_of(pair("haystack", "eee@0.3.0"))

    assert kept.endswith("(not with --keep-extra)")
    assert "--keep-extra" not in lost
    assert "; drops header.extra;" in header


def test_a_pair_without_a_loss_says_so() -> None:
    """A line of a pair that carries every field says that no field is lost."""
    assert line_of(pair("eee@0.2.0", "csv")) == "no field"
    assert line_of(pair("nemo-input", "nemo-output")) == "no field; needs response"


def test_the_command_writes_a_line_for_each_pair() -> None:
    """In a pipe each pair is one line: from, to, and what is lost, in columns."""
    lines = run("--pairs").splitlines()
    expected = list(all_pairs())

    assert len(expected) == len(lines)
    for line, each in zip(lines, expected, strict=True):
        assert [each.source, each.target] == line.split()[:2]
        assert line.endswith(line_of(each))
    assert len({line.index(line.split(maxsplit=1)[1]) for line in lines}) == 1


def test_programs_get_every_pair() -> None:
    """As JSON each pair has all that is dropped, changed and needed, by name."""
    printed = json.loads(run("--pairs", "--output-format", "json"))

    assert {"pairs": [pair_as_dict(each) for each in all_pairs()]} == printed
