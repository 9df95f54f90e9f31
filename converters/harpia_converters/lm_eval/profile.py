"""The metric profile lm-eval: the metrics of the harness of answers and choices."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import UNSET

from harpia_converters.lm_eval.formats import task_and_date
from harpia_converters.lm_eval.sample_fields import (
    CHOICE,
    GENERATE,
    OUTPUT_TYPES,
    output_type_in,
)
from harpia_formats.model.record import Header
from harpia_formats.model.vendor_metrics import (
    MetricProfile,
    MetricRequest,
    ScoreError,
    ScoreOptionsError,
)

_vendor = "lm-eval"
_exact = "exact_match"
#: The options of exact_match that change its scores.
_options = (
    "regexes_to_ignore",
    "ignore_case",
    "ignore_punctuation",
    "ignore_numbers",
)


def _exact_match(options: Mapping[str, Any]) -> MetricRequest:
    """Return the request for exact_match, called as in results if it has a filter."""
    name = options.get("filter")
    key = f"{_exact},{name}" if name else _exact
    return MetricRequest("lm-eval-exact-match", options, key=key, names=(key,))


#: The metrics that are computed: of texts, where BLEU, chrF and TER are sacrebleu's,
#: and of likelihoods, which only samples of multiple choice have.
_metrics: Mapping[str, tuple[MetricRequest, ...]] = {
    _exact: (_exact_match({}),),
    "acc": (MetricRequest("lm-eval-acc", key="acc", names=("acc",)),),
    "acc_norm": (
        MetricRequest(
            "lm-eval-acc", {"by_length": True}, key="acc_norm", names=("acc_norm",)
        ),
    ),
    "bleu": (MetricRequest("bleu"),),
    "chrf": (MetricRequest("chrf"),),
    "ter": (MetricRequest("ter"),),
}


#: The metrics that samples of any generation have.
_of_texts = frozenset({"bleu", "chrf", "ter"})
#: The metrics that samples of multiple choice have.
_of_choices = frozenset({"acc", "acc_norm"})


def tasks_of(header: Header, name: str) -> list[Mapping[str, Any]]:
    """Return the configuration of the task of a file called `name`.

    If the name has no task, that is the configuration of each task of the results.
    """
    extra = {} if header.extra is UNSET else header.extra
    configs = extra.get(_vendor, {}).get("configs")
    known = {
        task: config
        for task, config in (configs if isinstance(configs, Mapping) else {}).items()
        if isinstance(config, Mapping)
    }
    task, _ = task_and_date(name)
    return [known[task]] if task in known else list(known.values())


def _objects(config: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    found = config.get(key)
    objects = found if isinstance(found, list) else []
    return [each for each in objects if isinstance(each, Mapping)]


def _exact_matches(config: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the options of exact_match of a task, for each filter; None without it."""
    for metric in _objects(config, "metric_list"):
        if metric.get("metric") == _exact:
            options = {key: metric[key] for key in _options if metric.get(key)}
            filters = [each.get("name") for each in _objects(config, "filter_list")]
            named = [{**options, "filter": each} for each in filters if each]
            return named or [options]
    return None


def _names_in(config: Mapping[str, Any]) -> list[str]:
    """Return the names of the metrics of a task."""
    found = [metric.get("metric") for metric in _objects(config, "metric_list")]
    return [name for name in found if isinstance(name, str)]


def requested_in(header: Header, name: str) -> Iterator[MetricRequest]:
    """Yield the metrics of the task of a file called `name`, as far as it has answers.

    exact_match is one metric for each filter, and the only one of a task that has no
    other one. Of several tasks those of texts are preferred. Raises `ScoreError` if the
    tasks have exact_match with different options, or only metrics of likelihoods.
    """
    tasks = tasks_of(header, name)
    exact = [found for each in tasks if (found := _exact_matches(each)) is not None]
    if any(each != exact[0] for each in exact):
        raise ScoreOptionsError(
            "the tasks of the results have exact_match with different options or "
            "filters; name it with `--metrics exact_match`, and these with "
            "`--param exact_match.NAME=VALUE`"
        )
    others = [one for each in tasks for one in _names_in(each) if one in _of_texts]
    if not exact and not others:
        others = [
            one
            for each in tasks
            if output_type_in(each) == CHOICE
            for one in _names_in(each)
            if one in _of_choices
        ]
        kinds = {output_type_in(each) for each in tasks}
        # Of these types no text is written.
        if not others and tasks and OUTPUT_TYPES - {GENERATE} >= kinds:
            names = dict.fromkeys(one for each in tasks for one in _names_in(each))
            raise ScoreError(
                f"the samples have no metric that is computed of answers or choices "
                f"({', '.join(names) or 'none is named'}); `--stored` shows the scores "
                "that they hold"
            )
    wanted = exact[0] if exact else [] if others else [{}]
    yield from map(_exact_match, wanted)
    for one in dict.fromkeys(others):
        yield from _metrics[one]


PROFILE = MetricProfile(
    id="lm-eval",
    summary="exact_match of lm-evaluation-harness on what the filter kept of answers, "
    "with the options of the results, acc and acc_norm of the likelihoods of choices, "
    "and sacrebleu's BLEU, chrF and TER.",
    metrics=_metrics,
    of_header=requested_in,
)
