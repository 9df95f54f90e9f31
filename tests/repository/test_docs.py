"""The examples in the documentation print the output that it shows."""

import importlib
import importlib.util
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import command_runs
import command_server
from cases import for_each_case
from docs_tools import docs_tool
from harpia_formats import plugins

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: All commands, the two words of some of them too.
COMMANDS = json.loads((ROOT / "tests/cli/command_line.json").read_bytes())
#: Pages outside of `docs/`.
OTHERS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "converters/README.md")
PAGES = tuple(
    str(path.relative_to(ROOT))
    for path in (*(ROOT / name for name in OTHERS), *sorted(DOCS.rglob("*.md")))
)
#: Pages whose steps another test follows: what they name is made by the steps.
FOLLOWED = {page for page in PAGES if page.startswith("docs/how-to/add-")}
#: Pages that name only what is there.
DESCRIBING = tuple(page for page in PAGES if page not in FOLLOWED)
#: Where links of the README lead: a package index shows it without the repository.
HOST = "https://github.com/harpia-formats/harpia-formats"
RAW = "https://raw.githubusercontent.com/harpia-formats/harpia-formats/main/"
_link = re.compile(r"\]\(([^)\s]+)\)|^\[[^]]+\]: (\S+)$", re.MULTILINE)
_heading = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
_fence = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_module = re.compile(r"(?<![\w.])(?:harpia_formats|harpia_converters)(?:\.\w+)+")
_path = re.compile(
    r"(?<![\w/.-])(?:harpia_formats|converters|schemas|fixtures|benchmarks|docs|tests)"
    r"/[\w@/.+-]*[\w/]"
)
_option = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")
#: The name of a file that an example writes with harpia-formats.
_output = re.compile(r"""(?: -o | --output |\boutput=")([\w.-]*\w)""")


examples = docs_tool("page_examples")


def text_of(page: str) -> str:
    """Return the text of a page."""
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder in which the fixtures lie as in the repository."""
    prepared: Path = examples.prepare(tmp_path)
    return prepared


def fast(folder: Path) -> dict[str, str]:
    """Return the environment of an example, whose commands need not import."""
    variables: dict[str, str] = examples.environment()
    if command_server.can_start(variables):
        program = folder.with_name(f"{folder.name}-commands") / "harpia-formats"
        program.parent.mkdir()
        command_server.write_program(program)
        variables["PATH"] = f"{program.parent}{os.pathsep}{variables['PATH']}"
    return variables


def texts_in(picture: str) -> list[str]:
    """Return the texts in an SVG picture, and its description."""
    return re.findall(r"<(?:text|desc) [^>]*>(.*?)<", picture)


def has_examples(page: str) -> bool:
    """Tell whether a page has a block that is run."""
    return any(block.is_run for block in examples.blocks_of(text_of(page)))


def is_tried_always(page: str) -> bool:
    """Tell whether a page is among the first that are read, or has few examples."""
    if page.startswith(("README", "docs/tutorials/")):
        return True
    count: int = sum(block.is_run for block in examples.blocks_of(text_of(page)))
    return count < 3


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[] if is_tried_always(page) else pytest.mark.long)
        for page in DESCRIBING
        if has_examples(page)
    ],
)
def test_examples_print_the_output_shown(page: str, folder: Path) -> None:
    """Each command ends with its exit code and prints what the page shows below it."""
    for result in examples.run_page(text_of(page), folder, fast(folder)):
        assert result.failures == ()
        if result.shown is not None:
            assert result.output == result.shown.text
    for picture in examples.pictures_written(text_of(page), folder):
        # Other versions of what draws it write the same words in other places.
        ours = (ROOT / page).with_name(picture.name).read_text(encoding="utf-8")
        assert texts_in(ours) == texts_in(picture.read_text(encoding="utf-8"))
    missing = {
        name
        for block in examples.blocks_of(text_of(page))
        for name in block.missing_packages
    }
    if missing:
        pytest.skip(f"not all blocks were run: {', '.join(missing)} is not installed")


def test_examples_of_two_pages_write_different_files() -> None:
    """No example stops at a file that the example of another page has written."""
    pages_by_file: dict[str, set[str]] = {}
    for page in PAGES:
        for block in examples.blocks_of(text_of(page)):
            for name in _output.findall(block.text) if block.is_run else ():
                pages_by_file.setdefault(name, set()).add(page)
    shared = {name: pages for name, pages in pages_by_file.items() if len(pages) > 1}

    assert pages_by_file
    assert shared == {}


def test_picture_shows_the_printed_text() -> None:
    """The picture of the README has the words that the program prints on a terminal."""
    picture = docs_tool("terminal_picture")
    shown = picture.text_of(picture.PICTURE.read_text(encoding="utf-8"))

    assert shown == picture.text_of(picture.current_picture())


def test_architecture_shows_the_import_contracts() -> None:
    """The picture of the packages is drawn from the contracts as they are."""
    picture = docs_tool("architecture_picture")

    assert picture.PICTURE.read_text(encoding="utf-8") == picture.current_picture()


def test_the_page_on_reliability_shows_the_results_of_the_faults() -> None:
    """It is written from the table of faults and what came out of their tests."""
    page = docs_tool("fault_page")

    assert page.PAGE.read_text(encoding="utf-8") == page.fault_page()


@for_each_case("name", docs_tool("reference_tables").PAGES)
def test_generated_pages_are_current(name: str) -> None:
    """Each page of tables is what `python docs/tools/update.py` writes."""
    page = docs_tool("reference_tables").PAGES[name]

    assert page() == (DOCS / "reference" / name).read_text(encoding="utf-8")


def test_the_stub_is_current() -> None:
    """Type checkers see the functions as the table of options has them."""
    stub = docs_tool("stub")

    assert stub.STUB.read_text(encoding="utf-8") == stub.current_stub()


@pytest.mark.parametrize("page", ["README.md", "docs/benchmarks/comparison.md"])
def test_comparison_shows_published_figures(page: str) -> None:
    """The text on other tools has the figures that the pages of benchmarks have."""
    text = text_of(page)

    assert docs_tool("comparison").with_comparison(text) == text
    assert "sourcemeta" in text


def test_the_readme_is_short() -> None:
    """Nobody reads a README that is longer than a few screens."""
    assert len(text_of("README.md").splitlines()) <= 160


def test_every_option_of_convert_is_described() -> None:
    """The page on conversion names every option of the command, and no other one."""
    known = options_in(help_of("convert")) - {"--help", "--help-all"}
    described = set(_option.findall(text_of("docs/how-to/convert.md")))

    assert known - described == set()
    assert described - known == {"--pairs", "--via"}


def options_in(shown: str) -> set[str]:
    """Return the options that a help shows; of `--[no-]x`, the one without `no-`."""
    return set(_option.findall(shown.replace("--[no-]", "--")))


def flags_in(shown: str) -> set[str]:
    """Return the options that turn off what another one turns on."""
    return {f"--no-{name}" for name in re.findall(r"--\[no-\]([a-z-]*[a-z])", shown)}


def help_of(*command: str) -> str:
    """Return the whole help page of a command, in which no option is cut off."""
    done = command_runs.run(*command, "--help-all", environment={"COLUMNS": "200"})
    return done.stdout.decode()


def test_every_option_exists() -> None:
    """No page shows a command with an option that the command does not have."""
    options: dict[str, set[str]] = {}
    unknown = []
    for page in DESCRIBING:
        for line in commands_in(page):
            words = re.findall(r"[a-z]+", line.split("harpia-formats ")[1])
            command = " ".join(words[: 2 if " ".join(words[:2]) in COMMANDS else 1])
            if command not in options:
                shown = help_of(*command.split())
                options[command] = options_in(shown) | flags_in(shown)
            # A mistake that a page shows ends with exit code 2.
            given = [] if "# exit 2" in line else _option.findall(line)
            unknown += [
                (page, line, option)
                for option in given
                if option not in options[command]
            ]

    assert unknown == []


def commands_in(page: str) -> Iterator[str]:
    """Yield each line of a shell block that is one command of ours."""
    for block in examples.blocks_of(text_of(page)):
        if block.language == "sh":
            for line in block.text.splitlines():
                if line.startswith("harpia-formats "):
                    yield line.split(" | ")[0].split("  #")[0]


def links_of(page: str) -> list[str]:
    """Return the targets of all links of a page."""
    found = _link.findall(_fence.sub("", text_of(page)))
    return [inline or definition for inline, definition in found]


def targets(page: str) -> Iterator[tuple[str, Path, str]]:
    """Yield each link of a page into the repository: the link, its file, its anchor."""
    for link in links_of(page):
        path, _, anchor = link.partition("#")
        if path.startswith((f"{HOST}/blob/main/", f"{HOST}/tree/main/", RAW)):
            inside = path.removeprefix(RAW).removeprefix(HOST)
            inside = re.sub(r"^/(?:blob|tree)/main/", "", inside)
            yield link, ROOT / inside, anchor
        elif not path.startswith(("https://", "mailto:")):
            file = (ROOT / page).parent / path if path else ROOT / page
            yield link, file.resolve(), anchor


def anchors_of(path: Path) -> set[str]:
    """Return the anchors of a Markdown page, as GitHub makes them of its headings."""
    headings = _heading.findall(_fence.sub("", path.read_text(encoding="utf-8")))
    return {
        re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
        for heading in headings
    }


@for_each_case("name", plugins.__all__)
def test_names_for_extensions_are_described(name: str) -> None:
    """The text of a page on extensions, not only its code, has each name for them."""
    texts = [_fence.sub("", text_of(page)) for page in sorted(FOLLOWED)]

    assert any(re.search(rf"`{name}\b", text) for text in texts)


@for_each_case("page", [*PAGES, "CHANGELOG.md"])
def test_links_lead_somewhere(page: str) -> None:
    """Each link to a file of the repository, and to a part of a page, has a target."""
    broken = [
        link
        for link, path, anchor in targets(page)
        if not path.exists()
        or (anchor and path.suffix == ".md" and anchor not in anchors_of(path))
    ]

    assert broken == []


def test_links_of_the_readme_are_absolute() -> None:
    """The README's links work where only its text is shown, as on a package index."""
    links = links_of("README.md")

    assert [link for link in links if not link.startswith(("https://", "#"))] == []


def test_index_has_every_page() -> None:
    """The index leads to each page of the documentation."""
    linked = {path for _, path, _ in targets("docs/index.md")}
    pages = set(DOCS.rglob("*.md")) - {DOCS / "index.md"}

    assert pages - linked == set()


@for_each_case("page", PAGES)
def test_pages_begin_with_their_purpose(page: str) -> None:
    """Below its title each page has a paragraph, before any heading, table or code."""
    text = re.sub(r"^<!--.*?-->\n+", "", text_of(page), flags=re.DOTALL)
    title, first = text.split("\n\n", 2)[:2]

    assert title.startswith("# ")
    assert first[0].isalpha() or first[0] in "`*["


@for_each_case("page", DESCRIBING)
def test_names_of_modules_exist(page: str) -> None:
    """Each dotted name of ours in a page is a module, or something in one."""
    missing = [name for name in _module.findall(text_of(page)) if not is_there(name)]

    assert missing == []


def is_there(name: str) -> bool:
    """Tell whether a dotted name is a module, or something that a module holds."""
    parent, _, last = name.rpartition(".")
    try:
        if importlib.util.find_spec(name) is not None:
            return True
    except ModuleNotFoundError:  # the parent is no package
        pass
    return hasattr(importlib.import_module(parent), last)


@for_each_case("page", DESCRIBING)
def test_paths_exist(page: str) -> None:
    """Each path below a folder of the repository that a page names is there.

    `ID` stands for the id of any format.
    """
    text = re.sub(r"https?://\S+", "", text_of(page))
    folders = (ROOT, (ROOT / page).parent)
    missing = [
        path
        for path in _path.findall(text)
        if "/ID" not in path and not any((each / path).exists() for each in folders)
    ]

    assert missing == []


def test_architecture_names_every_package() -> None:
    """The page on the architecture says what each package of the hub does."""
    folder = ROOT / "harpia_formats"
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    described = set(re.findall(r"`(\w+)`", text_of("docs/explanation/architecture.md")))

    assert packages - described == set()
