"""The page that `--help` prints for a command."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from harpia_formats.model.text_columns import columns, wrapped

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


#: A name of an option, argument or command, and what is said of it.
Entry = tuple[str, str]


def help_page(
    usage: str,
    about: str,
    parameters: Iterable[Any],
    commands: Sequence[Entry],
    style: Style,
) -> str:
    """Return the page of a command: usage, purpose, exit codes and parameters.

    `about` is its docstring, and `commands` has the summaries of the commands of a
    group.
    """
    style = Style(min(max(style.width, NARROWEST), WIDEST), style.color)
    indent = " " * len("Usage: ")
    lines = [*wrapped(usage, style.width, indent), "", *_paragraphs(about, style)]
    if style.color:
        lines[0] = lines[0].replace("Usage:", _bold("Usage:"), 1)
    sections = _sections(parameters)
    if commands:
        sections["Commands"] = list(commands)
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


def _sections(parameters: Iterable[Any]) -> dict[str, list[Entry]]:
    """Return the entries of the parameters by their headings, arguments first."""
    found: dict[str, list[Entry]] = {"Arguments": [], _OPTIONS: []}
    for parameter in parameters:
        if getattr(parameter, "hidden", False):
            continue
        if parameter.param_type_name == "argument":
            found["Arguments"].append((argument_name(parameter), _help(parameter)))
        else:
            panel = getattr(parameter, "rich_help_panel", None) or _OPTIONS
            entries = found.setdefault(panel, [])
            entries.append((option_name(parameter), _help(parameter)))
    return {title: entries for title, entries in found.items() if entries}


def argument_name(argument: Any) -> str:
    """Return the noun of an argument, such as `PATHS...` if it takes several values."""
    return f"{argument.metavar}{'...' if argument.nargs == -1 else ''}"


def option_name(option: Any) -> str:
    """Return the names of an option and the noun of its value: `-f, --from FORMAT`."""
    # An option that can be turned off stands there once: `--[no-]strict`.
    off = {f"--{name.removeprefix('--no-')}" for name in option.secondary_opts}
    names = [f"--[no-]{name[2:]}" if name in off else name for name in option.opts]
    short = [name for name in names if not name.startswith("--")]
    long = [name for name in names if name.startswith("--")]
    start = "" if short else "    "
    value = "" if option.is_flag or not option.metavar else f" {option.metavar}"
    return f"{start}{', '.join([*short, *long])}{value}"


def _help(parameter: Any) -> str:
    """Return what is said of a parameter, with its default in brackets."""
    more = ""
    default = _default_text(parameter)
    if parameter.required and parameter.param_type_name == "option":
        more = " [required]"
    elif default and getattr(parameter, "show_default", True):
        more = f" [default: {default}]"
    return f"{parameter.help or ''}{more}".strip()


def _default_text(parameter: Any) -> str:
    """Return the default of a parameter, "" if there is none to be shown."""
    default = parameter.default
    # Older releases of typer have a value of their own for no default.
    if isinstance(default, Enum):
        default = default.value
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
