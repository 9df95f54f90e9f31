"""HTML reports in a browser: what is loaded, how wide, which colours, which keys."""

import importlib.util
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import harpia_formats
from contrast import CONTRAST
from generated_reports import page_of
from json_lines import jsonl

_PLACE = Path(__file__).parents[3] / "benchmarks" / "harness" / "chromium.py"
_spec = importlib.util.spec_from_file_location("chromium", _PLACE)
assert _spec is not None
assert _spec.loader is not None
_chromium = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_chromium)

pytestmark = pytest.mark.skipif(
    _chromium.program() is None, reason="Chromium is not installed"
)
_SCHEMA = {"properties": {"score": {"type": "number"}}, "required": ["id"]}
#: Opens everything that can be opened.
_OPEN_ALL = "document.querySelectorAll('details').forEach(one => one.open = true)"
_WIDTH = "document.documentElement.scrollWidth"
#: The width of the narrowest cell with a long text.
_NARROWEST = (
    "Math.min(...[...document.querySelectorAll('.data tbody :is(td, th):not(.number)')]"
    ".filter((one) => one.textContent.length > 20).map((one) => one.offsetWidth))"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Yield one browser for all tests."""
    with _chromium.Chromium() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the pages of a validation and a comparison, by their names."""
    folder = tmp_path_factory.mktemp("pages")
    bad = folder / f"a-file-{'with-a-long-name-' * 8}.jsonl"
    row = {"id": "r", "score": "x" * 300, "long": "word" * 200}
    bad.write_bytes(jsonl(*({**row, "id": at} for at in range(3))))
    bad.write_text(bad.read_text() + '{"score": null}\n{"score" 1}\n')
    report = harpia_formats.validate(bad, schema=_SCHEMA)
    sides = []
    for name, right in (("a.jsonl", 12), ("b.jsonl", 7)):
        rows = [
            {
                "id": at,
                "prompt": f"q{at}",
                "references": ["yes"],
                "outputs": [{"text": "yes" if at < right else "no"}],
            }
            for at in range(16)
        ]
        sides.append(folder / name)
        sides[-1].write_bytes(jsonl(*rows))
    compared = harpia_formats.compare_scores(*sides, metrics=("em", "f1"))
    made = {}
    for name, result in (("validation", report), ("comparison", compared)):
        made[name] = folder / f"{name}.html"
        made[name].write_text(
            page_of(result, command=f"harpia-formats {name} {bad}"), "utf-8"
        )
    return made


@pytest.mark.parametrize("name", ["validation", "comparison"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_page_loads_nothing_fits_and_is_readable(
    browser: Any, pages: dict[str, Path], name: str, *, dark: bool
) -> None:
    """No request, no message, no sideways scrolling at 360 px, contrast of 4.5."""
    browser.show(360, 800, dark=dark)
    milliseconds = browser.open(pages[name])
    browser.value(_OPEN_ALL)

    assert browser.requests() == [pages[name].as_uri()]
    assert browser.complaints() == []
    assert browser.value(_WIDTH) == 360
    assert browser.value(_NARROWEST) >= 192
    assert milliseconds < 1000
    background = browser.value("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(15, 20, 25)" if dark else "rgb(255, 255, 255)")
    ratio, text = browser.value(CONTRAST)
    assert ratio >= 4.5, text


def test_without_scripts_everything_is_there(
    browser: Any, pages: dict[str, Path]
) -> None:
    """The policy allows the page's script; without it only the tools are missing."""
    browser.show(1000)
    browser.open(pages["validation"])
    count = "document.querySelectorAll('.tools button').length"
    assert browser.value(count) == 2
    texts = "document.querySelector('main').innerText"
    with_scripts = browser.value(texts)
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(pages["validation"])
        assert browser.value(count) == 0
        for line in browser.value(texts).splitlines():
            assert line in with_scripts
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_the_filter_leaves_the_fields_that_match(
    browser: Any, pages: dict[str, Path]
) -> None:
    """It looks for words in the rule, the field and the examples, and says how many."""
    browser.open(pages["validation"])
    browser.value(
        "(() => { const input = document.querySelector('.tools input');"
        "input.value = 'missing-key'; input.dispatchEvent(new Event('input')) })()"
    )
    shown = "document.querySelectorAll('.field:not([hidden])').length"
    assert browser.value(shown) == 1
    status = browser.value("document.querySelector('.tools [role=status]').textContent")
    assert status == "1 of 4"


@pytest.mark.parametrize(
    ("choice", "value"),
    [
        ("All severities", "error"),
        ("All rules", "S101 missing-key"),
        ("All files", "b.jsonl"),
    ],
)
def test_findings_are_filtered_by_choice(
    browser: Any, tmp_path: Path, choice: str, value: str
) -> None:
    """A severity, a rule or a file leaves its findings; a hidden rule has none left."""
    (tmp_path / "a.jsonl").write_text('{"id": 1, "score": "x"}\n{"id": 1, "id": 2}\n')
    (tmp_path / "b.jsonl").write_text('{"score": 1}\n')
    report = harpia_formats.validate(
        tmp_path, schema=_SCHEMA, severity={"S101": "warning"}
    )
    page = tmp_path / "page.html"
    page.write_text(page_of(report), "utf-8")
    browser.open(page)
    fields = "[...document.querySelectorAll('.field')].length"
    shown = "[...document.querySelectorAll('.rule:not([hidden]) .field:not([hidden])')]"
    value = str(tmp_path / value) if value == "b.jsonl" else value

    found = browser.value(
        f"(() => {{ const one = document.querySelector('[aria-label=\"{choice}\"]');"
        f"one.value = {json.dumps(value)}; one.dispatchEvent(new Event('change'));"
        f"return [{fields}, {shown}.length, one.value] }})()"
    )

    assert found[2] == value
    assert 0 < found[1] < found[0]


def test_keys_reach_and_open_everything(browser: Any, pages: dict[str, Path]) -> None:
    """The first key press reaches the skip link; Enter closes and opens a field."""
    browser.open(pages["validation"])

    def press(key: str, text: str = "") -> None:
        for kind in ("keyDown", "keyUp"):
            code = {"Tab": 9, "Enter": 13}[key]
            browser.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                text=text if kind == "keyDown" else "",
                windowsVirtualKeyCode=code,
            )

    press("Tab")
    assert browser.value("document.activeElement.className") == "skip"
    assert browser.value("getComputedStyle(document.activeElement).left") == "16px"
    browser.value("document.querySelector('.field summary').focus()")
    is_open = "document.querySelector('.field').open"
    assert browser.value(is_open) is True
    press("Enter", "\r")
    assert browser.value(is_open) is False


def test_a_screen_reader_finds_landmarks_and_named_tables(
    browser: Any, pages: dict[str, Path]
) -> None:
    """The tree for screen readers has a main landmark, and a name for each table."""
    browser.open(pages["comparison"])
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    named: dict[str, list[str]] = {}
    for node in nodes:
        if not node.get("ignored"):
            name = node.get("name", {}).get("value", "")
            named.setdefault(node["role"]["value"], []).append(name)
    assert "main" in named
    assert "navigation" in named
    assert "a.jsonl \u2212 b.jsonl" in named["region"]
    assert all(named["region"])
    assert {"a", "b", "em\u00a0\u2191"} <= {
        *named["rowheader"],
        *named["columnheader"],
    }


def test_a_print_shows_the_fields_in_light_colours(
    browser: Any, pages: dict[str, Path], tmp_path: Path
) -> None:
    """A print in dark mode is light, and has no controls."""
    browser.show(800, dark=True, media="print")
    browser.open(pages["validation"])
    background = browser.value("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(255, 255, 255)"
    tools = "getComputedStyle(document.querySelector('.tools')).display"
    assert browser.value(tools) == "none"
    browser.print_to(tmp_path / "page.pdf")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
