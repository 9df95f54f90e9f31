"""Answer the script of a shell: the candidates in the form that the shell takes."""

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence

from harpia_formats.cli.completion.candidates import Candidates, candidates
from harpia_formats.cli.completion.scripts import LINE, REQUEST, WORD_BREAKS

#: Ends of values that go on.
_PARTIAL = ("=", ".")
#: Stands behind the line up to the cursor, so that its last word is known.
_CURSOR = "\x00"


def print_answer() -> None:
    """Print the answer to the request in the environment, as UTF-8."""
    text = answer(os.environ, sys.argv[1:])
    sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
    sys.stdout.flush()


def answer(environment: Mapping[str, str], arguments: Sequence[str]) -> str:
    """Return the answer to a script: its kind, and a line for each value.

    bash gives the line up to the cursor in `environment`; other shells give its words
    as `arguments`, the last of them the word at the cursor.
    """
    shell = environment[REQUEST]
    prefix = ""
    if shell == "bash":
        words, current = _split(environment.get(LINE, ""))
        prefix = _broken_off(current, environment.get(WORD_BREAKS, ""))
    else:
        words, current = list(arguments[:-1]), "".join(arguments[-1:])
    found = candidates(words, current)
    lines = [_kind(found), *_lines(found, shell, len(prefix))]
    return "".join(f"{line}\n" for line in lines)


def _kind(found: Candidates) -> str:
    """Return what the answer holds."""
    if found.files:
        return "files"
    is_partial = any(value.endswith(_PARTIAL) for value, _ in found.values)
    return "partial" if is_partial else "values"


def _lines(found: Candidates, shell: str, prefix: int) -> Iterator[str]:
    """Yield a line for each value, without the first `prefix` characters."""
    for value, about in found.values:
        about = " ".join(about.split())  # noqa: PLW2901 - on one line
        if shell == "zsh":
            value = value.replace("\\", "\\\\").replace(":", "\\:")  # noqa: PLW2901 - as it takes them
            yield f"{value}:{about}" if about else value
        elif shell == "fish":
            yield f"{value}\t{about}" if about else value
        else:
            yield value[prefix:]


def _split(line: str) -> tuple[list[str], str]:
    """Return the words of a line behind the program, and the last one apart."""
    for quote in ("", '"', "'"):
        try:
            words = shlex.split(f"{line}{_CURSOR}{quote}")
        except ValueError:  # a quote that is not closed
            continue
        return words[1:-1], words[-1].removesuffix(_CURSOR)
    return [], ""


def _broken_off(current: str, breaks: str) -> str:
    """Return the part of a word that bash takes for a word before it.

    The character that breaks a word is of that part, but for `@`, with which bash
    begins the names of hosts.
    """
    ends = [current.rfind(each) for each in breaks if each not in "\"' \t\n"]
    last = max(ends, default=-1)
    return current[: last + (current[last : last + 1] != "@")]
