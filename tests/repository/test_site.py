"""The pages of the documentation site, without the program that builds them."""

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from docs_tools import docs_tool
from harpia_formats import validate
from harpia_formats.reporters import REPORTERS, Options
from known_formats import RULES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: What builds the site of all releases.
SITE = ROOT / ".ci" / "site"


site_pages = docs_tool("site_pages")
site_links = docs_tool("site_links")
site_search = docs_tool("site_search")
build_site = docs_tool("build_site")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Return the text of each page of the site by its path."""
    return {str(name): text for name, text in site_pages.site_pages().items()}


def test_every_document_is_a_page_of_the_site(pages: dict[str, str]) -> None:
    """The site has each page of `docs/`, and opens with the README."""
    found = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}

    assert found - set(pages) == set()
    assert pages["index.md"].startswith("# harpia-formats\n")
    assert pages["documents.md"].startswith("# Documents\n")


def test_every_rule_has_a_page_that_the_table_of_rules_leads_to(
    pages: dict[str, str],
) -> None:
    """A rule's page has its summary, schema and examples, and a link in the table."""
    helps = help_pages([*RULES])
    for code, rule in RULES.items():
        page = pages[f"reference/rules/{code}.md"]

        assert page.startswith(f"# {code} {rule.name}\n")
        assert f"**{rule.summary}**" in page
        blocks = 2 + bool(rule.companion) + isinstance(rule.validated_as, dict)
        assert page.count("~~~~") == 2 * blocks * rule.has_example
        assert f"[{code}](rules/{code}.md)" in pages["reference/rules.md"]
        latest = f"{build_site.URL}{build_site.LATEST}/reference/rules/{code}.html"
        assert helps.get(code) == latest


def help_pages(codes: list[str]) -> dict[str, str]:
    """Return where a report in SARIF says that each rule is explained."""
    report = validate(b"{", schema=True)
    groups = tuple(replace(report.groups[0], code=code) for code in codes)
    broken, written = replace(report, groups=groups), list[str]()
    REPORTERS["sarif"].write((), lambda: broken, written.append, Options())
    (run,) = json.loads("".join(written))["runs"]
    return {rule["id"]: rule["helpUri"] for rule in run["tool"]["driver"]["rules"]}


@pytest.mark.parametrize(
    ("code", "has_page"), [("J101", True), ("AB101", False), ("AB01", False)]
)
def test_codes_of_plug_ins_have_no_page(code: str, *, has_page: bool) -> None:
    """A report in Markdown leads to the pages of rules of ours, and to no others."""
    report = validate(b"{", schema=True)
    broken = replace(report, groups=(replace(report.groups[0], code=code),))
    written: list[str] = []
    REPORTERS["markdown"].write((), lambda: broken, written.append, Options())

    assert code in "".join(written)
    assert (f"/{code}.html" in "".join(written)) is has_page


def test_every_function_has_its_docstring_in_the_site(pages: dict[str, str]) -> None:
    """The Python reference names each public function, type and error once."""
    import harpia_formats  # noqa: PLC0415 - what it holds is the subject of this test

    made = [
        text for name, text in pages.items() if name.startswith("reference/python/")
    ]
    for name in harpia_formats.__all__:
        found = [text for text in made if f".{name}\n" in text]

        assert found, name


def entries(menu: list[Any]) -> list[str]:
    """Return the pages of a menu and of the menus in it."""
    found: list[str] = []
    for entry in menu:
        for target in entry.values():
            found += [target] if isinstance(target, str) else entries(target)
    return found


def test_the_menu_has_every_page_once(pages: dict[str, str]) -> None:
    """Each page is in the menu, but for those of rules, which their table leads to."""
    menu = entries(site_pages.navigation())
    rules = {name for name in pages if name.startswith("reference/rules/")}

    assert sorted(menu) == sorted(set(pages) - rules)


def test_links_that_leave_the_documents_lead_to_the_repository() -> None:
    """A link to a file outside of `docs/` becomes one to the repository; code stays.

    Words after the language of a block, which are for the tests, are left out.
    """
    page = DOCS / "how-to" / "convert.md"
    text = (
        "[a](../../LICENSE) [b](score.md#x) [c](#y)\n```sh x\n[d](../../LICENSE)\n```\n"
    )

    found = site_pages.with_site_links(text, page)

    assert found == (
        f"[a]({site_pages.REPOSITORY}/LICENSE) [b](score.md#x) [c](#y)\n"
        "```sh\n[d](../../LICENSE)\n```\n"
    )


def test_every_question_to_the_search_names_a_page(pages: dict[str, str]) -> None:
    """The pages that a search has to find are there, and weigh no less than others."""
    for page in site_search.QUESTIONS.values():
        assert page.replace(".html", ".md") in pages
        assert site_search.weight_of(page) >= 1
    assert site_search.with_weight("# X201", "reference/rules/X201.md").startswith(
        "---\nsearch:\n  boost: 0.3\n---\n\n# X201"
    )


def test_a_page_that_the_search_does_not_find_is_named(tmp_path: Path) -> None:
    """A question whose page is not among the first is reported with the first ones."""
    pytest.importorskip("lunr")
    documents = [
        {"location": name, "title": title, "text": "<p>NeMo</p>", "boost": boost}
        for name, title, boost in (
            ("how-to/convert.html", "Convert", 3),
            ("how-to/convert.html#nemo", "Convert to NeMo", 3),
            ("reference/rules/X101.html", "X101 duplicate ids", 0.3),
        )
    ]
    settings = {"fields": {"title": {"boost": 1000.0}}}
    index = tmp_path / "search" / "search_index.json"
    index.parent.mkdir()
    index.write_text(json.dumps({"config": settings, "docs": documents}))

    found = list(site_search.unanswered(tmp_path))

    assert not any("how do I convert" in line for line in found)
    assert any(
        line.startswith("search for 'duplicate ids': how-to/validate.html is not among")
        for line in found
    )


def test_broken_links_of_a_site_are_found(tmp_path: Path) -> None:
    """A missing page, a missing part of a page and a foreign resource are errors."""
    (tmp_path / "a.html").write_text(
        '<h1 id="top">a</h1><a href="b.html">b</a><a href="a.html#top">top</a>'
        '<a href="/base/a.html#no">no</a><a href="https://example.org/">out</a>'
        '<script src="https://example.org/x.js"></script><img src="c%20d.png"><p>```'
    )
    (tmp_path / "c d.png").write_bytes(b"")

    found = list(site_links.broken_links(tmp_path, "/base/"))

    assert [(each.target, each.reason) for each in found] == [
        ("```", "a block of code is not recognised as one"),
        ("https://example.org/x.js", "is loaded from another host"),
        ("b.html", "there is no such file"),
        ("/base/a.html#no", "there is no such part of the page"),
    ]


def test_a_new_version_becomes_the_one_that_a_site_opens_with(tmp_path: Path) -> None:
    """The list of versions has the newest first, which alone is called latest."""
    for version in ("0.1.0", "0.2.0"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "index.html").write_text(version)
        build_site.add_version(tmp_path, version)

    assert [
        (each["version"], each["aliases"])
        for each in build_site.json.loads((tmp_path / "versions.json").read_text())
    ] == [("0.2.0", ["latest"]), ("0.1.0", [])]
    assert "latest/index.html" in (tmp_path / "index.html").read_text()
    assert (tmp_path / "latest" / "index.html").read_text() == "0.2.0"


@pytest.mark.skipif(not SITE.is_file(), reason="a source distribution has no .ci")
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_site_has_the_last_release_of_each_minor_version(tmp_path: Path) -> None:
    """Versions come in their order, and a pre-release is no version of the site."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(SITE, tmp_path / ".ci")
    python = tmp_path / "programs" / "python"
    python.parent.mkdir()
    python.write_text('#!/bin/sh\necho "$5 $(git describe --tags --exact-match)"\n')
    python.chmod(0o755)
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"

    def output_of(*command: str) -> str:
        return subprocess.run(  # noqa: S603 - the commands are ours
            command,
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            check=True,
            text=True,
        ).stdout

    output_of("git", "init", "-q")
    for tag in ("v0.1.0", "v0.10.0", "v0.2.0", "v0.2.1", "v0.11.0rc1", "v0.2.1rc1"):
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        output_of("git", *identity, "commit", "-q", "--allow-empty", "-m", tag)
        output_of("git", "tag", tag)

    built = output_of("bash", ".ci/site", str(tmp_path / "site"))
    assert built.splitlines() == ["0.1 v0.1.0", "0.2 v0.2.1", "0.10 v0.10.0"]
