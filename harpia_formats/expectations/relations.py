"""Relations between records: answers to a question, ids and prompts of data sets."""

import struct
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from msgspec import UNSET

from harpia_formats.conversion.comparison.record_partitions import StoredRecord
from harpia_formats.conversion.mapping.questions import question_id, question_key
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.expectations.outcomes import Outcome, RecordFindings, Where
from harpia_formats.expectations.preflight_plan import DataSet
from harpia_formats.expectations.record_limits import (
    Comparison,
    RecordLimit,
    compared_digests,
    prompt_digest,
)
from harpia_formats.expectations.record_store import (
    HELD,
    RecordStore,
    ShownPlace,
    in_text,
    portions,
)
from harpia_formats.formats.rules.preflight_rules import (
    ANSWER_COUNT,
    OTHER_PROMPT,
    SHARED_PROMPT,
    UNKNOWN_ID,
    UNKNOWN_PROMPT,
)
from harpia_formats.model.describe import short_literal, with_noun
from harpia_formats.model.report import FileCount
from harpia_formats.validation.dedup.digests import digest_of

#: Bytes of the digest of a model's name.
_WIDTH = 8
#: Models of one data set; more are a sign that the field holds something else.
MOST_MODELS = 10_000


@dataclass(slots=True)
class AnswersPerQuestion(RecordLimit):
    """How many answers of each model each question has."""

    times: int
    #: The models that have answers, as another key says; those that have some if none.
    expected: tuple[str, ...]
    findings: RecordFindings
    #: The only models that are counted if they have answers; all if there are none.
    allowed: tuple[str, ...] = ()
    _store: RecordStore = field(default_factory=RecordStore)
    #: The names of models by their digests.
    _models: dict[bytes, str] = field(default_factory=dict)
    _has_too_many: bool = False

    def take(self, placed: PlacedRecord, count: FileCount) -> None:
        """Note the models that answered a question."""
        models = b"".join(
            self._digest(output.model or "") for output in placed.record.outputs
        )
        key = question_key(placed.record, self._store.count).hex()
        self._store.add(key, placed, count, models)

    def _digest(self, name: str) -> bytes:
        digest = _digest_of(name)
        is_counted = not self.allowed or name in self.allowed
        if is_counted and digest not in self._models:
            if len(self._models) < MOST_MODELS:
                self._models[digest] = name
            else:
                self._has_too_many = True
        return digest

    def outcomes(self) -> Iterator[Outcome]:
        """Yield whether each question has the same answers."""
        if self.expected:
            self._models = {_digest_of(name): name for name in self.expected}
            self._has_too_many = False
        questions = 0
        for first, found in self._questions():
            questions += 1
            wrong = self._wrong(found)
            if wrong:
                self.findings.add(
                    self._store.count_of(first),
                    self._store.number_of(first),
                    partial(self._where, first),
                    partial(str, wrong),
                )
        yield self._outcome(questions)

    def _questions(self) -> Iterator[tuple[StoredRecord, Counter[bytes]]]:
        """Yield the first record of each question, and how often models answered it."""
        for portion in portions(self._store):
            answers: dict[str, tuple[StoredRecord, Counter[bytes]]] = {}
            for stored in portion.of(self._store):
                _, found = answers.setdefault(stored.key, (stored, Counter()))
                data = stored.text
                found.update(
                    data[at : at + _WIDTH] for at in range(0, len(data), _WIDTH)
                )
            yield from answers.values()

    def _where(self, stored: StoredRecord) -> Where:
        return self._store.place_of(stored), None

    def common_times(self) -> int:
        """Return how often each model answered each question, 0 if not equally."""
        times = {
            found[model] for _, found in self._questions() for model in self._models
        }
        return times.pop() if len(times) == 1 and not self._has_too_many else 0

    def _wrong(self, found: Counter[bytes]) -> str:
        """Return what is wrong with the answers of a question, "" if nothing is."""
        wrong = [
            (model, found[model])
            for model in self._models
            if found[model] != self.times
        ]
        if not wrong:
            return ""
        model, times = wrong[0]
        name = short_literal(self._models[model]) if self._models[model] else "no model"
        text = f"the question has {with_noun(times, 'answer')} of {name}"
        others = len(wrong) - 1
        more = f", and others of {with_noun(others, 'more model')}" if others else ""
        return f"{text}, not {self.times}{more}"

    def _outcome(self, questions: int) -> Outcome:
        wrong, models = self.findings.total, len(self._models)
        messages: tuple[str, ...] = ()
        found = f"{with_noun(questions, 'question')}, {with_noun(models, 'model')}"
        if self._has_too_many:
            messages = (f"there are more than {MOST_MODELS:,} models",)
        elif not questions or not models:
            messages = ("there is no answer",)
        if wrong:
            found = (
                f"{wrong:,} of {with_noun(questions, 'question')} answered otherwise"
            )
        times = "once" if self.times == 1 else f"{self.times:,} times"
        return Outcome(
            "answers-per-question",
            f"each question answered {times} by each model",
            found,
            not (wrong or messages),
            ANSWER_COUNT,
            self.findings,
            messages=messages,
            help="run the model on the question, or drop answers given again",
            value=self.times,
            needs_all=True,
            hides_values=True,
        )

    def close(self) -> None:
        """Delete the temporary file."""
        self._store.close()


def _digest_of(model: str) -> bytes:
    return digest_of(model).to_bytes(_WIDTH)


#: The number of a record in its data set, and whether a digest is of its whole prompt.
_part = struct.Struct("<Q?")


@dataclass(slots=True)
class Keys:
    """The ids and prompts of a data set, as far as relations compare them."""

    name: str
    #: Examples of findings that are kept of each file.
    most: int
    shown: ShownPlace = in_text
    by_id: RecordStore | None = None
    by_prompt: dict[Comparison, RecordStore] = field(default_factory=dict)
    #: Records that were taken.
    records: int = 0
    #: Records without an id, and without a prompt.
    without_id: RecordFindings = field(init=False)
    without_prompt: RecordFindings = field(init=False)

    def __post_init__(self) -> None:
        self.without_id = RecordFindings(self.most)
        self.without_prompt = RecordFindings(self.most)

    def take(self, placed: PlacedRecord, count: FileCount) -> None:
        """Note the id and the prompt of a record."""
        record = placed.record
        if self.by_id is not None:
            if record.id is UNSET:
                self._add(self.without_id, placed, count, "id")
            else:
                digest = prompt_digest(record)
                self.by_id.add(question_id(record.id), placed, count, digest)
        has_prompt = not self.by_prompt
        for how, store in self.by_prompt.items():
            for digest, is_whole in compared_digests(record, how):
                has_prompt = True
                store.add(
                    digest.hex(), placed, count, _part.pack(self.records, is_whole)
                )
        if not has_prompt:
            self._add(self.without_prompt, placed, count, "prompt")
        self.records += 1

    def _add(
        self,
        findings: RecordFindings,
        placed: PlacedRecord,
        count: FileCount,
        what: str,
    ) -> None:
        findings.add(
            count,
            placed.number,
            lambda: (placed.row.place(0, 1, ()), None),
            lambda: f"the record has no {what} to compare",
        )

    def ids(self) -> RecordStore:
        """Return the store of ids, made when it is asked for."""
        self.by_id = self.by_id or RecordStore()
        return self.by_id

    def prompts(self, how: Comparison = Comparison.EXACT) -> RecordStore:
        """Return the store of prompts for a comparison, made when it is asked for."""
        if how not in self.by_prompt:
            self.by_prompt[how] = RecordStore(self.shown)
        return self.by_prompt[how]

    def close(self) -> None:
        """Delete the temporary files."""
        for store in (self.by_id, *self.by_prompt.values()):
            if store is not None:
                store.close()


@dataclass(frozen=True, slots=True)
class Relation:
    """One kind of relation between a data set and another one."""

    #: What is expected, with the name of the other data set in place of {}.
    expected: str
    code: str
    #: Returns what was found, with the findings; the last argument is how many keys
    #: are held in memory.
    compare: Callable[[Keys, Keys, int], tuple[str, RecordFindings, str]]
    #: Whether it compares ids, else prompts.
    is_by_id: bool
    help: str
    #: How prompts are compared.
    how: Comparison = Comparison.EXACT

    def prepare(self, own: Keys, other: Keys) -> None:
        """Make the two data sets keep what is compared."""
        for keys in (own, other):
            if self.is_by_id:
                keys.ids()
            else:
                keys.prompts(self.how)

    def before(self, key: str, other: str) -> Outcome:
        """Return the relation to the data set `other` before anything is read."""
        expected = self.expected.format(other)
        return Outcome(key, expected, "", is_met=False, code=self.code, item=other)

    def outcome(self, key: str, own: Keys, other: Keys, held: int = HELD) -> Outcome:
        """Return whether the relation holds, after both data sets were read."""
        found, findings, message = self.compare(own, other, held)
        return Outcome(
            key,
            self.expected.format(other.name),
            found,
            not (findings.total or message),
            self.code,
            findings,
            messages=(message,) if message else (),
            help=self.help,
            value=other.name,
            item=other.name,
            needs_all=self.code != SHARED_PROMPT,
            hides_values=True,
        )


def _missing(
    own: RecordStore,
    other: RecordStore,
    held: int,
    findings: RecordFindings,
    text: Callable[[str], str],
) -> int:
    """Find records whose keys the other store lacks; return how many keys are there.

    `text` returns what is wrong with a record, given its key.
    """
    distinct = 0
    for portion in portions(own, other, held=held):
        known = {stored.key for stored in portion.of(other)}
        met = set()
        for stored in portion.of(own):
            if stored.key in known:
                met.add(stored.key)
                continue
            _add(findings, own, stored, text(stored.key[:_SHOWN]))
        distinct += len(met)
    return distinct


#: Characters of an id in a message.
_SHOWN = 80


def _add(
    findings: RecordFindings, store: RecordStore, stored: StoredRecord, text: str
) -> None:
    findings.add(
        store.count_of(stored),
        store.number_of(stored),
        lambda: (store.place_of(stored), None),
        lambda: text,
    )


def _unknown_id(name: str, key: str) -> str:
    """Return that the data set `name` lacks an id."""
    return f"the id {key!r} is not in {name}"


def _ids_in(own: Keys, other: Keys, held: int) -> tuple[str, RecordFindings, str]:
    findings = _copied(own.without_id)
    text = partial(_unknown_id, other.name)
    met = _missing(own.ids(), other.ids(), held, findings, text)
    return _found(met, findings, "id"), findings, ""


def _same_ids(own: Keys, other: Keys, held: int) -> tuple[str, RecordFindings, str]:
    _, findings, _ = _ids_in(own, other, held)
    findings.merge(other.without_id)
    text = partial(_unknown_id, own.name)
    met = _missing(other.ids(), own.ids(), held, findings, text)
    return _found(met, findings, "id"), findings, ""


def _same_prompts(own: Keys, other: Keys, held: int) -> tuple[str, RecordFindings, str]:
    findings, compared = RecordFindings(own.most), 0
    mine = own.ids()
    for portion in portions(mine, other.ids(), held=held):
        known: dict[str, set[bytes]] = {}
        for stored in portion.of(other.ids()):
            known.setdefault(stored.key, set()).add(stored.text)
        for stored in portion.of(mine):
            if stored.key not in known:
                continue
            compared += 1
            if stored.text not in known[stored.key]:
                shown = stored.key[:_SHOWN]
                text = f"the prompt of the id {shown!r} is another one in {other.name}"
                _add(findings, mine, stored, text)
    found = f"{with_noun(compared, 'record')} compared"
    if findings.total:
        found = f"{findings.total:,} of {with_noun(compared, 'record')} with another"
    message = "" if compared else f"no id is in both {own.name} and {other.name}"
    return found, findings, message


def _prompts_in(own: Keys, other: Keys, held: int) -> tuple[str, RecordFindings, str]:
    findings = _copied(own.without_prompt)
    text = f"the prompt is not in {other.name}"
    met = _missing(own.prompts(), other.prompts(), held, findings, lambda _: text)
    return _found(met, findings, "prompt"), findings, ""


#: The finding on a prompt that is in both data sets, by how it was compared.
_SHARED = {
    Comparison.EXACT: "the prompt is in {}, too",
    Comparison.NORMALISED: "the prompt, or a user turn of it, is in {}, too, but for "
    "case, white space and punctuation: {}",
    Comparison.NEAR: "the prompt, or a user turn of it, has the same characters as one "
    "in {}, perhaps in another order: {}",
}


def _no_prompts_of(
    own: Keys, other: Keys, held: int, how: Comparison = Comparison.EXACT
) -> tuple[str, RecordFindings, str]:
    """Find records with a prompt of the other data set.

    A single turn is compared with whole prompts only: two chats may have a turn such
    as "Go on." in common.
    """
    findings, mine, theirs = (
        RecordFindings(own.most),
        own.prompts(how),
        other.prompts(how),
    )
    #: A bit for each record that was found: it may have several turns.
    is_found = bytearray(own.records // 8 + 1)
    for portion in portions(mine, theirs, held=held):
        known: dict[str, tuple[StoredRecord, bool]] = {}
        for stored in portion.of(theirs):
            _, is_whole = _part.unpack(stored.text)
            if is_whole or stored.key not in known:
                first = known.get(stored.key, (stored, False))[0]
                known[stored.key] = first, is_whole
        for stored in portion.of(mine):
            match, other_is_whole = known.get(stored.key, (None, False))
            number, is_whole = _part.unpack(stored.text)
            bit = 1 << number % 8
            if match is None or not (is_whole or other_is_whole):
                continue
            if not is_found[number // 8] & bit:
                is_found[number // 8] |= bit
                text = _SHARED[how].format(other.name, theirs.line_of(match))
                _add(findings, mine, stored, text)
    prompts = own.records - own.without_prompt.total
    lacking = [one.name for one in (own, other) if not one.prompts(how).count]
    message = f"no record of {lacking[0]} has a prompt" if lacking else ""
    found = f"{with_noun(prompts, 'prompt')} compared"
    if findings.total:
        found = f"{findings.total:,} of {with_noun(prompts, 'prompt')} in both"
    return found, findings, message


def _copied(findings: RecordFindings) -> RecordFindings:
    copy = RecordFindings(findings.most)
    copy.merge(findings)
    return copy


def _found(met: int, findings: RecordFindings, noun: str) -> str:
    """Return how many keys are in both, and of how many records they are not."""
    found = f"{with_noun(met, noun)} in both"
    if findings.total:
        found += f"; {with_noun(findings.total, 'record')} not"
    return found


_IDS = "see which run the files are of, or mend the ids"
RELATIONS = {
    "ids-in": Relation("ids all in {}", UNKNOWN_ID, _ids_in, is_by_id=True, help=_IDS),
    "same-ids-as": Relation(
        "ids the same as in {}", UNKNOWN_ID, _same_ids, is_by_id=True, help=_IDS
    ),
    "same-prompts-as": Relation(
        "prompts of the same ids the same as in {}",
        OTHER_PROMPT,
        _same_prompts,
        is_by_id=True,
        help="make the answers anew, or take the questions that they answer",
    ),
    "prompts-in": Relation(
        "prompts all in {}",
        UNKNOWN_PROMPT,
        _prompts_in,
        is_by_id=False,
        help="see which run the files are of, or mend the prompts",
    ),
}
_COMPARED = {
    how: Relation(
        f"no prompt of {{}}{words}",
        SHARED_PROMPT,
        partial(_no_prompts_of, how=how),
        is_by_id=False,
        help="take the question out of one of the data sets",
        how=how,
    )
    for how, words in {
        Comparison.EXACT: "",
        Comparison.NORMALISED: ", compared normalised",
        Comparison.NEAR: ", nor a near one",
    }.items()
}
RELATIONS["no-prompts-of"] = _COMPARED[Comparison.EXACT]


def relations_of(data_set: DataSet) -> Iterator[tuple[str, Relation, str]]:
    """Yield each relation of a data set: its key, and the name of the other one."""
    for key, relation in RELATIONS.items():
        names = data_set.values.get(key, ())
        for name in names:
            how = names[name] if isinstance(names, dict) else None
            yield key, _COMPARED[how] if how else relation, name
