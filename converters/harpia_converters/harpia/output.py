"""The format harpia-output: the score of each metric over all instances."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from harpia_converters.harpia import companion
from harpia_converters.harpia.detection import KEYED, OUTPUT, WRAPPED, sign_of
from harpia_converters.harpia.header_checks import parameter_remarks
from harpia_converters.harpia.keys import METRIC, TIME, VENDOR, key_in
from harpia_formats.model.format import Container, Dialect, Format, Remark
from harpia_formats.model.problem import Path

TIME_KEY, METRIC_KEY, NO_METRIC = "H121", "H122", "H123"


def remarks(item: Any) -> Iterator[Remark]:
    """Yield remarks on the output of one metric (H107, H121-H123)."""
    if isinstance(item, Mapping):
        yield from metric_key_remarks(item)
        yield from parameter_remarks(item, ())
        yield from _check_time(item, ())


def keyed_remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on outputs that stand under the names of their metrics."""
    for key, output in document.items() if isinstance(document, Mapping) else ():
        if isinstance(output, Mapping):
            yield from parameter_remarks(output, (key,))
            yield from _check_time(output, (key,))


def metric_key_remarks(item: Mapping[str, Any]) -> Iterator[Remark]:
    """Yield a remark if `item` has no `id` of its metric, or has it at another key."""
    key = key_in(item, METRIC)
    if not key:
        yield Remark(NO_METRIC, (), "the metric is not named", 'give its name in "id"')
    elif key != "id":
        yield Remark(
            METRIC_KEY,
            (key,),
            f'the metric is named in "{key}", not in "id"',
            'rename it to "id"',
            at_key=True,
        )


def _check_time(item: Mapping[str, Any], path: Path) -> Iterator[Remark]:
    key = key_in(item, TIME)
    if not key:
        yield Remark(
            TIME_KEY,
            path,
            'there is no "elapsed time"',
            "give the seconds that the metric took over all instances",
        )
    elif key != TIME[0]:
        yield Remark(
            TIME_KEY,
            (*path, key),
            f'"{key}" is not how HarpIA\'s page spells "elapsed time"',
            'rename it to "elapsed time"',
            at_key=True,
        )


FORMAT = Format(
    id="harpia-output",
    title="Scores of metrics over all instances, the output of HarpIA Lab",
    vendor=VENDOR,
    companion=companion.OUTPUT,
    results="harpia_converters.harpia.results_writer:OUTPUT",
    dialects=(
        Dialect(
            "harpia-output",
            partial(sign_of, kind=OUTPUT),
            rows_at="results",
            strict="harpia-output-strict",
            remarks=remarks,
            lints="harpia_converters.harpia.lints:OUTPUT",
            one_of=frozenset({"score", "parameters"}),
        ),
        Dialect(
            "harpia-output",
            partial(sign_of, kind=WRAPPED),
            name="wrapped",
            container=Container.WRAPPED,
            rows_at="results",
            strict="harpia-output-strict",
            remarks=remarks,
            lints="harpia_converters.harpia.lints:OUTPUT",
            documented=False,
            one_of=frozenset({"results"}),
        ),
        Dialect(
            "harpia-output-keyed",
            partial(sign_of, kind=KEYED),
            name="keyed",
            container=Container.DOCUMENT,
            strict="harpia-output-keyed-strict",
            remarks=keyed_remarks,
            documented=False,
        ),
    ),
)
