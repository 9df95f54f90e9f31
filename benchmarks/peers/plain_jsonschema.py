"""Decode with json and validate with jsonschema, line by line, in one process.

Usage: plain_jsonschema.py SCHEMA FILE; ends with 1 if a line is not valid.
"""

import json
import sys
from pathlib import Path

import jsonschema


def main(schema: str, path: str) -> int:
    """Return 1 if a line of `path` is not valid by `schema`, otherwise 0."""
    is_valid = jsonschema.Draft7Validator(
        json.loads(Path(schema).read_bytes())
    ).is_valid
    invalid = 0
    with Path(path).open("rb") as lines:
        for line in lines:
            invalid += not is_valid(json.loads(line))
    return int(invalid > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
