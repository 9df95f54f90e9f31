"""Answer the script of a shell with the completions of the word at the cursor."""

import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from harpia_formats.api.option_values import Value, help_of, values_of
from harpia_formats.api.options import Option, options_of
from harpia_formats.cli import REQUEST
from harpia_formats.cli.command_table import COMMANDS, TWO_WORDS, docstring_of
from harpia_formats.cli.commands.completion import LINE, WORD_BREAKS
from harpia_formats.cli.help_page import HELP, HELP_ALL, VERSION, summary

#: Nouns of paths, which shells complete themselves.
FILES = frozenset("A B FILE FILES FOLDER PATH PATHS [NAME=]FILE".split())
#: Nouns of several values with commas between them.
LISTS = frozenset({"FIELDS", "METRICS", "RULES"})
#: The options without a command; those of every command behind the first.
_of_program = (
    (VERSION.words[0], VERSION.help),
    (HELP.words[0], HELP.help),
    (HELP_ALL, "Show all options and exit."),
)


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a word can become: some values, or the name of a file."""

    values: tuple[Value, ...] = ()
    files: bool = False


def candidates(words: Sequence[str], current: str) -> Candidates:
    """Return what `current` can become behind `words`, the words of a command line."""
    if not words:
        found = _of_program[:2] if current.startswith("-") else _commands(current)
        return _matching(found, current)
    two = TWO_WORDS.get(tuple(words[:2]))
    if two is None and words[0] not in COMMANDS:
        return Candidates()
    rest = words[2:] if two else words[1:]
    return _of_command(words[0], options_of(two or words[0]), rest, current)


def _of_command(
    name: str, options: Sequence[Option], words: Sequence[str], current: str
) -> Candidates:
    """Return the candidates for a word behind the `words` behind a command."""
    by_name = {each: option for option in options for each in option.all_words()}
    before = by_name.get(words[-1]) if words and "--" not in words else None
    if before is not None and before.noun:
        return _values(before, current, "")
    start, equals, rest = current.partition("=")
    if equals and start in by_name:
        return _values(by_name[start], rest, f"{start}=")
    if current.startswith("-") and "--" not in words:
        return _matching([*_option_names(options, words), *_of_program[1:]], current)
    seconds = [two for one, two in TWO_WORDS if one == name and not words]
    matching = [(two, "") for two in seconds if two.startswith(current)]
    arguments = [each for each in options if not each.words]
    if not arguments:
        return Candidates(tuple(matching))
    found = _values(arguments[0], current, "")
    # Without a letter, a path is as likely as a second word.
    is_path = found.files and not (matching and current)
    return Candidates((*matching, *found.values), is_path)


def _commands(current: str) -> Iterator[Value]:
    """Yield the commands that begin like a word, with their summaries."""
    for name in COMMANDS:
        if name.startswith(current):
            yield name, summary(docstring_of(name))


def _option_names(options: Sequence[Option], words: Sequence[str]) -> Iterator[Value]:
    """Yield the long options of a command that may still be given."""
    given = {word.partition("=")[0] for word in words}
    for option in options:
        names = option.all_words()
        if option.is_repeated or not given.intersection(names):
            about = help_of(option)
            yield from ((name, about) for name in names if name.startswith("--"))


def _values(option: Option, current: str, before: str) -> Candidates:
    """Return the values of an option that begin like `current`, behind `before`."""
    if option.noun in FILES:
        return Candidates(files=True)
    if option.noun in LISTS:
        *whole, current = current.split(",")
        before += "".join(f"{each}," for each in whole)
    found = _matching(values_of(option), current).values
    return Candidates(tuple((before + value, about) for value, about in found))


def _matching(values: Iterable[Value], current: str) -> Candidates:
    """Return the values that begin like `current`, each once."""
    found = dict(each for each in values if each[0].startswith(current))
    return Candidates(tuple(found.items()))


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
