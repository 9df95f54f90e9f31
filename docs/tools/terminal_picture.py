"""Draw what the program prints on a terminal as an SVG picture, for the README."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from html import escape, unescape
from pathlib import Path

from page_examples import ROOT, environment
from rich.style import Style
from rich.text import Text

PICTURE = ROOT / "docs" / "finding.svg"
#: A shipped file with one error, and the folder in which the command is run.
FILE = "C201-multi-turn-without-turns.jsonl"
FOLDER = ROOT / "fixtures" / "eee@0.2.0" / "invalid"
COMMAND = ("harpia-formats", "validate", FILE)
#: The number of red in the escape codes of terminals.
ANSI_RED = 1
ROWS, COLUMNS = 24, 108
#: Pixels: of a character, of a line, and around the text.
CHARACTER, LINE, MARGIN, BAR = 8.43, 20, 18, 30
PAPER, BAR_COLOUR = "#1b1f27", "#2b313c"
PLAIN, BOLD, DIM, RED, PROMPT = "#d5dae3", "#ffffff", "#8791a3", "#ff7b72", "#7ee787"
FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"


def terminal_output(command: tuple[str, ...], folder: Path) -> str:
    """Return what a command prints on a terminal, with its colour codes.

    The exit code is not looked at: a command that finds an error ends with 1.
    """
    parent, child = pty.openpty()
    size = struct.pack("HHHH", ROWS, COLUMNS, 0, 0)
    fcntl.ioctl(child, termios.TIOCSWINSZ, size)
    env = environment(TERM="xterm-256color", COLUMNS=str(COLUMNS))
    del env["NO_COLOR"]
    process = subprocess.Popen(  # noqa: S603 - our own command
        command, cwd=folder, env=env, stdin=child, stdout=child, stderr=child
    )
    os.close(child)
    chunks = []
    while True:
        try:
            chunk = os.read(parent, 65536)
        except OSError:  # on Linux the end of a terminal is an error
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(parent)
    process.wait()
    return b"".join(chunks).decode().replace("\r\n", "\n")


def picture_of(command: tuple[str, ...], output: str) -> str:
    """Return the SVG of a terminal that shows a command and its output."""
    lines = [line.rstrip() for line in output.rstrip().splitlines()]
    body = [_line(0, f'<tspan fill="{PROMPT}">$</tspan> ' + escape(" ".join(command)))]
    for number, line in enumerate(lines, start=1):
        body.append(_line(number, _spans(line)))
    width = round(COLUMNS * CHARACTER) + 2 * MARGIN
    height = BAR + (len(lines) + 1) * LINE + 2 * MARGIN
    dots = "".join(
        f'<circle cx="{MARGIN + 18 * place}" cy="{BAR / 2}" r="5" fill="{colour}"/>'
        for place, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    size = f'width="{width}" height="{height}"'
    label = 'role="img" aria-label="A finding of harpia-formats in a terminal"'
    space = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
    style = (
        f"text {{ font: 14px {FONTS}; fill: {PLAIN}; white-space: pre }} "
        f".bold {{ font-weight: bold; fill: {BOLD} }}"
    )
    bar = f"M0 {BAR}V8a8 8 0 0 1 8-8H{width - 8}a8 8 0 0 1 8 8V{BAR}z"
    parts = [
        f"<svg {space} {size} {label}>",
        f"<style>{style}</style>",
        f'<rect {size} rx="8" fill="{PAPER}"/>',
        f'<path d="{bar}" fill="{BAR_COLOUR}"/>',
        dots,
        *body,
        "</svg>\n",
    ]
    return "\n".join(parts)


def text_of(picture: str) -> str:
    """Return the lines of text that a picture shows, without colours."""
    lines = re.findall(r"<text[^>]*>(.*?)</text>", picture)
    return "\n".join(unescape(re.sub(r"<[^>]*>", "", line)) for line in lines)


def current_picture() -> str:
    """Return the picture of what the program prints today."""
    return picture_of(COMMAND, terminal_output(COMMAND, FOLDER))


def _line(number: int, content: str) -> str:
    y = BAR + MARGIN + number * LINE + 12
    return f'<text x="{MARGIN}" y="{y}" xml:space="preserve">{content}</text>'


def _spans(line: str) -> str:
    text = Text.from_ansi(line)
    parts = []
    for part in text.divide(
        sorted({offset for span in text.spans for offset in span[:2]})
    ):
        styles = [Style.parse(str(span.style)) for span in part.spans]
        content = escape(part.plain)
        if any(style.color and style.color.number == ANSI_RED for style in styles):
            content = f'<tspan fill="{RED}">{content}</tspan>'
        elif any(style.dim for style in styles):
            content = f'<tspan fill="{DIM}">{content}</tspan>'
        elif any(style.bold for style in styles):
            content = f'<tspan class="bold">{content}</tspan>'
        parts.append(content)
    return "".join(parts)
