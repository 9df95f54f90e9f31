"""`no-prompts-of`: prompts are compared exactly, normalised, or nearly."""

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

import harpia_formats
from effort import examples
from harpia_formats import PreflightError, Report

#: Writes rows as lines of JSON into a file below the folder of the test.
Write = Callable[..., Path]
FIXTURES = Path(__file__).parents[2] / "fixtures"
#: The comparisons, from strict to loose.
ORDER = ("exact", "normalised", "near")
QUESTION = "Which of these is the capital of France: Paris, Lyon or Nice?"


def chat(*turns: str, system: str = "") -> dict[str, Any]:
    """Return a record with messages: the user's turns, each with an answer but one."""
    messages = [{"role": "system", "content": system}] if system else []
    for turn in turns:
        messages += [{"role": "user", "content": turn}]
        messages += [{"role": "assistant", "content": "Well."}]
    return {"messages": messages[:-1]}


def compared(
    write: Write, own: dict[str, Any], other: dict[str, Any], how: str
) -> Report:
    """Return the report of two data sets with one record each."""
    names = {"own": write("own.jsonl", own), "other": write("other.jsonl", other)}
    data_sets: dict[str, Any] = {
        name: {"files": path, "format": "record"} for name, path in names.items()
    }
    data_sets["own"]["no-prompts-of"] = {"other": how}
    return harpia_formats.preflight({"datasets": data_sets})


SAME = [
    ("exact", QUESTION),
    ("normalised", QUESTION.upper()),
    ("normalised", "  Which of these\nis the capital of France - Paris, Lyon or Nice"),
    ("normalised", "Which of these is the capital of France: Paris, Lyon, or Nice?!"),
    ("near", "Which of these is the capital of France: Nice, Paris or Lyon?"),
]
OTHERS = [
    ("normalised", "Which of these is the capital of France: Nice, Paris or Lyon?"),
    ("near", "Which of these is the capital of Italy: Paris, Lyon or Nice?"),
]


@pytest.mark.parametrize(("how", "text"), SAME)
def test_the_same_prompt_is_found_in_each_comparison_from_the_strictest(
    write: Write, how: str, text: str
) -> None:
    """Each comparison finds what a stricter one finds, and a strict one no more."""
    for each in ORDER:
        report = compared(write, {"prompt": QUESTION}, {"prompt": text}, each)
        assert report.ok is (ORDER.index(each) < ORDER.index(how))


@pytest.mark.parametrize(
    ("how", "first", "second"),
    [
        *[(how, QUESTION, text) for how, text in OTHERS],
        ("normalised", "What is 3.5 + 2?", "What is 35 + 2?"),
        ("normalised", "What is C#?", "What is C?"),
        ("normalised", "???", "!!!"),
        ("near", "Переведи на русский: dog bites man", "Переведи на русский: man bit"),
        ("near", "man bites dog", "dog bites man"),
        (
            "near",
            "Add the numbers 12 and 34 and tell me the sum.",
            "Add the numbers 13 and 24 and tell me the sum.",
        ),
        (
            "near",
            "Add the numbers 12 and 3 and tell me the sum.",
            "Add the numbers 1 and 23 and tell me the sum.",
        ),
        (
            "near",
            "Add the numbers ४५ and ६ and tell me the sum.",
            "Add the numbers ४ and ५६ and tell me the sum.",
        ),
    ],
)
def test_other_prompts_are_not_found(
    write: Write, how: str, first: str, second: str
) -> None:
    """Marks and digits with a meaning, and the order of short texts, count."""
    assert compared(write, {"prompt": first}, {"prompt": second}, how).ok


def test_user_turns_of_chats_are_compared(write: Write) -> None:
    """A system message and answers make no difference; one turn is enough."""
    question = {"prompt": QUESTION.lower()}
    training = chat("Hello!", QUESTION, system="Be kind.")

    for own, other in ((question, training), (training, question)):
        assert compared(write, own, other, "exact").ok
        report = compared(write, own, other, "normalised")
        (problem,) = report.problems
        assert problem.code == "P404"
        assert problem.message.endswith("other.jsonl:1")


@pytest.mark.parametrize("system", ["", "You add numbers."])
@pytest.mark.parametrize("how", ORDER)
def test_a_chat_whose_user_says_nothing_has_a_prompt(
    write: Write, how: str, system: str
) -> None:
    """Each comparison finds it in the other data set, and compares its other turns."""
    own = chat("", system=system)

    assert [one.code for one in compared(write, own, own, how).problems] == ["P404"]
    assert compared(write, own, chat("2+2?"), how).ok


def test_one_common_turn_of_two_chats_is_no_common_prompt(write: Write) -> None:
    """Chats share a prompt if all turns are the same, not if both say "Go on."."""
    one, two = chat("First.", "Go on."), chat("Second.", "Go on.")

    assert compared(write, one, two, "normalised").ok
    assert not compared(write, one, chat("first", "go on"), "normalised").ok


def test_a_record_is_counted_once(write: Write) -> None:
    """Several turns that are in the other data set are one finding."""
    path = write("own.jsonl", chat("One?", "Two?", "One?"), {"prompt": "Three?"})
    other = write("other.jsonl", {"prompt": "one"}, {"prompt": "two"})
    report = harpia_formats.preflight(
        {
            "datasets": {
                "own": {
                    "files": path,
                    "format": "record",
                    "no-prompts-of": {"other": "normalised"},
                },
                "other": {"files": [other], "format": "record"},
            }
        }
    )

    assert [each.place.line for each in report.problems] == [1]
    assert "1 of 2 prompts in both" in {each.found for each in report.checks}


def test_data_without_prompts_is_never_free_of_them(write: Write) -> None:
    """Nothing to compare breaks the expectation."""
    report = compared(write, {"prompt": "1"}, {"category": "x"}, "near")

    assert not report.ok


@pytest.mark.parametrize("how", ["normalized", "fuzzy", 1])
def test_unknown_comparisons_are_refused(write: Write, how: Any) -> None:
    """A comparison that there is not is an error of the file."""
    with pytest.raises(PreflightError, match="cannot be compared by"):
        compared(write, {"prompt": "1"}, {"prompt": "2"}, how)


@given(*[st.text(st.characters(exclude_categories=["Cs"]), max_size=60)] * 2)
@examples(50, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_comparison_is_looser_than_the_one_before(
    write: Write, one: str, two: str
) -> None:
    """Texts that one comparison takes as equal are equal in all looser ones."""
    texts = (two, one.upper(), f" {one}\n", one.replace(".", ""))
    data_sets: dict[str, Any] = {
        f"text-{at}": {"files": write(f"{at}.jsonl", {"prompt": text})}
        for at, text in enumerate(texts)
    }
    own = {"files": write("own.jsonl", {"prompt": one})}
    others = list(data_sets)
    for how in ORDER:
        data_sets[how] = own | {"no-prompts-of": dict.fromkeys(others, how)}
    for each in data_sets.values():
        each["format"] = "record"

    checks = harpia_formats.preflight({"datasets": data_sets}).checks

    found = {
        how: [
            check.state == "broken"
            for check in checks
            if (check.data_set, check.key) == (how, "no-prompts-of")
        ]
        for how in ORDER
    }
    for equal in zip(*found.values(), strict=True):
        assert list(equal) == sorted(equal)
    assert {len(each) for each in found.values()} == {len(texts)}


@pytest.mark.parametrize("redact", [False, True])
def test_another_record_of_an_archive_is_named_by_its_member(
    tmp_path: Path, *, redact: bool
) -> None:
    """A finding names the member of the other record, not a line of the unpacked text.

    With `redact` it does not show the name of the member, which is the id of a record.
    """
    name = FIXTURES / "inspect-log" / "valid" / "tools-and-scores.json"
    log = json.loads(name.read_bytes())
    path, sample = tmp_path / "log.eval", log["samples"][0]
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", json.dumps({**log, "samples": None}))
        for number in range(2):
            member = f"samples/{number}_epoch_1.json"
            row = json.dumps({**sample, "id": str(number)}, indent=1)
            archive.writestr(member, row)
    own = {"unique-values": "prompt", "no-prompts-of": {"b": "normalised"}}
    data_sets = {"a": {"files": path, **own}, "b": {"files": path}}
    report = harpia_formats.preflight({"datasets": data_sets}, redact=redact)
    first = "*.json:1" if redact else "0_epoch_1.json:1"
    codes = ["P404", "P404"] if redact else ["P306", "P404", "P404"]
    found = [each for each in report.problems if f"{path}!" in each.message]

    assert [each.code for each in found] == codes
    assert all(each.message.endswith(f"{path}!samples/{first}") for each in found[:2])
