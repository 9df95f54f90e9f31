"""Write the README's table of what converts into what from the formats there are."""

import json
import re
from collections.abc import Iterable
from typing import Any

from reference_tables import cell, code, printed, table

SECTION = re.compile(r"<!-- from-to -->\n.*?<!-- end of from-to -->", flags=re.DOTALL)
HEAD = ("of", "read and written", "read", "documents: validated, results written")


def from_to() -> str:
    """Return the table of all formats, by vendor or tool and by what is done with them.

    Every format that is read converts into every one that is written.
    """
    found = json.loads(printed("formats", "--output-format", "json"))["formats"]
    vendors = dict.fromkeys(each["vendor"] for each in found)
    rows = [
        (cell(vendor), *_cells([each for each in found if each["vendor"] == vendor]))
        for vendor in vendors
    ]
    return table(HEAD, rows)


def with_from_to(page: str) -> str:
    """Return the README with the current table in its place."""
    section = f"<!-- from-to -->\n{from_to()}<!-- end of from-to -->"
    return SECTION.sub(lambda _: section, page)


def _cells(formats: list[dict[str, Any]]) -> tuple[str, str, str]:
    """Return the ids of the formats that are read and written, read only, and neither.

    Documents are not read as records.
    """
    of_records = [each for each in formats if each["records"]]
    return (
        _ids(each for each in of_records if not each.get("read_only")),
        _ids(each for each in of_records if each.get("read_only")),
        _ids(each for each in formats if not each["records"]),
    )


def _ids(formats: Iterable[dict[str, Any]]) -> str:
    return " ".join(code(each["id"]) for each in formats)
