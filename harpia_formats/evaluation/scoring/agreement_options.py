"""What two raters are called, and which fields and labels of theirs are compared."""

from collections.abc import Sequence

from harpia_formats.evaluation.metrics.label_reading import MOST_LABELS
from harpia_formats.evaluation.scoring.choose_systems import distinct_names
from harpia_formats.evaluation.scoring.rater_labels import label_of
from harpia_formats.model.metric_profile import ScoreOptionsError

#: The value of verdicts that is compared if none is named.
FIELD = "score"


def fields_of_both(inputs: int, fields: Sequence[str]) -> tuple[str, str]:
    """Return the field of each rater; raises `ScoreOptionsError`."""
    if inputs not in (1, 2):
        raise ScoreOptionsError(
            "name two files with the labels of the same answers, or one file and two "
            "fields with --field"
        )
    if len(fields) > 2 or (inputs == 1 and len(fields) != 2):  # noqa: PLR2004 - both are two
        needs = "one file needs" if inputs == 1 else "two raters have at most"
        given = "1 is given" if len(fields) == 1 else f"{len(fields)} are given"
        raise ScoreOptionsError(f"{needs} two fields, and {given} with --field")
    first, *others = fields or (FIELD,)
    return first, (*others, first)[0]


def rater_names(sources: Sequence[str], fields: Sequence[str]) -> Sequence[str]:
    """Return what both raters are called: by their inputs, else by their fields."""
    if len(sources) == 1:
        names = list(fields)
    else:
        # Data in memory has names such as <rows>.
        named = (
            f"input {number}" if source.startswith("<") else source
            for number, source in enumerate(sources, 1)
        )
        names = distinct_names((None, source) for source in named)
    if names[0] != names[1]:
        return names
    return [f"{name} #{number}" for number, name in enumerate(names, 1)]


def given_labels(labels: Sequence[object]) -> tuple[str, ...]:
    """Return the labels that options name; raises `ScoreOptionsError`."""
    found = [name for one in labels if (name := label_of(one)) is not None]
    is_list = len(set(found)) == len(labels) and len(labels) != 1
    if not is_list or len(found) > MOST_LABELS:
        raise ScoreOptionsError(
            f"labels must be 2 to {MOST_LABELS} different texts or numbers"
        )
    return tuple(found)
