"""Build the typed decoder of a schema from the rows that were seen so far."""

from collections.abc import Iterable
from typing import Any

import msgspec

from harpia_formats.files.framing.chunk import Chunk
from harpia_formats.formats.schema.decoder_types import UnsupportedSchemaError
from harpia_formats.formats.schema.load import Schema
from harpia_formats.formats.schema.typed_decoder import (
    RowSurvey,
    TypedDecoder,
    decoder_of_any_item,
    typed_decoder_of,
)
from harpia_formats.model.exact_json import NOT_JSON

#: Rows or bytes of a chunk that has a decoder built before it is validated.
FIRST_ROWS, FIRST_BYTES = 16, 32 * 1024
#: Rows of it whose keys the decoder knows.
SURVEYED = 32
#: Valid rows that are validated by the schema before a decoder is built.
ROWS_BEFORE_DECODER = 64
#: Decoders that are built for one file, each knowing more keys than the one before.
DECODERS = 8

_decode = msgspec.json.Decoder().decode


class DecoderTraining:
    """Builds the typed decoder of a schema from the rows of a file.

    What it saw of them changes the speed of the decoder, and never its verdicts.
    """

    def __init__(self, schema: Schema, *, formats: bool, of_items: bool) -> None:
        """Take the schema, and whether its `format` refuses values.

        `of_items` tells that the rows are items of a column.
        """
        self.decoder: TypedDecoder | None = None
        self.schema = schema
        self._of_items = of_items
        self._survey = RowSurvey()
        self._rows = 0
        #: Whether keys were seen that the decoder does not know.
        self._has_new_keys = False
        #: None if formats are asserted, which the decoder's types cannot express.
        is_hopeless = formats or schema is False or (schema is True and not of_items)
        self._decoders_left = 0 if is_hopeless else DECODERS

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
        if self._rows >= ROWS_BEFORE_DECODER and (
            self._has_new_keys or self.decoder is None
        ):
            self._build()

    def _build(self) -> None:
        """Build a decoder that knows all keys seen so far."""
        self._decoders_left -= 1
        self._rows = 0
        self._has_new_keys = False
        try:
            if self.schema is True:
                self.decoder = decoder_of_any_item()
                return
            survey = self._survey
            self.decoder = typed_decoder_of(
                self.schema,
                dict(survey.extras),
                depth=survey.depth,
                of_items=self._of_items,
            )
        except UnsupportedSchemaError:
            self._decoders_left = 0


def _values_of(rows: Iterable[bytes]) -> Iterable[Any]:
    """Yield the values of rows that are JSON."""
    for row in rows:
        try:
            yield _decode(row)
        except NOT_JSON:
            continue
