"""Put edits into the bytes of a file while they are copied."""

from collections.abc import Iterable, Iterator

from harpia_formats.validation.repair.edits import Edit


def spliced(blocks: Iterable[bytes], edits: Iterable[Edit]) -> Iterator[bytes]:
    """Yield the bytes of `blocks` with the `edits`, which are in order of their place.

    Raises `ValueError` if they are not, or if an edit is behind the end.
    """
    todo = iter(edits)
    edit = next(todo, None)
    begin = skip = 0
    for block in blocks:
        end, at = begin + len(block), max(0, skip - begin)
        parts = []
        while edit is not None and edit.start < end:
            if edit.start < begin + at:
                raise ValueError("edits overlap")
            parts += [block[at : edit.start - begin], edit.data]
            skip = edit.end
            at = min(skip - begin, len(block))
            edit = next(todo, None)
        if parts:
            parts.append(block[at:])
            yield b"".join(parts)
        elif at < len(block):
            yield block[at:] if at else block
        begin = end
    while edit is not None:
        if not edit.start == edit.end == begin:
            raise ValueError("an edit is behind the end")
        yield edit.data
        edit = next(todo, None)
