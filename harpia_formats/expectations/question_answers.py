"""Whether each question has as many answers of each model as the file says."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from harpia_formats.conversion.comparison.record_partitions import StoredRecord
from harpia_formats.conversion.mapping.questions import question_key
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.expectations.findings import RecordFindings, Where
from harpia_formats.expectations.outcome import Outcome
from harpia_formats.expectations.record_limits import RecordLimit
from harpia_formats.expectations.record_store import RecordStore, portions
from harpia_formats.formats.rules.preflight import ANSWER_COUNT
from harpia_formats.model.report import FileCount
from harpia_formats.model.text.describe import short_literal
from harpia_formats.model.text.words import with_noun
from harpia_formats.validation.dedup.digests import digest_of

#: Bytes of the digest of a model's name.
_WIDTH = 8
#: Models of one data set; more are a sign that the field holds something else.
MOST_MODELS = 10_000


@dataclass(slots=True)
class AnswersPerQuestion(RecordLimit):
    """How many answers of each model each question has."""

    times: int
    #: The only models that are counted, as another key says; all if there are none.
    expected: tuple[str, ...]
    findings: RecordFindings
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
        if digest not in self._models:
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
