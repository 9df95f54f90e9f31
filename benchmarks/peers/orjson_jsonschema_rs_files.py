"""Decode with orjson and validate with jsonschema-rs, file by file, in one process.

Usage: orjson_jsonschema_rs_files.py SCHEMA FOLDER; each JSON file below the folder is
one document. Ends with 1 if one is not valid.
"""

import os
import sys
from pathlib import Path

import jsonschema_rs
import orjson


def main(schema: str, folder: str) -> int:
    """Return 1 if a document below `folder` is not valid by `schema`, otherwise 0."""
    is_valid = jsonschema_rs.Draft7Validator(
        orjson.loads(Path(schema).read_bytes())
    ).is_valid
    invalid = 0
    for place, _, names in os.walk(folder):
        for name in names:
            if name.endswith(".json"):
                with open(os.path.join(place, name), "rb") as file:  # noqa: PTH118, PTH123 - the fastest loop
                    invalid += not is_valid(orjson.loads(file.read()))
    return int(invalid > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
