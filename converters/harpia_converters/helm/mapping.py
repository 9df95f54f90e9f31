"""The adapter of the format helm: instances with their requests to records.

Completions are outputs, with the scores of those of HELM's metrics that say how good
an answer is.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from harpia_converters.helm.formats import ALONE
from harpia_formats.conversion.mapping.fields import (
    FieldTable,
    members_of_both,
    without,
)
from harpia_formats.conversion.mapping.preparation import extraction, tool_signature
from harpia_formats.model.adapter import (
    Cardinality,
    FieldMapping,
    Row,
    RowCapacity,
    at_path,
)
from harpia_formats.model.record import Header, Output, Score

#: Statistics that HELM records of every run and that do not judge an answer: counts,
#: times, costs, why a completion ended, and probabilities.
BOOKKEEPING = frozenset(
    "batch_size bits_per_byte finish_reason_endoftext finish_reason_length "
    "finish_reason_stop finish_reason_unknown inference_denoised_runtime "
    "inference_idealized_runtime inference_runtime inference_runtime_discrepancy "
    "logprob logprob_per_byte max_prob num_bytes num_completion_tokens num_instances "
    "num_output_tokens num_perplexity_tokens num_prompt_tokens num_references "
    "num_train_instances num_train_trials perplexity predicted_index prompt_truncated "
    "training_co2_cost training_energy_cost".split()
)
#: Metrics of which 1 says that the first completion is right, and 0 that it is wrong.
RIGHT_OR_WRONG = frozenset(
    "exact_match quasi_exact_match prefix_exact_match quasi_prefix_exact_match".split()
)


def is_bookkeeping(stat: dict[str, Any]) -> bool:
    """Tell whether a statistic does not judge an answer."""
    return stat["name"]["name"] in BOOKKEEPING


_vendor = "helm"
_calibration = "calibration"
_known_of_completion = frozenset({"text", "thinking"})
_known_of_result = frozenset({"success", "error", "completions", "request_time"})
_kept_of_request = ("model_deployment", "messages", "multimodal_prompt")
_of_instance = ("instance", "train_trial_index")
_of_request = ("request", "result")
_milliseconds = 1000
_embedding = "embedding"
#: What the names of statistics repeat of their instance.
_repeated_in_names = ("split", "sub_split", "perturbation")
#: A statistic without a value, apart from its name.
_nothing_counted: Row = {"count": 0, "sum": 0, "sum_squared": 0}


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
        is_only = len(outputs) < 2  # noqa: PLR2004 - several
        outputs[:1] = [_with_stats(first, entries, name, is_only=is_only)]
    return outputs


def _outputs(states: list[Row]) -> Iterator[Output]:
    """Yield the outputs of some requests without scores."""
    if is_nothing_written(states):
        # The probabilities of given texts, of which each request has one.
        requests = [_own_of(state, states[0]) for state in states]
        failed = [error for state in states if (error := _error_of(state))]
        yield Output(
            model=_model_of(states[0]),
            error=failed[0] if failed else UNSET,
            extra={_vendor: {"requests": requests}},
        )
        return
    number = 0
    for state in states:
        for output in _outputs_of_request(state, states[0]):
            yield replace(output, index=number)
            number += 1


def is_nothing_written(states: list[Row]) -> bool:
    """Tell whether requests only ask for the probabilities of what they hold."""
    request = states[0]["request"]
    if request.get("max_tokens") == 0:
        return True
    is_echo = request.get("echo_prompt") is True and "reference_index" in states[0]
    return is_echo or any(state.get("request_mode") == _calibration for state in states)


def unsent(states: list[Row]) -> list[Row]:
    """Return the requests of an instance that have no output, as they were not sent."""
    if is_nothing_written(states):
        return []
    return [_own_of(state, states[0]) for state in states if not state.get("result")]


def _own_of(state: Row, first: Row) -> Row:
    """Return a request without what is the same in the first one of its instance."""
    return {
        key: item
        for key, item in state.items()
        if key not in _of_instance or item != first[key]
    }


def _outputs_of_request(state: Row, first: Row) -> Iterator[Output]:
    """Yield an output for each completion, or one for a request without any.

    `first` is the first request of the instance, which has its settings.
    """
    request, result = state["request"], state.get("result")
    if result is None:
        return
    prompt = request.get("prompt")
    bare = Output(
        model=_model_of(state),
        formatted_prompt=prompt if prompt and isinstance(prompt, str) else UNSET,
        error=_error_of(state) or UNSET,
    )
    completions = result["completions"]
    time = result.get("request_time")
    performance = UNSET if time is None else {"latency_ms": time * _milliseconds}
    if not completions:
        extra = _completion_extra(state, first, {})
        yield replace(bare, performance=performance, extra=extra)
    for at, completion in enumerate(completions):
        thinking = completion.get("thinking")
        yield replace(
            bare,
            text=completion["text"],
            reasoning=thinking.get("text", UNSET) if thinking else UNSET,
            attribution=_attribution(state, completion["text"]),
            performance=UNSET if at else performance,
            extra=_completion_extra(state, first, completion),
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
    return [extraction(option, "output_mapping")]


def _completion_extra(
    state: Row, first: Row, completion: Row
) -> dict[str, Row] | UnsetType:
    """Return what is known of a completion apart from its fields."""
    written = without(completion, _known_of_completion)
    thinking = completion.get("thinking") or {}
    if thinking.keys() - {"text"}:
        written["thinking"] = thinking
    request, result = state["request"], state["result"]
    kept = {key: request[key] for key in _kept_of_request if key in request}
    kept |= {
        key: item
        for key, item in result.items()
        if key not in _known_of_result and item not in ([], None)
    }
    if result["success"] and result.get("error"):
        kept["error"] = result["error"]
    own = without(_own_of(state, first), _of_request)
    if others := _other_settings(request, first["request"]):
        own["request"] = others
    kept = members_of_both(kept, written, "completion")
    kept = members_of_both(own, kept, "result")
    return {_vendor: kept} if kept else UNSET


def _other_settings(request: Row, first: Row) -> Row:
    """Return the settings of a request that those of the record lack.

    They are those of the first request of its instance, apart from `embedding`, which
    is only kept where it is not false.
    """
    found = {
        key: item
        for key, item in request.items()
        if key not in _known_of_request and (key not in first or first[key] != item)
    }
    if request.get(_embedding):
        found[_embedding] = request[_embedding]
    return found


def rest_of_stats(entries: list[Row] | None, state: Row) -> list[Row]:
    """Return what the scores and other values read of some statistics do not say.

    `state` is a request of their instance, with what they repeat of it.
    """
    instance, found = state["instance"], []
    same = {
        "instance_id": instance["id"],
        "train_trial_index": state["train_trial_index"],
        "perturbation": instance.get("perturbation"),
    }
    in_name = {key: instance[key] for key in _repeated_in_names if key in instance}
    stats = [stat for entry in entries or () for stat in entry["stats"]]
    names = Counter(stat["name"]["name"] for stat in stats if is_bookkeeping(stat))
    for entry in entries or ():
        rest = {
            key: item
            for key, item in entry.items()
            if key != "stats" and (key not in same or item != same[key])
        }
        unread = [
            stat
            for stat in entry["stats"]
            # Of several with one name, one value is read by that name.
            if names[stat["name"]["name"]] > 1 or not _is_read(stat, in_name)
        ]
        if unread:
            rest["stats"] = unread
        if rest:
            found.append(rest)
    return found


def _is_read(stat: Row, in_name: Row) -> bool:
    """Tell whether the mean of a statistic says all of it, apart from its name.

    The name may repeat members of its instance, which are `in_name`.
    """
    name = stat["name"]
    if not name.items() <= {**in_name, "name": name["name"]}.items():
        return False
    value = _value(stat)
    known = {"name": name, **_nothing_counted}
    if value is not None:
        known |= dict.fromkeys(("sum", "min", "max", "mean"), value)
        known |= {"count": 1, "sum_squared": value * value, "variance": 0, "stddev": 0}
    return stat.items() <= known.items()


def _with_stats(
    output: Output, entries: list[Row], name: str | UnsetType, *, is_only: bool
) -> Output:
    """Return an output with the scores, tokens and other statistics of its instance.

    It may be the only one of the instance.
    """
    stats = [stat for entry in entries for stat in entry["stats"]]
    if not stats:
        return output
    scores = [
        _score(stat, name, is_only=is_only)
        for stat in stats
        if not is_bookkeeping(stat)
    ]
    others = {
        stat["name"]["name"]: _value(stat) for stat in stats if is_bookkeeping(stat)
    }
    extra = {} if output.extra is UNSET else output.extra
    kept = members_of_both(
        {"statistics": others} if others else {}, extra.get(_vendor, {}), "result"
    )
    return replace(
        output,
        scores=scores or UNSET,
        token_usage=_usage(stats),
        extra={_vendor: kept} if kept else output.extra,
    )


def _value(stat: Row) -> Any:
    """Return the value of a statistic of one instance, None if there is none."""
    return stat.get("mean") if stat["count"] else None


def _score(stat: Row, name: str | UnsetType, *, is_only: bool) -> Score:
    """Return the score of an output, which may be the only one of its instance."""
    metric, value = stat["name"]["name"], _value(stat)
    perturbation = (stat["name"].get("perturbation") or {}).get("name", "")
    base, mark, _ = metric.partition("@")
    # By the best of several completions, the first one may still be wrong.
    verdicts = (0, 1) if is_only or not mark else (0,)
    is_judged = base in RIGHT_OR_WRONG and value in verdicts
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


#: Members of a request that are fields; all others are settings.
_known_of_request = frozenset((*_kept_of_request, "model", "prompt", _embedding))
#: Members of an instance that are fields, or metadata.
_known_of_instance = frozenset("id input references split sub_split".split())
_correct = "correct"
_known_of_row = frozenset({"instance_id", "states", "stats"})
#: The keys of a record's extra for requests and statistics that no output has.
_unsent, _unread = "unsent_states", "unread_stats"


_Run = tuple[str | UnsetType, str | UnsetType]


def _run_of(run: Mapping[str, Any]) -> _Run:
    """Return the names of the scenario and of the run with these files."""
    return _name_in(run, "scenario"), _name_in(run, "run_spec")


def _needed_around(run: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the names in a run's files."""
    files = ("scenario", "run_spec")
    return {key: {"name": _name_in(run, key)} for key in files if _name_in(run, key)}


def _name_in(run: Mapping[str, Any], file: str) -> str | UnsetType:
    name = at_path(run, (file, "name"))
    return name if isinstance(name, str) else UNSET


def _read_instance(run: _Run, row: Row, kept: Row) -> Row:
    """Return the fields of an instance, and keep what is known of it next to them."""
    source, name = run
    states: list[Row] = row["states"]
    state = states[0]
    instance: Row = state["instance"]
    asked = instance["input"]
    messages = asked.get("messages")
    text = asked.get("text")
    is_chat = _is_chat(messages)
    choices = _choices(states)
    stats = row.get("stats")
    kept |= without(row, _known_of_row)
    if row.get("instance_id", instance["id"]) != instance["id"]:
        kept["instance_id"] = row["instance_id"]
    rest = {
        "instance": _rest_of(instance, choices),
        _unsent: unsent(states),
        _unread: rest_of_stats(stats, state),
    }
    kept |= {key: items for key, items in rest.items() if items}
    return {
        "id": instance["id"],
        "prompt": text if isinstance(text, str) and (text or not is_chat) else UNSET,
        "messages": messages if is_chat else UNSET,
        "references": _texts(instance, is_correct=True),
        "choices": choices,
        "source": source,
        "params": without(state["request"], _known_of_request) or UNSET,
        "metadata": _metadata(state),
        "outputs": outputs_of(states, stats, name),
    }


def _is_chat(messages: Any) -> bool:
    return bool(messages) and all(
        type(message) is dict
        and type(message.get("role")) is str
        and type(message.get("content", "")) in {str, type(None)}
        for message in messages
    )


def _texts(instance: Row, *, is_correct: bool = False) -> list[str]:
    """Return the texts of the references, or of those that are correct."""
    return [
        one["output"]["text"]
        for one in instance["references"]
        if not is_correct or _correct in one["tags"]
    ]


def _choices(states: list[Row]) -> list[str] | UnsetType:
    """Return the options of a question, `UNSET` if it is not multiple choice.

    They are what the letters stand for, or the references where each has its own
    request. References of other questions are answers, and no options.
    """
    if "reference_index" in states[0]:
        return _texts(states[0]["instance"])
    mapping = states[0].get("output_mapping")
    return list(mapping.values()) if mapping else UNSET


def _metadata(state: Row) -> Row:
    """Return the split, the trial and the perturbation of an instance."""
    instance = state["instance"]
    found = {key: instance[key] for key in ("split", "sub_split") if key in instance}
    found["train_trial_index"] = state["train_trial_index"]
    changed = instance.get("perturbation")
    if changed and "name" in changed:
        found["perturbation"] = changed["name"]
    return found


def _rest_of(instance: Row, choices: list[str] | UnsetType) -> Row:
    """Return what is known of the instance apart from its fields."""
    kept = without(instance, _known_of_instance)
    more = {
        key: item
        for key, item in instance["input"].items()
        if key not in {"text", "messages"} or (key == "messages" and not _is_chat(item))
    }
    if more:
        kept["input"] = more
    if not _are_in_record(instance["references"], choices):
        kept["references"] = instance["references"]
    return kept


def _are_in_record(references: list[Row], choices: list[str] | UnsetType) -> bool:
    """Tell whether the references and choices of the record hold all of these."""
    has_choices = choices is not UNSET and choices == [
        one["output"].get("text") for one in references
    ]
    return all(
        (one["tags"] == [_correct] or (has_choices and not one["tags"]))
        and one.keys() == {"output", "tags"}
        and one["output"].keys() == {"text"}
        for one in references
    )


def _read_header(document: Row) -> Header:
    """Return the settings of the run as a header."""
    members = {key: item for key, item in document.items() if item is not None}
    scenario, run_spec = (members.pop(key, UNSET) for key in ("scenario", "run_spec"))
    return Header(
        task=scenario if type(scenario) is dict else UNSET,
        evaluation=run_spec if type(run_spec) is dict else UNSET,
        extra={_vendor: members} if members else UNSET,
    )


def _alone(state: Row) -> Row:
    """Return a request of a scenario_state.json as an instance without statistics."""
    return {"states": [state], "stats": None}


_instance = ("states", "instance")
_request = ("states", "request")
_completion = ("states", "result", "completions")
RUN = FieldTable(
    _vendor,
    (
        FieldMapping(("instance_id",), "id", required=True),
        FieldMapping((*_instance, "input", "text"), "prompt"),
        FieldMapping((*_instance, "input", "messages"), "messages"),
        FieldMapping(
            (*_instance, "references"),
            "references",
            note="the texts that are tagged `correct`",
        ),
        FieldMapping(
            ("states", "output_mapping"),
            "choices",
            note="the values; all references where each has a request of its own",
        ),
        FieldMapping(_request, "params", note="its settings"),
        FieldMapping(
            _instance,
            "metadata",
            note="its split and perturbation, with `train_trial_index`",
        ),
        FieldMapping((*_request, "model"), "outputs.model"),
        FieldMapping((*_request, "prompt"), "outputs.formatted_prompt"),
        FieldMapping((*_completion, "text"), "outputs.text", note="as it was written"),
        FieldMapping((*_completion, "thinking", "text"), "outputs.reasoning"),
        FieldMapping(("states", "result", "error"), "outputs.error"),
        FieldMapping(
            ("states", "result", "request_time"),
            "outputs.performance",
            note="`latency_ms`, of the first completion",
        ),
        FieldMapping(
            ("stats", "stats", "mean"),
            "outputs.scores.value",
            note="null where there is no value; without bookkeeping",
        ),
        FieldMapping(("stats", "stats", "name", "name"), "outputs.scores.metric"),
        FieldMapping(("run_spec", "name"), "outputs.scores.evaluation_id"),
    ),
    own_keys=("*",),
    run_of=_run_of,
    read_own=_read_instance,
    in_order=True,
).adapter(
    is_read_only=True,
    capacity=RowCapacity(
        Cardinality.MANY,
        Cardinality.MANY_OF_ONE_MODEL,
        Cardinality.MANY,
        messages=True,
    ),
    needed_around=_needed_around,
    read_header=_read_header,
    dialect_normalizers={ALONE: _alone},
    other_paths=frozenset(
        {
            "source",
            "outputs.index",
            "outputs.attribution",
            "outputs.token_usage",
            "outputs.scores.is_correct",
            "outputs.scores.signature",
            "outputs.scores.evaluation_name",
            f"outputs.extra.{_vendor}",
        }
    ),
    extra_examples={
        _unsent: [{"request": {"prompt": "q"}}],
        _unread: [{"stats": [{"name": {"name": "f1"}, "count": 2, "mean": 0.5}]}],
    },
    answer_extra_examples={"request": {"temperature": 0}},
    other_names={
        f"extra.{_vendor}.{_unsent}": "states (not sent)",
        f"extra.{_vendor}.{_unread}": "stats (what means do not say)",
        f"outputs.extra.{_vendor}.request": "states.request (other settings)",
    },
)
