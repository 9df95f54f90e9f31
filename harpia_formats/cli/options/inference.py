"""Options of `schema infer`."""

from typing import Annotated

from harpia_formats.cli.options.common import output
from harpia_formats.cli.options.declare import flag, number
from harpia_formats.validation.inference.seen import TEXT_LIMIT

#: The heading of the help page above what is written into the schema.
SCHEMA = "Schema"

SchemaOutput = Annotated[str, output()]
EnumLimit = Annotated[
    int,
    number(
        "List the texts of a key as an enum if there are at most N different ones, "
        "each seen 10 times; 0 for no enum.",
        most=TEXT_LIMIT,
        panel=SCHEMA,
    ),
]
MapKeys = Annotated[
    int,
    number(
        "Describe objects with more than N different keys, of which each object has "
        "few, as maps.",
        least=1,
        panel=SCHEMA,
    ),
]
Closed = Annotated[
    bool, flag("--closed", "Forbid keys that were not seen.", panel=SCHEMA)
]
