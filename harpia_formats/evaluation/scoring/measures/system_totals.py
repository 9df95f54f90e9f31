"""The totals of each system: of the answers of each model, and of their groups.

Answers of several models are never added up: they are several systems.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from harpia_formats.conversion.mapping.answer_groups import (
    EVALUATION,
    MODEL,
    NONE,
    AnswerGrouping,
)
from harpia_formats.evaluation.scoring.answers.choose_systems import distinct_names
from harpia_formats.evaluation.scoring.answers.input_files import (
    FileQuestions,
    are_parts,
    file_of_key,
    key_of_file,
    parts_note,
    systems_note,
)
from harpia_formats.evaluation.scoring.measures.answer_sums import (
    AnswerStore,
    GroupTotals,
    WholeAnswers,
)
from harpia_formats.evaluation.scoring.measures.metric_score import Group
from harpia_formats.evaluation.scoring.measures.outcomes import (
    ComputedMetric,
    GroupAnswer,
    MeasuredAnswer,
)
from harpia_formats.evaluation.scoring.options import Missing, ScoreOptions
from harpia_formats.model.vendor_metrics import ScoreError, ScoreOptionsError

#: Models whose left out questions are told.
_LISTED = 5

_AnyKey = TypeVar("_AnyKey", str, tuple[str, ...])
#: The system of a group, and the values of the fields by which it is grouped.
_Key = tuple[str, ...]


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
    #: The id of a result format whose rows have the answer's model, "" for others.
    row_format: str = ""
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
    _store: AnswerStore = field(init=False)
    #: Files with answers that name a model, and with those that do not.
    _named_files: set[str] = field(default_factory=set)
    _unnamed_files: set[str] = field(default_factory=set)
    _file_questions: FileQuestions = field(default_factory=FileQuestions)
    _last: tuple[int, str] = (0, "")
    _group_keys: set[_Key] = field(default_factory=set)
    #: The names of the systems that files without model names are.
    files: dict[str, str] = field(default_factory=dict)
    #: What is known of the answers of each group, by its identity.
    _found: dict[int, WholeAnswers] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._store = AnswerStore(self.measured, self.options)

    def add(self, answers: Iterable[MeasuredAnswer]) -> None:
        """Add some answers."""
        systems: dict[str, list[GroupAnswer]] = {}
        groups: dict[_Key, list[GroupAnswer]] = {}
        has_fields = bool(self.grouping.within_system)
        for answer in answers:
            if (answer.record_number, answer.path) != self._last:
                self._last = answer.record_number, answer.path
                self._file_questions.add(answer.question, answer.path)
            system = self._system_key(answer)
            if answer.references:
                self._references.add(answer.references)
            if not answer.is_repeated:
                systems.setdefault(system, []).append(answer)
            if has_fields:
                groups.setdefault((system, *answer.key), []).append(answer)
        for system, part in systems.items():
            totals = self.systems.get(system) or self._new_system(system)
            totals.add(part)
            if not has_fields or EVALUATION in self.grouping.by:
                self._add_to_questions(part, totals)
        for key, part in groups.items():
            totals = self.groups.get(key) or self._new_group(key)
            totals.add(part)
            self._add_to_questions(part, totals)

    def _system_key(self, answer: MeasuredAnswer) -> str:
        """Return the key of the system of an answer, and count it."""
        path = answer.path
        if answer.model is not None:
            self._named_files.add(path)
            return answer.model
        if answer.is_given:
            self._unnamed += 1
            self._unnamed_files.add(path)
        return key_of_file(path)

    def _add_to_questions(self, part: list[GroupAnswer], totals: GroupTotals) -> None:
        self._store.add_answers(part, min(totals.numbers))

    def _new_system(self, name: str) -> GroupTotals:
        named = [one for one in (*self.systems, name) if file_of_key(one) is None]
        self.grouping.check(len(named) + 1)
        if len(named) > 1 and self.one_model_format:
            models = " and ".join(map(repr, named))
            raise ScoreError(
                f"{self.one_model_format} holds the scores of one model, and answers "
                f"are of {models}: choose one with `--model`"
            )
        totals = self.systems[name] = self._totals()
        return totals

    def _new_group(self, key: _Key) -> GroupTotals:
        self._group_keys.add(
            (key[0] if file_of_key(key[0]) is None else NONE, *key[1:])
        )
        self.grouping.check(len(self._group_keys))
        totals = self.groups[key] = self._totals()
        return totals

    def _totals(self) -> GroupTotals:
        self._numbers += 1
        return GroupTotals({}, self.measured, {self._numbers})

    def finish(self) -> None:
        """Settle the systems and add up their questions, after the last answer.

        Answers without a model are of the only model there is. Beside several models
        they are a system of their own, without the missing ones. Raises `ScoreError` if
        such missing answers count as 0, and `SourceError` if the temporary file of the
        questions fails.
        """
        self._name_files()
        named = [name for name in self.systems if name != NONE]
        if NONE in self.systems and len(named) == 1 and not self.files:
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
        self._found = dict(zip(keys, self._store.wholes(wholes), strict=True))

    def _name_files(self) -> None:
        """Make one system of answers without a model, or one of each file.

        Raises `ScoreError` if it is not known which, or if several are written as one.
        """
        files = [
            one
            for key in self.systems
            if (one := file_of_key(key)) in self._unnamed_files - self._named_files
            and one is not None
        ]
        if not self.options.pool and files:
            self._decide(files)
        self._rename({name: self._system_of(name) for name in self.systems})

    def _rename(self, names: Mapping[str, str]) -> None:
        """Give systems other names, of which those with the same one become one."""
        systems = [(names[name], one) for name, one in self.systems.items()]
        groups = [
            ((names[key[0]], *key[1:]), totals) for key, totals in self.groups.items()
        ]
        self.systems, self.groups = _merged(systems), _merged(groups)

    def _decide(self, files: list[str]) -> None:
        """Find out whether files without model names are systems; name those that are.

        A file is one, too, if it shares questions with that of the only model.
        """
        if len(files) == 1 and not self._named_files:
            return
        shared = self._file_questions.shared()
        named = [name for name in self.systems if file_of_key(name) is None]
        if len(files) == 1 or are_parts(files, shared):
            self._notes += [parts_note(files)] if len(files) > 1 else []
            other = set().union(*(shared[one] for one in files)) & self._named_files
            if len(named) != 1 or not other:
                return
            called = dict.fromkeys(files, distinct_names([(None, files[0])])[0])
        else:
            self._notes.append(systems_note(files))
            own = distinct_names((None, one) for one in files)
            called = dict(zip(files, own, strict=True))
        taken = set(named)
        self.files = {
            file: f"{name} (without a model)" if name in taken else name
            for file, name in called.items()
        }
        if len({*self.files.values(), *named}) < 2:  # noqa: PLR2004 - one is told apart
            return
        if self.row_format and len(set(self.files.values())) > 1:
            why = f"rows of {self.row_format} name the model of their answer"
            way = "name the system of each with `NAME=FILE`"
        elif self.one_model_format:
            why = f"{self.one_model_format} holds the scores of one model"
            way = "write the results of each"
        else:
            return
        raise ScoreOptionsError(
            f"{why}, and files without model names share questions: "
            f"{', '.join(files[:_LISTED])}; {way}, or take them as one system with "
            "`--pool`"
        )

    def _system_of(self, key: str) -> str:
        """Return the name of the system of answers with this key."""
        file = file_of_key(key)
        return key if file is None else self.files.get(file, NONE)

    def _merge_unnamed(self, name: str) -> None:
        """Count the answers without a model for the system `name`."""
        # What has no model is counted behind the rest.
        self.systems[NONE] = self.systems.pop(NONE)
        for key in [key for key in self.groups if key[0] == NONE]:
            self.groups[key] = self.groups.pop(key)
        self._rename({name: name, NONE: name})
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
                "one with `--model`"
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
        group = totals.group(self._found[id(totals)], self.options)
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
        self._file_questions.close()


def _merged(
    totals: Iterable[tuple[_AnyKey, GroupTotals]],
) -> dict[_AnyKey, GroupTotals]:
    """Return totals by their keys, those with the same key as one."""
    found: dict[_AnyKey, GroupTotals] = {}
    for key, mine in totals:
        first = found.setdefault(key, mine)
        if first is not mine:
            first.merge(mine)
    return found


def _without_other_scores(group: Group) -> Group:
    """Return a group without the scores that none of its answers has."""
    own = tuple(score for score in group.scores if score.count or score.unscored)
    return replace(group, scores=own)
