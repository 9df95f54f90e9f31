"""Rows of one format on the way to their output."""

from collections.abc import Collection

import pytest

from harpia_formats.conversion.containers.row_writer import encode_rows
from harpia_formats.conversion.destination import RECORDS_PER_BLOCK, Destination
from harpia_formats.conversion.options import ConvertOptions
from harpia_formats.conversion.parallel.converted_rows import RowBlocks
from harpia_formats.files.io.reader import BLOCK
from harpia_formats.formats.registry import format_of


def ignore(_: Collection[str]) -> None:
    """Take keys of ids."""


@pytest.mark.parametrize("size", [1, BLOCK // 4, BLOCK])
def test_rows_are_written_before_they_take_much_memory(size: int) -> None:
    """Rows of single records are encoded together, unless the records are large."""
    output = RowBlocks(encode_rows)
    target = format_of("nemo-input")
    destination = Destination(target, output, ConvertOptions(), ignore, None)
    for number in range(RECORDS_PER_BLOCK):
        destination.add([{"prompt": str(number)}], "", size)
    together = min(RECORDS_PER_BLOCK, BLOCK // size)

    assert [block.count for block in output.blocks] == (
        [together] * (RECORDS_PER_BLOCK // together)
    )
    assert destination.written == RECORDS_PER_BLOCK


def test_rows_and_blocks_keep_their_order() -> None:
    """A batch and encoded blocks follow the rows that were added before."""
    output = RowBlocks(encode_rows)
    target = format_of("nemo-input")
    destination = Destination(target, output, ConvertOptions(), ignore, None)
    destination.add([{"prompt": "1"}], "", 1)
    destination.add_batch([{"prompt": "2"}], b'{"prompt":"2"}\n')
    destination.add([{"prompt": "3"}], "", 1)
    destination.add_blocks(encode_rows([{"prompt": "4"}]))
    lines = b"".join(block.texts[0] for block in output.blocks)

    assert lines == b"".join(b'{"prompt":"%d"}\n' % number for number in range(1, 5))
