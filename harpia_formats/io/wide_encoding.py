"""Recognize text in UTF-16 or UTF-32, which is not read."""


def wide_encoding(head: bytes) -> str | None:
    """Return the name of the encoding if `head`, four bytes, is UTF-16 or UTF-32.

    None if it is neither. Source: byte order marks, else the pattern of zeros in
    RFC 4627, section 3.
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    return _ZEROS.get(tuple(byte == 0 for byte in head))


_MARKS = (  # the longer ones first, since one begins with another
    (b"\xff\xfe\x00\x00", "UTF-32LE"),
    (b"\x00\x00\xfe\xff", "UTF-32BE"),
    (b"\xff\xfe", "UTF-16LE"),
    (b"\xfe\xff", "UTF-16BE"),
)
_ZEROS: dict[tuple[bool, ...], str] = {
    (True, True, True, False): "UTF-32BE",
    (False, True, True, True): "UTF-32LE",
    (True, False, True, False): "UTF-16BE",
    (False, True, False, True): "UTF-16LE",
}


def encoding_reason(encoding: str, *, marked: bool) -> str:
    """Return that a file is not UTF-8, with the command that converts it."""
    # If the name says the byte order, iconv keeps the mark as a character.
    name = encoding[:-2] if marked else encoding
    order = "little endian" if encoding.endswith("LE") else "big endian"
    return (
        f"is {encoding[:-2]} ({order}), not UTF-8; "
        f"convert it with: iconv -f {name} -t UTF-8"
    )
