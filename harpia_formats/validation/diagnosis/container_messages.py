"""What to say of what is wrong with a container."""

from harpia_formats.framing.chunk import FramingFault

#: Rule, message and help.
_flaws = {
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


def words_for(flaw: FramingFault, limit: int) -> tuple[str, str, str]:
    """Return the rule, the message and the help for `flaw`."""
    code, message, help_ = _flaws[flaw.kind]
    return code, message.format(size=flaw.size, limit=limit), help_
