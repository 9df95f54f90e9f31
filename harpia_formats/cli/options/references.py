"""The option that several commands have for the references of records."""

from typing import Annotated

from harpia_formats.cli.options.declare import READING, choice
from harpia_formats.conversion.mapping.choices import ReferenceFrom

ReferencesFrom = Annotated[
    ReferenceFrom,
    choice(
        ReferenceFrom,
        "Where a record's reference is from: {}, which ends the conversation itself.",
        panel=READING,
    ),
]
