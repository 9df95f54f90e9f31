"""Type checkers see the options that the Python functions have."""

import subprocess
import sys
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from harpia_formats.api.python_api import arguments
from harpia_formats.api.python_api.arguments import (
    ConvertArguments,
    DiffArguments,
    InferArguments,
    PreflightArguments,
    RoundtripArguments,
    SchemaCheckArguments,
    ScoreArguments,
    SplitArguments,
    StatsArguments,
    SubsetArguments,
    ValidateArguments,
    WriteArguments,
)
from harpia_formats.api.python_api.make_options import OTHER_NAMES
from harpia_formats.conversion.options import FILLING_METRICS, ConvertOptions
from harpia_formats.conversion.subsets.division import Division
from harpia_formats.conversion.subsets.options import SubsetOptions
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.statistics.options import StatsOptions
from harpia_formats.expectations.options import PreflightOptions
from harpia_formats.validation.inference.options import InferOptions
from harpia_formats.validation.options import Options
from harpia_formats.validation.schema_check import SchemaCheckOptions

PAIRS = [
    (ValidateArguments, Options),
    (ConvertArguments, ConvertOptions),
    (ScoreArguments, ScoreOptions),
    (PreflightArguments, PreflightOptions),
    (SchemaCheckArguments, SchemaCheckOptions),
    (InferArguments, InferOptions),
    (SubsetArguments, SubsetOptions),
    (StatsArguments, StatsOptions),
]


@pytest.mark.parametrize(("described", "options"), PAIRS)
def test_every_option_is_described(described: Any, options: Any) -> None:
    """The arguments are the fields of the options of a function, or other names."""
    known = {one.name for one in fields(options) if one.metadata.get("is_option", True)}
    other = {one for one, name in OTHER_NAMES.items() if name in known}

    assert known <= get_type_hints(described).keys() <= known | other


def test_every_option_of_a_split_is_described() -> None:
    """The arguments of `split` are how it reads, and how it divides."""
    known = [*fields(SubsetOptions), *(one for one in fields(Division) if one.init)]

    names = {field.name for field in known}

    assert names <= get_type_hints(SplitArguments).keys() <= names | {*OTHER_NAMES}


def test_rows_that_are_written_have_a_known_format() -> None:
    """`write` has the options of `convert` but for the format of the inputs."""
    names = get_type_hints(ConvertArguments).keys() - OTHER_NAMES.keys()

    assert get_type_hints(WriteArguments).keys() - OTHER_NAMES.keys() == names


def test_literals_are_the_members_of_their_enums() -> None:
    """Where a text may stand for a member of an enum, all its values are listed."""
    compared = []
    for described, _ in PAIRS:
        for hint in get_type_hints(described).values():
            kinds = get_args(hint)
            enums = [
                kind
                for kind in kinds
                if isinstance(kind, type) and issubclass(kind, StrEnum)
            ]
            texts = [kind for kind in kinds if get_origin(kind) is Literal]
            for enum, text in zip(enums, texts, strict=bool(enums)):
                compared.append(enum)
                assert get_args(text) == tuple(map(str, enum))
    hint = get_type_hints(ConvertArguments)["score"]

    assert len(compared) > 5
    assert get_args(get_args(hint)[0]) == FILLING_METRICS


@pytest.mark.parametrize("described", [DiffArguments, RoundtripArguments])
def test_comparisons_have_options_of_conversions(described: Any) -> None:
    """Each option of `diff` and `roundtrip` is one of `convert`."""
    known = get_type_hints(ConvertArguments)

    assert get_type_hints(described).keys() < known.keys()


#: A program of a user, each line with what mypy says of it ("" for nothing).
PROGRAM = [
    ('hf.validate("a.jsonl", format="eee", select=("J",), jobs=2)', ""),
    ('hf.validate(b"{}", {"a": 1}, [{"a": 1}], open("x", "rb"))', ""),
    ('hf.convert("a", to="nemo", output="b", references="expand")', ""),
    ('hf.score("a", metrics=["em"], on_invalid="skip").to_dict()', ""),
    ('for score in hf.score("a"): print(score.value, score.interval)', ""),
    ('hf.validate("a", formt="eee")', "formt"),
    ('hf.validate("a", examples="5")', '"examples" to "validate"'),
    ('hf.convert("a", to="nemo", references="expnd")', '"references" to "convert"'),
    ('hf.convert("a", to="nemo", on_invalid="ignore")', '"on_invalid"'),
    ('hf.score("a", metric=("em",))', "metric"),
    ('hf.score("a", missing="none")', '"missing" to "score"'),
    ('hf.write([], to="nemo", from_="csv")', "from_"),
    ("hf.read(1)", 'to "read"'),
]


@pytest.mark.long  # mypy reads the whole package
def test_mypy_refuses_wrong_options(tmp_path: Path) -> None:
    """In a program of a user, mypy refuses wrong names and values, and nothing else."""
    lines = ["import harpia_formats as hf", *(line for line, _ in PROGRAM)]
    (tmp_path / "program.py").write_text("\n".join(lines) + "\n")
    root = Path(arguments.__file__).parents[3]
    done = subprocess.run(  # noqa: S603 - the command is ours
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--cache-dir",
            str(root / ".mypy_cache"),
            "program.py",
        ],
        cwd=tmp_path,
        env={"MYPYPATH": f"{root}:{root / 'converters'}", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    found: dict[int, str] = {}
    for line in done.stdout.splitlines():
        if line.startswith("program.py:") and ": error:" in line:
            number = int(line.split(":")[1])
            found[number] = found.get(number, "") + line

    for number, (line, expected) in enumerate(PROGRAM, 2):
        assert bool(expected) == (number in found), (line, done.stdout, done.stderr)
        assert expected in found.get(number, ""), line
