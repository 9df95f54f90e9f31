"""The keys of recipes, derived from the dataclasses of options."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from os import PathLike
from types import UnionType
from typing import Any, Generic, TypeVar, get_args, get_origin

from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.reporters.score_tables import TABLE, Form

#: Options that are objects of a program, or that inputs as NAME=FILE give.
_OF_PROGRAMS = {"executor", "progress", "systems"}
#: The keys of other commands and of the command line, and those of recipes instead.
OTHER_NAMES = {
    "files": "inputs",
    "map": "columns",
    "name": "names",
    "param": "parameters",
    "paths": "inputs",
    "plot": "plots",
    "references-from": "reference-from",
    "set": "constants",
    "skip-invalid": "on-invalid",
    "with": "companion",
}
#: The mark of fields whose texts are FILE or NAME=FILE.
_NAMED = {"has_named_paths": True}


@dataclass(frozen=True, slots=True)
class ScoreRun:
    """What `score` reads and writes."""

    #: Files, folders or patterns; standard input if there are none.
    inputs: tuple[PathLike[str] | str, ...] = ()
    #: The id of the format of results to write; a table if None.
    to: str | None = None
    #: The file of the results; - is standard output.
    output: PathLike[str] | str = "-"
    #: Reports to write, as FILE or NAME=FILE.
    report: tuple[str, ...] = field(default=(), metadata=_NAMED)
    #: Pictures to draw, as FILE or KIND=FILE.
    plots: tuple[str, ...] = field(default=(), metadata=_NAMED)
    #: How the scores are printed.
    output_format: Form = TABLE


@dataclass(frozen=True, slots=True)
class CompareRun:
    """What `score compare` reads, compares and writes."""

    #: Files, folders or patterns with the answers of systems.
    inputs: tuple[PathLike[str] | str, ...] = ()
    #: The models that are compared, or `NUMBER=MODEL` with the number of an input.
    models: tuple[str, ...] = ()
    #: The system with which all others are compared.
    baseline: str | None = None
    #: The test of the differences; by the metric if None.
    test: str | None = None
    #: A difference, of which is told how many questions detect it.
    detect: float | None = None
    #: Whether stored scores that were computed differently are compared.
    force: bool = False
    #: Reports to write, as FILE or NAME=FILE.
    report: tuple[str, ...] = field(default=(), metadata=_NAMED)
    #: Pictures to draw, as FILE or KIND=FILE.
    plots: tuple[str, ...] = field(default=(), metadata=_NAMED)
    #: How the comparison is printed.
    output_format: Form = TABLE


Run = TypeVar("Run")


@dataclass(frozen=True, slots=True)
class Applied(Generic[Run]):
    """The options of a run, with those of a recipe if there is one."""

    options: ScoreOptions
    #: What is read and written, of the type that the command has.
    run: Run
    #: Which values of the recipe were replaced, for people.
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a recipe."""

    #: The name in recipes, such as `skip-unknown`.
    name: str
    #: The name of the field of the dataclass.
    option: str
    type: Any
    #: The value without the key.
    default: Any
    #: Whether it holds paths behind names: NAME=FILE.
    has_named_paths: bool = False

    @property
    def is_path(self) -> bool:
        """Whether a text is a path, which starts from the folder of the recipe."""
        return _has_path(self.type)

    @property
    def is_table(self) -> bool:
        """Whether it holds values by names, which are merged with those given."""
        is_mapping = any(get_origin(one) is Mapping for one in _members(self.type))
        return is_mapping and not self.is_path


@dataclass(frozen=True, slots=True)
class Command:
    """A command that takes recipes, and its keys."""

    #: The words behind `harpia-formats`.
    name: str
    #: What it reads and writes.
    run: type
    #: The fields of `ScoreOptions` that it has not.
    without: frozenset[str] = frozenset()

    def all_keys(self) -> dict[str, Key]:
        """Return every key by its name: what is read and written first."""
        of_options = [
            _key(one)
            for one in fields(ScoreOptions)
            if one.name not in _OF_PROGRAMS | self.without
        ]
        found = [*map(_key, fields(self.run)), *of_options]
        return {key.name: key for key in found}


SCORE = Command("score", ScoreRun)
COMPARE = Command(
    "score compare",
    CompareRun,
    without=frozenset(
        "by config constants max_row_bytes min_records model names overwrite "
        "skip_unrecognised".split()
    ),
)
COMMANDS = (SCORE, COMPARE)


def key_name(option: str) -> str:
    """Return the key of a field: `from` for `from_`, `skip-unknown`."""
    return option.rstrip("_").replace("_", "-")


def _key(of: "Field[Any]") -> Key:
    factory = of.default_factory
    default = of.default if factory is MISSING else factory()
    name = key_name(of.name)
    return Key(name, of.name, of.type, default, bool(of.metadata))


def _members(kind: Any) -> tuple[Any, ...]:
    """Return the types of a union, or the type itself."""
    return get_args(kind) if isinstance(kind, UnionType) else (kind,)


def _has_path(kind: Any) -> bool:
    if get_origin(kind) is tuple:
        return _has_path(get_args(kind)[0])
    return any(get_origin(one) is PathLike for one in _members(kind))
