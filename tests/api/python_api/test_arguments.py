"""Type checkers see the options that the Python functions have."""

import subprocess
import sys
from dataclasses import MISSING, fields
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from cases import for_each_case
from harpia_formats.api import arguments, functions
from harpia_formats.api.options import OPTIONS, Option, arguments_of, fields_of
from harpia_formats.api.signatures import default_of
from harpia_formats.cli.commands.completion import SCRIPTS
from harpia_formats.cli.progress_and_problems import When
from harpia_formats.conversion.mapping.choices import (
    Prompt,
    ReferenceFrom,
    References,
    Responses,
    Turns,
)
from harpia_formats.conversion.options import (
    ContainerKind,
    ConvertOptions,
    Ids,
    OnInvalid,
    OnLoss,
)
from harpia_formats.conversion.subsets.merge import OnDuplicate
from harpia_formats.conversion.subsets.subset_options import Division, SubsetOptions
from harpia_formats.evaluation.metrics.label_counts import POWERS
from harpia_formats.evaluation.scoring.options import Missing, ScoreOptions
from harpia_formats.evaluation.statistics.statistics_run import StatsOptions
from harpia_formats.expectations.preflight_plan import PreflightOptions
from harpia_formats.reporters.tables import FORMS
from harpia_formats.validation.inferred_schema import InferOptions
from harpia_formats.validation.options import Options
from harpia_formats.validation.schema_check import SchemaCheckOptions

#: The dataclasses of the options of functions, and defaults that functions change.
KINDS: dict[str, tuple[Any, ...]] = {
    "validate": (Options,),
    "convert": (ConvertOptions,),
    "score": (ScoreOptions,),
    "preflight": (PreflightOptions,),
    "check_schema": (SchemaCheckOptions,),
    "infer_schema": (InferOptions,),
    "head": (SubsetOptions,),
    "split": (SubsetOptions, Division),
    "stats": (StatsOptions,),
}
CHANGED = {"jobs", "missing", "seed"}


def is_option(field: Any) -> bool:
    """Tell whether a field of a dataclass is an option of users."""
    return bool(field.init and field.metadata.get("is_option", True))


@for_each_case("name", KINDS)
def test_every_option_is_described(name: str) -> None:
    """The options of a function are the fields of its dataclass, with its defaults."""
    known = {
        field.name: field
        for kind in KINDS[name]
        for field in fields(kind)
        if is_option(field)
    }
    own = set(signature(getattr(functions, name)).parameters)
    options = {
        option.field: option
        for option in arguments_of(name)
        if option.field in known or option.field not in own
    }

    assert options.keys() == known.keys()
    for field in known.values():
        factory = field.default_factory
        default = field.default if factory is MISSING else factory()
        if field.name not in CHANGED:
            assert default_of(options[field.name]) == default, field.name


@for_each_case("option", OPTIONS, ids=lambda one: one.names or one.field)
def test_choices_are_the_members_of_their_enums(option: Option) -> None:
    """Where an option has an enum, all its words are those of the table."""
    enums: dict[str, Any] = {
        "references": References,
        "reference_from": ReferenceFrom,
        "responses": Responses,
        "turns": Turns,
        "prompt": Prompt,
        "container": ContainerKind,
        "on_loss": OnLoss,
        "ids": Ids,
        "missing": Missing,
        "on_duplicate": OnDuplicate,
        "show_progress": When,
        "weights": POWERS,
        "shell": SCRIPTS,
    }
    words = option.choices.split()

    if option.field in enums:
        assert words == [str(each) for each in enums[option.field]]
    elif option.field == "on_invalid":
        assert words == [*map(str, OnInvalid)][: len(words)]
    elif words:
        assert option.field == "output_format"
        assert words in (["text", "json"], list(FORMS))


@pytest.mark.parametrize("name", ["diff", "roundtrip", "write"])
def test_comparisons_have_options_of_conversions(name: str) -> None:
    """Each option of `diff`, `roundtrip` and `write` is one of `convert`."""
    others = {"via", "to"}

    assert fields_of(name) - others < fields_of("convert")


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
