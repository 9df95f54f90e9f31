"""Messages and help on a file that cannot be cut into rows."""

from harpia_formats.files.framing.chunk import FramingFault

#: The rule, message and help for each kind of fault.
_messages = {
    "bom": (
        "J201",
        "the file begins with a byte order mark",
        "save it as UTF-8 without one",
    ),
    "oversize": (
        "J110",
        "a row of {size:,} bytes is longer than the limit of {limit:,}",
        "put line ends where they belong, or raise the limit with --max-row-bytes",
    ),
    "empty": (
        "J111",
        "the file holds no records",
        "run again what should have written it",
    ),
    "spread": (
        "J113",
        "several JSON values, spread over lines: neither one document nor JSON Lines",
        "write each record in a line of its own, as with: jq -c . FILE",
    ),
    "unclosed": (
        "J112",
        "the file ends before the array is closed",
        "add the missing ]",
    ),
    "trailing": ("J112", "there is more behind the end of the array", "remove it"),
    "missing-item": ("J112", "no record stands beside this comma", "remove the comma"),
}


def container_message(fault: FramingFault, limit: int) -> tuple[str, str, str]:
    """Return the code of the rule, the message and the help for `fault`.

    `limit` is the number of bytes that a row may have.
    """
    code, message, help_ = _messages[fault.kind]
    return code, message.format(size=fault.size, limit=limit), help_
