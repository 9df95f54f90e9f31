"""Decode with orjson and validate with jsonschema-rs, line by line, in one process.

Usage: orjson_jsonschema_rs.py SCHEMA FILE; ends with 1 if a line is not valid.
"""

import sys
from pathlib import Path

import jsonschema_rs
import orjson


def main(schema: str, path: str) -> int:
    """Return 1 if a line of `path` is not valid by `schema`, otherwise 0."""
    is_valid = jsonschema_rs.Draft7Validator(
        orjson.loads(Path(schema).read_bytes())
    ).is_valid
    invalid = 0
    with Path(path).open("rb") as lines:
        for line in lines:
            invalid += not is_valid(orjson.loads(line))
    return int(invalid > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
