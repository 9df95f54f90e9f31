"""Relations between two data sets: by the ids, or the prompts, of their records."""

from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec import UNSET

from harpia_formats.comparison.record_partitions import StoredRecord
from harpia_formats.expectations.findings import RecordFindings
from harpia_formats.expectations.outcome import Outcome
from harpia_formats.expectations.prompts import prompt_digest
from harpia_formats.expectations.record_store import HELD, RecordStore, portions
from harpia_formats.model.report import FileCount
from harpia_formats.reading.placed_record import PlacedRecord
from harpia_formats.reporters.text import with_noun
from harpia_formats.rules.preflight import (
    OTHER_PROMPT,
    SHARED_PROMPT,
    UNKNOWN_ID,
    UNKNOWN_PROMPT,
)
from harpia_formats.scoring.questions import question_id


@dataclass(slots=True)
class Keys:
    """The ids and prompts of a data set, as far as relations compare them."""

    name: str
    #: Examples of findings that are kept of each file.
    most: int
    by_id: RecordStore | None = None
    by_prompt: RecordStore | None = None
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
        if self.by_prompt is not None:
            digest = prompt_digest(record)
            if digest:
                self.by_prompt.add(digest.hex(), placed, count, b"")
            else:
                self._add(self.without_prompt, placed, count, "prompt")

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

    def prompts(self) -> RecordStore:
        """Return the store of prompts, made when it is asked for."""
        self.by_prompt = self.by_prompt or RecordStore()
        return self.by_prompt

    def close(self) -> None:
        """Delete the temporary files."""
        for store in (self.by_id, self.by_prompt):
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

    def prepare(self, own: Keys, other: Keys) -> None:
        """Have the two data sets keep what is compared."""
        for keys in (own, other):
            if self.is_by_id:
                keys.ids()
            else:
                keys.prompts()

    def before(self, key: str, other: str) -> Outcome:
        """Return the relation to the data set `other` before anything is read."""
        expected = self.expected.format(other)
        return Outcome(key, expected, "", is_met=False, code=self.code)

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
            needs_all=self.code != SHARED_PROMPT,
            hides_values=True,
        )


def _missing(
    own: RecordStore, other: RecordStore, held: int, findings: RecordFindings, text: str
) -> int:
    """Find records whose keys the other store lacks; return how many keys are there."""
    distinct = 0
    for portion in portions(own, other, held=held):
        known = {stored.key for stored in portion.of(other)}
        met = set()
        for stored in portion.of(own):
            if stored.key in known:
                met.add(stored.key)
                continue
            _add(findings, own, stored, text.format(stored.key[:_SHOWN]))
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


def _ids_in(own: Keys, other: Keys, held: int) -> tuple[str, RecordFindings, str]:
    findings = _copied(own.without_id)
    text = f"the id {{!r}} is not in {other.name}"
    met = _missing(own.ids(), other.ids(), held, findings, text)
    return _found(met, findings, "id"), findings, ""


def _same_ids(own: Keys, other: Keys, held: int) -> tuple[str, RecordFindings, str]:
    _, findings, _ = _ids_in(own, other, held)
    findings.merge(other.without_id)
    text = f"the id {{!r}} is not in {own.name}"
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
    met = _missing(own.prompts(), other.prompts(), held, findings, text)
    return _found(met, findings, "prompt"), findings, ""


def _no_prompts_of(
    own: Keys, other: Keys, held: int
) -> tuple[str, RecordFindings, str]:
    findings, mine = RecordFindings(own.most), own.prompts()
    for portion in portions(mine, other.prompts(), held=held):
        known = {stored.key for stored in portion.of(other.prompts())}
        for stored in portion.of(mine):
            if stored.key in known:
                _add(findings, mine, stored, f"the prompt is in {other.name}, too")
    lacking = [one.name for one in (own, other) if not one.prompts().count]
    message = f"no record of {lacking[0]} has a prompt" if lacking else ""
    found = f"{with_noun(mine.count, 'prompt')} compared"
    if findings.total:
        found = f"{findings.total:,} of {with_noun(mine.count, 'prompt')} in both"
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
    "no-prompts-of": Relation(
        "no prompt of {}",
        SHARED_PROMPT,
        _no_prompts_of,
        is_by_id=False,
        help="take the question out of one of the data sets",
    ),
}
