"""The format haystack: the inputs of an evaluator, one column (list) for each."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harpia_converters.haystack.detection import (
    COLUMNS,
    CONTEXT_COLUMNS,
    DOCUMENT_COLUMNS,
    TEXT_COLUMNS,
    VENDOR,
    columns_below_sign,
    columns_sign,
    own_columns_below_sign,
    own_columns_sign,
)
from harpia_converters.haystack.phrases import counted, quoted
from harpia_converters.haystack.values import first_of_usual_length, object_in
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
    """Yield remarks on the lengths and the names of columns (K101, K103).

    `items` has the number of items in the column at each path.
    """
    components: dict[Path, dict[Path, int]] = {}
    for path, count in items.items():
        components.setdefault(path[:-1], {})[path] = count
    for columns in components.values():
        yield from _spellings(columns)
        usual = first_of_usual_length(columns)
        for path, count in columns.items():
            if count != columns[usual]:
                message = (
                    f"the column {quoted(str(path[-1]))} has {counted(count, 'item')}, "
                    f"but {quoted(str(usual[-1]))} has {columns[usual]:,}"
                )
                help_ = (
                    "give one item for each row: Haystack needs columns of one length"
                )
                yield Remark("K101", path, message, help_)


def _spellings(columns: Iterable[Path]) -> Iterator[Remark]:
    """Yield a remark for each column that is named almost like a known one (K103)."""
    names = {str(path[-1]): path for path in columns}
    if names.keys() <= COLUMNS:
        return
    from harpia_formats.model.text.spelling import nearest  # noqa: PLC0415 - start-up: for other columns only

    for name in names.keys() - COLUMNS:
        meant = nearest(name, COLUMNS - names.keys())
        if meant:
            message = f"the column {quoted(name)} is named almost like {quoted(meant)}"
            help_ = f"rename it to {quoted(meant)} if that is meant"
            yield Remark("K103", names[name], message, help_, at_key=True)


def remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark for each item that is not of the type evaluators expect (K102).

    `row` is an object with the item of each column, or of some columns.
    """
    for column, item in object_in(row).items():
        if column in TEXT_COLUMNS and not isinstance(item, str):
            yield _unexpected((column,), item, "text")
        elif column in CONTEXT_COLUMNS:
            yield from _check_contexts(column, item)
        elif column in DOCUMENT_COLUMNS and not isinstance(item, list):
            yield _unexpected((column,), item, "a list of documents")


def _check_contexts(column: str, item: Any) -> Iterator[Remark]:
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
        f"give {expected}: Haystack does not check it, but its evaluators expect it",
    )


FORMAT = Format(
    id="haystack",
    title="The inputs of an evaluator: one list for each input",
    vendor=VENDOR,
    adapter="harpia_converters.haystack.mapping:COLUMNS",
    dialects=(
        Dialect(
            "haystack",
            columns_sign,
            possible=own_columns_sign,
            container=Container.COLUMNS,
            lengths=lengths,
            strict="haystack-strict",
            remarks=remarks,
            one_of=COLUMNS,
        ),
        Dialect(
            "haystack-component",
            columns_below_sign,
            "component",
            Container.COLUMNS,
            possible=own_columns_below_sign,
            depth=2,
            lengths=lengths,
            strict="haystack-component-strict",
            remarks=remarks,
        ),
    ),
)
