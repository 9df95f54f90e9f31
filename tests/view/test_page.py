"""The page in a real browser, with the real server: by clicking and by keyboard."""

import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest

from contrast import CONTRAST
from effort import drawn, pairs
from json_lines import jsonl, jsonl_rows

pytest.importorskip("starlette", reason="the extra view is not installed")
playwright = pytest.importorskip(
    "playwright.sync_api", reason="playwright, which drives Chromium, is not installed"
)
from playwright.sync_api import Browser, Page, Route, expect  # noqa: E402 - skipped without it

_CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
    None,
)
#: The file `axe.min.js` of the npm package axe-core.
_AXE = os.environ.get("HARPIA_AXE")
pytestmark = pytest.mark.skipif(_CHROMIUM is None, reason="Chromium is not installed")
_ELEMENTS = "document.querySelectorAll('*').length"
_WIDTH = "document.documentElement.scrollWidth"
#: Elements that data would have made if it were taken for HTML.
_INJECTED = "document.querySelectorAll('body :is(script, svg, img, iframe)').length"
_LONG_CELL = drawn(250_000)
_MANY_KEYS = drawn(1_500)
_MANY_TURNS = 1_000
#: What the browser does without is what costs a process, and no page looks like.
_SAVING = ["--no-sandbox", "--disable-gpu", "--in-process-gpu"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Yield one browser for all tests."""
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=_CHROMIUM, args=_SAVING)
        yield found
        found.close()


@contextmanager
def _served(folder: Path, *arguments: str) -> Iterator[tuple[str, Any]]:
    """Run the command, and yield the first address and the process."""
    words = [sys.executable, "-m", "harpia_formats", "view", "--no-browser", *arguments]
    with subprocess.Popen(  # noqa: S603 - our own code in our own interpreter
        words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.terminate()  # in the background of a shell, Ctrl-C ends nothing
            try:
                process.communicate(timeout=30)
            finally:
                process.kill()


class Visit:
    """A visit to the page: what it asked for, and what it complained about."""

    def __init__(self, browser: Browser, address: str, **options: Any) -> None:
        """Open the page with its token."""
        options.setdefault("viewport", {"width": 1300, "height": 850})
        self.context = browser.new_context(**options)
        self.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        expect.set_options(timeout=20_000)
        self.base = re.sub(r"/\?.*", "", address)
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda one: self.requests.append(one.url))
        self.page.on("console", lambda one: self.complaints.append(one.text))
        self.page.on("pageerror", lambda one: self.complaints.append(str(one)))
        self.page.goto(address)

    def open(self, path: str) -> Page:
        """Open an address of the page, and wait until its file is read."""
        self.page.goto(self.base + path)
        expect(self.page.locator("#facts")).not_to_be_empty()
        expect(self.page.locator("#progress")).to_be_empty()
        return self.page

    def is_fine(self) -> None:
        """Assert that it asked no other host and had nothing to complain about."""
        assert [one for one in self.requests if not one.startswith(self.base)] == []
        assert self.complaints == []


@contextmanager
def _visit(browser: Browser, address: str, **options: Any) -> Iterator[Visit]:
    """Yield a visit that asks no other host and has nothing to complain about."""
    visit = Visit(browser, address, **options)
    try:
        yield visit
        visit.is_fine()
    finally:
        visit.context.close()


@contextmanager
def _again(visit: Visit) -> Iterator[Visit]:
    """Yield a visit as if it were new: a new one takes longer than most tests."""
    visit.page.set_viewport_size({"width": 1300, "height": 850})
    visit.page.emulate_media(color_scheme="light")
    visit.requests.clear()
    visit.complaints.clear()
    yield visit
    visit.is_fine()
    visit.page.unroute_all()


def _answer(number: int, model: str, *, is_right: bool) -> dict[str, Any]:
    """Return a record with one answer and its scores."""
    text = f"The sum is {number * 2 + (0 if is_right else 1)}."
    scores = [
        {
            "metric": "accuracy",
            "value": float(is_right),
            "is_correct": is_right,
            "signature": "accuracy|case:lower",
        },
        {"metric": "f1", "value": 0.9 if is_right else number % 5 / 10},
    ]
    return {
        "id": f"sum-{number}",
        "prompt": f"What is {number} plus {number}?",
        "references": [f"The sum is {number * 2}."],
        "category": ("small", "large")[number > 100],
        "outputs": [{"model": model, "text": text, "scores": scores}],
    }


def _write(path: Path, records: Sequence[Mapping[str, Any]]) -> Path:
    """Write records as lines."""
    path.write_bytes(jsonl(*records, ensure_ascii=False))
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the answers of two systems to 200 questions.

    Records 10, 20 and so on of the first do not keep to the format.
    """
    found = tmp_path_factory.mktemp("view")
    chosen = random.Random(3)  # noqa: S311 - for made-up answers
    for name, model, chance in (("a.jsonl", "atlas", 0.7), ("b.jsonl", "boreal", 0.5)):
        records = [
            _answer(at, model, is_right=chosen.random() < chance)
            for at in range(1, 201)
        ]
        for record in records[9::10] if name == "a.jsonl" else ():
            record["prompt"] += " 😀😀"  # two code units are one code point
            record["references"] = "not 😀 a list"
            record["category"] = 7
        _write(found / name, records)
    return found


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    """Yield the first address of a server with both files and notes."""
    with _served(folder, "a.jsonl", "b.jsonl", "--notes", "notes.jsonl") as (found, _):
        yield found


@pytest.fixture(scope="module")
def visit_of_all(browser: Browser, address: str) -> Iterator[Visit]:
    """Yield a visit to both files, for all tests."""
    with _visit(browser, address) as found:
        yield found


@pytest.fixture
def visit(visit_of_all: Visit) -> Iterator[Visit]:
    """Yield a visit to both files; each test opens an address of its own."""
    with _again(visit_of_all) as found:
        yield found


@pytest.fixture(scope="module")
def small_files(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Visit]:
    """Yield a visit to files with few scores, with empty names, and of no format."""
    folder = tmp_path_factory.mktemp("small")
    records = [_answer(at, "atlas", is_right=True) for at in range(1, 101)]
    for at, record in enumerate(records):
        (output,) = record["outputs"]
        output["scores"] = [{"metric": "k", "value": at % 5 / 4}]
    _write(folder / "bars.jsonl", records)
    records = [
        _answer(at, "atlas" if at % 4 else "", is_right=True) for at in range(12)
    ]
    for at, record in enumerate(records):
        record["category"] = "large" if at % 2 else ""
    _write(folder / "empty.jsonl", records)
    scores = [{"metric": "f1, 50%2C", "value": 1}]
    outputs = [{"text": "a", "scores": scores}]
    _write(folder / "comma.jsonl", [{"prompt": "q", "outputs": outputs}])
    (folder / "x.jsonl").write_text('{"alpha": 1}\n{"beta": 2}\nno json\n')
    names = ("bars.jsonl", "empty.jsonl", "comma.jsonl", "x.jsonl")
    with (
        _served(folder, *names) as (found, _),
        _visit(browser, found) as visit,
    ):
        yield visit


@pytest.fixture
def small(small_files: Visit) -> Iterator[Visit]:
    """Yield a visit to the small files; each test opens an address of its own."""
    with _again(small_files) as found:
        yield found


def _records(page: Page) -> list[int]:
    """Return the numbers of the records that the table shows, from the top."""
    rows = page.evaluate(
        "[...document.querySelectorAll('.layer .row:not([hidden], .loading)')]"
        ".map((row) => [+row.ariaRowIndex, row.firstChild.textContent])"
    )
    return [int(text.replace(",", "")) for _, text in sorted(rows)]


def _shows(page: Page, text: str) -> None:
    """Wait until the page says how many records are chosen."""
    expect(page.locator(".count")).to_have_text(text)


def _until(page: Page, check: Callable[[], bool]) -> None:
    """Wait until something holds."""
    for _ in range(200):
        if check():
            return
        page.wait_for_timeout(50)
    assert check()


def _asked(page: Page, request: str) -> Any:
    """Return what the server answers to a request of the page."""
    return page.evaluate(f"fetch('/api/{request}').then((one) => one.json())")


def test_the_address_has_no_token_after_the_first_request(
    browser: Browser, address: str
) -> None:
    """What is copied from the bar does not open the page for others."""
    with _visit(browser, address) as visit:
        assert "token" not in visit.page.url
        assert visit.page.evaluate("document.cookie") == ""


def test_the_overview_says_what_a_file_is_and_leads_to_its_rows(visit: Visit) -> None:
    """Format, counts, findings, models and scores; a click shows the records."""
    page = visit.open("/")

    expect(page.locator("#facts")).to_contain_text("record · one record in each line")
    expect(page.locator("#facts")).to_contain_text("200 records")
    expect(page.locator(".cards")).to_contain_text("not valid20")
    expect(page.locator(".facets")).to_contain_text("atlas180")
    page.locator(".histogram a[aria-label^='accuracy 0 to']").click()
    expect(page.locator(".chip")).to_contain_text("accuracy: 0 to")
    assert "metric=accuracy" in page.url
    page.go_back()
    page.locator(".rules a", has_text="S102").click()
    _shows(page, "20 records")
    assert _records(page)[:3] == [10, 20, 30]


def test_the_overview_leads_to_all_rows_that_it_counts(visit: Visit) -> None:
    """Filters that were chosen among the records leave out none of them."""
    chosen = "/?correct=yes&severity=warning&low=0.5&metric=f1"
    page = visit.open(chosen)
    page.locator(".rules a", has_text="S102").click()
    _shows(page, "20 records")
    page = visit.open(chosen)
    page.locator(".facets a", has_text="atlas").click()
    _shows(page, "180 records")


def test_tabs_lead_to_what_is_chosen_now(visit: Visit) -> None:
    """The link of a tab, opened in a new window, has the filters that are set now."""
    page = visit.open("/?view=records&correct=no")
    tab = page.get_by_role("link", name="Overview", exact=True)
    expect(tab).to_have_attribute("href", "/?view=overview&correct=no")
    page.get_by_role("button", name="Remove the filter judged: wrong").click()
    expect(tab).to_have_attribute("href", "/?view=overview")


def test_the_search_finds_text_and_patterns(visit: Visit) -> None:
    """The text of the row is looked for, with or without case, or as a pattern."""
    page = visit.open("/?view=records")
    _shows(page, "200 records")

    page.keyboard.press("/")
    page.keyboard.type("WHAT IS 77 PLUS")
    page.keyboard.press("Enter")
    _shows(page, "1 record")
    assert _records(page) == [77]
    page.get_by_label("Same case").check()
    page.get_by_role("button", name="Search").click()
    _shows(page, "0 records")
    expect(page.locator(".nothing")).to_have_text("No record matches.")
    page.get_by_label("Text in the row").fill("plus [0-9]7[?]")
    page.get_by_label("Regular expression").check()
    page.get_by_role("button", name="Search").click()
    _shows(page, "9 records")


def test_a_pattern_that_is_none_is_reported(visit: Visit) -> None:
    """The reason stands in the place of the rows."""
    page = visit.open("/?view=records&text=((&regex=1")

    expect(page.locator(".nothing.alert")).to_be_visible()
    expect(page.locator(".nothing")).not_to_have_text(re.compile("Loading"))
    visit.complaints.clear()  # Chromium reports the status of the answer


def test_a_range_without_a_score_is_refused(visit: Visit) -> None:
    """The page says what is missing, and has a button that removes the range."""
    page = visit.open("/?view=records&high=0.5")
    expect(page.locator(".nothing.alert")).to_have_text(
        "'high' chooses no rows without 'metric'"
    )
    page.get_by_role("button", name="Remove the filter (no score): any to 0.5").click()
    _shows(page, "200 records")
    visit.complaints.clear()  # Chromium reports the status of the answer


def test_filters_are_in_the_address_and_removed_one_by_one(visit: Visit) -> None:
    """A copied link shows the same rows; the way back shows those before."""
    page = visit.open("/?view=records")
    page.get_by_text("More filters").click()
    page.get_by_label("Right or wrong").select_option("no")
    expect(page.locator(".chip")).to_have_count(1)
    page.get_by_label("Category").fill("large")
    page.get_by_role("button", name="Filter", exact=True).click()
    expect(page.locator(".chip")).to_have_count(2)
    page.get_by_role("columnheader", name="f1").get_by_role("button").click()
    expect(page.locator("[aria-sort=ascending]")).to_contain_text("f1")
    _until(page, lambda: len(_records(page)) > 3)
    shown = _records(page)
    assert shown != sorted(shown)

    page.get_by_role("button", name="Copy link").click()
    link = page.evaluate("navigator.clipboard.readText()")
    other = visit.context.new_page()
    other.goto(link)
    _until(other, lambda: _records(other)[:5] == shown[:5])
    other.close()
    page.get_by_role("button", name="Remove the filter category: large").click()
    expect(page.locator(".chip")).to_have_count(1)
    page.go_back()
    expect(page.locator(".chip")).to_have_count(2)
    page.get_by_role("button", name="Remove all filters").click()
    _shows(page, "200 records")


@pytest.mark.parametrize("text", ["no", "unknown", "constructor"])
def test_filters_are_named_by_the_texts_that_are_searched(
    visit: Visit, text: str
) -> None:
    """A text that is also the value of another filter stays what it is."""
    page = visit.open(f"/?view=records&text={text}&category={text}&correct=no")
    expect(page.locator(".chip [dir=auto]")).to_have_text(
        [f"text: {text}", f"category: {text}", "judged: wrong"]
    )


@pytest.mark.parametrize("place", [0, pytest.param(10, marks=pytest.mark.long), 19])
def test_bars_lead_to_their_rows(small: Visit, place: int) -> None:
    """A bar shows as many records as it says, also on the limit of the next one."""
    page = small.open("/")
    bar = page.locator(".histogram a").nth(place)
    expect(bar).to_have_attribute("title", re.compile(": 20 records$"))
    bar.click()
    _shows(page, "20 records")
    expect(page.locator(".chip")).to_have_count(1)


@pytest.mark.parametrize(
    ("title", "key", "count"), [("Models", "model", 3), ("Categories", "category", 6)]
)
def test_empty_names_are_filters(
    small: Visit, title: str, key: str, count: int
) -> None:
    """The bar of an empty category or model shows its records, and can be removed."""
    page = small.open("/?file=1")
    part = page.locator("section.facet", has=page.get_by_text(title, exact=True))
    part.get_by_role("link", name="(empty)").click()
    _shows(page, f"{count} records")
    page.get_by_text("More filters").click()
    page.get_by_label("Right or wrong").select_option("yes")
    expect(page.locator(".chip")).to_have_count(2)
    _shows(page, f"{count} records")
    page.get_by_role("button", name=f"Remove the filter {key}: (empty)").click()
    _shows(page, "12 records")


@pytest.mark.long
def test_a_field_by_its_path_is_a_filter(visit: Visit) -> None:
    """A value of a field, however deep, chooses rows."""
    page = visit.open("/?view=records")
    page.get_by_text("More filters").click()
    page.get_by_label("Field, such as metadata.topic").fill("id")
    page.get_by_label("has the value").fill("sum-5")
    page.keyboard.press("Enter")

    _shows(page, "1 record")
    assert _records(page) == [5]


def test_columns_are_chosen(visit: Visit) -> None:
    """The choice is kept in the address."""
    page = visit.open("/?view=records")
    page.locator(".columns summary").click()
    page.locator(".menu").get_by_label("Reference").uncheck()
    expect(page.get_by_role("columnheader", name="Reference")).to_have_count(0)
    page.reload()
    expect(page.get_by_role("columnheader", name="Prompt")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Reference")).to_have_count(0)


def test_columns_of_scores_with_commas_are_chosen(small: Visit) -> None:
    """A comma and a percent sign in the name of a score part no columns."""
    page = small.open("/?view=records&file=2")
    page.locator(".columns summary").click()
    page.locator(".menu").get_by_label("Reference").uncheck()
    expect(page.get_by_role("columnheader", name="Reference")).to_have_count(0)
    expect(page.get_by_role("columnheader", name="f1, 50%2C")).to_be_visible()
    page.reload()
    expect(page.get_by_role("columnheader", name="f1, 50%2C")).to_be_visible()


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        pytest.param("record", "155", marks=pytest.mark.long),
        ("line", "155"),
        ("id", "sum-155"),
    ],
)
def test_one_jumps_to_a_record(visit: Visit, kind: str, text: str) -> None:
    """By its number, its line or its id; the table moves there, too."""
    page = visit.open("/?view=records")
    _shows(page, "200 records")
    page.get_by_label("Jump to what").select_option(kind)
    page.locator("h1").click()
    page.keyboard.press("g")
    page.keyboard.type(text)
    page.keyboard.press("Enter")

    expect(page.locator("aside h2")).to_contain_text("Record 155")
    _until(page, lambda: 155 in _records(page))
    expect(page.locator("[aria-selected=true]")).to_contain_text("sum-155")


def test_keys_walk_through_records_and_findings(visit: Visit) -> None:
    """Enter opens, j and k follow the filter, n and p mark findings, Escape closes."""
    page = visit.open("/?view=records&rule=S102")
    _shows(page, "20 records")
    page.locator(".grid").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    title = page.locator("aside h2")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(title).to_have_text("Record 30")
    page.keyboard.press("k")
    expect(title).to_have_text("Record 20")
    expect(page.locator("aside")).to_contain_text("2 of 20 chosen rows")

    page.keyboard.press("n")
    current = page.locator(".findings .current")
    expect(current).to_contain_text("references must be an array")
    expect(page.locator("mark.current")).to_have_text('1"not 😀 a list"')
    page.keyboard.press("n")
    expect(page.locator("mark.current")).to_have_text("27")
    page.keyboard.press("p")
    expect(current).to_contain_text("references must be an array")
    page.keyboard.press("Escape")
    expect(page.locator("aside")).to_be_hidden()
    assert page.evaluate("document.activeElement.className") == "grid"


@pytest.mark.long
def test_enter_opens_the_marked_record_wherever_the_focus_was(visit: Visit) -> None:
    """After a click on a link, j moves to the table, and Enter opens its record."""
    page = visit.open("/")
    page.get_by_role("link", name="Records", exact=True).click()
    _shows(page, "200 records")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("aside h2")).to_have_text("Record 2sum-2")


@pytest.mark.long
def test_buttons_do_what_the_keys_do(visit: Visit) -> None:
    """A click opens a record; its buttons go on, back, to findings and out."""
    page = visit.open("/?view=records&rule=S102")
    page.locator(".layer .row", has_text="S102").first.click()
    title = page.locator("aside h2")
    expect(title).to_have_text("Record 10")
    page.get_by_role("button", name="Next", exact=True).click()
    expect(title).to_have_text("Record 20")
    page.get_by_role("button", name="Previous", exact=True).click()
    expect(title).to_have_text("Record 10")
    page.get_by_role("button", name="Next finding").click()
    expect(page.locator(".findings .current")).to_have_count(1)
    page.get_by_role("button", name="Close").click()
    expect(page.locator("aside")).to_be_hidden()


def test_a_record_shows_its_fields_and_the_other_answers(visit: Visit) -> None:
    """Prompt, references, answers with scores, and what the other system answered."""
    page = visit.open("/?view=records&open=3")
    panel = page.locator("aside")

    expect(panel).to_contain_text("What is 3 plus 3?")
    expect(panel.locator(".answer").first).to_contain_text("atlas")
    expect(panel.locator(".scores").first).to_contain_text("accuracy")
    other = panel.locator(".answer.other")
    expect(other).to_contain_text("b.jsonl")
    expect(other).to_contain_text("boreal")
    expect(panel.locator("pre.raw")).to_contain_text('"prompt": "What is 3 plus 3?"')
    panel.get_by_role("button", name="Open record 3").click()
    expect(page.locator("h1")).to_have_text("b.jsonl")


def test_an_open_record_is_asked_for_until_all_is_known(visit: Visit) -> None:
    """After a refusal, and while files are read; what is being written stays."""
    page = visit.open("/")
    found = _asked(page, "record?file=0&record=3")
    known_so_far = {**found, "others": [], "total": 7, "complete": False}
    rows = _asked(page, "rows?file=0&count=100")
    answers: list[dict[str, Any]] = [
        {"status": 409, "json": {"error": "the file is still being opened"}}
    ]
    asked: list[str] = []

    def record(route: Any) -> None:
        asked.append(route.request.url)
        route.fulfill(**answers[-1])

    def table(route: Any) -> None:
        route.fulfill(json={**rows, "complete": len(answers) == 3})

    page.route(re.compile("/api/record[?]file=0"), record)
    page.route("**/api/rows*", table)
    page = visit.open("/?view=records&open=3")
    panel = page.locator("aside")
    expect(panel.locator(".alert")).to_have_text("the file is still being opened")
    answers.append({"json": known_so_far})
    expect(panel).to_contain_text("3 of 7 chosen rows")
    note = panel.get_by_label("Text", exact=True)
    note.focus()
    page.keyboard.type("half a ")
    answers.append({"json": found})
    expect(panel.locator(".answer.other")).to_contain_text("boreal")
    expect(panel).to_contain_text("3 of 200 chosen rows")
    page.keyboard.type("thought")
    assert note.input_value() == "half a thought"
    count = len(asked)
    page.wait_for_timeout(1_000)
    assert len(asked) == count
    visit.complaints.clear()  # Chromium reports the status of the refusal


def test_the_help_names_the_keys(visit: Visit) -> None:
    """A question mark opens it, Escape closes it."""
    page = visit.open("/?view=records")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("next and previous record")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_two_systems_are_compared(visit: Visit) -> None:
    """Questions of both, those that one has right, both answers with their words."""
    page = visit.open("/")
    page.get_by_role("link", name="Compare").click()
    count = page.locator(".count")
    expect(count).to_have_text(re.compile("^180 questions of 180 in both"))
    page.locator("[name=verdict]").select_option("a-right")
    expect(count).not_to_have_text(re.compile("^180 "))
    first = page.locator(".layer .row").first
    expect(first).to_contain_text("✓")
    expect(first).to_contain_text("✗")
    first.click()
    sides = page.locator(".sides .answer")
    expect(sides.nth(0)).to_contain_text("A: atlas")
    expect(sides.nth(0)).to_contain_text("right")
    expect(sides.nth(1)).to_contain_text("wrong")
    expect(sides.nth(0).locator("ins")).to_have_count(1)
    before = page.url
    page.keyboard.press("j")
    _until(page, lambda: page.url != before)
    page.keyboard.press("Escape")
    expect(page.locator("aside")).to_be_hidden()
    page.get_by_label("Differ by more than").fill("0.95")
    page.keyboard.press("Tab")
    expect(count).to_have_text(re.compile("^[0-9]+ questions? of 180"))


def test_systems_and_scores_that_are_found_later_are_compared(visit: Visit) -> None:
    """The choices have what becomes known while the files are read."""
    page = visit.open("/")
    begun = {name: _asked(page, name) for name in ("files", "systems")}
    begun["files"]["files"][0]["scanned"]["complete"] = False
    begun["systems"].update(metrics=[], complete=False)

    def first(route: Any) -> None:
        known = begun.pop(route.request.url.rpartition("/")[2].strip("?"), None)
        if known is None:
            route.continue_()
        else:
            route.fulfill(json=known)

    page.route(re.compile("/api/(files|systems)"), first)
    page = visit.open("/?view=compare")
    scores = page.locator("[name=compared]")
    expect(scores.locator("option")).to_have_text(["accuracy", "f1"])
    expect(scores).to_have_value("accuracy")
    assert not begun


def test_the_compared_systems_stay_while_others_are_found(visit: Visit) -> None:
    """The choices get a system that is found later; what is shown and linked stays."""
    page = visit.open("/")
    begun, systems = _asked(page, "files"), _asked(page, "systems")
    begun["files"][0]["scanned"]["complete"] = False
    first, second = systems["systems"]
    later = {**first, "index": "0.1", "name": "cedar", "model": "cedar"}
    found = {**systems, "metrics": ["a", *systems["metrics"]]}
    answers = {
        "files": [begun],
        "systems": [
            {**systems, "complete": False},
            {**found, "systems": [first, later, second]},
        ],
    }

    def answer(route: Any) -> None:
        left = answers[route.request.url.rpartition("/")[2].strip("?")]
        if left:
            route.fulfill(json=left.pop(0))
        else:
            route.continue_()

    page.route(re.compile("/api/(files|systems)"), answer)
    page = visit.open("/?view=compare")
    expect(page.locator("[name=b] option")).to_have_count(3)
    expect(page.locator("[name=a]")).to_have_value("0.0")
    expect(page.locator("[name=b]")).to_have_value("1.0")
    expect(page.locator("[name=compared]")).to_have_value("accuracy")
    page.get_by_role("button", name="Copy link").click()
    link = page.evaluate("navigator.clipboard.readText()")
    assert re.sub(r".*/\?", "", link) == "view=compare&a=0.0&b=1.0&compared=accuracy"


def test_the_table_of_scores_is_that_of_the_command(visit: Visit) -> None:
    """The page shows the scores with intervals, and the command that prints them."""
    page = visit.open("/?view=compare&compared=accuracy")

    scores = page.locator(".scores-table")
    expect(scores).to_contain_text("harpia-formats score compare")
    expect(scores.locator("tbody").first).to_contain_text("atlas")
    expect(scores.locator("tbody").first).to_contain_text("boreal")
    expect(scores.locator("tbody").last).to_contain_text("180")


def test_missing_answers_are_told_from_those_that_are_not_read(visit: Visit) -> None:
    """Each has a word of its own in the table of questions."""
    page = visit.open("/")
    found = _asked(page, "compare?a=0.0&b=1.0&metric=f1&count=1")
    (row,) = found["rows"]
    row["a"]["answer"] = row["b"]["answer"] = None
    row["b"]["unread"] = "it is no object"
    page.route(re.compile("/api/compare[?]"), lambda route: route.fulfill(json=found))
    page = visit.open("/?view=compare")
    cells = page.locator(".layer .row").first.locator(".cell.missing")
    expect(cells).to_have_text(["no answer", "not read"])
    expect(cells.last).to_have_attribute("title", "it is no object")


def _answering(found: Any) -> Callable[[Any], None]:
    """Return what answers a request with a value."""
    return lambda route: route.fulfill(json=found)


def test_empty_answers_are_told_from_missing_ones(visit: Visit) -> None:
    """An answer without a character is called so, in both tables and in its record."""
    page = visit.open("/")
    record = _asked(page, "record?file=0&record=1")
    record["fields"]["outputs"][0]["text"] = ""
    rows = _asked(page, "rows?file=0&count=1")
    rows["rows"][0]["answer"] = ""
    compared = _asked(page, "compare?a=0.0&b=1.0&metric=f1&count=1")
    compared["rows"][0]["a"]["answer"] = ""
    for name, found in (("record", record), ("rows", rows), ("compare", compared)):
        page.route(re.compile(f"/api/{name}[?]"), _answering(found))

    page = visit.open("/?view=records&open=1")
    expect(page.locator(".answer").first).to_contain_text("Empty answer.")
    expect(page.locator(".layer .row").first).to_contain_text("empty answer")
    page = visit.open("/?view=compare")
    cells = page.locator(".layer .row").first.locator(".cell.missing")
    expect(cells).to_have_text(["empty answer"])


def test_rows_are_taken_away_as_they_are(visit: Visit, folder: Path) -> None:
    """The download holds the bytes of the chosen rows; the command is given, too."""
    page = visit.open("/?view=records&rule=S102")
    _shows(page, "20 records")
    page.get_by_role("button", name="Take away").click()
    dialog = page.get_by_role("dialog")
    with page.expect_download() as download:
        dialog.get_by_role("link", name="Download the 20 chosen rows").click()

    lines = (folder / "a.jsonl").read_bytes().splitlines(keepends=True)
    assert download.value.path().read_bytes() == b"".join(lines[9::10])
    expect(dialog.locator(".command")).to_contain_text("harpia-formats view a.jsonl")
    dialog.get_by_role("button", name="Copy the command").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "rule=S102" in copied


def test_losses_are_shown_before_rows_are_converted(visit: Visit) -> None:
    """The table of losses comes first, then the link to the converted rows."""
    page = visit.open("/?view=records&model=atlas&category=small")
    page.get_by_role("button", name="Take away").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Format").select_option("openai-chat")
    expect(dialog.locator(".data")).to_contain_text("outputs.scores.value")
    with page.expect_download() as download:
        dialog.get_by_role("link", name="as openai-chat").click()

    rows = jsonl_rows(download.value.path())
    assert rows
    assert all("messages" in row for row in rows)


def test_the_rows_that_were_chosen_are_taken_away(visit: Visit) -> None:
    """The way back leads to other rows, and a dialog stays that of those it names."""
    page = visit.open("/?view=records&category=large")
    _shows(page, "90 records")
    page.get_by_role("button", name="Take away").click()
    page.evaluate(
        "history.pushState(null, '', '/?view=records&category=small&correct=yes');"
        "dispatchEvent(new PopStateEvent('popstate'))"
    )
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Format").select_option("openai-chat")
    link = dialog.get_by_role("link", name="Download 90 rows as openai-chat")
    expect(link).to_have_attribute("href", re.compile("category=large"))


def test_a_note_is_kept(visit: Visit, folder: Path) -> None:
    """A verdict and a text are saved in the file of notes, and shown again."""
    page = visit.open("/?view=records&open=4")
    page.get_by_label("Unclear").check()
    page.get_by_label("Text", exact=True).fill("asks for <b>two</b> things")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Save the note").click()
    expect(page.locator(".note [role=status]")).to_have_text("Saved.")

    page = visit.open("/?view=records&open=4")
    expect(page.get_by_label("Unclear")).to_be_checked()
    assert "asks for <b>" in page.get_by_label("Text", exact=True).input_value()
    assert (folder / "notes.jsonl").read_text().count("two") == 1


def test_what_is_written_while_a_note_is_saved_is_not_called_saved(
    visit: Visit,
) -> None:
    """It stays a draft, also while other records are looked at."""
    page = visit.open("/?view=records&open=8")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/notes", hold)
    page.get_by_label("Text", exact=True).fill("half")
    page.get_by_role("button", name="Save the note").click()
    _until(page, lambda: bool(held))
    page.get_by_label("Text", exact=True).fill("half a thought")
    with page.expect_response("**/api/notes"):
        held[0].continue_()
    page.get_by_role("button", name="Next", exact=True).click()
    expect(page.locator("aside h2")).to_contain_text("Record 9")
    page.get_by_role("button", name="Previous", exact=True).click()
    expect(page.locator("aside h2")).to_contain_text("Record 8")

    assert page.get_by_label("Text", exact=True).input_value() == "half a thought"
    expect(page.locator(".note [role=status]")).to_have_text("Not saved yet.")


@pytest.mark.long
def test_what_is_written_is_kept_while_others_are_looked_at(visit: Visit) -> None:
    """A note that is not saved yet is there after the next record was shown."""
    page = visit.open("/?view=records&open=6")
    page.get_by_label("Text", exact=True).fill("half a thought")
    page.get_by_role("button", name="Next", exact=True).click()
    expect(page.locator("aside h2")).to_contain_text("Record 7")
    page.get_by_role("button", name="Previous", exact=True).click()
    expect(page.locator("aside h2")).to_contain_text("Record 6")

    assert page.get_by_label("Text", exact=True).input_value() == "half a thought"
    expect(page.locator(".note [role=status]")).to_have_text("Not saved yet.")


SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_VIEWS = (
    "/",
    "/?view=records",
    "/?view=records&open=10&rule=S102",
    "/?view=compare&pair=2",
    "/?view=records&text=nothing-has-this",
)


@pytest.mark.parametrize(("view", "size"), pairs(_VIEWS, [(390, 800), (640, 400)]))
def test_the_page_fits_and_is_readable(
    visit: Visit, view: str, size: tuple[int, int]
) -> None:
    """No sideways scrolling at 390 px or with 200 % zoom, and a contrast of 4.5."""
    width, height = size
    visit.page.set_viewport_size({"width": width, "height": height})
    page = visit.open(view)
    page.wait_for_timeout(300)
    assert page.evaluate(_WIDTH) == width
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        ratio, text = page.evaluate(CONTRAST)
        assert ratio >= 4.5, text


@pytest.mark.skipif(_AXE is None, reason="HARPIA_AXE does not name axe.min.js")
@pytest.mark.parametrize("view", _VIEWS)
@pytest.mark.parametrize("width", [390, 1300])
def test_axe_finds_nothing(
    browser: Browser, address: str, view: str, width: int
) -> None:
    """The rules of axe-core on accessibility hold, with everything opened."""
    assert _AXE is not None
    viewport = {"width": width, "height": 850}
    with _visit(browser, address, viewport=viewport) as visit:
        page = visit.open(view)
        page.wait_for_timeout(500)
        page.evaluate("document.querySelectorAll('details').forEach((o) => o.open = 1)")
        page.evaluate(Path(_AXE).read_text("utf-8"))
        found = page.evaluate("axe.run()")
        assert [
            (one["id"], one["nodes"][0]["html"]) for one in found["violations"]
        ] == []


@pytest.mark.parametrize(
    "rows", [3_000, pytest.param(drawn(30_000), marks=pytest.mark.long)]
)
def test_a_long_table_keeps_few_elements(
    browser: Browser, tmp_path: Path, rows: int
) -> None:
    """The wheel, the scroll bar and the keys reach all rows; the page does not grow."""
    lines = "".join(f'{{"n": {at}}}\n' for at in range(1, rows + 1))
    (tmp_path / "long.jsonl").write_text(lines)
    last = f"{rows:,}"
    with (
        _served(tmp_path, "long.jsonl") as (address, _),
        _visit(browser, address) as visit,
    ):
        page = visit.open("/?view=records")
        _shows(page, f"{last} records")
        _until(page, lambda: len(_records(page)) > 10)
        before = page.evaluate(_ELEMENTS)
        grid = page.locator(".grid")
        grid.hover()
        for _ in range(10):
            page.mouse.wheel(0, 320)
            page.wait_for_timeout(20)
        _until(page, lambda: _records(page)[:1] == [101])
        page.evaluate(
            "document.querySelector('.grid').scrollTop"
            " = document.querySelector('.grid').scrollHeight / 2"
        )
        _until(page, lambda: abs((_records(page) or [0])[0] - rows / 2) < 100)
        grid.focus()
        page.keyboard.press("End")
        _until(page, lambda: _records(page)[-1:] == [rows])
        expect(page.locator("[aria-selected=true]")).to_contain_text(last)
        assert page.evaluate(
            "document.querySelector('[aria-selected=true]').getBoundingClientRect()"
            ".bottom <= document.querySelector('.grid').getBoundingClientRect().bottom"
        )
        assert page.evaluate(_ELEMENTS) <= before
        assert grid.get_attribute("aria-rowcount") == str(rows + 1)


def _hostile() -> list[dict[str, Any]]:
    """Return records whose texts would do harm if they were taken for HTML."""
    texts = [
        "<script>document.title = 'owned'</script>",
        "<svg onload=\"document.title='owned'\"><img src=x onerror=alert(1)>",
        "evil \u202egnp.exe\u202c \u2066iso\u2069",
        "esc \x1b[31mred\x1b[0m \x00\x00\x00",
        "שלום مرحبا",
        "x" * _LONG_CELL,
    ]
    records: list[dict[str, Any]] = [
        {
            "id": text[:50],
            "prompt": text,
            "references": [text[:1000]],
            "category": text[:50],
            "outputs": [{"model": text[:40], "text": text}],
        }
        for text in texts
    ]
    keys = {f"<b>{at}": at for at in range(_MANY_KEYS)}
    records.append({"id": "keys", "prompt": "many keys", "metadata": keys})
    turns = [
        {"role": ("user", "assistant")[at % 2], "content": f"<i>turn {at}"}
        for at in range(_MANY_TURNS)
    ]
    records.append({"id": "turns", "messages": turns})
    parts = [None, {"type": "text", "text": "a part"}, 7]
    broken = {"role": {"a": 1}, "content": parts, "tool_calls": [None, {"name": ["f"]}]}
    records.append({"id": "parts", "messages": [broken]})
    return records


@pytest.fixture(scope="module")
def visit_of_hostile(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Visit]:
    """Yield a visit to hostile rows, for all tests."""
    folder = tmp_path_factory.mktemp("hostile")
    _write(folder / "<img src=x onerror=alert(1)>.jsonl", _hostile())
    name = "<img src=x onerror=alert(1)>.jsonl"
    with (
        _served(folder, "--from", "record", name) as (address, _),
        _visit(browser, address) as found,
    ):
        yield found


@pytest.fixture
def hostile(visit_of_hostile: Visit) -> Iterator[Visit]:
    """Yield a visit to hostile rows; each test opens an address of its own."""
    with _again(visit_of_hostile) as found:
        yield found


def test_hostile_rows_are_only_shown(hostile: Visit) -> None:
    """Nothing of them becomes an element, runs, or hides how a text reads."""
    page = hostile.open("/")
    assert page.evaluate(_INJECTED) == 0
    page = hostile.open("/?view=records")
    _shows(page, "9 records")
    _until(page, lambda: len(_records(page)) == 9)
    assert page.evaluate(_INJECTED) == 0
    page = hostile.open("/?view=records&open=1")
    for record in range(1, 10):
        if record > 1:
            page.keyboard.press("j")
        expect(page.locator("aside h2")).to_contain_text(f"Record {record}")
        expect(page.locator("pre.raw")).to_be_visible()
        assert page.evaluate(_INJECTED) == 0
        assert page.evaluate(_ELEMENTS) < 3_000
        assert page.evaluate(_WIDTH) <= 1300
        assert "owned" not in page.title()


def test_hidden_characters_are_shown_by_labels(hostile: Visit) -> None:
    """Controls and those that turn the direction of text are named in their place."""
    page = hostile.open("/?view=records&open=3")
    block = page.locator("aside .fields .text").first
    expect(block).to_have_text("evil U+202Egnp.exeU+202C U+2066isoU+2069")
    page = hostile.open("/?view=records&open=4")
    block = page.locator("aside .fields .text").first
    expect(block).to_have_text("esc U+001B[31mredU+001B[0m U+0000 \u00d7 3")


def test_parts_of_messages_that_are_none_are_shown(hostile: Visit) -> None:
    """Null among the parts and calls of a message is shown as it is, with the rest."""
    page = hostile.open("/?view=records&open=9")
    message = page.locator(".message")
    expect(message.locator(".role")).to_have_text('{ "a": 1 }')
    expect(message.locator(":scope > .text")).to_have_text(["null", "a part", "7"])
    expect(message.locator(".call h4")).to_have_text(
        ["calls a tool", 'calls [ "f" ]'],
    )


def test_long_records_are_shown_in_parts(hostile: Visit) -> None:
    """Long texts are cut, and many keys and turns come in parts, by a button."""
    page = hostile.open("/?view=records&open=6")
    block = page.locator("aside .fields .text").first
    expect(block).to_contain_text("Show all 200,000 characters")
    expect(block).to_contain_text(f"cut here: 200,000 of {_LONG_CELL:,} characters")
    block.get_by_role("button").click()
    assert len(block.text_content() or "") > 200_000
    page = hostile.open("/?view=records&open=7")
    expect(page.locator("aside")).to_contain_text(
        f"Show 50 more of {_MANY_KEYS - 50:,}"
    )
    page = hostile.open("/?view=records&open=8")
    expect(page.locator(".message")).to_have_count(20)
    page.get_by_role("button", name="Show 20 more of 980").click()
    expect(page.locator(".message")).to_have_count(40)


def test_the_progress_of_a_search_is_reported_and_it_can_be_ended(visit: Visit) -> None:
    """While rows are searched, what was found so far is shown, with a button to end."""
    posted: list[Any] = []
    searched: dict[str, Any] = {"done": 42, "of": 100, "reason": None}

    def rows(route: Any) -> None:
        body = {"total": 0, "complete": bool(posted), "searched": searched, "rows": []}
        route.fulfill(json=body)

    def cancel(route: Any) -> None:
        posted.append(route.request.post_data_json)
        searched["reason"] = "it was ended"
        route.fulfill(status=204)

    visit.page.route("**/api/rows*", rows)
    visit.page.route("**/api/cancel", cancel)
    page = visit.open("/?view=records&text=plus")
    searching = page.locator(".searching")
    expect(searching).to_contain_text("Searched 42 % of the records")
    expect(page.locator(".nothing")).to_contain_text("Nothing found so far")
    page.get_by_role("button", name="End the search").click()
    expect(searching).to_contain_text("ended early: it was ended")
    assert posted == [{"file": "0", "text": "plus"}]


@pytest.mark.long
def test_a_file_that_changed_is_not_shown(browser: Browser, tmp_path: Path) -> None:
    """The page says so in the place of the rows."""
    records = [_answer(at, "atlas", is_right=True) for at in range(50)]
    path = _write(tmp_path / "a.jsonl", records)
    with _served(tmp_path, "a.jsonl") as (address, _):
        visit = Visit(browser, address)
        page = visit.open("/?view=records")
        _shows(page, "50 records")
        _write(path, records[::-1])
        page.get_by_role("columnheader", name="f1").get_by_role("button").click()
        page.get_by_role("columnheader", name="Findings").get_by_role("button").click()

        expect(page.locator("#alerts")).to_contain_text("a.jsonl has changed")
        expect(page.locator(".grid")).to_have_count(0)
        visit.context.close()


@pytest.mark.long
def test_values_are_not_shown_if_they_are_hidden(
    browser: Browser, folder: Path
) -> None:
    """With --redact there are findings, no values, and no ways to look for them."""
    with (
        _served(folder, "a.jsonl", "b.jsonl", "--redact") as (address, _),
        _visit(browser, address) as visit,
    ):
        page = visit.open("/")
        expect(page.locator("main")).to_contain_text("Values are not shown (--redact)")
        page = visit.open("/?view=records&rule=S102")
        _shows(page, "20 records")
        expect(page.get_by_label("Text in the row")).to_have_count(0)
        expect(page.locator(".histogram")).to_have_count(0)
        page = visit.open("/?view=records&open=10")
        expect(page.locator(".findings")).to_contain_text("S102")
        assert "not a list" not in page.content()
        expect(page.get_by_role("link", name="Compare")).to_have_count(0)


def test_a_file_of_no_known_format_is_shown_as_it_is(small: Visit) -> None:
    """Its rows can be read and searched; the page says that they are not checked."""
    page = small.open("/?file=3")
    expect(page.locator("main")).to_contain_text("rows are not checked")
    page = small.open("/?file=3&view=records&text=beta")
    _shows(page, "1 record")
    expect(page.locator(".layer")).to_contain_text('{"beta": 2}')


def test_a_server_that_does_not_answer_is_missed(visit: Visit) -> None:
    """The page says that nothing answers any more."""
    page = visit.open("/?view=records")
    _shows(page, "200 records")
    page.route("**/api/**", lambda route: route.abort("connectionrefused"))
    page.get_by_role("columnheader", name="f1").get_by_role("button").click()

    expect(page.locator("#alerts")).to_contain_text("the server does not answer")
    visit.complaints.clear()  # Chromium reports what failed


@pytest.mark.long
def test_a_server_that_ended_is_missed(browser: Browser, folder: Path) -> None:
    """The page says the same of a process that was ended."""
    with _served(folder, "a.jsonl") as (address, process):
        visit = Visit(browser, address)
        page = visit.open("/?view=records")
        _shows(page, "200 records")
        process.terminate()
        process.wait(30)
        page.get_by_role("columnheader", name="f1").get_by_role("button").click()

        expect(page.locator("#alerts")).to_contain_text("the server does not answer")
        visit.context.close()
