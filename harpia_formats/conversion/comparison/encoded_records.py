"""Records whose fields are JSON texts, to compare them without decoding them.

Equal texts are equal values, so only fields with unequal texts have to be decoded.
"""

from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from harpia_formats.model.exact_json import decode
from harpia_formats.model.record import Output, Record, Score


def _encoded(name: str, struct: type[msgspec.Struct], **lists: Any) -> Any:
    """Return a type with the fields of `struct` as texts, and `lists` as lists."""
    types = ((field, lists.get(field, Raw)) for field in struct.__struct_fields__)
    fields = [(field, type_ | UnsetType, UNSET) for field, type_ in types]
    # Untracked by the garbage collector, which would go through all of them.
    return msgspec.defstruct(name, fields, gc=False)


#: Like `Score`, `Output` and `Record`, with the text of each field; not frozen.
EncodedScore: Any = _encoded("EncodedScore", Score)
EncodedOutput: Any = _encoded("EncodedOutput", Output, scores=list[EncodedScore])
EncodedRecord: Any = _encoded("EncodedRecord", Record, outputs=list[EncodedOutput])

#: Returns the text of an encoded record with a text for each of its fields.
decode_fields = msgspec.json.Decoder(EncodedRecord).decode
#: Returns the text of a list as a list of the texts of its items.
decode_items = msgspec.json.Decoder(list[Raw]).decode
#: Returns the keys of each vendor of an extra, with the texts of their values.
decode_extra = msgspec.json.Decoder(dict[str, dict[str, Raw]]).decode


def value_of(text: Any) -> Any:
    """Return the value of the text of a field; `UNSET` for a field that is not set."""
    return UNSET if text is UNSET else decode(text)
