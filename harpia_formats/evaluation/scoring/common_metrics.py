"""Which metrics of several inputs are the same, and what is said of each input."""

from collections.abc import Sequence

from harpia_formats.evaluation.scoring.computed_metric import ComputedMetric
from harpia_formats.evaluation.scoring.match_questions import input_name
from harpia_formats.evaluation.scoring.select_metrics import metric_identities
from harpia_formats.model.metric_profile import ScoreError, ScoreOptionsError


def common_places(
    inputs: Sequence[Sequence[ComputedMetric]], are_verdicts: Sequence[bool]
) -> tuple[list[tuple[int, ...]], list[str]]:
    """Return the places of each metric that is compared, in each input, and notes.

    Raises `ScoreError` if there is none, or if one was computed in different ways.
    """
    if len(set(are_verdicts)) > 1:
        holds = ["verdicts of a judge" if are else "answers" for are in are_verdicts]
        raise ScoreOptionsError(
            f"{_by_input('holds', holds, ', and ')}, which have no common score: "
            "compare verdicts with verdicts, or answers with answers"
        )
    if all(are_verdicts):
        return _common_verdicts(inputs)
    for at in range(1, len(inputs)):
        check_same_metrics(inputs, at)
    return [(place,) * len(inputs) for place in range(len(inputs[0]))], []


def check_same_metrics(inputs: Sequence[Sequence[ComputedMetric]], at: int) -> None:
    """Raise `ScoreError` if an input has other metrics than the first one."""
    ours, theirs = metric_identities(inputs[0]), metric_identities(inputs[at])
    if ours == theirs:
        return
    if [one[:2] for one in ours] == [one[:2] for one in theirs]:
        pairs = zip(ours, theirs, strict=True)
        one, other = next((a, b) for a, b in pairs if a != b)
        names = [input_name(place, len(inputs)) for place in (0, at)]
        raise ScoreError(
            f"{one[0]} was computed in different ways, which cannot be compared: "
            f"{one[2]} in {names[0]}, {other[2]} in {names[1]}"
        )
    raise ScoreOptionsError(
        "the inputs select different metrics, which cannot be compared; name metrics "
        "with --metrics"
    )


def _common_verdicts(
    inputs: Sequence[Sequence[ComputedMetric]],
) -> tuple[list[tuple[int, ...]], list[str]]:
    """Return the places of the verdicts with the same name, and notes on the others.

    Raises `ScoreError` if there is none, or if one was made in different ways.
    """
    tables = [
        {metric.request.label: at for at, metric in enumerate(metrics)}
        for metrics in inputs
    ]
    names = [name for name in tables[0] if all(name in one for one in tables)]
    count = len(inputs)
    if not names:
        has = _by_input("has", [", ".join(one) for one in tables], "; ")
        which = "both" if count == 2 else "all"  # noqa: PLR2004 - both are two
        raise ScoreError(f"no verdicts in {which} inputs have the same name: {has}")
    common = [
        [metrics[table[name]] for name in names]
        for metrics, table in zip(inputs, tables, strict=True)
    ]
    for at in range(1, count):
        check_same_metrics(common, at)
    every = dict.fromkeys(name for table in tables for name in table)
    notes = []
    for at, table in enumerate(tables):
        others = [name for name in every if name in table and name not in names]
        if others and count == 2:  # noqa: PLR2004 - the other one lacks it
            only = f"since only {input_name(at, count)} has it"
            notes.append(f"not compared, {only}: {', '.join(others)}")
    lacking = [name for name in every if name not in names]
    if lacking and count > 2:  # noqa: PLR2004 - of two, the one that has it is named
        listed = ", ".join(lacking)
        notes.append(f"not compared, since not all inputs have it: {listed}")
    return [tuple(table[name] for table in tables) for name in names], notes


def _by_input(verb: str, texts: Sequence[str], between: str) -> str:
    """Return what is said of each input, with the verb of the first one only."""
    parts = [
        f"{input_name(at, len(texts)).removesuffix(' input')} {text}"
        for at, text in enumerate(texts)
    ]
    parts[0] = f"{input_name(0, len(texts))} {verb} {texts[0]}"
    return between.join(parts)


def notes_of_inputs(said: Sequence[Sequence[str]]) -> list[str]:
    """Return the notes of all inputs, each with its input unless all have it."""
    found = []
    for at, notes in enumerate(said):
        for note in notes:
            if not all(note in others for others in said):
                found.append(
                    f"{input_name(at, len(said)).removeprefix('the ')}: {note}"
                )
            elif note not in found:
                found.append(note)
    return found
