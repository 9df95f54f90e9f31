"""Pages and lists of rules fit into a terminal, and are the same in any pipe."""

import pytest

from harpia_formats.cli.commands.rule import WIDTH, rule_line, rule_page
from harpia_formats.formats.registry import all_rules
from harpia_formats.model.text_columns import columns, wrapped

RULES = list(all_rules().values())


def too_long(text: str, width: int) -> list[str]:
    """Return the lines that are wider than `width` although they could be broken."""
    return [
        line
        for line in text.splitlines()
        if columns(line) > width and " " in line.strip().split('"')[0].strip()
    ]


@pytest.mark.parametrize("width", [60, 80])
def test_pages_fit_the_terminal(width: int) -> None:
    """No line of a page is too long, and its words are those in a pipe."""
    for rule in RULES:
        page = rule_page(rule, width)
        head = page.split("\n\n")[0]

        assert too_long(head, width) == []
        # Only a long title is indented: the summary is a paragraph.
        assert {*wrapped(rule.summary, width)} <= {*head.splitlines()}
        # In a pipe words are broken at hyphens, too.
        whole = rule_page(rule).split("\n\n")[0]
        assert "".join(head.split()) == "".join(whole.split())


def test_lists_fit_the_terminal() -> None:
    """A rule of the list is one line in a pipe, and as many as needed on a terminal."""
    for rule in RULES:
        (line,) = rule_line(rule, 30).splitlines()
        lines = rule_line(rule, 30, 80).splitlines()

        assert max(map(columns, lines)) <= 80
        assert line.split() == " ".join(lines).split()
    assert WIDTH == 88
