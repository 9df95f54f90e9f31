"""Validate the rows of a chunk: typed decoder first, schema validator for the rest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.dedup.identity import IdentityReader
from harpia_formats.framing.chunk import Chunk, is_blank
from harpia_formats.framing.limits import DEPTH_LIMIT
from harpia_formats.model.format import Advise, Remark, Remarks, no_advice
from harpia_formats.parsing.duplicate_keys import (
    has_no_repeated_keys,
    reencodes_to_same_colons,
)
from harpia_formats.schema.decoder_types import UnsupportedSchemaError
from harpia_formats.schema.load import Schema
from harpia_formats.schema.typed_decoder import (
    TypedDecoder,
    UnknownKeys,
    typed_decoder_of,
)
from harpia_formats.schema.validator import schema_validator_of

if TYPE_CHECKING:  # what is wrong costs its import only where something is
    from harpia_formats.validation.diagnosis.cached_causes import Reasons
    from harpia_formats.validation.diagnosis.finding import Finding
    from harpia_formats.validation.diagnosis.root_causes import Cause

#: Tells whether another engine agrees with a verdict on a decoded record.
SecondOpinion = Callable[[Any, bool], bool]

#: Returns how many members all rows have that a decoder accepted.
CountMembers = Callable[[Sequence[Any], TypedDecoder], int]

#: Tells what other format a record looks like that is not valid in its own.
Stranger = Callable[[Any], Remark | None]

#: The rule on a key that is nearly the right one.
MISSPELT = "S103"
#: Valid rows that the schema validator judges before a decoder is built.
ROWS_BEFORE_DECODER = 64
#: Lanes that are built for one file, each knowing more keys than the one before.
DECODERS = 8

#: Chunks that are not tried as a whole in a row: at most two to this power.
PAUSE_LIMIT = 5

_decode = msgspec.json.Decoder().decode
_not_json = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


@dataclass(slots=True)
class Verdict:
    """The outcome of one chunk."""

    records: int = 0
    blank: list[int] = field(default_factory=list)
    findings: "list[Finding]" = field(default_factory=list)
    #: What tells each record from others, as far as it says so.
    keys: list[str] = field(default_factory=list)
    #: The rows as the decoder decoded them, if it accepted all of them at once.
    accepted: list[Any] | None = None
    #: Otherwise each row that it accepted, and None for each that it did not; there
    #: are none if the decoder has become another one on the way.
    values: list[Any] = field(default_factory=list)


class Disagreement(Exception):  # noqa: N818 - reads as what happened
    """The schema validator and the reference engine differ on a record: our bug."""

    def __init__(self, row: int, *, schema_validator: bool) -> None:
        super().__init__(row, schema_validator)
        self.row = row
        self.schema_validator = schema_validator

    def __str__(self) -> str:
        ours, theirs = (
            ("valid", "invalid") if self.schema_validator else ("invalid", "valid")
        )
        return f"we say {ours}, the reference engine says {theirs}"


def _members_of(rows: Sequence[Any], decoder: TypedDecoder) -> int:
    return sum(map(decoder.members, rows))


def _may_be_deep(text: bytes) -> bool:
    """Tell whether `text` has brackets enough to be nested too deeply."""
    brackets: int = stringzilla.count(text, b"[") + stringzilla.count(text, b"{")
    return brackets > DEPTH_LIMIT


def _fault_in(number: int, text: bytes) -> "Finding | None":
    from harpia_formats.validation.diagnosis.finding import fault_in  # noqa: PLC0415 - as above

    return fault_in(number, text)


@dataclass(frozen=True, slots=True)
class Brief:
    """What a judge is to know and to look for, beside the schema."""

    advise: Advise = no_advice
    #: What is to be said of records that the schema allows.
    remarks: Remarks | None = None
    #: A schema that allows only records of which nothing is to be said; without it
    #: and with remarks every record is looked at by itself.
    decoder_schema: Schema | None = None
    stranger: Stranger | None = None
    #: Reads what tells records apart, if that is asked for.
    identity: IdentityReader | None = None
    #: Whether what the schema says is asked for at all.
    asks_schema: bool = True
    #: Whether the schema's `format` refuses values.
    formats: bool = False
    repeated_keys: bool = True
    second_opinion: SecondOpinion | None = None


class Judge:
    """Judges rows by one schema; it learns, so one judge serves one file."""

    def __init__(self, schema: Schema, brief: Brief) -> None:
        self._schema = schema
        self._brief = brief
        self.schema_validator = schema_validator_of(schema, formats=brief.formats)
        of_decoder = brief.decoder_schema if brief.remarks is not None else schema
        self.learner = Learner(
            False if of_decoder is None else of_decoder, formats=brief.formats
        )
        self._identity = brief.identity
        #: Finds why rows are refused, once one is.
        self._reasons: Reasons | None = None
        #: Chunks to come that are not tried as a whole.
        self._pause = 0
        self._failures = 0
        #: Whether the decoder is not tried on rows, until one is seen to be valid.
        self._hopeless = False
        #: Counts the members of rows that a decoder accepted.
        self.count_members: CountMembers = _members_of

    @property
    def decoder_schema(self) -> Schema:
        """The schema that the typed decoder is made of."""
        return self.learner.schema

    @property
    def decoder(self) -> TypedDecoder | None:
        """The typed decoder, once there is one."""
        return self.learner.decoder

    def learn_from(self, other: "Judge") -> None:
        """Take over the decoder of another judge if it is made of the same schema."""
        if other.decoder_schema == self.decoder_schema:
            self.learner = other.learner

    def judge(self, chunk: Chunk) -> Verdict:
        """Return what is wrong with the rows of `chunk`, in order."""
        verdict = Verdict()
        values = self.accepted(chunk)
        if values is None:
            self._judge_rows(chunk.rows, verdict)
        else:
            self._note_keys(values, self.decoder, verdict)
            verdict.accepted = values
        verdict.records = len(chunk) - len(verdict.blank)
        if self._brief.second_opinion is not None:
            self._compare(chunk.rows, verdict, self._brief.second_opinion)
        return verdict

    def is_valid(self, row: bytes) -> bool:
        """Tell whether a row is valid, without asking why it is not."""
        if self.decoder is not None and self.decoder.accept(row) is not None:
            return True
        try:
            value = _decode(row)
        except _not_json:
            return False
        return self.schema_validator.is_valid(value)

    def accepted(self, chunk: Chunk) -> list[Any] | None:
        """Return all rows decoded if they are certainly valid, taken at once.

        Where that fails again and again, it is tried less and less often.
        """
        decoder = self.decoder
        if decoder is None or not chunk.is_plain():
            return None
        if self._pause:
            self._pause -= 1
            return None
        values = decoder.accept_lines(chunk.data, len(chunk))
        if values is None or not self._keys_differ(values, chunk.data, decoder):
            self._failures = min(self._failures + 1, PAUSE_LIMIT)
            self._pause = 2**self._failures - 2
            return None
        self._failures = 0
        return values

    def _keys_differ(
        self, values: list[Any], data: bytes, decoder: TypedDecoder
    ) -> bool:
        """Tell whether no object of the decoded `data` had the same key twice."""
        if not self._brief.repeated_keys:
            return True
        return has_no_repeated_keys(values, data, self.count_members(values, decoder))

    def _judge_rows(self, rows: list[bytes], verdict: Verdict) -> None:
        start = 0
        while start < len(rows):
            start = self._judge_some(rows, start, verdict)

    def _judge_some(self, rows: list[bytes], start: int, verdict: Verdict) -> int:
        """Judge rows from `start` on, and return before which row it stopped.

        That is the end, or where the decoder got better.
        """
        decoder = self.decoder
        if decoder is None or self._hopeless:
            values: list[Any] = [None] * (len(rows) - start)
        else:
            values = self._accepted_each(rows[start:], decoder)
            self._hopeless = not any(each is not None for each in values)
        for number, value in enumerate(values, start):
            if value is None:
                self._judge_slowly(number, rows[number], verdict)
                if self.decoder is not decoder:
                    del values[number + 1 - start :]
        kept = [each for each in values if each is not None]
        self._note_keys(kept, decoder, verdict)
        verdict.values = (
            [] if self.decoder is not decoder else [*[None] * start, *values]
        )
        return start + len(values)

    def _accepted_each(self, rows: list[bytes], decoder: TypedDecoder) -> list[Any]:
        """Return each row decoded if it is certainly valid, else None."""
        values = [decoder.accept(each) for each in rows]
        if not self._brief.repeated_keys:
            return values
        accepted = [each for each in values if each is not None]
        texts = [
            row for row, each in zip(rows, values, strict=True) if each is not None
        ]
        if has_no_repeated_keys(
            accepted, b"\n".join(texts), _members_of(accepted, decoder)
        ):
            return values
        return [
            each
            if each is not None
            and has_no_repeated_keys([each], row, decoder.members(each))
            else None
            for row, each in zip(rows, values, strict=True)
        ]

    def _note_keys(
        self, accepted: list[Any], decoder: TypedDecoder | None, verdict: Verdict
    ) -> None:
        """Take note of what tells the rows apart that `decoder` accepted."""
        if accepted and decoder is not None and self._identity is not None:
            verdict.keys += self._identity.keys_of_rows(accepted, decoder)

    def _judge_slowly(self, number: int, text: bytes, verdict: Verdict) -> None:
        if is_blank(text):
            verdict.blank.append(number)
            return
        value = None
        fault = _fault_in(number, text) if _may_be_deep(text) else None
        if fault is None:
            try:
                value = _decode(text)
            except _not_json:
                fault = _fault_in(number, text)
                if fault is None:
                    raise
        if fault is not None:
            verdict.findings.append(fault)
        else:
            self._judge_value(number, text, value, verdict)

    def _judge_value(
        self, number: int, text: bytes, value: Any, verdict: Verdict
    ) -> None:
        if self._brief.repeated_keys and not reencodes_to_same_colons([value], text):
            from harpia_formats.validation.diagnosis.finding import repeated_keys  # noqa: PLC0415 - as above

            verdict.findings += repeated_keys(number, text, value)
        self.judge_decoded(number, value, verdict)

    def judge_decoded(self, number: int, value: Any, verdict: Verdict) -> None:
        """Add to `verdict` what is wrong with a record that was decoded before."""
        if self._identity is not None:
            verdict.keys += self._identity.keys_of_value(value)
        asks_schema = self._brief.asks_schema or self._brief.remarks is None
        if asks_schema:
            causes = self._reasons and self._reasons.at_once(value)
            if causes:
                verdict.findings += self._told(number, value, causes)
                return
            # For a valid record this takes no longer than asking only whether it is.
            errors = list(self.schema_validator.iter_errors(value))
            if errors:
                verdict.findings += self._refused(number, value, errors)
                return
        remarks = list(self._brief.remarks(value)) if self._brief.remarks else []
        if not remarks:
            self._hopeless = False
            self.learner.learn(value)
            return
        from harpia_formats.validation.diagnosis.finding import Finding  # noqa: PLC0415 - as above

        verdict.findings += [
            Finding(each.code, number, each, value) for each in remarks
        ]

    def confirm(self, row: int, value: Any) -> None:
        """Ask the reference engine about a decoded record, if that is wanted.

        Raises `Disagreement`.
        """
        opinion = self._brief.second_opinion
        if opinion is not None:
            valid = self.schema_validator.is_valid(value)
            if not opinion(value, valid):
                raise Disagreement(row, schema_validator=valid)

    def _refused(self, number: int, value: Any, errors: list[Any]) -> "list[Finding]":
        """Return why the schema refuses a row."""
        if self._reasons is None:
            from harpia_formats.validation.diagnosis.cached_causes import Reasons  # noqa: PLC0415 - as above

            brief = self._brief
            self._reasons = Reasons(self._schema, brief.advise, formats=brief.formats)
        return self._told(number, value, self._reasons.of(value, errors))

    def _told(
        self, number: int, value: Any, causes: "Sequence[Cause]"
    ) -> "list[Finding]":
        """Return the causes of a row as findings, or what else the row looks like."""
        from harpia_formats.validation.diagnosis.finding import Finding  # noqa: PLC0415 - as above

        # A misspelt key says enough, even if without it the row looks like others.
        misspelt = any(each.code == MISSPELT for each in causes)
        stranger = None
        if self._brief.stranger is not None and not misspelt:
            stranger = self._brief.stranger(value)
        if stranger:
            return [Finding(stranger.code, number, stranger, value)]
        return [Finding(each.code, number, each, value) for each in causes]

    @staticmethod
    def _compare(
        rows: list[bytes], verdict: Verdict, second_opinion: SecondOpinion
    ) -> None:
        """Ask the reference engine about every row that parses."""
        refused = set(verdict.blank)
        unknown: set[int] = set()
        for each in verdict.findings:
            if each.is_refusal:
                (unknown if each.code == "V901" else refused).add(each.row)
            elif each.is_fault:
                unknown.add(each.row)
        for number, text in enumerate(rows):
            if number in unknown or number in verdict.blank:
                continue
            valid = number not in refused
            if not second_opinion(_decode(text), valid):
                raise Disagreement(number, schema_validator=valid)


class Learner:
    """Builds the decoder of a schema from rows that were judged valid."""

    def __init__(self, schema: Schema, *, formats: bool) -> None:
        self.decoder: TypedDecoder | None = None
        self.schema = schema
        self._survey = UnknownKeys()
        self._rows = 0
        #: Whether keys were seen that the decoder does not know.
        self._news = False
        #: Asserted formats are more than the decoder's types can say.
        self._decoders_left = 0 if formats or isinstance(schema, bool) else DECODERS

    def learn(self, value: Any) -> None:
        """Take note of a valid row, and build a decoder when it is time."""
        if not self._decoders_left:
            return
        self._rows += 1
        self._news |= self._survey.take(self.schema, value)
        if self._rows >= ROWS_BEFORE_DECODER and (self._news or self.decoder is None):
            self._build()

    def _build(self) -> None:
        if isinstance(self.schema, bool):
            return
        self._decoders_left -= 1
        self._rows = 0
        self._news = False
        try:
            self.decoder = typed_decoder_of(self.schema, dict(self._survey.extras))
        except UnsupportedSchemaError:
            self._decoders_left = 0
