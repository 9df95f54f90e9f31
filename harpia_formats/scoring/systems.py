"""The totals of each system: of the answers of each model, and of their groups.

Answers of several models are never added up: they are several systems.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from msgspec import UNSET

from harpia_formats.conversion.fill_scores import answer_text
from harpia_formats.model.metric_profile import ScoreError
from harpia_formats.model.record import Output, Record
from harpia_formats.scoring.accumulate import GroupTotals
from harpia_formats.scoring.bootstrap import PoissonBootstrap
from harpia_formats.scoring.computed_metric import ComputedMetric
from harpia_formats.scoring.groups import EVALUATION, MODEL, NONE, AnswerGrouping
from harpia_formats.scoring.intervals import QuestionMoments
from harpia_formats.scoring.metric_score import Group
from harpia_formats.scoring.options import Missing, ScoreOptions
from harpia_formats.scoring.question_scores import QuestionTotals, RepeatedAnswerStore
from harpia_formats.scoring.question_store import QuestionStore
from harpia_formats.scoring.resampled import GroupAnswer, ResampledMetrics

#: Models whose left out questions are told.
_LISTED = 5

#: The system of a group, and the values of the fields by which it is grouped.
_Key = tuple[str, ...]
#: An answer with its record and output, and whether it counts in its group only.
Answer = tuple[GroupAnswer, Record, Output, bool]


@dataclass(slots=True)
class SystemTotals:
    """Adds up the answers of each model and of its groups; to be closed with `close`.

    Raises `ScoreError` for a second model if `one_model_format` is the id of a result
    format that holds the scores of one, and for too many groups.
    """

    measured: tuple[ComputedMetric, ...]
    options: ScoreOptions
    grouping: AnswerGrouping
    one_model_format: str = ""
    #: Whether the scores were stored, so that their signatures stay as they are.
    are_stored: bool = False
    systems: dict[str, GroupTotals] = field(default_factory=dict)
    groups: dict[_Key, GroupTotals] = field(default_factory=dict)
    #: The number of answers, missing ones left out, without a model.
    _unnamed: int = 0
    _notes: list[str] = field(default_factory=list)
    _numbers: int = 0
    #: The numbers of references that records have.
    _references: set[int] = field(default_factory=set)
    _store: QuestionStore = field(init=False)
    _repeated: RepeatedAnswerStore = field(init=False)
    #: The sums over questions of each group by its identity, and the scores of
    #: questions by the place of their metric.
    _moments: dict[int, list[QuestionMoments]] = field(default_factory=dict)
    _questions: dict[int, dict[int, list[QuestionTotals]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._store = QuestionStore(
            [
                0 if metric.measure.question else len(metric.names)
                for metric in self.measured
            ]
        )
        self._repeated = RepeatedAnswerStore(self.measured)

    def add(self, answers: Iterable[Answer]) -> None:
        """Add some answers."""
        systems: dict[str, list[GroupAnswer]] = {}
        groups: dict[_Key, list[GroupAnswer]] = {}
        has_fields = bool(self.grouping.within_system)
        for answer, record, output, is_repeated in answers:
            system = NONE if output.model is UNSET else output.model
            is_given = bool(output.scores) or answer_text(output) is not None
            self._unnamed += system == NONE and is_given
            if record.references:
                self._references.add(len(record.references))
            if not is_repeated:
                systems.setdefault(system, []).append(answer)
            if has_fields:
                key = (system, *self.grouping.key_of(record, output))
                groups.setdefault(key, []).append(answer)
        for system, part in systems.items():
            totals = self.systems.get(system) or self._new_system(system)
            totals.add(part)
            if not has_fields or EVALUATION in self.grouping.by:
                self._add_to_questions(part, totals)
        for key, part in groups.items():
            totals = self.groups.get(key) or self._new_group(key)
            totals.add(part)
            self._add_to_questions(part, totals)

    def _add_to_questions(self, part: list[GroupAnswer], totals: GroupTotals) -> None:
        number = min(totals.numbers)
        self._store.add_answers(part, number)
        self._repeated.add_answers(part, number)

    def _new_system(self, name: str) -> GroupTotals:
        self.grouping.check(len(self.systems) + 1)
        named = [one for one in (*self.systems, name) if one != NONE]
        if len(named) > 1 and self.one_model_format:
            models = " and ".join(map(repr, named))
            raise ScoreError(
                f"{self.one_model_format} holds the scores of one model, and answers "
                f"are of {models}: choose one with --model"
            )
        totals = self.systems[name] = self._totals()
        return totals

    def _new_group(self, key: _Key) -> GroupTotals:
        self.grouping.check(len(self.groups) + 1)
        totals = self.groups[key] = self._totals()
        return totals

    def _totals(self) -> GroupTotals:
        options = self.options
        resampled = None
        if options.replicates:
            bootstrap = PoissonBootstrap(options.replicates, options.seed)
            resampled = ResampledMetrics(self.measured, bootstrap)
        self._numbers += 1
        return GroupTotals({}, self.measured, resampled, {self._numbers})

    def finish(self) -> None:
        """Settle the systems and add up their questions, after the last answer.

        Answers without a model are of the only model there is. Beside several models
        they are a system of their own, without the missing ones. Raises `ScoreError` if
        such missing answers count as 0, and `SourceError` if the temporary file of the
        questions fails.
        """
        named = [name for name in self.systems if name != NONE]
        if NONE in self.systems and len(named) == 1:
            self._merge_unnamed(named[0])
        elif NONE in self.systems and named and not self._unnamed:
            self._drop_missing()
        every = [*self.systems.items(), *self.groups.items()]
        if self.groups and EVALUATION not in self.grouping.by:
            for name, system in self.systems.items():
                mine = (
                    one.numbers for key, one in self.groups.items() if key[0] == name
                )
                system.numbers = set().union(*mine)
        wholes = [totals.numbers for _, totals in every]
        keys = [id(totals) for _, totals in every]
        self._moments = dict(zip(keys, self._store.moments(wholes), strict=True))
        self._questions = dict(zip(keys, self._repeated.totals(wholes), strict=True))

    def _merge_unnamed(self, name: str) -> None:
        """Count the answers without a model for the system `name`."""
        self.systems[name].merge(self.systems.pop(NONE))
        for key in [key for key in self.groups if key[0] == NONE]:
            part = self.groups.pop(key)
            target = self.groups.setdefault((name, *key[1:]), part)
            if target is not part:
                target.merge(part)
        if self._unnamed:
            self._notes.append(
                f"answers without a model: {self._unnamed:,}, scored as those of {name}"
            )

    def _drop_missing(self) -> None:
        """Leave out the missing answers without a model; raises `ScoreError`."""
        missing = self.systems.pop(NONE).answers
        for key in [key for key in self.groups if key[0] == NONE]:
            del self.groups[key]
        message = f"missing answers without a model: {missing:,}"
        if self.options.missing == Missing.ZERO:
            raise ScoreError(
                f"{message}, which count for none of {', '.join(self.systems)}: choose "
                "one with --model"
            )
        self._notes.append(f"{message}, left out")

    @property
    def is_split(self) -> bool:
        """Whether scores are told apart by model."""
        return len(self.systems) > 1 or MODEL in self.grouping.by

    def system_scores(self) -> tuple[Group, ...]:
        """Return the scores of each system."""
        return tuple(
            self._group((name,), totals) for name, totals in self.systems.items()
        )

    def group_scores(self) -> tuple[Group, ...]:
        """Return the scores of each group."""
        return tuple(self._group(key, totals) for key, totals in self.groups.items())

    def _group(self, key: _Key, totals: GroupTotals) -> Group:
        totals.key = self.grouping.names_of(key, is_split=self.is_split)
        group = totals.group(
            self.options.level,
            self._moments.get(id(totals), []),
            self._questions.get(id(totals), {}),
        )
        if self.are_stored:
            return _without_other_scores(group)
        if not self._references:
            return group
        least, most = min(self._references), max(self._references)
        count = least if least == most else "var"
        without = {
            metric.request.label
            for metric in self.measured
            if "references" not in metric.measure.needs
        }
        return replace(
            group,
            scores=tuple(
                score
                if score.metric in without
                else replace(score, signature=f"{score.signature}|nrefs:{count}")
                for score in group.scores
            ),
        )

    def notes(self) -> list[str]:
        """Return notes on the models and on questions left out, for people."""
        return [*self._model_notes(), *self._left_out_notes()]

    def check_questions(self) -> None:
        """Raise `ScoreError` for a score that leaves out some of the questions."""
        for system in self.system_scores():
            for score, note in system.left_out():
                if score.value is not None:
                    raise ScoreError(
                        f'{note}; missing="skip" leaves questions with too few out'
                    )

    def _left_out_notes(self) -> Iterator[str]:
        """Yield which questions have too few answers for a score, of some models."""
        notes: dict[str, list[str]] = {}
        for system in self.system_scores():
            for score, note in system.left_out():
                notes.setdefault(score.full_name, []).append(note)
        for name, found in notes.items():
            yield from found[:_LISTED]
            if len(found) > _LISTED:
                more = len(found) - _LISTED
                yield f"{name} leaves out questions of {more:,} more models"

    def _model_notes(self) -> list[str]:
        if not self.is_split or MODEL in self.grouping.by:
            return list(self._notes)
        apart = (
            f"the answers are of {len(self.systems):,} models, which are scored apart: "
            f"{', '.join(self.systems)}"
        )
        return [apart, *self._notes]

    def close(self) -> None:
        """Remove temporary files."""
        self._store.close()
        self._repeated.close()


def _without_other_scores(group: Group) -> Group:
    """Return a group without the scores that none of its answers has."""
    own = tuple(score for score in group.scores if score.count or score.unscored)
    return replace(group, scores=own)
