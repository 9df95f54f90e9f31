"""haystack: what an evaluator is run on: one list for each input."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.haystack.detection import (
    CONTEXT_COLUMNS,
    DOCUMENT_COLUMNS,
    TEXT_COLUMNS,
    VENDOR,
    columns_below_sign,
    columns_sign,
)
from harpia_converters.haystack.phrases import counted, object_in, quoted, usual_of
from harpia_formats.model.format import Container, Dialect, Format, Remark
from harpia_formats.model.problem import Path

_types = {
    str: "text",
    list: "a list",
    dict: "an object",
    bool: "true or false",
    int: "a number",
    float: "a number",
}


def lengths(items: Mapping[Path, int]) -> Iterator[Remark]:
    """Say which columns of a component are not as long as most of its columns.

    `items` says how many items there are in the column at a path.
    """
    components: dict[Path, dict[Path, int]] = {}
    for path, count in items.items():
        components.setdefault(path[:-1], {})[path] = count
    for columns in components.values():
        usual = usual_of(columns)
        for path, count in columns.items():
            if count != columns[usual]:
                message = (
                    f"the column {quoted(str(path[-1]))} has {counted(count, 'item')}, "
                    f"but {quoted(str(usual[-1]))} has {columns[usual]:,}"
                )
                help_ = "Haystack asks for columns of one length, an item for each row"
                yield Remark("K101", path, message, help_)


def remarks(row: Any) -> Iterator[Remark]:
    """Say of the items of a row which are not what Haystack's evaluators expect.

    A row is an object with the item of each column, or of one of them.
    """
    for column, item in object_in(row).items():
        if column in TEXT_COLUMNS and not isinstance(item, str):
            yield _unexpected((column,), item, "text")
        elif column in CONTEXT_COLUMNS:
            yield from _of_contexts(column, item)
        elif column in DOCUMENT_COLUMNS and not isinstance(item, list):
            yield _unexpected((column,), item, "a list of documents")


def _of_contexts(column: str, item: Any) -> Iterator[Remark]:
    if not isinstance(item, list):
        yield _unexpected((column,), item, "a list of texts")
        return
    for number, entry in enumerate(item):
        if not isinstance(entry, str):
            yield _unexpected((column, number), entry, "text")


def _unexpected(path: Path, value: Any, expected: str) -> Remark:
    found = _types.get(type(value), "null")
    where = f"an item of {quoted(str(path[0]))}"
    if path[1:]:
        where = f"an entry of {where}"
    message = f"{where} should be {expected}, but is {found}"
    return Remark(
        "K102",
        path,
        message,
        f"Haystack does not check it, but its evaluators expect {expected} here",
    )


FORMAT = Format(
    id="haystack",
    title="What an evaluator is run on: one list for each input",
    vendor=VENDOR,
    adapter="harpia_converters.haystack.mapping:COLUMNS",
    general=True,
    dialects=(
        Dialect(
            "haystack",
            columns_sign,
            container=Container.COLUMNS,
            lengths=lengths,
            strict="haystack-strict",
            remarks=remarks,
        ),
        Dialect(
            "haystack-component",
            columns_below_sign,
            "component",
            Container.COLUMNS,
            depth=2,
            lengths=lengths,
            strict="haystack-component-strict",
            remarks=remarks,
        ),
    ),
)
