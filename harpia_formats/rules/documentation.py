"""Where the documentation of a rule is on the web."""

_PAGE = (
    "https://github.com/harpia-formats/harpia-formats/blob/main/docs/reference/rules.md"
)
#: Letters and digits of the codes of built-in rules; plug-ins have two letters or more.
_LENGTH = 4


def rule_url(code: str) -> str:
    """Return the address of the documentation of the built-in rule `code`.

    It is "" for a code that only a plug-in can have.
    """
    if len(code) != _LENGTH or not (code[0].isupper() and code[1:].isdecimal()):
        return ""
    return f"{_PAGE}#{code.lower()}"
