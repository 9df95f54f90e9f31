"""Decode every line of a file with msgspec, and encode it again into another file.

Usage: msgspec_recode.py FILE OUTPUT
"""

import sys
from pathlib import Path

import msgspec


def main(path: str, output: str) -> None:
    """Decode the lines of `path`, and write them to `output`."""
    decode, encode = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode
    with Path(path).open("rb") as lines, Path(output).open("wb") as file:
        file.writelines(encode(decode(line)) + b"\n" for line in lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
