"""A format that can be read and not written, in the tables of losses."""

from dataclasses import replace
from typing import Any

import pytest

from harpia_formats.conversion.losses import field_map_markdown
from harpia_formats.conversion.losses import format_pair_losses as by_format_pair
from harpia_formats.conversion.mapping.choices import Choices
from harpia_formats.conversion.mapping.to_rows import RecordMapper
from harpia_formats.formats.registry import (
    adapter_of,
    readable_formats,
    writable_formats,
)

WRITABLE = writable_formats()
NEMO = WRITABLE["nemo-output"]
READ_ONLY = replace(NEMO, id="read-only", read_only=True)
ADAPTER = replace(adapter_of(NEMO), write=None)


@pytest.fixture(autouse=True)
def _with_read_only_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the format to those that are read."""
    for module in (by_format_pair, field_map_markdown):
        monkeypatch.setattr(
            module,
            "readable_formats",
            lambda: {**readable_formats(), READ_ONLY.id: READ_ONLY},
        )
        monkeypatch.setattr(
            module,
            "adapter_of",
            lambda format_: ADAPTER if format_ is READ_ONLY else adapter_of(format_),
        )


def test_pairs_have_it_as_a_source_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of pairs has a pair into every written format, and none into it."""
    monkeypatch.setattr(
        by_format_pair,
        "losses_of_pair",
        lambda source, target, _: (source.id, target.id),
    )
    pairs: list[Any] = list(by_format_pair.all_pairs())

    assert [target for source, target in pairs if source == READ_ONLY.id] == [*WRITABLE]
    assert READ_ONLY.id not in {target for _, target in pairs}


def test_mapping_page_says_that_it_is_not_written() -> None:
    """The mapping page has its table, and that rows are only read."""
    sentence = "- Rows can be read, but not written."
    page = field_map_markdown.mapping_page()

    assert sentence in page
    assert sentence in field_map_markdown.mapping_table(READ_ONLY)
    assert sentence not in field_map_markdown.mapping_table(NEMO)


def test_no_row_is_made_by_its_adapter() -> None:
    """An adapter without `write` refuses to be used for rows."""
    with pytest.raises(TypeError, match="read and not written"):
        RecordMapper(ADAPTER, Choices())
