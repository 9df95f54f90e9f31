"""The completions of an instance as outputs, with the scores that HELM gave them."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from harpia_converters.helm.metric_names import RIGHT_OR_WRONG, is_bookkeeping
from harpia_formats.conversion.mapping.tool_signature import tool_signature
from harpia_formats.model.adapter import Row
from harpia_formats.model.record import Output, Score

_vendor = "helm"
_calibration = "calibration"
_known_of_completion = frozenset({"text", "thinking"})
_known_of_result = frozenset({"success", "error", "completions", "request_time"})
_kept_of_request = ("model_deployment", "messages", "multimodal_prompt")
_milliseconds = 1000


def outputs_of(
    states: list[Row], entries: list[Row] | None, name: str | UnsetType
) -> list[Output]:
    """Return the outputs of an instance, of which `states` are the requests.

    `entries` are its statistics, None if they are not known, and `name` is the run.
    HELM computes them of all requests, and most of the first completion, so that one
    has the scores.
    """
    outputs = list(_outputs(states))
    if entries:
        first = outputs[0] if outputs else Output(model=_model_of(states[0]))
        outputs[:1] = [_with_stats(first, entries, name)]
    return outputs


def _outputs(states: list[Row]) -> Iterator[Output]:
    """Yield the outputs of some requests without scores."""
    if is_nothing_written(states):
        # The probabilities of given texts, of which each request has one.
        requests = [_without_instance(state) for state in states]
        failed = [error for state in states if (error := _error_of(state))]
        yield Output(
            model=_model_of(states[0]),
            error=failed[0] if failed else UNSET,
            extra={_vendor: {"requests": requests}},
        )
        return
    number = 0
    for state in states:
        for output in _outputs_of_request(state):
            yield replace(output, index=number)
            number += 1


def is_nothing_written(states: list[Row]) -> bool:
    """Tell whether requests only ask for the probabilities of what they hold."""
    request = states[0]["request"]
    if request.get("max_tokens") == 0:
        return True
    is_echo = request.get("echo_prompt") is True and "reference_index" in states[0]
    return is_echo or any(state.get("request_mode") == _calibration for state in states)


def _outputs_of_request(state: Row) -> Iterator[Output]:
    """Yield an output for each completion, or one for a request without any."""
    request, result = state["request"], state.get("result")
    if result is None:
        return
    prompt = request.get("prompt")
    bare = Output(
        model=_model_of(state),
        formatted_prompt=prompt if prompt and isinstance(prompt, str) else UNSET,
        error=_error_of(state) or UNSET,
        extra=_extra(state, result, {}),
    )
    completions = result["completions"]
    if not completions:
        yield bare
    time = result.get("request_time")
    for at, completion in enumerate(completions):
        thinking = completion.get("thinking")
        yield replace(
            bare,
            text=completion["text"],
            reasoning=thinking.get("text", UNSET) if thinking else UNSET,
            attribution=_attribution(state, completion["text"]),
            performance=(
                UNSET if time is None or at else {"latency_ms": time * _milliseconds}
            ),
            extra=_extra(state, result, completion),
        )


def _model_of(state: Row) -> str | UnsetType:
    model: str | UnsetType = state["request"].get("model", UNSET)
    return model


def _error_of(state: Row) -> str:
    """Return why a request failed, "" if it did not."""
    result = state.get("result")
    if not result or result["success"]:
        return ""
    return result.get("error") or "the request failed"


def _attribution(state: Row, text: str) -> list[Any] | UnsetType:
    """Return the option that a letter stands for, as the answer that was scored."""
    mapping = state.get("output_mapping") or {}
    option = mapping.get(text.strip())
    if option is None:
        return UNSET
    return [
        {
            "turn_idx": 0,
            "source": "output.raw",
            "extracted_value": option,
            "extraction_method": "output_mapping",
            "is_terminal": True,
        }
    ]


def _extra(state: Row, result: Row, completion: Row) -> dict[str, Row] | UnsetType:
    """Return what is known of a completion beside its fields."""
    kept = {
        key: item for key, item in completion.items() if key not in _known_of_completion
    }
    thinking = completion.get("thinking") or {}
    if thinking.keys() - {"text"}:
        kept["thinking"] = thinking
    request = state["request"]
    kept |= {key: request[key] for key in _kept_of_request if key in request}
    kept |= {
        key: item
        for key, item in result.items()
        if key not in _known_of_result and item not in ([], None)
    }
    known = {"instance", "train_trial_index", "request", "result"}
    kept |= {key: item for key, item in state.items() if key not in known}
    return {_vendor: kept} if kept else UNSET


def _without_instance(state: Row) -> Row:
    known = {"instance", "train_trial_index"}
    return {key: item for key, item in state.items() if key not in known}


def _with_stats(output: Output, entries: list[Row], name: str | UnsetType) -> Output:
    """Return an output with the scores, tokens and other statistics of its instance."""
    stats = [stat for entry in entries for stat in entry["stats"]]
    if not stats:
        return output
    scores = [_score(stat, name) for stat in stats if not is_bookkeeping(stat)]
    others = {
        stat["name"]["name"]: _value(stat) for stat in stats if is_bookkeeping(stat)
    }
    extra = {} if output.extra is UNSET else output.extra
    kept = {**extra.get(_vendor, {}), "statistics": others} if others else None
    return replace(
        output,
        scores=scores or UNSET,
        token_usage=_usage(stats),
        extra={_vendor: kept} if kept else output.extra,
    )


def _value(stat: Row) -> Any:
    """Return the value of a statistic of one instance, None if there is none."""
    return stat.get("mean") if stat["count"] else None


def _score(stat: Row, name: str | UnsetType) -> Score:
    metric, value = stat["name"]["name"], _value(stat)
    perturbation = (stat["name"].get("perturbation") or {}).get("name", "")
    is_judged = metric.partition("@")[0] in RIGHT_OR_WRONG and value in (0, 1)
    return Score(
        metric=metric,
        value=value,
        is_correct=value == 1 if is_judged else UNSET,
        evaluation_id=name,
        evaluation_name=UNSET if name is UNSET else task_of(name),
        signature=tool_signature(metric, _vendor, perturbation=perturbation),
    )


@lru_cache(100)
def task_of(name: str) -> str:
    """Return the task in the name of a run, which has the model, too.

    >>> task_of("mmlu:subject=philosophy,model=openai_gpt2")
    'mmlu:subject=philosophy'
    >>> task_of("narrative_qa:model=openai_gpt2")
    'narrative_qa'
    """
    task, colon, arguments = name.partition(":")
    left = [one for one in arguments.split(",") if not one.startswith("model=")]
    return f"{task}{colon}{','.join(left)}" if any(left) else task


def _usage(stats: list[Row]) -> Row | UnsetType:
    """Return the tokens of all requests of an instance."""
    names = {
        "num_prompt_tokens": "input_tokens",
        "num_completion_tokens": "output_tokens",
    }
    found = {
        names[stat["name"]["name"]]: int(stat["sum"])
        for stat in stats
        if stat["name"]["name"] in names and stat["count"] and "sum" in stat
    }
    if len(found) < len(names):
        return found or UNSET
    return {**found, "total_tokens": sum(found.values())}
