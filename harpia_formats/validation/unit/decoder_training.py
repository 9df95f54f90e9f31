"""Build the typed decoder of a schema from the rows that were found valid so far."""

from typing import Any

from harpia_formats.schema.decoder_types import UnsupportedSchemaError
from harpia_formats.schema.load import Schema
from harpia_formats.schema.typed_decoder import (
    TypedDecoder,
    UnknownKeys,
    decoder_of_any_item,
    typed_decoder_of,
)

#: Valid rows that are validated by the schema before a decoder is built.
ROWS_BEFORE_DECODER = 64
#: Decoders that are built for one file, each knowing more keys than the one before.
DECODERS = 8


class DecoderTraining:
    """Builds the typed decoder of a schema from rows that were found valid."""

    def __init__(self, schema: Schema, *, formats: bool, of_items: bool) -> None:
        """Take the schema, and whether its `format` refuses values.

        `of_items` tells that the rows are items of a column.
        """
        self.decoder: TypedDecoder | None = None
        self.schema = schema
        self._of_items = of_items
        self._survey = UnknownKeys()
        self._rows = 0
        #: Whether keys were seen that the decoder does not know.
        self._has_new_keys = False
        #: None if formats are asserted, which the decoder's types cannot express.
        is_hopeless = formats or schema is False or (schema is True and not of_items)
        self._decoders_left = 0 if is_hopeless else DECODERS

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
            extras = dict(self._survey.extras)
            self.decoder = typed_decoder_of(
                self.schema, extras, of_items=self._of_items
            )
        except UnsupportedSchemaError:
            self._decoders_left = 0
