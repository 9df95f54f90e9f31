"""Put marks into the values of data, which no output with --redact may show."""

import io
import json
import random
import re
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from harpia_formats.cli.app import app_for
from harpia_formats.cli.streams_and_exit_codes import exceptions_to_exit_codes
from harpia_formats.validation.redaction.shown_words import SchemaWords

#: The letters of a mark: of the Ethiopic script, which no file or program here uses.
#: A single one in an output shows that a piece of a value is in it, however it is cut.
LETTERS = "ሀለሐመሠረሰሸቀበተቸኀነኘአከኸወዐዘዠየደጀገጠጨጰጸ"
#: The digits that all numbers of the data are changed to have.
NUMBER = 86420971
_shown = re.compile(
    rf"[\u1200-\u137f]|\\u1[23][0-9a-fA-F]{{2}}|{str(NUMBER)[:6]}|%E1%8[89A-D]"
)


class Members(list[tuple[str, Any]]):
    """The members of an object, with those whose key is repeated."""


_decode = json.JSONDecoder(object_pairs_hook=Members).decode

#: How a text is marked: in front, so that a cut text shows the mark; behind, so that
#: rules on the beginning of a text apply; or instead of the text.
WAYS: tuple[Callable[[str, str], str], ...] = (
    lambda text, mark: mark + text,
    lambda text, mark: text + mark,
    lambda _, mark: mark,
)


def _text(text: str) -> str:
    """Return a text as JSON, with escapes if it has half of a surrogate pair."""
    shown = json.dumps(text, ensure_ascii=False)
    try:
        shown.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return json.dumps(text)
    return shown


def marks_in(output: str) -> list[str]:
    """Return what of marks is in an output, with what stands around."""
    return [
        output[max(0, found.start() - 80) : found.end() + 40]
        for found in _shown.finditer(output)
    ]


class Marker:
    """Marks the texts, numbers and unknown keys of data, some or all of them."""

    def __init__(self, seed: int, schema: Any = None, *, numbers: bool = True) -> None:
        """Take a seed, the user's schema if there is one, and what becomes of numbers.

        The keys that a schema names are no values.
        """
        self._numbers = numbers
        self._chance = random.Random(seed)  # noqa: S311 - marks, not secrets
        self._words = SchemaWords(schema)
        #: The share of values that are marked: with all marked, most rules are silent.
        self._share = (1.0, 0.3, 0.7)[seed % 3]

    def data(self, data: bytes) -> bytes:
        """Return the contents of a file with marks; what is no JSON is read as CSV."""
        if data[:4] == b"PK\x03\x04":
            return self._archive(data)
        text = data.decode("utf-8", "surrogateescape")
        try:
            return self._json(_decode(text)).encode("utf-8", "surrogateescape")
        except (ValueError, RecursionError):
            pass
        ends = text.splitlines(keepends=True)
        is_json = any(line.lstrip().startswith(("{", "[")) for line in ends)
        line_of = self._json_line if is_json else self._csv_line
        lines = [ends[0] if ends and not is_json else "", *ends[not is_json :]]
        marked = lines[0] + "".join(map(line_of, lines[1:]))
        return marked.encode("utf-8", "surrogateescape")

    def _archive(self, data: bytes) -> bytes:
        made = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w") as to:
            for name in old.namelist():
                to.writestr(name, self.data(old.read(name)))
        return made.getvalue()

    def _json_line(self, line: str) -> str:
        try:
            return self._json(_decode(line)) + "\n"
        except (ValueError, RecursionError):
            # The texts in what is left of JSON.
            return re.sub(r'"([^"\\]{4,})"(?=\s*[,}\]])', self._in_quotes, line)

    def _in_quotes(self, found: re.Match[str]) -> str:
        return f'"{self.text(found[1])}"'

    def _csv_line(self, line: str) -> str:
        return re.sub(r"[^,;\"\r\n]{2,}", lambda found: self.text(found[0]), line)

    def text(self, text: str) -> str:
        """Return a text, marked or not."""
        if self._chance.random() >= self._share:
            return text
        size = self._chance.choice((1, 5, 60))
        mark = "".join(self._chance.choice(LETTERS) for _ in range(size))
        return self._chance.choice(WAYS)(text, mark)

    def _json(self, value: Any) -> str:
        """Return a decoded value as JSON, marked."""
        if isinstance(value, Members):
            members = [
                f"{_text(self._key(key))}: {self._json(one)}" for key, one in value
            ]
            if self._chance.random() < self._share / 4:
                members.append(f'"{self.text("more")}": {self._json("another")}')
            return f"{{{', '.join(members)}}}"
        if isinstance(value, list):
            return f"[{', '.join(map(self._json, value))}]"
        if isinstance(value, str):
            return _text(self.text(value))
        if isinstance(value, bool) or value is None:
            return json.dumps(value)
        is_kept = not self._numbers or self._chance.random() >= self._share / 3
        return json.dumps(value if is_kept else type(value)(NUMBER))

    def _key(self, key: str) -> str:
        return key if key in self._words else self.text(key)


def run_here(*arguments: object) -> int:
    """Run `harpia-formats` with these arguments in this process; return its exit code.

    Its output is that of the process, which a test captures.
    """
    words = [str(argument) for argument in arguments]
    with pytest.raises(SystemExit) as ended, exceptions_to_exit_codes():
        app_for(words)(words, prog_name="harpia-formats")
    code = ended.value.code
    return code if isinstance(code, int) else 0
