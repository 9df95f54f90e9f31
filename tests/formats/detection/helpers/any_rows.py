"""The formats whose rows can be any objects."""

from harpia_formats.formats.registry import all_formats
from harpia_formats.model.format import Container

#: Formats that no text is in, unless the user names them: their rows can be any.
ANY_ROWS = frozenset(
    key
    for key, each in all_formats().items()
    if each.general and each.dialects[0].container is Container.ROWS
)
