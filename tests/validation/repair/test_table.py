"""The table of repairs, and the page that describes them."""

from pathlib import Path

from harpia_formats.validation.repair.proposals import KINDS

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "fix.md"


def test_the_page_has_every_repair_where_it_belongs() -> None:
    """Safe repairs are in the first table of the page, unsafe ones in the second."""
    text = PAGE.read_text(encoding="utf-8")
    safe, unsafe = text.split("`--unsafe-fixes` adds", maxsplit=1)

    for kind in KINDS:
        assert f"| {kind.summary}" in (safe if kind.is_safe else unsafe)
