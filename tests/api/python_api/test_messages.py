"""The functions of the Python API name their arguments, never options of commands."""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from effort import some_pairs
from harpia_formats import HarpiaFormatsError

FIXTURES = Path(__file__).parents[3] / "fixtures"
UNKNOWN = b'{"question": "2+2?", "solution": "4"}\n'
BROKEN = b'{"question": \n'
CHAT = b'{"messages": [{"role": "user", "content": "2+2?"}]}\n'
ANSWERS = (FIXTURES / "nemo-output/valid").glob("*.json*")
INPUTS: list[Any] = [
    UNKNOWN,
    BROKEN,
    CHAT,
    b"",
    b"a;b\n1;2\n",
    b"prompt,response\n1,2\n",
    b"prompt\n" + b"x" * 2000 + b"\n",
    [{"prompt": "a", "x": 1}],
    "no such file.jsonl",
    next(ANSWERS),
    FIXTURES / "eee@0.2.0/valid",
    FIXTURES / "haystack/valid",
]
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "validate": [
        {},
        {"lint": True, "max_row_bytes": 100},
        {"baseline": "none.json"},
        {"baseline": str(FIXTURES / "no.json"), "redact": True},
        {"write_baseline": "b.json", "redact": True},
        {"schema": {"type": "objct"}},
        {"format": "emo"},
        {"columns": {"promt": "a"}},
        {"min_records": 5},
        {"strict": True},
    ],
    "iter_problems": [{}, {"max_row_bytes": 100}, {"baseline": "none.json"}],
    "fix": [{"output": "{tmp}/there"}, {"unsafe": True, "diff": True}],
    "infer_schema": [{}, {"max_row_bytes": 100}],
    "detect": [{}],
    "check_schema": [{}],
    "convert": [
        {"to": target, "output": output, **more}
        for target in ("eee", "nemo", "tencent", "csv", "haystack", "emo", "harpia")
        for output in ("{tmp}/there", "{tmp}/new.jsonl")
        for more in ({}, {"max_row_bytes": 100}, {"from_": "csv"}, {"ids": "nubmer"})
    ],
    "read": [{}, {"max_row_bytes": 100}, {"format": "emo"}],
    "roundtrip": [{"via": "nemo"}, {"via": "csv"}, {"via": "emo"}],
    "score": [
        {},
        {"metrics": ["em"]},
        {"metrics": ["emm"]},
        {"stored": True},
        {"to": "nemo", "output": "{tmp}/there"},
        {"profile": "squadd"},
        {"by": ["categry"]},
    ],
    "score_answers": [{}, {"metrics": ["f1"]}, {"stored": True}],
    "compare_scores": [{"metrics": ["em"]}, {"test": "wilcoxn"}],
    "score_agreement": [{}, {"fields": ["x"]}],
    "sample": [{"size": 1, "output": "{tmp}/there"}],
    "head": [{"rows": 1, "output": "{tmp}/there"}, {"rows": 9, "max_row_bytes": 9}],
    "split": [
        {"by": "categry", "output": "{tmp}/{value}.jsonl"},
        {"ratio": {"a": 0.5, "b": 0.6}, "output": "{tmp}/{value}.jsonl"},
    ],
    "merge": [{"output": "{tmp}/there"}, {"on_duplicate": "kepp"}],
    "stats": [{}, {"max_row_bytes": 100}],
    "diff": [{"right": UNKNOWN}, {"right": CHAT}],
}


def texts_of(value: Any) -> Iterator[str]:
    """Yield all texts of a result, but for messages and what files and data are."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from texts_of(each)
    elif is_dataclass(value):
        for field in fields(value):
            if field.name not in {"excerpt", "message", "place", "because"}:
                yield from texts_of(getattr(value, field.name))


def answer_of(function: Callable[..., Any], *given: Any, **named: Any) -> list[str]:
    """Return all texts that a call of a public function returns or raises."""
    try:
        found = function(*given, **named)
        if isinstance(found, Iterator) or hasattr(found, "__next__"):
            found = list(found)
        return list(texts_of(found))
    except (HarpiaFormatsError, ImportError, ValueError) as error:
        return [str(error), *texts_of(getattr(error, "report", None))]


@pytest.mark.parametrize("name", sorted(OPTIONS))
@pytest.mark.usefixtures("capfdbinary")
def test_no_option_of_the_command_line_is_named(name: str, tmp_path: Path) -> None:
    """Nothing that a public function returns or raises names an option."""
    check_answers(name, some_pairs(INPUTS, OPTIONS[name]), tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(OPTIONS))
@pytest.mark.usefixtures("capfdbinary")
def test_no_option_of_the_command_line_is_named_long(name: str, tmp_path: Path) -> None:
    """Nor with any input and any options."""
    check_answers(name, itertools.product(INPUTS, OPTIONS[name]), tmp_path)


def check_answers(name: str, cases: Iterable[tuple[Any, Any]], folder: Path) -> None:
    """Check the texts that a public function has for inputs and options."""
    (folder / "there").write_bytes(b"")
    for given, options in cases:
        named = {
            key: value.replace("{tmp}", str(folder))
            if isinstance(value, str)
            else value
            for key, value in options.items()
        }
        for text in answer_of(getattr(harpia_formats, name), given, **named):
            assert "--" not in text, (given, options)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_has_not_are_named_by_their_keys(number: float) -> None:
    """A row with a NaN, as pandas gives it, is refused with the path of its key."""
    rows: list[Any] = [{"prompt": "a"}, {"prompt": "b", "meta": [{"x": number}]}]

    with pytest.raises(ValueError, match=r"row 2 of the list .*: meta\[0\]\.x is "):
        harpia_formats.validate(rows)


def test_public_functions_keep_their_signatures() -> None:
    """What helps with a function shows its own name, text and arguments."""
    assert harpia_formats.convert.__name__ == "convert"
    assert "Convert" in (harpia_formats.convert.__doc__ or "")
    assert "output" in harpia_formats.convert.__annotations__
