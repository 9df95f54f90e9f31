"""Decode every line of a file with the standard library: what a script does first.

Usage: json_loop.py FILE
"""

import json
import sys
from pathlib import Path


def main(path: str) -> None:
    """Decode the lines of `path`."""
    with Path(path).open("rb") as lines:
        for line in lines:
            json.loads(line)


if __name__ == "__main__":
    main(*sys.argv[1:])
