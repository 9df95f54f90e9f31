"""The pages of the documentation site: those of `docs/`, and pages made of the program.

The site opens with the README. A page for each rule comes from the table of rules, and
the reference of the Python package from its docstrings. The order of the pages is that
of `docs/index.md`.
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from inspect import isfunction
from pathlib import Path, PurePosixPath
from typing import Any

import harpia_formats
from harpia_formats import plugins
from harpia_formats.api import testing
from harpia_formats.formats.registry import all_rules
from harpia_formats.formats.rules import Rule

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: Where links lead that leave the documentation.
REPOSITORY = "https://github.com/harpia-formats/harpia-formats/blob/main"
#: What the links of the README to the documentation and its pictures start with.
_of_readme = re.compile(
    r"https://(?:github\.com/harpia-formats/harpia-formats/blob"
    r"|raw\.githubusercontent\.com/harpia-formats/harpia-formats)/main/docs/"
)
#: The page that lists all documents; the site opens with the README.
DOCUMENTS = PurePosixPath("documents.md")
#: What of `docs/` is a part of the site.
SUFFIXES = {".md", ".svg", ".png"}
#: The folders of the pages that are made for the site only.
RULES, PYTHON = PurePosixPath("reference/rules"), PurePosixPath("reference/python")
_link = re.compile(r"(\]\(|^\[[^]\n]+\]: )([^)\s]+)", re.MULTILINE)
_code = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
#: Words after the language of a block are for the tests: MkDocs knows no such words.
_words = re.compile(r"^( *```\w+) [^\n]*$", re.MULTILINE)
_item = re.compile(r"\[[^]]+\]\(([^)#\s]+\.md)\)")
_heading = re.compile(r"^# (?:Tutorial: |How to |Benchmark of )?(.+)$", re.MULTILINE)
_rule_row = re.compile(r"^\| ([A-Z]+\d{3}) \| `", re.MULTILINE)
#: A control character in an example is shown as its Unicode picture.
_PICTURES = {code: 0x2400 + code for code in range(0x20) if code != ord("\n")}


def site_pages() -> dict[PurePosixPath, str]:
    """Return the text of each page of the site by its path in the site."""
    pages = {
        PurePosixPath(path.relative_to(DOCS).as_posix()): path
        for path in sorted(DOCS.rglob("*.md"))
    }
    texts = {
        name: with_site_links(path.read_text(encoding="utf-8"), path)
        for name, path in pages.items()
    }
    home = PurePosixPath("index.md")
    texts[DOCUMENTS] = texts[home]
    texts[home] = site_readme()
    rules = all_rules()
    table = PurePosixPath("reference/rules.md")
    texts[table] = _rule_row.sub(r"| [\1](rules/\1.md) | `", texts[table])
    for code, rule in rules.items():
        texts[RULES / f"{code}.md"] = rule_page(rule)
    for name, text in python_pages().items():
        texts[PYTHON / name] = text
    return texts


def site_files() -> Iterator[Path]:
    """Yield the files of `docs/` that pages show, such as pictures."""
    for path in sorted(DOCS.rglob("*")):
        if path.suffix in SUFFIXES - {".md"}:
            yield path


def site_readme() -> str:
    """Return the README with links to the pages of the site."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    parts = _code.split(_words.sub(r"\1", text))
    parts[::2] = [_of_readme.sub("", part) for part in parts[::2]]
    return (
        "".join(parts)
        .replace("](index.md)", f"]({DOCUMENTS})")
        .replace("]: index.md", f"]: {DOCUMENTS}")
    )


def with_site_links(text: str, page: Path) -> str:
    """Return the text of `page` with links that leave `docs/` to the repository."""

    def link(match: re.Match[str]) -> str:
        start, target = match.groups()
        path, hash_, anchor = target.partition("#")
        if "://" in target or not path:
            return match[0]
        found = Path(os.path.normpath(page.parent / path))
        if found.is_relative_to(DOCS) and found.suffix in SUFFIXES:
            return match[0]
        inside = found.relative_to(ROOT).as_posix()
        return f"{start}{REPOSITORY}/{inside}{hash_}{anchor}"

    parts = _code.split(_words.sub(r"\1", text))
    # Every second part is a block of code.
    parts[::2] = [_link.sub(link, part) for part in parts[::2]]
    return "".join(parts)


def rule_page(rule: Rule) -> str:
    """Return the page of one rule: what it demands, why, and its examples."""
    checked = "with `--lint` or `--select`" if rule.lint else "always"
    lines = [
        f"# {rule.code} {rule.name}",
        "",
        f"**{rule.summary}**",
        "",
        f"Severity: {rule.severity.value}. Checked: {checked}.",
        f"Reported by: `harpia-formats {rule.command}`.",
        "",
        _escaped(rule.explanation),
        "",
    ]
    if rule.has_example:
        lines += _examples(rule)
    lines += [
        f"`--ignore {rule.code}` leaves it out of a run of `validate`, and",
        "[settings](../settings.md) out of all runs. [All rules](../rules.md).",
        "",
    ]
    return "\n".join(lines)


def _examples(rule: Rule) -> Iterator[str]:
    """Yield the lines of the examples of a rule, with what they are checked by."""
    name = f" The file is called `{rule.file_name}`." if rule.file_name else ""
    by = rule.validated_as
    if rule.arguments:
        yield f"The example needs `{' '.join(rule.arguments)}`.{name}"
    elif isinstance(by, str) and by:
        yield f"The example is a file of the format `{by}`.{name}"
    elif name:
        yield name.strip()
    yield ""
    if isinstance(by, dict):
        yield from ("## Schema", "", *_block(json.dumps(by, indent=2).encode()), "")
    for title, example in (("Bad", rule.bad), ("Good", rule.good)):
        yield from (f"## {title}", "", *_block(example), "")
    if rule.companion:
        yield from ("## Checked against", "", *_block(rule.companion), "")


def _block(example: bytes) -> Iterator[str]:
    """Yield an example as a block of code that no example can close."""
    text = example.decode("utf-8", "backslashreplace").removesuffix("\n")
    yield "~~~~text"
    yield from text.translate(_PICTURES).split("\n")
    yield "~~~~"


def _escaped(text: str) -> str:
    """Return plain text as Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", text)


def python_pages() -> dict[str, str]:
    """Return the pages of the Python reference by their file names."""
    members = {name: getattr(harpia_formats, name) for name in harpia_formats.__all__}
    functions = [name for name, each in members.items() if not isinstance(each, type)]
    classes = {name: each for name, each in members.items() if isinstance(each, type)}
    errors = {
        name: each for name, each in classes.items() if issubclass(each, Exception)
    }
    types = {name: each for name, each in classes.items() if name not in errors}
    return {
        "functions.md": _python_page(
            "Functions", "The functions of `harpia_formats`.", functions
        ),
        "types.md": _python_page(
            "Results and records",
            "What the functions of `harpia_formats` take and return.",
            map(_defined_at, types.values()),
        ),
        "errors.md": _python_page(
            "Exceptions",
            "What the functions of `harpia_formats` raise.",
            map(_defined_at, errors.values()),
        ),
        "plugins.md": _python_page(
            "For extensions",
            "The names of `harpia_formats.plugins`, which stay.",
            _defined_in(plugins),
        ),
        "testing.md": _python_page(
            "For tests",
            "The names of `harpia_formats.api.testing`.",
            _defined_in(testing),
        ),
    }


def _python_page(title: str, purpose: str, names: Iterable[str]) -> str:
    """Return a page with the documentation of each name."""
    found = [name if "." in name else f"harpia_formats.{name}" for name in names]
    blocks = "".join(f"::: {name}\n\n" for name in dict.fromkeys(found))
    return f"# {title}\n\n{purpose}\n\n{blocks}"


def _defined_in(module: Any) -> Iterator[str]:
    """Yield where each public class and function of a module is defined."""
    for name in module.__all__:
        found = getattr(module, name)
        is_ours = getattr(found, "__module__", "").startswith("harpia_formats")
        if is_ours and (isinstance(found, type) or isfunction(found)):
            yield _defined_at(found)


def _defined_at(found: Any) -> str:
    """Return the dotted name under which a class or function is defined."""
    return f"{found.__module__}.{found.__qualname__}"


def navigation() -> list[Any]:
    """Return the menu of the site: the sections of `docs/index.md` and their pages."""
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    menu: list[Any] = [{"Home": "index.md"}, {"All documents": str(DOCUMENTS)}]
    for section in text.split("\n## ")[1:]:
        title, body = section.split("\n", 1)
        pages: list[Any] = []
        formats: list[Any] = []
        for target in _item.findall(" ".join(body.split())):
            of_format = target.startswith("reference/formats/")
            if not target.startswith(".."):
                title_ = _title((DOCS / target).read_text(encoding="utf-8"))
                (formats if of_format else pages).append({title_: target})
        if formats:
            pages.append({"Formats": formats})
        if title == "Reference":
            made = [
                {_title(text): str(PYTHON / n)} for n, text in python_pages().items()
            ]
            pages.append({"Python": made})
        if pages:
            menu.append({title: pages})
    return menu


def _title(page: str) -> str:
    """Return the title of a page, such as "Convert" of "# Tutorial: convert"."""
    match = _heading.search(page)
    if match is None:
        raise ValueError(f"a page has no title: {page[:80]!r}")
    return match[1][0].upper() + match[1][1:].replace("`", "")
