"""The totals of each system: of the answers of each model, and of their groups.

Answers of several models are never added up: they are several systems.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import permutations

from harpia_formats.conversion.mapping.answer_groups import (
    EVALUATION,
    MODEL,
    NAMELESS,
    NONE,
    AnswerGrouping,
)
from harpia_formats.evaluation.scoring.answers import (
    FileQuestions,
    are_parts,
    distinct_names,
    file_of_key,
    key_of_file,
)
from harpia_formats.evaluation.scoring.measures.answer_sums import (
    AnswerStore,
    GroupTotals,
    MetricQuestions,
)
from harpia_formats.evaluation.scoring.measures.metric_score import Group
from harpia_formats.evaluation.scoring.measures.outcomes import (
    ComputedMetric,
    GroupAnswer,
)
from harpia_formats.evaluation.scoring.options import Missing, ScoreOptions
from harpia_formats.model.describe import first_of, with_noun
from harpia_formats.model.vendor_metrics import ScoreError, ScoreOptionsError

#: Models whose left out questions are listed.
_LISTED = 5
#: The system of a group, and the values of the fields by which it is grouped; of all
#: answers of a system only that.
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
    one_model_format: str
    #: The id of a result format whose rows have the answer's model, "" for others.
    row_format: str
    #: Whether the scores were stored, so that their signatures stay as they are.
    are_stored: bool
    #: The system of each file of which the user names one model.
    owners: Mapping[str, str]
    #: The names of the systems of answers without a model, by their files; None for
    #: one that has no name. Files with missing answers of no system are left out.
    files: dict[str, str | None] = field(default_factory=dict)
    #: The scores of each system and of each group, once all answers are added.
    systems: tuple[Group, ...] = ()
    groups: tuple[Group, ...] = ()
    _totals: dict[_Key, GroupTotals] = field(default_factory=dict)
    #: How many records have answers without a model, of one key, and with it.
    _shared: Counter[tuple[_Key, _Key]] = field(default_factory=Counter)
    _group_keys: set[_Key] = field(default_factory=set)
    #: The number of answers, missing ones left out, without a model.
    _unnamed: int = 0
    _notes: list[str] = field(default_factory=list)
    #: The numbers of references that records have.
    _references: set[int] = field(default_factory=set)
    _store: AnswerStore = field(init=False)
    #: Files with answers that name a model, and with those that do not.
    _named_files: set[str] = field(default_factory=set)
    _unnamed_files: set[str] = field(default_factory=set)
    _file_questions: FileQuestions = field(default_factory=FileQuestions)
    #: The number of the last record.
    _last: int = 0

    def __post_init__(self) -> None:
        self._store = AnswerStore(self.measured, self.options)

    @property
    def names(self) -> list[str]:
        """The names of the systems, in the order of their first answers."""
        return [key[0] for key in self._totals if len(key) == 1]

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the systems, without that of answers that name no model."""
        # A model may have its name.
        has_none = None in self.files.values()
        return tuple(one for one in self.names if one != NONE or not has_none)

    @property
    def _has_groups_only(self) -> bool:
        """Whether the questions of a system are those of its groups."""
        # A repeated answer counts in the group of its evaluation alone.
        is_apart = EVALUATION in self.grouping.by
        return bool(self.grouping.within_system) and not is_apart

    def add(self, answers: Iterable[GroupAnswer]) -> None:
        """Add some answers."""
        systems: dict[_Key, list[GroupAnswer]] = {}
        groups: dict[_Key, list[GroupAnswer]] = {}
        has_fields = bool(self.grouping.within_system)
        for answer in answers:
            if answer.record_number != self._last:
                self._last = answer.record_number
                self._file_questions.add(answer.question, answer.path)
            if self.are_stored and not answer.is_given:
                continue
            system = self._system_key(answer)
            if answer.references:
                self._references.add(answer.references)
            if not answer.is_repeated:
                systems.setdefault((system,), []).append(answer)
            if has_fields:
                groups.setdefault((system, *answer.key), []).append(answer)
        self._count_shared(systems)
        self._count_shared(groups)
        for key, part in (*systems.items(), *groups.items()):
            totals = self._totals.get(key) or self._new_totals(key)
            totals.add(part)
            if key in groups or not self._has_groups_only:
                self._store.add_answers(part, min(totals.numbers))

    def _count_shared(self, answers: Mapping[_Key, Sequence[GroupAnswer]]) -> None:
        """Count the records that hold answers with a model and answers without one."""
        alike: dict[_Key, list[_Key]] = {}
        for key in answers:
            alike.setdefault(key[1:], []).append(key)
        for keys in alike.values():
            for key, other in permutations(keys, 2):
                if file_of_key(key[0]) is not None:
                    own = {answer.record_number for answer in answers[key]}
                    its = (answer.record_number for answer in answers[other])
                    self._shared[key, other] += len(own.intersection(its))

    def _system_key(self, answer: GroupAnswer) -> str:
        """Return the key of the system of an answer, and count it."""
        path = answer.path
        if answer.model is not None:
            self._named_files.add(path)
            return answer.model
        if answer.is_given:
            self._unnamed += 1
            self._unnamed_files.add(path)
        return key_of_file(path)

    def _new_totals(self, key: _Key) -> GroupTotals:
        """Return the totals of a new system or group; raises `ScoreError`."""
        if len(key) > 1:
            system = key[0] if file_of_key(key[0]) is None else NONE
            self._group_keys.add((system, *key[1:]))
            self.grouping.check(len(self._group_keys))
        else:
            systems = [one[0] for one in (*self._totals, key) if len(one) == 1]
            named = [name for name in systems if file_of_key(name) is None]
            self.grouping.check(len(named) + 1)
            if len(named) > 1 and self.one_model_format:
                models = " and ".join(map(repr, named))
                raise ScoreError(
                    f"{self.one_model_format} holds the scores of one model, and "
                    f"answers are of {models}: choose one with `--model`"
                )
        totals = GroupTotals(self.measured, {len(self._totals)})
        self._totals[key] = totals
        return totals

    def finish(self) -> None:
        """Score the systems and their groups, after the last answer.

        Raises `ScoreError` if missing answers without a model count as 0, or if it is
        not known of which system some answers are, and `SourceError` if the temporary
        file of the questions fails.
        """
        self._name_systems()
        if self._has_groups_only:
            for key, totals in self._totals.items():
                if len(key) == 1:
                    totals.numbers = set().union(
                        *(
                            group.numbers
                            for other, group in self._totals.items()
                            if other[0] == key[0] and len(other) > 1
                        )
                    )
        wholes = [totals.numbers for totals in self._totals.values()]
        found = {
            key: self._group(key, mine)
            for key, mine in zip(self._totals, self._store.wholes(wholes), strict=True)
        }
        self.systems = tuple(one for key, one in found.items() if len(key) == 1)
        self.groups = tuple(one for key, one in found.items() if len(key) > 1)

    def _name_systems(self) -> None:
        """Name the system of all answers, and add up what is of one system."""
        keys = list(self._totals)
        names = dict.fromkeys(key[0] for key in keys)
        files = [file for file in map(file_of_key, names) if file is not None]
        if not self.options.pool:
            nameless = self._unnamed_files - self._named_files
            self._decide([file for file in files if file in nameless])
        rest = {key_of_file(file): file for file in files if file not in self.files}
        models = dict.fromkeys(self._name_of(one) for one in names if one not in rest)
        if len(models) == 1 or not self._unnamed:
            # What has no model is counted behind the rest.
            keys.sort(key=lambda key: key[0] in rest)
        self.files |= self._systems_of_rest(list(rest.values()), list(models))
        # Missing answers of no system are left out.
        known = {None, *self.files}
        every, self._totals = self._totals, {}
        for key in keys:
            if file_of_key(key[0]) in known:
                totals = every[key]
                own = (self._name_of(key[0]), *key[1:])
                first = self._totals.setdefault(own, totals)
                if first is not totals:
                    first.merge(totals)
                    first.records -= self._shared[key, own]

    def _systems_of_rest(
        self, files: Sequence[str], models: Sequence[str]
    ) -> dict[str, str | None]:
        """Return the systems of answers without a model, by their files.

        `models` are all other systems. Such answers are of the only one there is. Among
        several they are a system of their own, and if all are missing they are of the
        system of their file, or of none. Raises `ScoreError` for those if they count.
        """
        if len(models) == 1:
            if self._unnamed:
                self._notes.append(
                    f"answers without a model: {self._unnamed:,}, scored as those of "
                    f"{models[0]}"
                )
            return dict.fromkeys(files, models[0])
        if self._unnamed or not models:
            # A model may have the name of those without one.
            own = NAMELESS if NONE in models else None
            return dict.fromkeys(files, own)
        owners = {file: self.owners.get(file) for file in files}
        found = {file: own for file, own in owners.items() if own in models}
        self._note_missing({*files} - {*found}, models)
        return found

    def _note_missing(self, files: Collection[str], models: Sequence[str]) -> None:
        """Note missing answers that are of no model; raises `ScoreError`."""
        # A plan refuses a system of which there is nothing else.
        lost = {key_of_file(file) for file in files if file not in self.owners}
        missing = sum(
            totals.answers
            for key, totals in self._totals.items()
            if len(key) == 1 and key[0] in lost
        )
        if not missing:
            return
        message = f"missing answers without a model: {missing:,}"
        if self.options.missing == Missing.ZERO:
            # Only plans name models of files, and they take no `--model`.
            systems = self.options.systems.values()
            is_planned = not all(isinstance(one, str) for one in systems)
            skip = '`missing = "skip"`' if is_planned else "`--missing skip`"
            choose = "" if is_planned else "choose one with `--model`, or "
            raise ScoreError(
                f"{message}, which count for none of {first_of(models)}: "
                f"{choose}leave them out with {skip}"
            )
        self._notes.append(f"{message}, left out")

    def _decide(self, files: list[str]) -> None:
        """Find out whether files without model names are systems; name those that are.

        A file is one, too, if it shares questions with that of the only model.
        """
        if not files or (len(files) == 1 and not self._named_files):
            return
        shared = self._file_questions.shared()
        named = {key[0] for key in self._totals if file_of_key(key[0]) is None}
        if are_parts(files, shared):
            if len(files) > 1:
                self._notes.append(
                    f"{first_of(files)} name no model and share no question: they are "
                    "scored as parts of one system"
                )
            other = set().union(*(shared[one] for one in files)) & self._named_files
            if len(named) != 1 or not other:
                return
            called = dict.fromkeys(files, distinct_names([(None, files[0])])[0])
        else:
            self._notes.append(
                f"{first_of(files)} name no model and share questions: each is a "
                "system of its own, and `--pool` scores them as one"
            )
            own = distinct_names((None, one) for one in files)
            called = dict(zip(files, own, strict=True))
        self.files = {
            file: f"{name} (without a model)" if name in named else name
            for file, name in called.items()
        }
        if len({*self.files.values(), *named}) < 2:  # noqa: PLR2004 - one needs no note
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
            f"{first_of(files)}; {way}, or take them as one system with "
            "`--pool`"
        )

    def _name_of(self, key: str) -> str:
        """Return the name of the system of answers with this key."""
        file = file_of_key(key)
        if file is None:
            return key
        name = self.files[file]
        return NONE if name is None else name

    def _group(self, key: _Key, found: Sequence[MetricQuestions]) -> Group:
        """Return the scores of a system or group, of whose questions this was found."""
        is_split = len(self.names) > 1 or MODEL in self.grouping.by
        names = self.grouping.names_of(key, is_split=is_split)
        group = replace(self._totals[key].group(found, self.options), key=names)
        if self.are_stored:
            # Scores that none of its answers has are left out.
            own = [score for score in group.scores if score.count or score.unscored]
            return replace(group, scores=tuple(own))
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
        apart = []
        if len(self.names) > 1 and MODEL not in self.grouping.by:
            apart.append(
                f"the answers are of {len(self.names):,} models, which are scored "
                f"apart: {', '.join(self.names)}"
            )
        return [*apart, *self._notes, *self._left_out_notes()]

    def check_questions(self) -> None:
        """Raise `ScoreError` for a score that leaves out some of the questions."""
        for system in self.systems:
            for score, note in system.left_out():
                if score.value is not None:
                    raise ScoreError(
                        f'{note}; missing="skip" leaves questions with too few out'
                    )

    def _left_out_notes(self) -> Iterator[str]:
        """Yield which questions have too few answers for a score, of some models."""
        notes: dict[str, list[str]] = {}
        for system in self.systems:
            for score, note in system.left_out():
                notes.setdefault(score.full_name, []).append(note)
        for name, found in notes.items():
            yield from found[:_LISTED]
            if len(found) > _LISTED:
                models = with_noun(len(found) - _LISTED, "more model")
                yield f"{name} leaves out questions of {models}"

    def close(self) -> None:
        """Remove temporary files."""
        self._store.close()
        self._file_questions.close()
