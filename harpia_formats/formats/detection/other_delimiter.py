"""Report a table whose fields have another delimiter than the one it is read with."""

from harpia_formats.files.parsing.csv_delimiter import how_to_read, named
from harpia_formats.formats.detection.other_shape import DetectionNote
from harpia_formats.formats.detection.sample import Sample

#: The code of the rule that a table must have the delimiter that it is read with.
OTHER_DELIMITER = "J307"


def delimiter_note(head: Sample) -> DetectionNote:
    """Return a note that the fields of a table have another delimiter."""
    found, expected = named(head.other_delimiter), named(head.delimiter)
    return DetectionNote(
        OTHER_DELIMITER,
        f"a {found} separates the fields of header and rows, and not a {expected}",
        how_to_read(head.other_delimiter, head.delimiter),
    )
