"""The page that `--help` prints for a command, from the table of options."""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from shutil import get_terminal_size

from harpia_formats.api.option_values import help_of
from harpia_formats.api.options import FLAG, REQUIRED, Option, options_of
from harpia_formats.cli.command_table import PROGRAM, all_commands, docstring_of
from harpia_formats.cli.streams_and_exit_codes import ExitCode, wants_color
from harpia_formats.model.text_columns import columns, wrapped

#: The options that print something else, of the program and of each command.
VERSION = Option("version", "--version -V", FLAG, "", "Show the version and exit.")
HELP = Option("help", "--help -h", FLAG, "", "Show this message and exit.")
#: What prints the page with all options.
HELP_ALL = "--help-all"
#: What the program is for.
ABOUT = "Validate, convert and score LLM-evaluation data."
#: The most lines of a page that shows all options without being asked.
MOST_LINES = 58
#: The values that the page with the usual options lists of an option.
_LISTED = 5
#: The most columns of a page, however wide the terminal is, and the least.
WIDEST, NARROWEST = 100, 40
#: The most columns of the names of options; longer ones have their help below them.
_NAMES = 28
_OPTIONS = "Options"


@dataclass(frozen=True, slots=True)
class Style:
    """How a page is printed."""

    width: int
    #: Whether headings and names are bold.
    color: bool = False


#: A name of an option, argument or command, and its description.
Entry = tuple[str, str]


def program_page(style: Style) -> str:
    """Return the page of the program, which lists all commands."""
    commands = [(words, summary(docstring_of(name))) for words, name in all_commands()]
    usage = f"Usage: {PROGRAM} [OPTIONS] COMMAND [ARGUMENTS]..."
    sections = {**_sections((VERSION, HELP), None), "Commands": commands}
    return help_page(usage, ABOUT, sections, style)


def command_page(name: str, style: Style, *, is_whole: bool = False) -> str:
    """Return the page of the command `name`.

    Unless it `is_whole`, it has the options that most runs need, if there are many.
    """
    words = next(words for words, other in all_commands() if other == name)
    options = [*options_of(name), HELP]
    usage = ["Usage:", PROGRAM, words, "[OPTIONS]"]
    for option in options:
        if not option.words:
            noun = argument_name(option)
            usage.append(noun if option.default is REQUIRED else f"[{noun}]")
    line, about = " ".join(usage), docstring_of(name)
    page = help_page(line, about, _sections(options, None), style)
    if is_whole or page.count("\n") <= MOST_LINES:
        return page
    often = [
        one for one in options if not one.words or one.usual or one.field == HELP.field
    ]
    rare = len(options) - len(often)
    more = f"\n{PROGRAM} {words} {HELP_ALL} shows {rare} more options.\n"
    return help_page(line, about, _sections(often, _LISTED), style) + more


def print_asked_page(arguments: Sequence[str]) -> None:
    """Print the page that `arguments` ask for, and nothing else; raises `SystemExit`.

    To import typer, which prints the same page, takes longer than all else here.
    """
    *words, asked = arguments
    is_whole = asked == HELP_ALL
    names = dict(all_commands())
    name = names.get(" ".join(words))
    if name is None and (words or is_whole):
        return
    style = usual_style()
    page = command_page(name, style, is_whole=is_whole) if name else program_page(style)
    sys.stdout.write(page)
    sys.stdout.flush()
    raise SystemExit(ExitCode.OK)


def usual_style() -> Style:
    """Return how a page is printed to standard output."""
    return Style(get_terminal_size().columns, color=wants_color(sys.stdout))


def help_page(
    usage: str, about: str, sections: dict[str, list[Entry]], style: Style
) -> str:
    """Return a page: usage, purpose, and the entries of each section by its heading.

    `about` is the docstring of a command.
    """
    style = Style(min(max(style.width, NARROWEST), WIDEST), style.color)
    indent = " " * len("Usage: ")
    lines = [*wrapped(usage, style.width, indent), "", *_paragraphs(about, style)]
    if style.color:
        lines[0] = lines[0].replace("Usage:", _bold("Usage:"), 1)
    names = [name for entries in sections.values() for name, _ in entries]
    room = max(len(name) for name in names if len(name) <= _NAMES)
    for title, entries in sections.items():
        heading = f"{title}:"
        lines += ["", _bold(heading) if style.color else heading]
        for entry in entries:
            lines += _entry_lines(entry, room, style)
    return "\n".join(lines) + "\n"


def summary(about: str) -> str:
    """Return the first paragraph of a docstring as one line."""
    return " ".join(about.strip().split("\n\n")[0].split())


def _paragraphs(about: str, style: Style) -> Iterator[str]:
    """Yield the lines of a docstring, wrapped anew; lists have a line for each item."""
    for number, paragraph in enumerate(about.strip().split("\n\n")):
        if number:
            yield ""
        joined = re.sub(r"\n +", " ", paragraph)  # an item that continues
        text, *items = re.split(r"\n- ", joined)
        yield from wrapped(" ".join(text.split()), style.width)
        for item in items:
            yield from wrapped(f"  {item}", style.width, "     ")


def _sections(options: Iterable[Option], most: int | None) -> dict[str, list[Entry]]:
    """Return the entries of options by their headings, arguments first.

    Their help has all values that they take, or the first `most` of them.
    """
    found: dict[str, list[Entry]] = {"Arguments": [], _OPTIONS: []}
    for option in options:
        if option.words:
            title, name = option.panel or _OPTIONS, option_name(option)
        else:
            title, name = "Arguments", argument_name(option)
        found.setdefault(title, []).append((name, _help(option, most)))
    return {title: entries for title, entries in found.items() if entries}


def argument_name(argument: Option) -> str:
    """Return the noun of an argument, such as `PATHS...` if it takes several values."""
    return f"{argument.noun}{'...' if argument.is_repeated else ''}"


def option_name(option: Option) -> str:
    """Return the names of an option and the noun of its value: `-f, --from FORMAT`."""
    long = [name for name in option.all_words() if name.startswith("--")]
    # An option that can be turned off stands there once: `--[no-]strict`.
    can_be_off = {name for name in long if f"--no-{name[2:]}" in long}
    off = {f"--no-{name[2:]}" for name in can_be_off}
    shown = [
        f"--[no-]{name[2:]}" if name in can_be_off else name
        for name in long
        if name not in off
    ]
    short = [name for name in option.all_words() if not name.startswith("--")]
    start = "" if short else "    "
    value = f" {option.noun}" if option.noun else ""
    return f"{start}{', '.join([*short, *shown])}{value}"


def _help(option: Option, most: int | None) -> str:
    """Return the help text of an option, with its default in brackets."""
    more = ""
    if option.default is REQUIRED:
        more = " [required]" if option.words else ""
    elif option.shows_default:
        default = _default_text(option.default)
        more = f" [default: {default}]" if default else ""
    return f"{help_of(option, most)}{more}".strip()


def _default_text(default: object) -> str:
    """Return a default, "" if there is none to be shown."""
    if isinstance(default, bool) or not isinstance(default, str | int | float):
        return ""
    return f"{default:g}" if isinstance(default, float) else str(default)


def _entry_lines(entry: Entry, room: int, style: Style) -> list[str]:
    """Return the lines of an entry: its name, and its help in a column behind it."""
    name, text = entry
    start = " " * (room + 4)
    shown = _bold(name) if style.color else name
    first, *others = wrapped(start + text, style.width, start)
    if columns(name) > room:
        return [f"  {shown}", first.rstrip(), *others]
    padded = f"  {shown}{' ' * (room - columns(name))}  "
    return [(padded + first[len(start) :]).rstrip(), *others]


def _bold(text: str) -> str:
    """Return `text` in bold letters, the spaces before it as they are."""
    bare = text.lstrip()
    return f"{text[: len(text) - len(bare)]}\x1b[1m{bare}\x1b[0m"
