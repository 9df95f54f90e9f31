"""The verdicts of a run as a file: one object, or a line for each row."""

import math
from collections.abc import Callable
from enum import StrEnum
from tempfile import SpooledTemporaryFile
from typing import IO, Any

from harpia_formats.conversion.containers.row_writer import SPOOL_BYTES
from harpia_formats.io.compressing import suffix_of
from harpia_formats.io.reader import BLOCK
from harpia_formats.llm_judge.errors import JudgeError
from harpia_formats.llm_judge.run.verdicts import Verdict
from harpia_formats.model.exact_json import encode
from harpia_formats.text.sanitize import escaped
from harpia_formats.text.spelling import nearest


class VerdictFormat(StrEnum):
    """The ways to write verdicts."""

    #: `{"results": [...], "meta": [...]}`, as Haystack's evaluators return them.
    JSON = "json"
    #: One object a line, with the row's record, result and status.
    JSONL = "jsonl"


def verdict_format(name: str | None, output: str) -> VerdictFormat:
    """Return the shape of that name, or else the one that the output's name tells.

    Raises `JudgeError`.
    """
    if name is None:
        is_lines = suffix_of(output) in {".jsonl", ".ndjson"}
        return VerdictFormat.JSONL if is_lines else VerdictFormat.JSON
    try:
        return VerdictFormat(name)
    except ValueError:
        near = nearest(name, VerdictFormat)
        hint = f"; did you mean {near}?" if near else ""
        raise JudgeError(f"--to {name}: write json or jsonl{hint}") from None


class VerdictWriter:
    """Writes verdicts as they come; `close` ends what was written.

    The entries that stand behind all results are in a temporary file until then, which
    `drop` lets go.
    """

    def __init__(self, write: Callable[[bytes], None], shape: VerdictFormat) -> None:
        self._write = write
        self._shape = shape
        self._metas: IO[bytes] = SpooledTemporaryFile(SPOOL_BYTES)  # noqa: SIM115 - closed by `drop`

    def add(self, verdict: Verdict) -> None:
        """Write one verdict."""
        result, is_whole = _in_json(verdict.result)
        meta, _ = _in_json(verdict.meta)
        if not is_whole:
            meta["note"] = "a number that JSON does not have is null in the result"
        if self._shape is VerdictFormat.JSONL:
            self._write(encode({**meta, "result": result}) + b"\n")
            return
        is_first = not self._metas.tell()
        self._write(b'{"results": [\n' if is_first else b",\n")
        self._write(encode(result))
        self._metas.write((b"" if is_first else b",\n") + encode(meta))

    def close(self) -> None:
        """Write the end."""
        if self._shape is VerdictFormat.JSONL:
            return
        if not self._metas.tell():
            self._write(b'{"results": [], "meta": null}\n')
            return
        self._write(b'\n], "meta": [\n')
        self._metas.seek(0)
        for block in iter(lambda: self._metas.read(BLOCK), b""):
            self._write(block)
        self._write(b"\n]}\n")

    def drop(self) -> None:
        """Let go of what is held."""
        self._metas.close()


def _in_json(value: Any) -> tuple[Any, bool]:
    """Return a value as JSON can have it, and whether nothing was lost of it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None, False
    if isinstance(value, str):
        # Half of a surrogate pair has no bytes.
        return _whole(value), True
    if isinstance(value, dict):
        parts = {_whole(str(key)): _in_json(each) for key, each in value.items()}
        found = {key: each for key, (each, _) in parts.items()}
        return found, all(is_whole for _, is_whole in parts.values())
    if isinstance(value, list | tuple):
        items = [_in_json(each) for each in value]
        return [each for each, _ in items], all(is_whole for _, is_whole in items)
    return value, True


def _whole(text: str) -> str:
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def lines_for_people(text: str) -> str:
    """Return a text line by line, each behind a bar, with nothing a terminal obeys."""
    return "".join(f"  | {escaped(each)}\n" for each in text.split("\n"))
