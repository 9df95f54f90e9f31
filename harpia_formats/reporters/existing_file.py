"""Tell whether a file that a report would replace holds data."""

import re

#: Bytes from the beginning of a file that tell what it is.
_BEGINNING = 512
#: Names of tables, which no report is.
_table = re.compile(
    r"\.(?:csv|tsv|parquet|arrow|feather)(?:\.(?:gz|bz2|xz|zst))?\Z", re.IGNORECASE
)
_json = re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\{\s*"|\[\s*[{"])')
#: How the reports begin that are JSON.
_report = re.compile(
    rb'\{\s*"schema":\s*"harpia-formats/'  # of findings and statistics
    rb'|\{\n  "ok": (?:true|false),\n'  # of other results
    rb'|\{"kind":"(?:problem|summary)"'
    rb'|\{\s*"\$schema":[^,]*sarif'
    rb'|\[\s*\{"description":'
)


def holds_data(path: str) -> bool:
    """Tell whether a file is a table by its name, or JSON that is no report.

    False if there is no file, or it is empty or cannot be read.
    """
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - a path as it was given
            beginning = file.read(_BEGINNING)
    except OSError:
        return False
    if not beginning:
        return False
    is_json = _json.match(beginning) is not None
    return bool(_table.search(path)) or (is_json and not _report.match(beginning))
