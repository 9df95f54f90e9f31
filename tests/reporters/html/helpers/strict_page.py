"""A strict reading of an HTML page: what is wrong with it, and what it shows."""

import re
from html.parser import HTMLParser

#: Elements without an end tag.
_VOID = {"meta", "input", "br", "hr", "img", "link"}
#: Attributes that name something to load or to go to.
_ADDRESSES = {"src", "href", "srcset", "action", "data", "poster", "xlink:href"}
#: The only pages that a page leads to: those of rules.
_RULE_PAGE = re.compile(
    r"https://harpia-formats\.github\.io/[\w/-]+/reference/rules/[A-Z]\d{3}\.html"
)
_CSS_ADDRESS = re.compile(r"url\(|@import|https?:", re.IGNORECASE)


class StrictPage(HTMLParser):
    """Reads a page; `faults` is empty if it is well-formed and loads nothing."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []
        #: The names of all elements, in their order.
        self.elements: list[str] = []
        self.ids: set[str] = set()
        #: The levels of headings, in their order.
        self.levels: list[int] = []
        self._links: list[str] = []
        self._open: list[str] = []
        self._texts: list[str] = []
        self.feed(text)
        self.close()
        self._check()

    @property
    def text(self) -> str:
        """All text outside of the style and the script."""
        return "".join(self._texts)

    def _check(self) -> None:
        if self._open:
            self.faults.append(f"not closed: {self._open}")
        self.faults += [f"no {link}" for link in self._links if link not in self.ids]
        if self.levels.count(1) != 1:
            self.faults.append(f"{self.levels.count(1)} headings of level 1")
        steps = zip(self.levels, self.levels[1:], strict=False)
        self.faults += [f"h{one} before h{two}" for one, two in steps if two > one + 1]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element with its attributes."""
        self.elements.append(tag)
        names = [name for name, _ in attrs]
        if len(set(names)) < len(names):
            self.faults.append(f"<{tag}> repeats an attribute")
        for name, value in attrs:
            self._attribute(tag, name, value or "")
        if re.fullmatch("h[1-6]", tag):
            self.levels.append(int(tag[1]))
        if tag not in _VOID:
            self._open.append(tag)

    def _attribute(self, tag: str, name: str, value: str) -> None:
        if name.startswith("on") or name == "style":
            self.faults.append(f"<{tag} {name}>")
        if name in _ADDRESSES and not (tag == "a" and _RULE_PAGE.fullmatch(value)):
            if not value.startswith("#"):
                self.faults.append(f"<{tag} {name}={value!r}>")
            self._links.append(value[1:])
        if name in {"aria-labelledby", "aria-describedby"}:
            self._links += value.split()
        if name == "id":
            if value in self.ids:
                self.faults.append(f"id {value} twice")
            self.ids.add(value)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that is closed by itself, as in SVG."""
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        """Close the element that was opened last."""
        if not self._open or self._open[-1] != tag:
            self.faults.append(f"</{tag}> closes {self._open[-1:]}")
        else:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        """Note text."""
        inside = self._open[-1] if self._open else ""
        if inside == "style":
            self.faults += _CSS_ADDRESS.findall(data)
        elif inside != "script":
            self._texts.append(data)
