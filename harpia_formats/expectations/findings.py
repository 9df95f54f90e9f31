"""Findings on records: counted in each file, with the first ones as examples."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from operator import itemgetter

from harpia_formats.formats.rules import Rule
from harpia_formats.formats.rules.preflight import WITHOUT_VALUES
from harpia_formats.model.problem import Because, Excerpt, Place, Problem, Severity
from harpia_formats.model.report import FileCount
from harpia_formats.validation.merge.tally import Tally
from harpia_formats.validation.unit.result import Findings

#: A place, and the line around it for a code frame.
Where = tuple[Place, Excerpt | None]
#: The number of a record, where it is, and what is wrong with it.
Example = tuple[int, Where, str]


@dataclass(slots=True)
class _OfFile:
    """The findings of one file."""

    count: FileCount
    number: int = 0
    examples: list[Example] = field(default_factory=list)


@dataclass(slots=True)
class RecordFindings:
    """Findings of one expectation on records, in any order.

    Of each file the first `most` ones are kept, all if it is 0.
    """

    most: int
    total: int = 0
    _files: dict[int, _OfFile] = field(default_factory=dict)

    def add(
        self,
        count: FileCount,
        number: int,
        where: Callable[[], Where],
        message: Callable[[], str],
    ) -> None:
        """Count a finding on record `number` of the file of `count`."""
        self.total += 1
        file = self._files.setdefault(id(count), _OfFile(count))
        file.number += 1
        examples = file.examples
        if self.most and len(examples) >= self.most:
            if number >= examples[-1][0]:
                return
            examples.pop()
        examples.append((number, where(), message()))
        if len(examples) > 1 and examples[-2][0] > number:
            examples.sort(key=itemgetter(0))

    def merge(self, other: "RecordFindings") -> None:
        """Add the findings of another expectation."""
        for key, found in other._files.items():  # noqa: SLF001 - of its own kind
            file = self._files.setdefault(key, _OfFile(found.count))
            file.number += found.number
            file.examples = sorted((*file.examples, *found.examples), key=itemgetter(0))
            if self.most:
                del file.examples[self.most :]
        self.total += other.total

    def problems(
        self,
        rule: Rule,
        because: Because,
        help_: str,
        tallies: Iterable[Tally],
        *,
        redact: bool = False,
    ) -> Iterator[Problem]:
        """Yield the findings as problems, counted in the tally that has their file.

        They show no line of the data if `redact`.
        """
        for tally in tallies:
            for count in tally.files:
                file = self._files.get(id(count))
                if file is not None:
                    yield from _of_file(
                        file, rule, because, help_, tally, redact=redact
                    )


def _of_file(  # noqa: PLR0913 - a problem has so many parts
    file: _OfFile,
    rule: Rule,
    because: Because,
    help_: str,
    tally: Tally,
    *,
    redact: bool,
) -> Iterator[Problem]:
    """Yield the examples of one file, and count the others."""
    for _, (place, excerpt), message in file.examples:
        problem = Problem(
            rule.code,
            rule.name,
            rule.severity,
            replace(place, pointer=""),
            message,
            (because,),
            help_,
            cause=because.pointer,
            excerpt=None if redact else excerpt,
            hides_values=rule.code in WITHOUT_VALUES,
        )
        yield from add_problem(tally, file.count, problem)
    rest = file.number - len(file.examples)
    if rest:
        group = (rule.code, "", because.pointer)
        counts = _counts_of(rule.severity, rest)
        yield from tally.keep(file.count, Findings(*counts, counted=((group, rest),)))


def _counts_of(severity: Severity, number: int) -> tuple[int, int]:
    """Return how many errors and warnings some findings of a severity are."""
    return (number, 0) if severity is Severity.ERROR else (0, number)


def add_problem(tally: Tally, count: FileCount, problem: Problem) -> Iterator[Problem]:
    """Count a problem of a file; yield it if it is kept as an example."""
    placed = replace(problem, place=tally.in_member(problem.place))
    group = (problem.code, placed.place.pointer, problem.cause)
    counts = _counts_of(problem.severity, 1)
    findings = Findings(*counts, described=(((group, placed),),))
    yield from tally.keep(count, findings)
