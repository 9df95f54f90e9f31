"""Validate rows against their schema, many at once, and find the causes of errors.

The typed decoder that accepts most rows is trained by the first ones.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
import stringzilla  # type: ignore[import-not-found]  # ships no types

from harpia_formats.files.framing.chunk import Chunk, is_blank
from harpia_formats.files.io.reader import DEPTH_LIMIT
from harpia_formats.files.parsing.duplicate_keys import (
    has_no_repeated_keys,
    reencodes_to_same_colons,
)
from harpia_formats.formats.schema.bundled_schemas import Schema, schema_validator_of
from harpia_formats.formats.schema.decoder_types import (
    Location,
    UnsupportedSchemaError,
)
from harpia_formats.formats.schema.typed_decoder import (
    RowSurvey,
    TypedDecoder,
    decoder_of_any_item,
    typed_decoder_of,
)
from harpia_formats.model.exact_json import NOT_JSON
from harpia_formats.validation.unit.findings import (
    FINDINGS,
    MORE_ERRORS,
    at_most,
    is_wide,
    more_findings,
)
from harpia_formats.validation.unit.row_checks import (
    Disagreement,
    RowChecks,
    Verdict,
    compare_verdicts,
)

if TYPE_CHECKING:  # imported only where a row has a problem: start-up time
    import jsonschema_rs

    from harpia_formats.validation.diagnosis.cached_causes import CachedCauses
    from harpia_formats.validation.diagnosis.root_causes import Cause, Finding
    from harpia_formats.validation.unit.wide_records import WideErrors


#: Rows or bytes of a chunk that has a decoder built before it is validated. After so
#: many valid rows of smaller chunks the first one is built, too.
FIRST_ROWS, FIRST_BYTES = 16, 32 * 1024
#: Rows of it whose keys the decoder knows.
SURVEYED = 32
#: Valid rows that are validated by the schema before a better decoder is built.
ROWS_BEFORE_DECODER = 64
#: Decoders that are built for one file, each knowing more keys than the one before.
DECODERS = 8

_decode = msgspec.json.Decoder().decode


class DecoderTraining:
    """Builds the typed decoder of a schema from the rows of a file.

    What it saw of them changes the speed of the decoder, and never its verdicts.
    """

    def __init__(self, schema: Schema, *, of_items: bool) -> None:
        """Take the schema; `of_items` tells that the rows are items of a column."""
        self.decoder: TypedDecoder | None = None
        self.schema = schema
        self._of_items = of_items
        self._survey = RowSurvey()
        self._rows = 0
        #: Whether keys were seen that the decoder does not know.
        self._has_new_keys = False
        self._decoders_left = 0 if schema is False else DECODERS
        #: The decoders that leave texts undecoded, by the places that they decode.
        self._partial: dict[frozenset[Location], TypedDecoder] = {}

    def partial_decoder(self, read: frozenset[Location]) -> TypedDecoder | None:
        """Return the decoder that leaves texts with many escapes undecoded.

        That takes less time. It accepts the same rows of ASCII, and others that are not
        UTF-8. The texts at the places `read` are decoded. None without a decoder.
        """
        if read not in self._partial and self.decoder is not None:
            places = frozenset(
                place
                for place in self._survey.escaped_texts()
                if not any(_includes(place, path) for path in read)
            )
            self._partial[read] = self._decoder_of(places) if places else self.decoder
        return self._partial.get(read)

    def begin(self, chunk: Chunk) -> None:
        """Build a decoder by the first rows of `chunk` if it has many, valid or not."""
        if not self._decoders_left:
            return
        if len(chunk) < FIRST_ROWS and len(chunk.data) < FIRST_BYTES:
            return
        if self.schema is not True:
            for value in _values_of(chunk.rows[:SURVEYED]):
                self._survey.take(self.schema, value)
        self._build()

    def learn(self, value: Any) -> None:
        """Count a valid row and its keys; build a decoder after enough rows."""
        if not self._decoders_left:
            return
        self._rows += 1
        self._has_new_keys |= self._survey.take(self.schema, value)
        is_first = self.decoder is None
        wanted = FIRST_ROWS if is_first else ROWS_BEFORE_DECODER
        if self._rows >= wanted and (self._has_new_keys or is_first):
            self._build()

    def _build(self) -> None:
        """Build a decoder that knows all keys seen so far."""
        self._decoders_left -= 1
        self._rows = 0
        self._has_new_keys = False
        self._partial = {}
        try:
            if self.schema is True:
                self.decoder = decoder_of_any_item()
                return
            self.decoder = self._decoder_of()
        except UnsupportedSchemaError:
            self._decoders_left = 0

    def _decoder_of(self, undecoded: frozenset[Location] = frozenset()) -> TypedDecoder:
        """Return a decoder that knows all keys seen so far.

        Raises `UnsupportedSchemaError` if types cannot express the schema.
        """
        survey = self._survey
        return typed_decoder_of(
            self.schema,
            dict(survey.extras),
            depth=survey.depth,
            of_items=self._of_items,
            undecoded=undecoded,
        )


def _includes(place: Location, path: Location) -> bool:
    """Return whether the member at `path` is at `place`, where "*" is any key."""
    return len(place) == len(path) and all(
        step in {"*", key} for step, key in zip(place, path, strict=True)
    )


def _values_of(rows: Iterable[bytes]) -> Iterable[Any]:
    """Yield the values of rows that are JSON."""
    for row in rows:
        try:
            yield _decode(row)
        except NOT_JSON:
            continue


#: Returns the errors of the schema validator on a value.
ErrorsOf = Callable[[Any], Iterable[Any]]
#: The rule on a key that is nearly the right one.
MISSPELT = "S103"


class RowCauses:
    """Finds the causes of schema errors, and remembers those that many rows have."""

    def __init__(self, schema: Schema, checks: RowChecks) -> None:
        """Take the schema, and what else is checked."""
        self._schema = schema
        self._checks = checks
        #: Built at the first error.
        self._cached: CachedCauses | None = None
        #: Built at the first row with very many values that is not valid.
        self._wide: WideErrors | None = None

    def add_by_pattern(self, number: int, value: Any, verdict: Verdict) -> bool:
        """Add the causes in a row like rows before it; return whether it is like any.

        `number` is the index of the row, and `value` the row decoded.
        """
        causes = self._cached and self._cached.causes_by_pattern(value)
        if causes:
            self._add(number, value, causes, verdict)
        return bool(causes)

    def add(self, number: int, value: Any, errors: list[Any], verdict: Verdict) -> None:
        """Add the causes in a row with these errors of the schema validator."""
        if self._cached is None:
            from harpia_formats.validation.diagnosis.cached_causes import CachedCauses  # noqa: PLC0415 - imported only where a row has a problem

            checks = self._checks
            self._cached = CachedCauses(
                self._schema, checks.advise, formats=checks.formats
            )
        self._add(number, value, self._cached.causes_of(value, errors), verdict)

    def add_of_wide(
        self, number: int, value: Any, errors_of: ErrorsOf, verdict: Verdict
    ) -> bool:
        """Add the first causes in a row with very many errors, and that it has more.

        Return whether it has so many. `errors_of` returns the errors of a value.
        """
        if self._wide is None:
            from harpia_formats.validation.unit.wide_records import WideErrors  # noqa: PLC0415 - for few rows only

            self._wide = WideErrors(self._schema, errors_of, self._checks.advise)
        causes = self._wide.many(value)
        if causes is None:
            return False
        self._add(number, value, tuple(causes), verdict, has_more=True)
        return True

    def _add(
        self,
        number: int,
        value: Any,
        causes: "tuple[Cause, ...]",
        verdict: Verdict,
        *,
        has_more: bool = False,
    ) -> None:
        """Add the causes as findings, or that it is a record of another format.

        `has_more` tells that the row has more causes than these.
        """
        from harpia_formats.validation.diagnosis.root_causes import (  # noqa: PLC0415 - imported only where a row has a problem
            Finding,
            SharedFindings,
        )

        # A misspelt key is the cause, even if the row looks like one of another format.
        misspelt = any(cause.code == MISSPELT for cause in causes)
        other = None
        if self._checks.find_other_format is not None and not misspelt:
            other = self._checks.find_other_format(value)
        findings, shared = verdict.findings, verdict.shared
        if other:
            findings.append(Finding(other.code, number, other, value))
            return
        if has_more or len(causes) > FINDINGS:
            few = SharedFindings(number, causes[:FINDINGS], value)
            more = more_findings(MORE_ERRORS, number, "schema errors", value)
            findings += [*few.findings(), more]
            return
        found = SharedFindings(number, causes, value)
        # A row with a repeated key has a finding already.
        is_first = not (findings and findings[-1].row == number)
        if shared is not None and is_first:
            shared.append(found)
        else:
            findings += found.findings()


#: Chunks in a row that are not tried as a whole: at most two to this power.
PAUSE_LIMIT = 5


def _members_of(rows: Sequence[Any], decoder: TypedDecoder) -> int:
    """Return how many members all objects in decoded rows have."""
    return sum(map(decoder.members, rows))


def _brackets_in(text: bytes) -> int:
    """Return how many brackets open in `text`, in strings too."""
    brackets: int = stringzilla.count(text, b"[") + stringzilla.count(text, b"{")
    return brackets


def _fault_in(number: int, text: bytes) -> "Finding | None":
    """Return the JSON syntax error in the text of row `number`, None without one."""
    from harpia_formats.validation.diagnosis.root_causes import find_json_fault  # noqa: PLC0415 - imported only where a row has a problem

    return find_json_fault(number, text)


class RowValidator:
    """Validates rows by one schema.

    It learns the rows' keys and the causes of their errors, so one validator serves
    one file; what it learned changes its speed and never its verdicts.
    """

    def __init__(self, schema: Schema, checks: RowChecks) -> None:
        self._schema = schema
        self._checks = checks
        of_decoder = checks.decoder_schema if checks.remarks is not None else schema
        if not checks.is_typed:
            of_decoder = None
        self.training = DecoderTraining(
            False if of_decoder is None else of_decoder, of_items=checks.of_items
        )
        self._identity = checks.identity
        #: The places of the members that are read of accepted rows.
        self._read = frozenset(checks.identity.places if checks.identity else ())
        self._causes = RowCauses(schema, checks)
        #: A row that was decoded before.
        self._decoded: tuple[bytes, Any] = (b"", None)
        #: Chunks to come that are not tried as a whole.
        self._pause = 0
        self._failures = 0
        #: Whether single rows are not tried with the decoder, until a row is valid.
        self._skips_decoder = False

    @cached_property
    def schema_validator(self) -> "jsonschema_rs.Draft7Validator":
        """The schema validator, which rows that the decoder accepts do not need."""
        return schema_validator_of(self._schema, formats=self._checks.formats)

    @property
    def decoder_schema(self) -> Schema:
        """The schema that the typed decoder is built of."""
        return self.training.schema

    @property
    def decoder(self) -> TypedDecoder | None:
        """The typed decoder, once there is one."""
        return self.training.decoder

    def learn_from(self, other: "RowValidator") -> None:
        """Use the decoder of another validator if it is built of the same schema."""
        if other.decoder_schema == self.decoder_schema:
            self.training = other.training

    def validate(self, chunk: Chunk, *, shares: bool = False) -> Verdict:
        """Return what is wrong with the rows of `chunk`, in order.

        With `shares`, findings that many rows share are returned as such.

        Raises `Disagreement` if the reference engine is asked and differs.
        """
        verdict = Verdict()
        if shares and self._checks.second_opinion is None:
            verdict.shared = []
        decoder = self._decoder_for(chunk)
        values = self._accepted_by(decoder, chunk)
        if values is None:
            start = 0
            while start < len(chunk.rows):
                start = self._validate_some(chunk.rows, start, verdict)
        else:
            chunk.is_utf8 = True
            self._add_ids(values, decoder, verdict)
            if self._checks.keeps_texts:
                verdict.accepted = values
        verdict.records = len(chunk) - len(verdict.blank)
        if self._checks.second_opinion is not None:
            compare_verdicts(chunk.rows, verdict, self._checks.second_opinion)
        return verdict

    def is_valid(self, row: bytes) -> bool:
        """Return whether a row is valid, without finding why it is not."""
        if self.decoder is not None and self.decoder.accept(row) is not None:
            return True
        try:
            value = _decode(row)
        except NOT_JSON:
            return False
        return self.schema_validator.is_valid(value)

    def accepted(self, chunk: Chunk) -> list[Any] | None:
        """Return all rows decoded if the decoder accepts them at once, else None."""
        return self._accepted_by(self._full_decoder(chunk), chunk)

    def _full_decoder(self, chunk: Chunk) -> TypedDecoder | None:
        """Return the decoder of whole rows, None if `chunk` is validated row by row."""
        if chunk.lines and not chunk.is_plain():
            return None
        if self.decoder is None:
            self.training.begin(chunk)
        return self.decoder

    def _decoder_for(self, chunk: Chunk) -> TypedDecoder | None:
        """Return the decoder to try on all rows of `chunk`, None if there is none."""
        decoder = self._full_decoder(chunk)
        # What is no ASCII may be no UTF-8, which only decoding a text tells.
        if decoder is None or self._checks.keeps_texts or not chunk.data.isascii():
            return decoder
        return self.training.partial_decoder(self._read)

    def _accepted_by(
        self, decoder: TypedDecoder | None, chunk: Chunk
    ) -> list[Any] | None:
        """Return all rows decoded if the decoder accepts them at once, else None.

        After each failure in a row the next attempt comes later.
        """
        if decoder is None:
            return None
        if self._pause:
            self._pause -= 1
            return None
        if chunk.lines:
            values = decoder.accept_lines(chunk.data, len(chunk))
        else:
            values = decoder.accept_items(chunk.data, len(chunk))
        if values is None or not self._keys_differ(values, chunk.data, decoder):
            self._failures = min(self._failures + 1, PAUSE_LIMIT)
            self._pause = 2**self._failures - 2
            return None
        self._failures = 0
        return values

    def _keys_differ(
        self, values: list[Any], data: bytes, decoder: TypedDecoder
    ) -> bool:
        """Return whether no object of the decoded `data` had the same key twice."""
        if not self._checks.repeated_keys or not decoder.may_repeat_keys(data):
            return True
        return has_no_repeated_keys(values, data, _members_of(values, decoder))

    def _validate_some(self, rows: list[bytes], start: int, verdict: Verdict) -> int:
        """Validate rows from `start` on; return the index of the first row left.

        Rows are left where the decoder was replaced by a better one.
        """
        decoder = self.decoder
        if decoder is None or self._skips_decoder:
            values: list[Any] = [None] * (len(rows) - start)
        else:
            values = self._accepted_each(rows[start:], decoder)
            self._skips_decoder = not any(value is not None for value in values)
        for number, value in enumerate(values, start):
            if value is None:
                self._validate_row(number, rows[number], verdict)
                if self.decoder is not decoder:
                    del values[number + 1 - start :]
        kept = [value for value in values if value is not None]
        self._add_ids(kept, decoder, verdict)
        verdict.values = (
            [] if self.decoder is not decoder else [*[None] * start, *values]
        )
        return start + len(values)

    def _accepted_each(self, rows: list[bytes], decoder: TypedDecoder) -> list[Any]:
        """Return each row decoded if the decoder accepts it, else None."""
        values = [decoder.accept(row) for row in rows]
        if not self._checks.repeated_keys:
            return values
        accepted = [value for value in values if value is not None]
        texts = [
            row for row, value in zip(rows, values, strict=True) if value is not None
        ]
        text = b"\n".join(texts)
        if not decoder.may_repeat_keys(text) or has_no_repeated_keys(
            accepted, text, _members_of(accepted, decoder)
        ):
            return values
        return [
            value
            if value is not None
            and has_no_repeated_keys([value], row, decoder.members(value))
            else None
            for row, value in zip(rows, values, strict=True)
        ]

    def _add_ids(
        self, accepted: list[Any], decoder: TypedDecoder | None, verdict: Verdict
    ) -> None:
        """Add the ids of rows that `decoder` accepted to `verdict`."""
        if accepted and decoder is not None and self._identity is not None:
            verdict.keys += self._identity.keys_of_rows(accepted, decoder)

    def _validate_row(self, number: int, text: bytes, verdict: Verdict) -> None:
        if is_blank(text):
            verdict.blank.append(number)
            return
        value = None
        brackets = _brackets_in(text)
        fault = _fault_in(number, text) if brackets > DEPTH_LIMIT else None
        if fault is None:
            try:
                value = self._value_of(text)
            except NOT_JSON:
                fault = _fault_in(number, text)
                if fault is None:
                    raise
        if fault is not None:
            verdict.findings.append(fault)
        else:
            # In front of each value inside of another, or of its key, is one of these.
            # Counting them takes 8 microseconds in an aggregate of 13 kB, and counting
            # its values 100 (`benchmarks/all.py --only aggregates`).
            most = brackets + stringzilla.count(text, b",")
            self._validate_value(number, text, value, verdict, most)

    def accepts(self, text: bytes, value: Any) -> bool:
        """Tell whether `validate` certainly finds nothing in a row.

        `value` is the row decoded.
        """
        checks = self._checks
        return (
            checks.second_opinion is None
            and _brackets_in(text) <= DEPTH_LIMIT
            and self.schema_validator.is_valid(value)
            and (not checks.repeated_keys or reencodes_to_same_colons([value], text))
            and (checks.remarks is None or next(checks.remarks(value), None) is None)
        )

    def know(self, text: bytes, value: Any) -> None:
        """Note the value of a row, so that it is not decoded again."""
        self._decoded = (text, value)

    def _value_of(self, text: bytes) -> Any:
        """Return a decoded row. Raises one of `NOT_JSON`."""
        known, value = self._decoded
        return value if known == text else _decode(text)

    def _validate_value(
        self, number: int, text: bytes, value: Any, verdict: Verdict, most: int
    ) -> None:
        repeats = self._checks.repeated_keys and not reencodes_to_same_colons(
            [value], text
        )
        if repeats:
            from harpia_formats.validation.diagnosis.root_causes import (  # noqa: PLC0415 - imported only where a row has a problem
                find_repeated_keys,
            )

            repeated = find_repeated_keys(number, text, value)
            verdict.findings += at_most(repeated, "repeated keys")
        # The decoder may know the keys of a row that repeats some, and would refuse it.
        if self._add_findings(number, value, verdict, most) and not repeats:
            self._skips_decoder = False
            self.training.learn(value)

    def validate_decoded(self, number: int, value: Any, verdict: Verdict) -> None:
        """Add the ids of a decoded record, and what is wrong with it, to `verdict`."""
        self._add_findings(number, value, verdict)

    def _add_findings(
        self, number: int, value: Any, verdict: Verdict, most: int | None = None
    ) -> bool:
        """Add what `validate_decoded` does; return whether nothing is wrong.

        The record has at most `most` values in it, if that is known.
        """
        if self._identity is not None:
            verdict.keys += self._identity.keys_of_value(value)
        asks_schema = self._checks.asks_schema or self._checks.remarks is None
        if asks_schema:
            if self._causes.add_by_pattern(number, value, verdict):
                return False
            errors_of = self.schema_validator.iter_errors
            if (
                is_wide(value, most)
                and not self.schema_validator.is_valid(value)
                and self._causes.add_of_wide(number, value, errors_of, verdict)
            ):
                return False
            # For a valid record this takes no longer than asking only whether it is.
            errors = list(errors_of(value))
            if errors:
                self._causes.add(number, value, errors, verdict)
                return False
        elif not self.schema_validator.is_valid(value):
            return False  # remarks are on records that the schema allows
        remarks = iter(self._checks.remarks(value) if self._checks.remarks else ())
        first = next(remarks, None)
        if first is None:
            return True
        from harpia_formats.validation.diagnosis.root_causes import Finding  # noqa: PLC0415 - imported only where a row has a problem

        found = (
            Finding(remark.code, number, remark, value)
            for remark in chain((first,), remarks)
        )
        verdict.findings += at_most(found, "findings of its format")
        return False

    def confirm(self, value: Any) -> None:
        """Compare the verdict on a decoded record with the reference engine, if asked.

        Raises `Disagreement` if they differ.
        """
        opinion = self._checks.second_opinion
        if opinion is not None:
            valid = self.schema_validator.is_valid(value)
            if not opinion(value, valid):
                raise Disagreement(schema_validator=valid)
