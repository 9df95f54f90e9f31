"""Expectations on single records: models, missing answers, lengths, values."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from msgspec import UNSET

from harpia_formats.conversion.mapping.questions import digest_of, prompt_text
from harpia_formats.conversion.reading.placed_record import PlacedRecord
from harpia_formats.expectations.outcomes import (
    Limit,
    Outcome,
    RecordFindings,
    RowPaths,
    where_of,
)
from harpia_formats.expectations.preflight_plan import DataSet
from harpia_formats.formats.rules.near_duplicates import FEW, ComparedTexts
from harpia_formats.formats.rules.preflight_rules import (
    MISSING_ANSWER,
    MISSING_MODEL,
    OTHER_MODEL,
    PROMPT_LENGTH,
)
from harpia_formats.model.adapter import FormatAdapter
from harpia_formats.model.describe import first_of, short_literal, with_noun
from harpia_formats.model.record import Output, Record
from harpia_formats.model.report import FileCount
from harpia_formats.model.spelling import nearest


class Comparison(StrEnum):
    """How the prompts of two data sets are compared, from strict to loose."""

    EXACT = "exact"
    #: But for case, white space and punctuation without a meaning; of a chat, the user
    #: turns.
    NORMALISED = "normalised"
    #: Likewise, with the same characters in any order.
    NEAR = "near"


#: Normalises one text as rule X102 does.
_compared = ComparedTexts(0, 1, ((),))
#: Numbers, which are kept whole, and other characters.
_parts = re.compile(r"\d+|\D")


def prompt_texts(record: Record) -> list[str]:
    """Return the texts of a prompt: with the system message and the contexts."""
    found, has_system = list(record.contexts or ()), False
    if isinstance(record.prompt, str):
        found.append(record.prompt)
    else:  # the prompt of a chat is one of its messages, and its system message may be
        for message in record.messages or ():
            texts = list(_texts(message.get("content")))
            found += texts
            has_system |= message.get("role") == "system" and record.system in texts
    if isinstance(record.system, str) and not has_system:
        found.append(record.system)
    return found


def _texts(content: Any) -> Iterator[str]:
    """Yield the texts of a message: one, or those of its parts."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            text = part.get("text") if isinstance(part, dict) else part
            if isinstance(text, str):
                yield text


def prompt_digest(record: Record) -> bytes:
    """Return the digest of the prompt of a record, b"" if it has none.

    An empty text is a prompt.
    """
    if not (isinstance(record.prompt, str) or record.messages):
        return b""
    return digest_of(prompt_text(record))


def compared_digests(record: Record, how: Comparison) -> Iterator[tuple[bytes, bool]]:
    """Yield the digests of a prompt, each with whether it covers the whole prompt.

    A chat with several user turns has one digest of all turns, and one of each turn.
    There are none if the record has no prompt.
    """
    if how is Comparison.EXACT:
        if digest := prompt_digest(record):
            yield digest, True
        return
    turns = _asked_texts(record)
    if turns:
        yield digest_of(*(_compared_text(turn, how) for turn in turns)), True
    for turn in dict.fromkeys(turns if len(turns) > 1 else ()):
        yield digest_of(_compared_text(turn, how)), False


def _asked_texts(record: Record) -> list[str]:
    """Return the prompt, or the texts of user turns: of all turns if none has one."""
    if isinstance(record.prompt, str):
        return [record.prompt]
    messages = record.messages or []
    asked = [message for message in messages if message.get("role") == "user"]
    for turns in (asked, messages):
        found = ["\n".join(_texts(each.get("content"))) for each in turns]
        if any(found):
            return list(filter(None, found))
    return [""] if messages else []


def _compared_text(text: str, how: Comparison) -> str:
    """Return what two texts share that are the same in this comparison."""
    normalised = _compared.exactly(text)
    letters = normalised.strip("\0") if normalised else ""
    if not letters:  # a text of punctuation only is compared as it is
        return f"\0{text.strip()}"
    if how is Comparison.NEAR and len(letters) >= FEW:
        return "\n".join(sorted(_parts.findall(letters)))
    return letters


#: Different names of models, or values, that are remembered; further ones are counted
#: together.
NAMES = 1000
#: Names that the check list shows.
_SHOWN = 5


class RecordLimit:
    """An expectation on the records of a data set."""

    __slots__ = ("row_paths",)
    #: Where fields are in the rows of the file that is read.
    row_paths: RowPaths

    def begin(self, adapter: FormatAdapter) -> None:
        """Receive the adapter of a file, before its first record."""

    def take(self, placed: PlacedRecord, count: FileCount) -> None:
        """Take a valid record of the file of `count`."""
        raise NotImplementedError

    def outcomes(self) -> Iterator[Outcome]:
        """Yield the outcomes, after all records."""
        yield from ()

    def close(self) -> None:
        """Release all resources."""


def listed(names: Iterable[str]) -> str:
    """Return some names as a part of a sentence."""
    return first_of(list(names), _SHOWN) or "none"


class Models(RecordLimit):
    """Which models have answers."""

    def __init__(self, data_set: DataSet, most: int) -> None:
        values = data_set.values
        exactly = values.get("models", ())
        self._required = frozenset((*exactly, *values.get("required-models", ())))
        self._allowed = frozenset(values.get("allowed-models", exactly))
        self._keys = {
            key: values[key]
            for key in ("models", "required-models", "allowed-models")
            if key in values
        }
        self._findings = RecordFindings(most)
        #: Those that are required are among them, however many there are.
        self._seen = set[str]()
        #: The number of answers of models that are not allowed.
        self._others = 0

    def take(self, placed: PlacedRecord, count: FileCount) -> None:
        """Note the models of a record."""
        names = [output.model or "" for output in placed.record.outputs]
        for name in dict.fromkeys(names):
            if name in self._required or len(self._seen) < NAMES:
                self._seen.add(name)
            if self._allowed and name not in self._allowed:
                self._others += names.count(name)
                self._findings.add(
                    count,
                    placed.number,
                    lambda: where_of(placed, self.row_paths, "outputs.model"),
                    lambda name=name: self._refusal(name),  # type: ignore[misc]  # the name is bound
                )

    def _refusal(self, name: str) -> str:
        if not name:
            return "an answer does not name its model"
        near = nearest(name, self._allowed)
        hint = f"; did you mean {near}?" if near else ""
        return f"an answer is of {short_literal(name)}, which is not expected{hint}"

    def outcomes(self) -> Iterator[Outcome]:
        """Yield whether all required models have answers, and only allowed ones."""
        found = sorted(name for name in self._seen if name)
        for key, names in self._keys.items():
            missing = [name for name in names if name not in self._seen]
            if key == "allowed-models":
                missing = []
            others = self._findings if key != "required-models" else None
            shown = [listed(found)]
            if missing:
                shown = [f"{listed(missing)} missing"]
            if others is not None and others.total:
                shown.append(f"{with_noun(self._others, 'answer')} of other models")
            words = {"models": "exactly", "required-models": "with"}.get(key, "only")
            yield Outcome(
                key,
                f"models {words} {listed(names)}",
                "; ".join(shown),
                is_met=not (missing or (others is not None and others.total)),
                code=MISSING_MODEL,
                records=others,
                record_code=OTHER_MODEL,
                messages=tuple(
                    f"no answer is of the model {short_literal(name)}"
                    for name in missing
                ),
                hints=tuple(_near_model(name, found) for name in missing),
                help="run the model, or change the list",
                value=list(names),
                found_without_values="; ".join(
                    [with_noun(len(found), "model"), *shown[1:]]
                ),
            )


def _near_model(name: str, found: Iterable[str]) -> str:
    near = nearest(name, found)
    return f"; there are some of {short_literal(near)}" if near else ""


def is_missing(output: Output) -> bool:
    """Tell whether an answer is missing: an error, or neither a text nor turns.

    A text that is empty or only white space is none.
    """
    has_text = isinstance(output.text, str) and output.text.strip() != ""
    return bool(output.error) or not (has_text or output.turns)


def _how_missing(output: Output) -> str:
    """Return what is wrong with an answer that is missing, as the end of a sentence."""
    if output.error:
        return f"is missing: {short_literal(output.error)}"
    if not isinstance(output.text, str):
        return "is missing"
    return "is only white space" if output.text else "is empty"


class MissingAnswers(RecordLimit):
    """How many answers are missing or empty; a record without answers lacks one."""

    def __init__(self, data_set: DataSet, most: int) -> None:
        self._limit: Limit = data_set.values["max-missing-answers"]
        self._findings = RecordFindings(most)
        self._answers = 0

    def take(self, placed: PlacedRecord, count: FileCount) -> None:
        """Count the answers of a record, and those that are missing."""
        outputs = placed.record.outputs
        self._answers += len(outputs) or 1
        if not outputs:
            self._add(placed, count, "there is no answer")
        for output in outputs:
            if is_missing(output):
                of = (
                    ""
                    if output.model is UNSET
                    else f" of {short_literal(output.model)}"
                )
                self._add(placed, count, f"the answer{of} {_how_missing(output)}")

    def _add(self, placed: PlacedRecord, count: FileCount, message: str) -> None:
        self._findings.add(
            count,
            placed.number,
            lambda: where_of(placed, self.row_paths, "outputs.error", "outputs.text"),
            lambda: message,
        )

    def outcomes(self) -> Iterator[Outcome]:
        """Yield whether no more answers are missing than allowed."""
        missing, limit = self._findings.total, self._limit
        is_met = limit.allows(missing, self._answers)
        yield Outcome(
            "max-missing-answers",
            f"missing or empty answers at most {limit.text}",
            limit.found_text(missing, self._answers),
            is_met,
            MISSING_ANSWER,
            None if is_met else self._findings,
            help="ask the model again, or change the limit",
            value=limit.stated,
            needs_all=limit.share is not None,
            hides_values=True,
        )


@dataclass(slots=True)
class PromptLength(RecordLimit):
    """How long prompts are."""

    key: str
    most: int
    findings: RecordFindings
    longest: int = 0
    #: Records, and those of them that have a prompt.
    records: int = 0
    prompts: int = 0

    @property
    def _unit(self) -> str:
        return "bytes" if self.key.endswith("bytes") else "characters"

    def take(self, placed: PlacedRecord, count: FileCount) -> None:
        """Measure the prompt of a record."""
        texts = prompt_texts(placed.record)
        self.records += 1
        self.prompts += bool(texts)
        if self._unit == "bytes":
            size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        else:
            size = sum(map(len, texts))
        self.longest = max(self.longest, size)
        if size > self.most:
            self.findings.add(
                count,
                placed.number,
                lambda: where_of(placed, self.row_paths, "prompt", "messages"),
                lambda: (
                    f"the prompt has {size:,} {self._unit}, more than {self.most:,}"
                ),
            )

    def outcomes(self) -> Iterator[Outcome]:
        """Yield whether no prompt is too long."""
        found = f"the longest has {self.longest:,}"
        if self.findings.total:
            found += f"; {with_noun(self.findings.total, 'prompt')} too long"
        messages: tuple[str, ...] = ()
        if self.records and not self.prompts:
            found, messages = "no record has a prompt", ("no record has a prompt",)
        yield Outcome(
            self.key,
            f"{self._unit} of each prompt at most {self.most:,}",
            found,
            not (self.findings.total or messages),
            PROMPT_LENGTH,
            self.findings,
            messages=messages,
            help="shorten the prompt, or change the limit",
            value=self.most,
            hides_values=True,
        )
