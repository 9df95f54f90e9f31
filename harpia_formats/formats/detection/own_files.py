"""Recognise the files that harpia-formats writes about data, which are no data."""

import re

#: What the JSON files that harpia-formats writes about data are called, by the word in
#: their `schema`, and the bytes of a file among which that is.
_KINDS = {
    b"agreement": "agreement report",
    b"baseline": "baseline",
    b"config": "list of settings",
    b"detection": "detection report",
    b"report": "report",
    b"score-comparison": "comparison report",
    b"scores": "score report",
    b"statistics": "statistics report",
}
_NAMED_IN = 200
#: How a file that harpia-formats wrote may begin, without white space.
_STARTS = (b'{"schema":"harpia-formats/', b'{"ok":', b'{"kind":')
_schema = re.compile(rb'\{"schema":"harpia-formats/([a-z-]+)/')
#: How the reports that have no `schema` begin, without white space.
_OBJECTS = (
    (re.compile(rb'\{"ok":\w+,"target":"[^"]*","outputs":\['), "conversion report"),
    (re.compile(rb'\{"ok":\w+,"records":\d+,"differing":'), "difference report"),
)
#: How each line of a report in JSON Lines begins, one of which may be its first.
_LINES = (
    b'{"kind":"problem","path":"',
    b'{"kind":"summary","schema":"harpia-formats/',
)


def own_kind(beginning: bytes) -> str:
    """Return what a file that harpia-formats wrote about data is, "" for any other.

    `beginning` are the first bytes of the file. Such a file is passed over if it was
    found in a folder.
    """
    head = b"".join(beginning[:_NAMED_IN].split())
    kind = _kind(head)
    return f"a harpia-formats {kind}" if kind else ""


def why_no_data(kind: str) -> str:
    """Return why a file of such a kind is passed over, as the end of a sentence."""
    return f"is {kind}, and no data"


def _kind(head: bytes) -> str:
    """Return what a file is called that begins so, without white space, else ""."""
    if not head.startswith(_STARTS):
        return ""
    if found := _schema.match(head):
        return _KINDS.get(found[1], "")
    if head.startswith(_LINES):
        return _KINDS[b"report"]
    return next((kind for begins, kind in _OBJECTS if begins.match(head)), "")
