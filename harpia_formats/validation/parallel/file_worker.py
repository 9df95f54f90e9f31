"""Validate whole small files in a worker process, with plain data."""

import threading
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import TypeVar

from harpia_formats.files.io.source import Source
from harpia_formats.formats.detection.splittable import splittable_size
from harpia_formats.formats.registry import all_unpackers
from harpia_formats.model.report import FileCount
from harpia_formats.validation.companion_names import names_beside
from harpia_formats.validation.merge.tally import count_findings, joined
from harpia_formats.validation.one_file import (
    FileSettings,
    note_end,
    opened,
    validate_open,
)
from harpia_formats.validation.parallel.range_worker import (
    NotDone,
    NotSeenError,
    answer_or_reason,
)
from harpia_formats.validation.plan.units import Demand, GroupKey, WholeFile
from harpia_formats.validation.unit.collector import (
    DESCRIBED_LIMIT,
    GROUP_LIMIT,
    TooManyFindings,
)
from harpia_formats.validation.unit.result import FileAnswer, FileResult, Findings
from harpia_formats.validation.unit.validators import SharedValidators

_End = TypeVar("_End")


class _Kept(threading.local):
    """The validators of the small files of a run, which a thread keeps."""

    def __init__(self) -> None:
        self.shared = SharedValidators()


#: It changes speed only: validators that learned give the verdicts of new ones.
_kept = _Kept()


def answer_files(files: tuple[WholeFile, ...]) -> list[FileAnswer]:
    """Return what was found in each file, or why nothing was."""
    answers = []
    for file in files:
        answer = answer_or_reason(lambda: _whole(file))  # noqa: B023 - called at once
        if isinstance(answer, NotDone):
            # The validators may be left in an unfinished state.
            _kept.shared.forget()
        answers.append(answer)
    return answers


@dataclass(slots=True)
class _FindingLog:
    """The findings of a whole file, limited to what is worth sending."""

    count: FileCount
    #: Examples that are wanted of each group; 0 for all.
    examples: int
    found: list[Findings] = field(default_factory=list)
    _described: int = 0
    _times: dict[GroupKey, int] = field(default_factory=dict)
    _satisfied: set[GroupKey] = field(default_factory=set)

    def demand(self) -> Demand:
        """Return which problems need no description any more."""
        return Demand(self._satisfied)

    def take(self, flow: Generator[Findings, None, _End]) -> _End:
        """Add all that `flow` yields; return what it returns.

        Raises `TooManyFindings`.
        """
        while True:
            try:
                self._add(next(flow))
            except StopIteration as stop:
                end: _End = stop.value
                return end

    def _add(self, findings: Findings) -> None:
        count_findings(self.count, findings)
        if not findings:
            return
        self.found.append(findings)
        self._described += sum(map(len, findings.described))
        for row in findings.described:
            for group, _ in row:
                times = self._times[group] = self._times.get(group, 0) + 1
                if self.examples and times >= self.examples:
                    self._satisfied.add(group)
        if self._described > DESCRIBED_LIMIT or len(self._times) > GROUP_LIMIT:
            raise TooManyFindings


def _source_of(file: WholeFile) -> Source:
    return Source(file.name, file.origin, file.is_found, all_unpackers())


def _whole(file: WholeFile) -> FileResult:
    """Validate a file from its beginning to its end."""
    run = file.run
    count, source = FileCount(file.name), _source_of(file)
    if file.size is not None and splittable_size(file.origin) != file.size:
        raise NotSeenError(f"it does not have {file.size:,} bytes")
    log = _FindingLog(count, run.options.examples)
    with opened(source, count, run.block_bytes()) as open_file:
        settings = FileSettings(demand=log.demand, shared=_kept.shared)
        local = log.take(validate_open(open_file, run, settings))
        note_end(open_file, local.merge)
        merge, error = local.merge, open_file.blocks.error
    if file.size is not None and count.reason is not None:
        raise NotSeenError(count.reason)
    return FileResult(
        merge.plan,
        count,
        joined(log.found),
        bytes(merge.outcomes.invalid.bits),
        bytes(merge.outcomes.undetermined.bits),
        until=merge.records,
        whole=not (merge.stopped or merge.gap or error),
        names=names_beside(local, file.name),
        counts=merge.counts,
        pending=merge.pending,
    )
