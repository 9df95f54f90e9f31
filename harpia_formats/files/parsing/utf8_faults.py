"""Find bytes of a text that are not UTF-8."""

import re

from harpia_formats.files.parsing.json_fault import Fault, FaultKind

_surrogate_bytes = re.compile(rb"\xed[\xa0-\xbf]")


def first_fault(text: bytes, fault: Fault | None) -> Fault | None:
    """Return `fault` of `text`, or a fault of its UTF-8 if that comes before it."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        # Where the text ends inside a character of a string, all its bytes are right.
        is_cut = error.reason == "unexpected end of data"
        is_cut &= fault is not None and fault.kind is FaultKind.TRUNCATED
        if not is_cut and (fault is None or error.start <= fault.start):
            return _utf8_fault(text, error)
    return fault


def _utf8_fault(text: bytes, error: UnicodeDecodeError) -> Fault:
    """Return the fault that the decoder reports as `error`."""
    start = error.start
    message = f"the byte 0x{text[start]:02X} is not valid UTF-8 here"
    help_ = "save the data as UTF-8"
    if _surrogate_bytes.match(text, start):
        message = "these bytes encode half of a surrogate pair, which is not UTF-8"
        help_ = "encode the whole character as UTF-8"
    return Fault(FaultKind.UTF8, start, error.end, message, help_)
