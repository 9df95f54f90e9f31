"""Hold `convert` to the specification on random files: pairs, options and ways."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.evaluation.filling_measure import filling_measure
from harpia_formats.formats.registry import (
    adapter_of,
    readable_formats,
    writable_formats,
)
from harpia_formats.model.adapter import Cardinality
from harpia_formats.model.format import Container, Dialect, Format
from plain_conversion import Converted, PlainConversion
from real_conversion import Way, name_of_input, run, small_pieces
from required_values import REQUIRED
from row_files import RowFile, random_file, with_rows

#: Values for what a target requires and a row may lack.
CONSTANTS = {name: REQUIRED[name] for name in REQUIRED if name not in {"id", "prompt"}}
_set = {"constants": CONSTANTS}
#: The options that are held to the specification, each with its name.
OPTIONS: dict[str, Mapping[str, Any]] = {
    "default": {},
    "set": _set,
    "references-expand": {**_set, "references": "expand"},
    "references-fail": {**_set, "references": "fail"},
    "responses-first": {**_set, "responses": "first"},
    "responses-list": {**_set, "responses": "list"},
    "responses-fail": {**_set, "responses": "fail"},
    "turns-transcript": {**_set, "turns": "transcript"},
    "turns-fail": {**_set, "turns": "fail"},
    "model": {**_set, "model": "org/a"},
    "keep-extra": {**_set, "keep_extra": True},
    "keep-extra-list": {
        **_set,
        "keep_extra": True,
        "responses": "list",
        "references": "expand",
    },
    "set-more": {
        "constants": {
            **CONSTANTS,
            "id": "1",
            "prompt": "asked",
            "category": "",
            "metadata.epoch": 3,
            "params.temperature": 0.5,
            "outputs.reasoning": "t",
        }
    },
    "ids-number": {**_set, "ids": "number"},
    "ids-hash": {**_set, "ids": "hash"},
    "prefix-ids": {**_set, "prefix_ids": True},
    "reference-from": {**_set, "reference_from": "gt"},
    "group-id": {**_set, "group": "id"},
    "group-prompt": {**_set, "group": "prompt", "ids": "number"},
    "score": {
        "score": "em",
        "filling_measure": filling_measure,
        "constants": {"outputs.model": "m", "references": ["r"]},
    },
    "quarantine": {**_set, "on_invalid": "quarantine"},
    "on-loss": {**_set, "on_loss": "fail"},
    "models": {**_set},
    "array": {**_set, "container": "array"},
    "lines": {**_set, "container": "lines"},
}
#: Ways to give the input, of which each case takes one.
WAYS = (Way("path"), Way("bytes"), Way("stream"), Way("path", jobs=2))
#: Sizes of the pieces in which files are read; 0 for the usual ones.
SIZES = (0, 1_000, 4_000, 20_000)


@dataclass(frozen=True, slots=True)
class Source:
    """A dialect of a format, whose files are converted."""

    format: Format
    dialect: Dialect

    @property
    def name(self) -> str:
        """The name of the format, and that of the dialect if it has one."""
        return f"{self.format.id} {self.dialect.name}".strip()


def sources() -> Iterator[Source]:
    """Yield each dialect of each record format."""
    for format_ in readable_formats().values():
        for number, dialect in enumerate(format_.dialects):
            # The columns of verdicts are their rows, read by the same adapter.
            if not (format_.id == "judge-verdicts" and number):
                yield Source(format_, dialect)


@dataclass(frozen=True, slots=True)
class Case:
    """One file, converted to one format with one option."""

    source: Source
    to: Format
    option: str
    count: int
    seed: int
    #: The way to run it; None for one that the seed decides on.
    way: Way | None = None

    @property
    def name(self) -> str:
        """The name by which a failure can be repeated."""
        pair = f"{self.source.name} to {self.to.id}"
        return f"{pair}, {self.option}, {self.count} rows, seed {self.seed}"


@dataclass(slots=True)
class Checked:
    """How much was compared, and what differs."""

    conversions: int = 0
    records: int = 0
    rows: int = 0
    differences: list[str] = field(default_factory=list)


def check(case: Case, checked: Checked) -> None:
    """Compare a case with its specification; first all rows, then good ones only."""
    file = file_for(case.source, case.count, case.seed)
    chance = Random(f"{case.name}")  # noqa: S311 - a test needs a seed, not secrecy
    good = _compare(case, file, chance, checked, on_invalid="skip")
    if good is None or len(good) == len(file.rows):
        return
    if chance.random() < 0.2:
        _compare(case, file, chance, checked, on_invalid="fail")
    if len(good) > 3:
        clean = with_rows(file, [file.rows[index] for index in good])
        _compare(case, clean, chance, checked, on_invalid="fail")


@lru_cache(maxsize=4)
def file_for(source: Source, count: int, seed: int) -> RowFile:
    """Return the random file of a source with a seed."""
    name = f"{source.name} {seed}"
    return random_file(source.format, source.dialect, count, name)


def _compare(
    case: Case, file: RowFile, chance: Random, checked: Checked, *, on_invalid: str
) -> list[int] | None:
    """Compare one conversion; return the index of each row that can be converted.

    None if that is unknown.
    """
    given = {"on_invalid": on_invalid, **OPTIONS[case.option]}
    suffix = {"TABLE": "csv"}.get(case.to.dialects[0].container.name, "")
    suffix = suffix or chance.choice(("jsonl", "json", "dat"))
    output = f"{'{model}' if case.option == 'models' else 'output'}.{suffix}"
    way = case.way or chance.choice(WAYS)
    size = chance.choice(SIZES)
    with tempfile.TemporaryDirectory(dir=_memory()) as name:
        folder = Path(name)
        with small_pieces(size):
            found = run(file, case.to.id, output, given, folder, way)
        plain = PlainConversion(file, name_of_input(folder, file, way), case.to, output)
        expected = plain.convert(_options(file, given))
    checked.conversions += 1
    checked.records += len(file.rows)
    checked.rows += expected.rows
    differing = list(differences(expected, found, loose=case.option == "on-loss"))
    if differing:
        where = f"{case.name}, {on_invalid}, {way}, pieces of {size or 'usual size'}"
        checked.differences.append("\n  ".join((where, *differing)))
        return None
    if expected.error or case.option.startswith("group"):
        return None
    return plain.convertible


def _options(file: RowFile, given: Mapping[str, Any]) -> ConvertOptions:
    return ConvertOptions(from_=file.format.id, **given)


def _memory() -> str | None:
    """Return a folder in memory, which is fast, None if there is none."""
    folder = "/dev/shm"  # noqa: S108 - each case makes a folder of its own in it
    return folder if os.access(folder, os.W_OK) else None


def differences(expected: Converted, found: Converted, *, loose: bool) -> Iterator[str]:
    """Yield what is not as the specification says it.

    If `loose`, a conversion that a loss stops may have read further rows.
    """
    names: tuple[str, ...]
    if loose and expected.failed_by_loss:
        names = ("error", "files", "rows", "is_written", "failed_by_loss")
    else:
        names = tuple(Converted.__dataclass_fields__)
    if _has_rest(found):
        expected, found = _without_members(expected), _without_members(found)
    for name in names:
        ours, theirs = getattr(expected, name), getattr(found, name)
        if ours != theirs:
            yield f"{name}: {_first_difference(ours, theirs)}"


def _has_rest(converted: Converted) -> bool:
    """Tell whether there are more members of open objects than are counted one by one.

    Which of them are is the business of the counter.
    """
    return any(path.endswith(".*") for path in converted.losses.get("carried", ()))


def _without_members(converted: Converted) -> Converted:
    starts = ("params.", "metadata.", "extra.", "outputs.extra.")
    counts = [
        entry for entry in converted.counts if not entry[0].path.startswith(starts)
    ]
    return replace(converted, losses={}, counts=counts)


def _first_difference(ours: Any, theirs: Any) -> str:
    if isinstance(ours, dict) and isinstance(theirs, dict):
        keys = [key for key in {**ours, **theirs} if ours.get(key) != theirs.get(key)]
        return "; ".join(
            f"{key}: {_first_difference(ours.get(key), theirs.get(key))}"
            for key in keys[:4]
        )
    if isinstance(ours, bytes) and isinstance(theirs, bytes):
        pairs_of_bytes = enumerate(zip(ours, theirs, strict=False))
        at = next((at for at, (one, two) in pairs_of_bytes if one != two), 0)
        start = max(0, at - 60)
        return f"{ours[start : at + 60]!r} is {theirs[start : at + 60]!r}"
    if isinstance(ours, list) and isinstance(theirs, list):
        pairs = zip(ours, theirs, strict=False)
        number = next(
            (number for number, (one, two) in enumerate(pairs) if one != two),
            min(len(ours), len(theirs)),
        )
        return (
            f"item {number} of {len(ours)} is of {len(theirs)}:\n"
            f"    {ours[number : number + 1]}\n    {theirs[number : number + 1]}"
        )
    return f"{ours!r} is {theirs!r}"


def options_for(to: Format) -> list[str]:
    """Return the options that a target can meet; others have tests of their own."""
    left_out: set[str] = set()
    if to.dialects[0].container is not Container.ROWS or to.row_writer:
        left_out = {"array", "lines"}
    if adapter_of(to).capacity.scores is Cardinality.NONE:
        left_out.add("score")
    return [option for option in OPTIONS if option not in left_out]


def cases(count: int, seed: int) -> Iterator[Case]:
    """Yield a case for each pair and option."""
    for source in sources():
        for to in writable_formats().values():
            for option in options_for(to):
                yield Case(source, to, option, count, seed)
