"""Stored scores of several tasks or splits that are averaged together."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from harpia_formats.conversion.mapping.answer_groups import EVALUATION, MOST
from harpia_formats.model.record import Output, Record, Score

_SPLIT = "metadata.split"
#: What the values of a field are called, by the field.
_nouns = {EVALUATION: "tasks", _SPLIT: "splits"}
#: The values of a field that a note names.
_NAMED = 5


@dataclass(slots=True)
class MixedScores:
    """Collects the tasks and splits of the stored scores of each quantity."""

    #: By the field, the metric and signature of the scores, and the model.
    _values: dict[tuple[str, tuple[str, str], str], dict[str, None]] = field(
        default_factory=dict
    )

    def add(
        self, key: tuple[str, str], record: Record, output: Output, score: Score
    ) -> None:
        """Add a score of an output; `key` is its metric and its signature."""
        model = output.model or ""
        if isinstance(score.evaluation_name, str):
            self._add((EVALUATION, key, model), score.evaluation_name)
        split = (record.metadata or {}).get("split")
        if isinstance(split, str):
            self._add((_SPLIT, key, model), split)

    def _add(self, key: tuple[str, tuple[str, str], str], value: str) -> None:
        values = self._values.setdefault(key, {})
        if len(values) < MOST:
            values[value] = None

    def notes(
        self, labels: Mapping[tuple[str, str], str], by: tuple[str, ...]
    ) -> Iterator[str]:
        """Yield which of these quantities are a mean over several tasks or splits.

        Quantities of the same tasks are named together; fields in `by` are left out.
        """
        shown: dict[tuple[str, tuple[str, ...]], dict[str, None]] = {}
        for (name, key, _), values in self._values.items():
            if name not in by and key in labels and len(values) > 1:
                shown.setdefault((name, tuple(values)), {})[labels[key]] = None
        for (name, found), metrics in shown.items():
            count = f"{MOST:,} or more" if len(found) >= MOST else f"{len(found):,}"
            more = ", ..." if len(found) > _NAMED else ""
            are = "is a mean" if len(metrics) == 1 else "are means"
            yield (
                f"{_some(list(metrics))} {are} over {count} {_nouns[name]} "
                f"({', '.join(found[:_NAMED])}{more}); --by {name} shows each"
            )


def _some(metrics: list[str]) -> str:
    more = len(metrics) - _NAMED
    return ", ".join(metrics[:_NAMED]) + (f" and {more} more" if more > 0 else "")
