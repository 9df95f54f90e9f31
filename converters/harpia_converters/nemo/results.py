"""The format nemo-results: the scores of an evaluation, by task or by group."""

from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.nemo.detection import VENDOR
from harpia_converters.nemo.results_tree import Placed, metrics_of, scores_of
from harpia_formats.model.format import Container, Dialect, Format, Remark
from harpia_formats.model.problem import Path

NO_STATS, SCORE_NAME, SAMPLE_TREE = "N201", "N202", "N203"

#: Names in the sample of NVIDIA's page, and those in its table and in real results.
_real_names = {"em_score": "em", "f1_score": "f1"}
#: Where that sample has the scores of all metrics in one.
_sample_place: Path = ("groups", "evaluation", "metrics", "evaluation")

#: Scores of similarity metrics from 0 to 1. Without accuracy: others use that name.
SHARES = frozenset(
    "bleu_score rouge_1_score rouge_2_score rouge_3_score rouge_L_score em f1".split()
)


def sniff(document: Mapping[str, Any]) -> str:
    """Return by which keys `document` holds results, or ""."""
    metrics = list(metrics_of(document))
    for place, metric in metrics:
        if "scores" in metric:
            return f"`{place[0]}` with `scores` in it"
    if metrics and "job" in document and "type" not in document:
        return f"`job` and metrics in `{metrics[0][0][0]}`"
    return ""


def remarks(document: Any) -> Iterator[Remark]:
    """Yield remarks on scores that some readers refuse or misname (N201-N203)."""
    if not isinstance(document, Mapping):
        return
    scores = list(scores_of(document))
    yield from _without_stats(scores)
    for place, _ in scores:
        yield from _misnamed(place)
    if any(place[: len(_sample_place)] == _sample_place for place, _ in scores):
        yield _as_in_the_sample()


def _without_stats(scores: list[Placed]) -> Iterator[Remark]:
    """Yield one remark for all scores without stats, at the first of them."""
    bare = [
        place for place, score in scores if not isinstance(score.get("stats"), Mapping)
    ]
    if bare:
        yield Remark(
            NO_STATS,
            bare[0],
            f"stats is missing in {len(bare):,} of {len(scores):,} scores; "
            "nemo-evaluator 0.2.8 reads no score without it",
            'add "stats" with count, sum and mean; an empty object is enough for '
            "that reader",
        )


def _misnamed(place: Path) -> Iterator[Remark]:
    name = str(place[-1])
    if name in _real_names:
        yield Remark(
            SCORE_NAME,
            place,
            f"{name} is the name in a sample of NVIDIA's page; its table and real "
            f"results have {_real_names[name]}",
            f'rename it to "{_real_names[name]}"',
            at_key=True,
        )


def _as_in_the_sample() -> Remark:
    return Remark(
        SAMPLE_TREE,
        _sample_place,
        "all scores are in one metric of one group, as in a sample of NVIDIA's page; "
        "real results have each metric below its task",
        "move each score to tasks.TASK.metrics.METRIC.scores, such as bleu_score to "
        "the metric bleu",
        at_key=True,
    )


FORMAT = Format(
    id="nemo-results",
    title="Scores by task or by group, metric and name",
    vendor=VENDOR,
    results="harpia_converters.nemo.results_writer:RESULTS",
    dialects=(
        Dialect(
            "nemo-results",
            sniff,
            container=Container.DOCUMENT,
            strict="nemo-results-strict",
            remarks=remarks,
            lints="harpia_converters.nemo.results_lints:LINTS",
            one_of=frozenset({"tasks", "groups"}),
        ),
    ),
)
