"""Draw the layers of the packages as an SVG picture, from the import contracts.

`python docs/tools/architecture_picture.py` writes `docs/explanation/architecture.svg`;
`docs/tools/update.py` does, too. The layers and the packages of the vendors come from
the contracts of import-linter in pyproject.toml, the captions from the first lines of
the docstrings.
"""

import ast
import textwrap
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "explanation" / "architecture.svg"
HUB = ROOT / "harpia_formats"
#: The package that holds the registry.
REGISTRY = "formats"
ADAPTERS = ROOT / "converters" / "harpia_converters"

#: Pixels: of the whole picture, of the column of layers, and of that of adapters.
WIDTH, LEFT, RIGHT = 1100, 60, 830
PANEL_LEFT, PANEL_RIGHT = 890, 1080
#: Pixels: between boxes, around text, of a line of a caption, and of a name.
GAP, PADDING, LINE, NAME = 10, 10, 15, 20
#: Pixels that a character of a caption takes, at most on average.
CHARACTER = 6.6
FONTS = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"
INK, DIM, BORDER, BOX, SPECIAL, PANEL = (
    "#1f2430",
    "#59616f",
    "#8a94a6",
    "#f3f6fb",
    "#fff4dc",
    "#eaf6ee",
)


@dataclass(frozen=True, slots=True)
class Package:
    """One package or module in a layer."""

    name: str
    #: The first line of its docstring.
    caption: str


def contracts() -> dict[str, dict[str, Any]]:
    """Return the import contracts of pyproject.toml by their ids."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    return {contract["id"]: contract for contract in found}


def layers() -> list[list[Package]]:
    """Return the packages of each layer, the highest layer first."""
    return [
        [package_of(name.strip()) for name in layer.split("|")]
        for layer in contracts()["rooms"]["layers"]
    ]


def package_of(name: str) -> Package:
    """Return a package by its name in a contract."""
    module = HUB / name / "__init__.py"
    if not module.is_file():
        module = HUB / f"{name}.py"
    docstring = ast.get_docstring(ast.parse(module.read_bytes())) or ""
    return Package(name, docstring.split("\n", 1)[0].rstrip("."))


def vendors() -> list[str]:
    """Return the packages of the adapters, sorted."""
    return sorted(path.parent.name for path in ADAPTERS.glob("*/__init__.py"))


def caption_lines(package: Package, width: float) -> list[str]:
    """Return the caption of a box, in lines that fit into `width` pixels."""
    return textwrap.wrap(package.caption, int((width - 2 * PADDING) / CHARACTER))


def text_at(x: float, y: float, text: str, kind: str) -> str:
    """Return a text element; `kind` is one of the classes of the style sheet."""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(text)}</text>'


def box(package: Package, x: float, y: float, size: tuple[float, float]) -> list[str]:
    """Return the elements of the box of one package; `size` is width and height."""
    width, height = size
    fill = SPECIAL if package.name == REGISTRY else BOX
    lines = caption_lines(package, width)
    frame = (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6" '
        f'fill="{fill}" stroke="{BORDER}"/>'
    )
    return [
        frame,
        text_at(x + PADDING, y + PADDING + 12, package.name, "name"),
        *(
            text_at(
                x + PADDING, y + PADDING + 12 + NAME + at * LINE - 2, line, "caption"
            )
            for at, line in enumerate(lines)
        ),
    ]


def row(packages: list[Package], y: float) -> tuple[list[str], float]:
    """Return the elements of one layer whose top is at `y`, and its height."""
    width = (RIGHT - LEFT - GAP * (len(packages) - 1)) / len(packages)
    most = max(len(caption_lines(package, width)) for package in packages)
    height = 2 * PADDING + NAME + most * LINE - 4
    elements = []
    for at, package in enumerate(packages):
        elements += box(package, LEFT + at * (width + GAP), y, (width, height))
    return elements, height


def arrow(points: str) -> str:
    """Return a line with an arrow head at its end."""
    return (
        f'<polyline points="{points}" fill="none" stroke="{INK}" stroke-width="1.5" '
        'marker-end="url(#head)"/>'
    )


def adapters(middle: float) -> Iterator[str]:
    """Yield the elements of the adapters' panel and of its arrow.

    `middle` is the middle of the registry's box, from which the arrow comes.
    """
    forbidden = [
        name.removeprefix("harpia_formats.")
        for name in contracts()["registry"]["forbidden_modules"]
    ]
    width = PANEL_RIGHT - PANEL_LEFT
    per_line = int((width - 2 * PADDING) / CHARACTER)
    about = textwrap.wrap("The format adapters, a package for each vendor", per_line)
    rules = textwrap.wrap(
        "Only the registry imports them. They import packages of the hub, but not "
        f"{', '.join(forbidden[:-1])} or {forbidden[-1]}, and no other vendor.",
        per_line,
    )
    names = vendors()
    height = 48 + (len(about) + len(rules)) * LINE + len(names) * NAME
    x, y = PANEL_LEFT + PADDING, middle - 40
    yield (
        f'<rect x="{PANEL_LEFT}" y="{y:g}" width="{width}" height="{height}" rx="6" '
        f'fill="{PANEL}" stroke="{BORDER}"/>'
    )
    yield arrow(f"{RIGHT},{middle:g} {PANEL_LEFT - 2},{middle:g}")
    y += 22
    yield text_at(x, y, "harpia_converters", "name")
    y += NAME - LINE - 2
    for kind, lines, step in (
        ("caption", about, LINE),
        ("vendor", names, NAME),
        ("caption", rules, LINE),
    ):
        for line in lines:
            y += step
            yield text_at(x, y, line, kind)
        y += 5


def current_picture() -> str:
    """Return the picture of the contracts as they are."""
    elements: list[str] = []
    y = 20.0
    middle = y
    for packages in layers():
        drawn, height = row(packages, y)
        if any(package.name == REGISTRY for package in packages):
            middle = y + height / 2
        elements += drawn
        y += height + GAP
    bottom = y + 10
    down = LEFT - 24
    style = (
        f"text{{font-family:{FONTS};fill:{INK}}}"
        ".name{font-size:15px;font-weight:600}"
        f".caption{{font-size:12px;fill:{DIM}}}"
        ".vendor{font-size:13px}"
    )
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
        f'height="{bottom:g}" viewBox="0 0 {WIDTH} {bottom:g}" role="img">'
    )
    head = (
        '<marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" '
        f'markerHeight="8" orient="auto"><path d="M0,0 L10,5 L0,10 z" fill="{INK}"/>'
        "</marker>"
    )
    label = (
        f'<text class="caption" transform="translate({down - 8:g},{bottom / 2:g}) '
        'rotate(-90)" text-anchor="middle">a package imports lower packages only</text>'
    )
    return "\n".join(
        [
            opening,
            "<title>The packages of harpia-formats in layers</title>",
            f"<style>{style}</style><defs>{head}</defs>",
            f'<rect width="{WIDTH}" height="{bottom:g}" fill="#ffffff"/>',
            arrow(f"{down},20 {down},{bottom - 20:g}"),
            label,
            *elements,
            *adapters(middle),
            "</svg>\n",
        ]
    )


if __name__ == "__main__":
    PICTURE.write_text(current_picture(), encoding="utf-8")
