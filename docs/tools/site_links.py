"""Check the links of a built site, and that no mark of a block of code is left."""

import os
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

#: The attributes that make a browser load something.
_LOADED = {
    ("script", "src"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("object", "data"),
}
#: What a block of code begins with in Markdown.
_FENCE = "```"
#: The kinds of `<link>` that make a browser load something.
_LOADED_KINDS = {"stylesheet", "icon", "preload", "modulepreload", "prefetch"}


class BrokenLink(NamedTuple):
    """A link of a page that leads nowhere, or makes a browser ask another host."""

    page: Path
    target: str
    reason: str

    def __str__(self) -> str:
        return f"{self.page}: {self.target}: {self.reason}"


class _Page(HTMLParser):
    """What one page links to, what it loads, and its anchors."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the links and the anchors of an element."""
        values = {name: value or "" for name, value in attrs}
        self.anchors.update(values[key] for key in ("id", "name") if key in values)
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if tag == "link" and _LOADED_KINDS.intersection(values.get("rel", "").split()):
            self.loaded.append(values.get("href", ""))
        self.loaded += [
            value for name, value in values.items() if (tag, name) in _LOADED
        ]


def broken_links(folder: Path, base: str = "/") -> Iterator[BrokenLink]:
    """Yield each link of the pages in `folder` that has no target there.

    `base` is the path at which the folder is served, with a slash at its end. Links to
    other hosts are not followed, and nothing may be loaded from one.
    """
    folder = folder.resolve()
    pages = {path: _read(path) for path in sorted(folder.rglob("*.html"))}
    files = {*folder.rglob("*")}
    for path, page in pages.items():
        if _FENCE in path.read_text(encoding="utf-8"):
            yield BrokenLink(path, _FENCE, "a block of code is not recognised as one")
        for target in page.loaded:
            if urlsplit(target).netloc:
                yield BrokenLink(path, target, "is loaded from another host")
        for target in dict.fromkeys((*page.links, *page.loaded)):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            found = _file_of(unquote(parts.path), path, folder, base)
            if found not in files:
                yield BrokenLink(path, target, "there is no such file")
            elif (
                found in pages
                and parts.fragment
                and unquote(parts.fragment) not in pages[found].anchors
            ):
                yield BrokenLink(path, target, "there is no such part of the page")


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def _file_of(target: str, page: Path, folder: Path, base: str) -> Path:
    """Return the file that the path of a link on `page` leads to."""
    if not target:
        return page
    start = folder if target.startswith(base) else page.parent
    inside = target.removeprefix(base)
    found = Path(os.path.normpath(start / inside))
    return found / "index.html" if inside.endswith("/") or found == folder else found
