"""Divide the rows of a file among several files."""

from collections.abc import Generator, Iterator
from dataclasses import replace
from itertools import count
from os import fspath
from typing import Any

from harpia_formats.conversion.output_files import MAX_FILES, check_names_file
from harpia_formats.conversion.quarantine import finding_line
from harpia_formats.conversion.subsets.cut_file import CutFile
from harpia_formats.conversion.subsets.head_and_sample import (
    RowOutputs,
    check_same_rows,
)
from harpia_formats.conversion.subsets.open_file import (
    RereadInput,
    cut_file,
    notes_on,
    reread_input,
)
from harpia_formats.conversion.subsets.row_assignment import (
    INVALID,
    VALID,
    Assignment,
    ByVerdict,
    assigned,
)
from harpia_formats.conversion.subsets.subset_options import (
    VALUE,
    Division,
    Subset,
    SubsetError,
    SubsetOptions,
    WrittenPart,
)
from harpia_formats.files.io.outputs import path_component
from harpia_formats.files.io.urls import masked
from harpia_formats.model.problem import Problem
from harpia_formats.validation.redaction import problems_shown, redaction_of
from harpia_formats.validation.redaction.shown_words import notes_shown


class Split:
    """One run that divides rows: iterate for the problems, then ask for the result.

    Raises `SubsetError` and `SinkError` when it is made with options that cannot be
    met; while it is iterated also `SourceError`, and `ValidationFailed` for rows that
    cannot be read by a field.
    """

    def __init__(
        self, given: Any, output: Any, division: Division, options: SubsetOptions
    ) -> None:
        """Take the input, and the name of the outputs with `{value}` in it."""
        self._given = given
        self._division = division
        self._options = options
        self._template = "" if output is None else fspath(output)
        self._redaction = redaction_of(options)
        if self._redaction is not None and division.by is not None:
            self._redaction.named_by_values = masked(self._template)
        self._outputs = RowOutputs(
            [given], [division.schema], overwrite=options.overwrite
        )
        self._places: dict[str, str] = {}
        self._result: Subset | None = None
        if division.by_verdict:
            self._claim_verdicts()
        elif VALUE not in self._template:
            raise SubsetError(
                f"name the outputs with {VALUE} in them, such as 'part-{VALUE}.jsonl'"
            )

    def result(self) -> Subset:
        """Return what was written; asked for at the end only."""
        assert self._result is not None  # noqa: S101 - see above
        if self._redaction is None or self._division.by is None:
            return self._result
        parts = tuple(
            replace(part, value=f"value {number}", path=self._template)
            for number, part in enumerate(self._result.parts, 1)
        )
        return replace(self._result, parts=parts, notes=notes_shown(self._result.notes))

    def __iter__(self) -> Generator[Problem, None, None]:  # noqa: PYI058 - it is closed
        yield from problems_shown(self._stream(), self._redaction)

    def _stream(self) -> Generator[Problem, None, None]:
        with reread_input(self._given) as given:
            try:
                assignment = yield from self._assigned(given)
                with assignment.resource:
                    if not self._division.by_verdict:
                        for name in assignment.names:
                            self._places[name] = self._place_of(name)
                    self._write(given, assignment)
            except BaseException:  # an interrupt, too, leaves no temporary file
                self._outputs.discard()
                raise

    def _claim_verdicts(self) -> None:
        """Take the outputs of a split by verdicts; raises `SinkError`."""
        division = self._division
        if self._template:
            raise SubsetError(
                "the outputs are those of valid and invalid, and no other"
            )
        for name, place in ((VALID, division.valid), (INVALID, division.invalid)):
            if place is not None:
                self._places[name] = fspath(place)
                self._outputs.claim(fspath(place))
        if division.findings is not None:
            check_names_file(fspath(division.findings))
            self._outputs.claim(fspath(division.findings))

    def _assigned(self, given: RereadInput) -> Generator[Problem, None, Assignment]:
        """Assign rows to parts; yield the problems of those that are not valid."""
        if not self._division.by_verdict:
            return assigned(given, self._division, self._options)
        run, findings = ByVerdict(given, self._division, self._options), None
        if self._division.findings is not None:
            findings = self._outputs.group.open(fspath(self._division.findings))
        hidden = self._redaction
        for problem in run:
            if findings is None:
                yield problem
            else:
                shown = problem if hidden is None else hidden.problem(problem)
                findings.write(finding_line(shown))
        return run.assignment()

    def _place_of(self, name: str) -> str:
        """Return the path of the part of a name, which no other output has."""
        component = path_component(name, "empty")
        group = self._outputs.group
        for place in self._candidates(component):
            if group.is_free(place):
                self._outputs.claim(place)
                return place
        raise AssertionError

    def _candidates(self, component: str) -> Iterator[str]:
        """Yield names of a file, the usual one first."""
        yield self._template.replace(VALUE, component)
        for number in count(2):
            yield self._template.replace(VALUE, f"{component}-{number}")

    def _write(self, given: RereadInput, assignment: Assignment) -> None:
        """Write each row to its part; raises `SinkError`, `SourceError`."""
        written: list[WrittenPart] = []
        notes: tuple[str, ...] = ()
        wanted = [
            (index, name)
            for index, name in enumerate(assignment.names)
            if name in self._places
        ]
        most = min(map(_open_at_once, self._places.values()), default=1)
        for begin in range(0, len(wanted), most) or (0,):
            some = wanted[begin : begin + most]
            with cut_file(given.source(), self._options) as file:
                written += self._write_some(file, assignment, some)
                notes = notes_on(file)
            check_same_rows(file.name, assignment.rows, file.count)
        self._outputs.commit()
        notes = (*notes, *assignment.notes, *self._outputs.group.notes)
        self._result = Subset(assignment.rows, tuple(written), notes=notes)

    def _write_some(
        self, file: CutFile, assignment: Assignment, some: list[tuple[int, str]]
    ) -> list[WrittenPart]:
        """Write the rows of some parts, given by their indices and names."""
        outputs = {
            index: self._outputs.open(self._places[name]) for index, name in some
        }
        for row, index in zip(file.rows(), assignment.parts(), strict=False):
            target = outputs.get(index)
            if target is not None:
                target.row(file, row)
        for target in outputs.values():
            target.end(file)
            target.finish()
        return [
            WrittenPart(name, outputs[index].name, outputs[index].rows)
            for index, name in some
        ]


def _open_at_once(place: str) -> int:
    """Return how many outputs with such a name are written in one pass.

    A compressor takes memory until its file is complete: xz about 100 MB.
    """
    suffix = masked(place).lower().rpartition(".")[2]
    return {"xz": 1, "bz2": 8, "zst": 8}.get(suffix, MAX_FILES)
