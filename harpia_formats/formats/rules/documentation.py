"""Where the documentation of a rule is on the web."""

#: Where the newest release of the documentation has the page of each rule.
_PAGES = "https://harpia-formats.github.io/harpia-formats/latest/reference/rules/"
#: Letters and digits of the codes of built-in rules; plug-ins have two letters or more.
_LENGTH = 4


def rule_url(code: str) -> str:
    """Return the address of the documentation of the built-in rule `code`.

    It is "" for a code that only a plug-in can have.
    """
    if len(code) != _LENGTH or not (code[0].isupper() and code[1:].isdecimal()):
        return ""
    return f"{_PAGES}{code}.html"
