"""Plans in TOML: from the text of a file, or a mapping, to checked values, and back.

A plan states systems with their files, benchmarks with their metrics and parameters,
and what is written. Its keys are called like the options of `score`; those of a
benchmark win over those of the whole plan. Paths start from the folder of the file.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, get_origin

from harpia_formats.api.keyword_options import fits_type, type_in_words
from harpia_formats.api.options import (
    OF_BENCHMARKS,
    OF_PLANS,
    PLANNED,
    Option,
    options_of,
)
from harpia_formats.evaluation.scoring.benchmarks import Benchmark, Plan, PlannedSystem
from harpia_formats.evaluation.scoring.options import ScoreOptions
from harpia_formats.evaluation.scoring.significance.paired_tests import TESTS
from harpia_formats.files.io.inputs import sources_of_inputs
from harpia_formats.files.io.reader import SourceError, error_reason, read_side_input
from harpia_formats.files.io.urls import is_url
from harpia_formats.files.toml import (
    TomlLines,
    described_value,
    toml_document,
    toml_key,
    toml_name,
    toml_value,
)
from harpia_formats.formats.registry import all_unpackers
from harpia_formats.model.problem import HarpiaFormatsError, PlanError, TomlError
from harpia_formats.model.spelling import hint_on
from harpia_formats.model.vendor_metrics import ScoreOptionsError
from harpia_formats.reporters.tables import FORMS, TABLE

#: The tables of a plan, and the table of parameters: in it a table for each metric.
SYSTEMS, BENCHMARKS, PARAMETERS = "systems", "benchmarks", "parameters"
#: Keys of the whole plan that are no options of `score`.
_OF_WHOLE = ("baseline", "mean", "output-format", "report", "plot")
#: Keys of the whole plan whose values may name files that are there: below `systems`
#: they name a system only as a table with its files.
_OF_FILES = frozenset({"report", "plot", "output-format", "with", "exclude"})
#: What options are called in plans, where that is not their word.
_CALLED = {"parameters": PARAMETERS}
#: What a plan states even if it is the default, since numbers depend on it.
_ALWAYS = frozenset({"level", "replicates", "seed"})
#: What stands before a path in NAME=FILE.
_name = re.compile(r"[A-Za-z][\w-]*=")
_at_line = re.compile(r" \(at line ([0-9]+), column [0-9]+\)$")
_line = re.compile(r"line ([0-9]+)")
_AT_END = " (at end of document)"
_ABOVE = "is a key of the whole plan: write it above the first section"
_OR_A_TABLE = "; a system of that name has a table with its `files`"


@dataclass(frozen=True, slots=True)
class LoadedPlan:
    """A plan, and what is printed and written of its table."""

    plan: Plan
    #: The form in which the table is printed.
    output_format: str = TABLE
    #: Reports and pictures, as FILE or NAME=FILE.
    report: tuple[str, ...] = ()
    plot: tuple[str, ...] = ()
    #: The file of the plan, None for a mapping.
    path: str | None = None


def option_keys() -> dict[str, Option]:
    """Return the options of `score` that plans have, by their keys."""
    return {
        _CALLED.get(one.field, one.words[0].removeprefix("--")): one
        for one in options_of("score")
        if one.field in PLANNED
    }


def load_plan(
    given: str | os.PathLike[str] | Mapping[str, Any],
    changes: Mapping[str, Any] | None = None,
) -> LoadedPlan:
    """Return the plan in a file, or the one that a mapping states.

    `changes` are values by the names of fields, which replace those of the whole plan.
    Raises `PlanError` for what is no plan, at its line, and `ScoreError` for names that
    are not known.
    """
    if isinstance(given, Mapping):
        return _Reader(None, dict(given), None).loaded(changes or {})
    path = os.fspath(given)
    try:
        data = read_side_input(Path(path))
    except OSError as error:
        raise PlanError(path, 0, "", error_reason(error)) from error
    try:
        document = toml_document(data, path)
    except TomlError as error:
        raise _with_line(error, data) from error
    lines = TomlLines(data.decode("utf-8-sig"))
    return _Reader(path, document, lines).loaded(changes or {})


def _with_line(error: TomlError, data: bytes) -> PlanError:
    """Return the error of text that is no TOML with the line in its usual place."""
    match = _at_line.search(error.reason) or _line.fullmatch(error.place)
    line = int(match[1]) if match else 0
    if error.reason.endswith(_AT_END):
        line = len(data.splitlines())
    reason = _at_line.sub("", error.reason).removesuffix(_AT_END)
    return PlanError(error.path, line, "", reason)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads the tables of one plan; its methods raise `PlanError`."""

    path: str | None
    document: Mapping[str, Any]
    lines: TomlLines | None
    keys: Mapping[str, Option] = field(default_factory=option_keys)

    @property
    def of_whole(self) -> set[str]:
        """The keys that values of the whole plan have."""
        return {*_OF_WHOLE, *self.keys}

    def error(self, key: tuple[str, ...], reason: str) -> PlanError:
        """Return the error that the value of a key cannot be used."""
        line = 0 if self.lines is None else self.lines.of(key)
        return PlanError(
            self.path or "the plan", line, ".".join(map(toml_key, key)), reason
        )

    def loaded(self, changes: Mapping[str, Any]) -> LoadedPlan:
        """Return the plan, with `changes` of the options of the whole."""
        document = self.document
        _check_known(self, (), document, {BENCHMARKS, SYSTEMS, *self.of_whole})
        whole = {**self._options((), document), **changes}
        systems = self._systems()
        benchmarks = self._benchmarks(whole)
        self._check_used(changes)
        baseline = self._value(("baseline",), str | None, None)
        has_mean = bool(self._value(("mean",), bool, None))
        form = self._value(("output-format",), str, TABLE)
        if form not in FORMS:
            raise self.error(("output-format",), f"is none of {', '.join(FORMS)}")
        try:
            plan = Plan(
                systems,
                benchmarks,
                baseline,
                has_mean=has_mean,
            )
        except HarpiaFormatsError as error:
            names = [system.name for system in systems]
            is_baseline = baseline is not None and baseline not in names
            place = ("baseline",) if is_baseline else (BENCHMARKS,)
            raise self.error(place, str(error)) from error
        return LoadedPlan(
            plan,
            form,
            tuple(self._named_path(one) for one in self._texts(("report",))),
            tuple(self._named_path(one) for one in self._texts(("plot",))),
            self.path,
        )

    def _systems(self) -> tuple[PlannedSystem, ...]:
        table = self._table((SYSTEMS,))
        if not table:
            raise self.error((SYSTEMS,), "names no system: write NAME = FILES for each")
        return tuple(self._system(name) for name in table)

    def _system(self, name: str) -> PlannedSystem:
        place = (SYSTEMS, name)
        value = self._at(place)
        if not name:
            raise self.error(place, "has no name")
        # A system may be called like an option, whose value names no file.
        if name in self.of_whole:
            self._check_names_files(place)
        if not isinstance(value, Mapping):
            return PlannedSystem(name, self._paths(place))
        _check_known(self, place, value, {"files", "model"})
        model = self._value((*place, "model"), str | None, None)
        return PlannedSystem(name, self._paths((*place, "files")), model)

    def _check_names_files(self, place: tuple[str, ...]) -> None:
        """Raise `PlanError` if a value names no files, as that of a system does."""
        value, why = self._at(place), ""
        if isinstance(value, Mapping):
            if "files" in value:
                return
        elif place[-1] in _OF_FILES:
            raise self.error(place, f"{_ABOVE}{_OR_A_TABLE}")
        elif not isinstance(value, int | float):
            found = [*sources_of_inputs(self._paths(place), None, all_unpackers())]
            unread = [one for one in found if isinstance(one, SourceError)]
            if len(unread) < len(found):
                return
            why = f" ({unread[0]})" if unread else ""
        raise self.error(place, f"names no file{why}, and {_ABOVE}")

    def _benchmarks(self, whole: Mapping[str, Any]) -> tuple[Benchmark, ...]:
        table = self._table((BENCHMARKS,))
        if not table:
            options = self._score_options((), whole)
            return (Benchmark("", options),)
        found = tuple(self._benchmark(name, whole) for name in table)
        without = next((one.name for one in found if not one.files), None)
        if len(found) > 1 and without is not None:
            raise self.error(
                (BENCHMARKS, without),
                "needs `files`: which files of each system hold its answers, such as "
                f"files = {toml_value(f'*{without.lower()}*')}",
            )
        return found

    def _check_used(self, changes: Mapping[str, Any]) -> None:
        """Raise `ScoreOptionsError` for a change of what each benchmark states."""
        names = self._table((BENCHMARKS,))
        # Parameters of benchmarks are added to others.
        given = {one for one in changes if changes[one] not in (None, ())}
        for key, option in self.keys.items():
            if not names or option.field not in given - {PARAMETERS}:
                continue
            if all(self._at((BENCHMARKS, name, key)) is not None for name in names):
                raise ScoreOptionsError(
                    f"each benchmark of the plan states its own {key}: leave out "
                    f"`{option.words[0]}`"
                )

    def _benchmark(self, name: str, whole: Mapping[str, Any]) -> Benchmark:
        place = (BENCHMARKS, name)
        table = self._table(place)
        mine = {
            key: one for key, one in self.keys.items() if one.field in OF_BENCHMARKS
        }
        _check_known(self, place, table, {"files", "systems", "test", *mine})
        test = self._value((*place, "test"), str | None, None)
        if test is not None and test not in TESTS:
            raise self.error((*place, "test"), f"is none of {', '.join(TESTS)}")
        options = {**whole, **self._options(place, table)}
        if PARAMETERS in whole and PARAMETERS in options:
            options[PARAMETERS] = {**whole[PARAMETERS], **options[PARAMETERS]}
        return Benchmark(
            name,
            self._score_options(place, options),
            self._texts((*place, "files")),
            self._texts((*place, "systems")) or None,
            test,
        )

    def _score_options(
        self, place: tuple[str, ...], values: Mapping[str, Any]
    ) -> ScoreOptions:
        try:
            return ScoreOptions(**{"missing": "skip", "jobs": 0, **values})
        except (HarpiaFormatsError, ValueError) as error:
            raise self.error(place, str(error)) from error

    def _options(
        self, place: tuple[str, ...], table: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Return the options that a table states, by the names of their fields."""
        types = {one.name: one.type for one in fields(ScoreOptions)}
        found = {}
        for key in filter(self.keys.__contains__, table):
            option = self.keys[key]
            own = (*place, key)
            if option.field == PARAMETERS:
                found[PARAMETERS] = dict(self._parameters(own))
                continue
            value = self._value(own, types[option.field], None)
            if option.field == "companion":
                value = self._path(value)
            try:
                ScoreOptions(**{option.field: value})
            except (HarpiaFormatsError, ValueError) as error:
                raise self.error(own, str(error)) from error
            found[option.field] = value
        return found

    def _parameters(self, place: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        """Yield the parameters by `metric.parameter`."""
        for metric in self._table(place):
            own = (*place, metric)
            for name, value in self._table(own).items():
                if not _is_parameter(value):
                    reason = "must be a text, a number, a boolean or a list of these"
                    raise self.error((*own, name), reason)
                yield f"{metric}.{name}", value

    def _at(self, place: tuple[str, ...]) -> Any:
        found: Any = self.document
        for key in place:
            found = found.get(key)
            if found is None:
                return None
        return found

    def _table(self, place: tuple[str, ...]) -> Mapping[str, Any]:
        found = self._at(place)
        if found is None:
            return {}
        if not isinstance(found, Mapping):
            raise self.error(place, f"must be a table, not {described_value(found)}")
        if not all(isinstance(name, str) for name in found):
            raise self.error(place, "has a name that is no text")
        return found

    def _value(self, place: tuple[str, ...], kind: Any, default: Any) -> Any:
        """Return the value of a key of a type, or the default if it is not there."""
        found = self._at(place)
        if found is None:
            return default
        if isinstance(found, os.PathLike):
            found = os.fspath(found)
        if isinstance(found, str) and get_origin(kind) is tuple:
            found = [found]
        if not fits_type(found, kind):
            words = type_in_words(kind).removesuffix(" or None")
            raise self.error(place, f"must be {words}, not {described_value(found)}")
        return tuple(found) if isinstance(found, list) else found

    def _texts(self, place: tuple[str, ...]) -> tuple[str, ...]:
        found: tuple[str, ...] = self._value(place, tuple[str, ...], ())
        return found

    def _paths(self, place: tuple[str, ...]) -> tuple[str, ...]:
        found = tuple(map(self._path, self._texts(place)))
        if not found:
            raise self.error(place, "names no file")
        return found

    def _path(self, path: str) -> str:
        """Return a path from the folder of the plan; URLs are as they are."""
        if self.path is None or path == "-" or is_url(path):
            return path
        return os.path.join(os.path.dirname(self.path), path)  # noqa: PTH118, PTH120 - links are not resolved

    def _named_path(self, text: str) -> str:
        """Return `[NAME=]FILE` with a path that starts from the folder of the plan."""
        match = _name.match(text)
        name = match[0] if match else ""
        return f"{name}{self._path(text[len(name) :])}"


def _check_known(
    reader: _Reader,
    place: tuple[str, ...],
    table: Iterable[str],
    known: Collection[str],
) -> None:
    """Raise `PlanError` for the first key of a table that is not known."""
    for key in table:
        if key not in known:
            reason = f"there is no such key{hint_on(key, sorted(known))}"
            raise reader.error(
                (*place, key), _ABOVE if key in reader.of_whole else reason
            )


_START = """\
# A plan of harpia-formats score.
# Paths start from the folder of this file; these are from the working folder.
"""


def _is_parameter(value: Any) -> bool:
    """Tell whether a value can be one of a parameter: nothing in it is nested."""
    values = value if isinstance(value, list | tuple) else [value]
    return all(isinstance(one, str | int | float) for one in values)


def plan_text(loaded: LoadedPlan) -> str:
    """Return a plan as TOML, with which `score --plan` gives the same table.

    Raises `PlanError` for a value that is no Unicode text.
    """
    plan = loaded.plan
    (benchmark, *others) = plan.benchmarks
    lines = [_START]
    outputs = {"report": loaded.report, "plot": loaded.plot}
    given: dict[str, Any] = {
        **_stated(benchmark.options, OF_PLANS - {"jobs"}),
        **({"baseline": plan.baseline} if plan.baseline is not None else {}),
        **(
            {"output-format": loaded.output_format}
            if loaded.output_format != TABLE
            else {}
        ),
        **{name: list(value) for name, value in outputs.items() if value},
    }
    lines += [f"{_key(key)} = {_text(key, value)}\n" for key, value in given.items()]
    lines.append(f"\n[{SYSTEMS}]\n")
    for system in plan.systems:
        value: Any = list(system.files)
        if system.model is not None:
            value = {"files": value, "model": system.model}
        elif system.name in _OF_FILES:
            value = {"files": value}
        lines.append(f"{_key(system.name)} = {_text(system.name, value)}\n")
    for one in (benchmark, *others):
        lines.append(f"\n[{BENCHMARKS}.{_key(one.name or 'all')}]\n")
        own = _stated(one.options, OF_BENCHMARKS)
        if one.files:
            own["files"] = list(one.files)
        if one.systems is not None:
            own["systems"] = list(one.systems)
        if one.test is not None:
            own["test"] = one.test
        lines += [f"{_key(key)} = {_text(key, value)}\n" for key, value in own.items()]
    return "".join(lines)


def _stated(options: ScoreOptions, names: Collection[str]) -> dict[str, Any]:
    """Return the options that a plan states, by their keys.

    They are those with another value than the default, and the numbers of intervals.
    """
    found, usual = {}, ScoreOptions(missing="skip")
    for key, option in option_keys().items():
        value = getattr(options, option.field) if option.field in names else None
        is_usual = value == getattr(usual, option.field)
        if value is None or (is_usual and option.field not in _ALWAYS):
            continue
        if option.field == PARAMETERS:
            tables: dict[str, dict[str, Any]] = {}
            for full, one in value.items():
                metric, _, name = full.partition(".")
                tables.setdefault(metric, {})[name] = one
            value = tables
        found[key] = list(value) if isinstance(value, tuple) else value
    return found


def _key(name: str) -> str:
    try:
        return toml_name(name)
    except ValueError as error:
        raise _unwritten(name) from error


def _text(name: str, value: Any) -> str:
    try:
        text = toml_value(_plain(value))
        text.encode()
    except ValueError as error:
        raise _unwritten(name) from error
    return text


def _plain(value: Any) -> Any:
    """Return a value with texts for paths."""
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, Mapping):
        return {name: _plain(member) for name, member in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list | tuple) else value


def _unwritten(name: str) -> PlanError:
    reason = "has a value that no plan can hold: it is not Unicode text, or no data"
    return PlanError("--print-plan", 0, ascii(name)[1:-1], reason)
