"""The inputs of a scoring run: their reading, their systems, and which are compared."""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from glob import glob
from itertools import combinations
from pathlib import Path, PurePath
from typing import Any, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from harpia_formats.conversion.reading.reader import Reading
from harpia_formats.evaluation.scoring.number_stores import PARTS, PartedEntries
from harpia_formats.evaluation.scoring.options import (
    ScoreOptions,
    ScoreValueError,
    SystemName,
)
from harpia_formats.files.io.discovery import file_key
from harpia_formats.files.io.encodings import EncodedPath
from harpia_formats.files.io.inputs import Input, sources_of_inputs
from harpia_formats.files.io.reader import error_reason
from harpia_formats.files.io.source import Source
from harpia_formats.formats.registry import all_unpackers
from harpia_formats.model.describe import LISTED_NAMES
from harpia_formats.model.record import Output, Record
from harpia_formats.model.spelling import hint_on, nearest
from harpia_formats.model.vendor_metrics import ScoreError, ScoreOptionsError


def reading_of(inputs: Iterable[Input], options: ScoreOptions) -> Reading:
    """Return a reading of `inputs`; raises what `Reading` raises."""
    return Reading(inputs, options, fail_fast=not options.skips_invalid)


#: How the key of the answers of a file begins that name no model.
_KEY = "\0"


def key_of_file(path: str) -> str:
    """Return the key of the answers of a file that name no model."""
    return f"{_KEY}{path}"


def file_of_key(key: str) -> str | None:
    """Return the file whose answers have this key; None for the name of a model."""
    return key[len(_KEY) :] if key.startswith(_KEY) else None


@dataclass(slots=True)
class FileQuestions:
    """The questions of each file; to be closed with `close`."""

    _places: dict[str, int] = field(default_factory=dict)
    #: The digest of a question, and the place of a file that has it.
    _entries: PartedEntries = field(default_factory=lambda: PartedEntries("I"))

    def add(self, question: bytes, file: str) -> None:
        """Add a question; raises `SourceError` if it cannot be written."""
        place = self._places.setdefault(file, len(self._places))
        self._entries.add(question, place)

    def shared(self) -> dict[str, set[str]]:
        """Return for each file which others have a question of it.

        Raises `SourceError` if the temporary file cannot be read.
        """
        shared: list[set[int]] = [set() for _ in self._places]
        for part in range(PARTS):
            files: dict[bytes, set[int]] = {}
            for question, place in self._entries.of_part(part):
                files.setdefault(question, set()).add(place)
            for together in set(map(frozenset, files.values())):
                for place in together:
                    shared[place] |= together
        others = [together - {place} for place, together in enumerate(shared)]
        return shared_by_name(list(self._places), others)

    def close(self) -> None:
        """Remove the temporary file, if there is one."""
        self._entries.close()


def are_parts(files: Sequence[str], shared: Mapping[str, set[str]]) -> bool:
    """Tell whether files without model names are parts of one system.

    `shared` has for each file which others have a question of it. Raises `ScoreError`
    if some of the files share questions, and others do not.
    """
    every = set(files)
    others = [len(shared[one] & every) for one in files]
    if not any(others):
        return True
    if all(count == len(files) - 1 for count in others):
        return False
    pairs = [(one, other) for one in files for other in files if one != other]
    both = next(pair for pair in pairs if pair[1] in shared[pair[0]])
    apart = next(pair for pair in pairs if pair[1] not in shared[pair[0]])
    raise ScoreOptionsError(
        f"files without model names are of one system if they share no question, and "
        f"of several if they do: {both[0]} and {both[1]} share some, {apart[0]} and "
        f"{apart[1]} none; name the system of each with `NAME=FILE`, or take all as "
        "one with `--pool`"
    )


def distinct_inputs(names: Sequence[str]) -> list[str]:
    """Return the names of inputs, with a number where an earlier one has the same.

    Inputs of Python that are no files have one name.
    """
    found: dict[str, None] = {}
    for name in names:
        number, mine = 1, name
        while mine in found:
            number += 1
            mine = f"{name} ({number})"
        found[mine] = None
    return list(found)


def shared_by_name(
    names: Sequence[str], shared: Sequence[Collection[int]]
) -> dict[str, set[str]]:
    """Return for each input the others that share a question with it, by name.

    `shared` has the places of these for each.
    """
    return {
        name: {names[at] for at in others}
        for name, others in zip(names, shared, strict=True)
    }


def split_names(
    inputs: Iterable[str], *, are_folders: bool
) -> tuple[list[str], dict[str, str]]:
    """Return the paths of inputs, and the names of systems by the path of `NAME=FILE`.

    A text that is the path of a file is no name. With `are_folders` each input is a
    folder, or a pattern of some, that is one system by its own name. Raises
    `ScoreError` for a path that has two names, and for one that is no folder.
    """
    if are_folders:
        folders = [one for text in inputs for one in named_folders(text).items()]
        return [path for path, _ in folders], _distinct_folders(dict(folders))
    paths: list[str] = []
    names: dict[str, str] = {}
    for text in inputs:
        name, sign, path = text.partition("=")
        is_named = sign and name and path and not set(name) & set("/\\*?:")
        if not is_named or os.path.exists(text):  # noqa: PTH110 - `Path.exists` raises for a name that is too long
            paths.append(text)
            continue
        if names.setdefault(path, name) != name:
            raise ScoreOptionsError(
                f"{path} is called {names[path]} and {name}: give it one name"
            )
        if isinstance(text, EncodedPath):
            path = EncodedPath.of(path, text.encoding, text.name)
        paths.append(path)
    return paths, names


def named_folders(text: str) -> dict[str, str]:
    """Return the folders that a path or pattern names, each with its own name.

    Raises `ScoreError` if there is none, or something else.
    """
    try:
        found = [text] if Path(text).exists() else sorted(glob(text))  # noqa: PTH207 - a pattern may be absolute
    except (OSError, ValueError) as error:
        raise ScoreOptionsError(f"{text}: {error_reason(error)}") from error
    other = next((one for one in found if not Path(one).is_dir()), None)
    if other is not None or not found:
        what = f"{other} is none" if other is not None else f"{text} is not there"
        raise ScoreOptionsError(f"`--systems` takes folders, and {what}")
    encoding = text.encoding if isinstance(text, EncodedPath) else None
    return {
        one if encoding is None else EncodedPath.of(one, encoding): Path(one).name
        for one in found
    }


def _distinct_folders(names: Mapping[str, str]) -> dict[str, str]:
    """Return names of folders, as whole paths where several have the same one."""
    counts = Counter(names.values())
    return {
        path: name if counts[name] == 1 and name else path.rstrip("/")
        for path, name in names.items()
    }


def names_of(system: SystemName | None) -> list[str]:
    """Return the names of the systems in a file, none if it has no name."""
    if system is None:
        return []
    return [system] if isinstance(system, str) else list(system.values())


def inputs_by_name(
    inputs: Iterable[Input], systems: Mapping[str, SystemName]
) -> list[list[Input]]:
    """Return the inputs, those together that have a system with the same name.

    Inputs of several systems are together with all inputs of each of these.
    """
    given = [
        (one, names_of(None if isinstance(one, Source) else systems.get(str(one))))
        for one in inputs
    ]
    #: For each name another one of the same inputs, itself for the one that has none.
    others: dict[str, str] = {}

    def first_of(name: str) -> str:
        while others.setdefault(name, name) != name:
            name = others[name]
        return name

    for _, names in given:
        for name in names:
            others[first_of(name)] = first_of(names[0])
    found: dict[str | int, list[Input]] = {}
    for place, (one, names) in enumerate(given):
        found.setdefault(first_of(names[0]) if names else place, []).append(one)
    return list(found.values())


@dataclass(slots=True)
class SystemNames:
    """The names that the user gives to systems, and the models that are called so."""

    #: By the name of a file the name of its system, or those of its models.
    of_files: Mapping[str, SystemName] = field(default_factory=dict)
    #: The only model of the answers of each system that is named.
    models: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_inputs(
        cls, inputs: Iterable[Input], systems: Mapping[str, SystemName]
    ) -> "SystemNames":
        """Return the names of the files of the inputs that `systems` names.

        Raises `ScoreError` for a file that is named twice, with two names.
        """
        found: dict[str, SystemName] = {}
        names: dict[str | int, SystemName] = {}
        for one in inputs:
            name = None if isinstance(one, Source) else systems.get(str(one))
            if name is None:
                continue
            for source in sources_of_inputs([one], None, all_unpackers()):
                if not isinstance(source, Source):
                    continue
                first = names.setdefault(file_key(source), name)
                if first != name:
                    both = " and ".join(names_of(first) + names_of(name))
                    reason = f"is called {both}: give it one name"
                    raise ScoreOptionsError(f"{source.name} {reason}")
                found[source.name] = name
        return cls(found)

    @property
    def owners(self) -> dict[str, str]:
        """The system of each file of which one model has a name."""
        return {
            path: name
            for path, names in self.of_files.items()
            if not isinstance(names, str) and len(names) == 1
            for name in names.values()
        }

    def named(self, record: Record, path: str) -> Record:
        """Return a record whose answers are of the systems as they are called.

        Of a file whose models have names, the answers of others are left out. Raises
        `ScoreError` if a system with one name has answers of two models.
        """
        name = self.of_files.get(path)
        if name is None:
            return record
        outputs = record.outputs or [Output()]
        if not isinstance(name, str):
            called = ((one, name.get(str(one.model))) for one in outputs)
            kept = [replace(one, model=own) for one, own in called if own is not None]
            return replace(record, outputs=kept)
        for one in record.outputs:
            if one.model is not UNSET:
                self.add_model(name, one.model)
        return replace(record, outputs=[replace(one, model=name) for one in outputs])

    def add_model(self, name: str, model: str) -> None:
        """Note a model of a system; raises `ScoreError` if it has another one."""
        known = self.models.setdefault(name, model)
        if known != model:
            raise ScoreValueError(
                f"the files of {name} hold answers of {known!r} and {model!r}: a "
                "system is one model, and a file of several is given without a name",
                "a system that has a name holds answers of two models: give its file "
                "without a name",
            )


def field_value(holder: Record | Output, path: str) -> Any:
    """Return the value at a path in a record or an answer, `UNSET` if there is none."""
    first, *rest = path.split(".")
    value: Any = getattr(holder, first)
    while rest:
        # A key may contain dots: the longest existing key is used.
        ends = (".".join(rest[:length]) for length in range(len(rest), 0, -1))
        keys = value if isinstance(value, dict) else ()
        key = next((end for end in ends if end in keys), None)
        if key is None:
            return UNSET
        value, rest = value[key], rest[key.count(".") + 1 :]
    return value


# --- Which systems are compared ---


@dataclass(frozen=True, slots=True)
class FoundSystem:
    """A system in an input: the place of the input, and the model of its answers."""

    place: int
    source: str
    model: str | None


def source_name(given: Input, place: int) -> str:
    """Return what an input is called: its path, else its number."""
    name: object = given
    if isinstance(given, Source):
        name = given.origin if isinstance(given.origin, PurePath) else given.name
    if isinstance(name, (str, PurePath)) and str(name) not in {"", "-", "<data>"}:
        return str(name)
    return f"input {place + 1}"


AnySystem = TypeVar("AnySystem", bound=FoundSystem)


def chosen_systems(
    found: Sequence[AnySystem], wanted: Sequence[str]
) -> list[AnySystem]:
    """Return the systems that are compared: all, or those that `wanted` names.

    A name is `MODEL`, or `INPUT=MODEL` with the name of an input or its number from 1.
    An input that no name is about is compared whole. Raises `ScoreError` for a name of
    no system, and if fewer than two remain.
    """
    chosen: list[AnySystem] = []
    for text in wanted:
        of_input, _, model = text.partition("=")
        mine = [
            one
            for one in found
            if one.model == model and of_input in {one.source, f"{one.place + 1}"}
        ] or [one for one in found if one.model == text]
        if not mine:
            raise _no_model(text, found)
        chosen += mine
    named = {one.place for one in chosen}
    found = [one for one in found if one in chosen or one.place not in named]
    if len(found) < 2:  # noqa: PLR2004 - a pair is of two
        models = [one.model for one in found if one.model]
        there = f"answers of {models[0]}" if models else "answers of one system"
        need = (
            "and a comparison needs two systems: name another input, or one with "
            "answers of several models"
        )
        raise ScoreValueError(
            f"there are only {there}, {need}",
            f"there are only answers of one system, {need}",
        )
    return found


def _no_model(wanted: str, found: Sequence[FoundSystem]) -> ScoreError:
    """Return the error that no answer is of a model, with the models that there are."""
    models = list(dict.fromkeys(one.model for one in found if one.model))
    start = f"no answer is of the model {wanted!r}"
    if not models:
        return ScoreOptionsError(f"{start}; none names its model")
    hint = hint_on(wanted, models, word="there are", most=LISTED_NAMES, shown=repr)
    return ScoreValueError(
        f"{start}{hint}",
        f"{start}; the models of the answers are shown only without `--redact`",
    )


def distinct_names(systems: Iterable[tuple[str | None, str]]) -> list[str]:
    """Return a name for each system, given its model and the name of its input.

    It is the model, else the last part of the name of the input; where several would
    have one name, the name with the input, and a number where that is the same, too.
    """
    given = list(systems)
    names = [model or PurePath(source).name or source for model, source in given]
    for by_input in (lambda source: PurePath(source).name, str):
        counts = Counter(names)
        names = [
            name
            if counts[name] == 1
            else f"{model} ({by_input(source)})"
            if model
            else by_input(source)
            for name, (model, source) in zip(names, given, strict=True)
        ]
    seen: Counter[str] = Counter()
    taken = set(names)
    found = []
    for name in names:
        seen[name] += 1
        own = name
        while seen[name] > 1 and own in taken:
            own = f"{name} #{seen[name]}"
            seen[name] += own in taken
        taken.add(own)
        found.append(own)
    return found


def named_baseline(
    systems: Sequence[FoundSystem], names: Sequence[str], baseline: str | None
) -> str | None:
    """Return the name of the system that `baseline` names, None if it is None.

    It is the name of a system, or the path of its input where no other system is of
    that, with its model before it in `MODEL (INPUT)`. Raises `ScoreValueError` if no
    system is called so.
    """
    if baseline is None or baseline in names:
        return baseline
    sources = Counter(one.source for one in systems)
    for one, name in zip(systems, names, strict=True):
        is_alone = sources[one.source] == 1
        if baseline == f"{one.model} ({one.source})" or (
            is_alone and baseline == one.source
        ):
            return name
    near = nearest(baseline, names)
    hint = f"did you mean {near!r}? " if near else ""
    start = f"no system is called {baseline!r}"
    raise ScoreValueError(
        f"{start}: {hint}the systems are {', '.join(names)}",
        f"{start}; the names of the systems are shown only without `--redact`",
    )


def compared_places(
    names: Sequence[str], baseline: str | None
) -> list[tuple[int, int]]:
    """Return the pairs of systems that are compared, by their places.

    They are all pairs, or each system with the one called `baseline`, which is the
    second.
    """
    if baseline is None:
        return list(combinations(range(len(names)), 2))
    base = list(names).index(baseline)
    return [(place, base) for place in range(len(names)) if place != base]


#: The model that wins, 1, 0.5 or 0 for the model that is shown first, whether both
#: orders agree, and 1, 0.5 or 0 for the first place.
WINNER, WIN = "winner", "win"
CONSISTENT, FIRST_POSITION = "consistent", "first_position"
