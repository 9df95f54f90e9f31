"""The adapter of lm-eval-samples: a record for each document and its filters' rows.

What a target needs is also read straight from what a typed decoder decoded.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.lm_eval.formats import task_and_date
from harpia_converters.lm_eval.sample_fields import (
    CHOICE,
    CONTEXT,
    DELIMITER,
    GENERATE,
    LIKELIHOOD,
    PARTS,
    RIGHT_OR_WRONG,
    SECOND,
    ScoreReader,
    as_objects,
    chat_in,
    choices_of,
    chosen,
    continuations,
    first_half,
    guessed_type,
    has_several_inputs,
    is_index,
    is_list_text,
    is_score_value,
    output_type_in,
    requests_of,
    texts_of,
)
from harpia_formats.conversion.mapping.extra_fields import HAS_PARTS
from harpia_formats.conversion.mapping.fields import FieldTable, without
from harpia_formats.conversion.mapping.preparation import extraction, has_empty_answers
from harpia_formats.model.adapter import (
    Cardinality,
    FieldMapping,
    FormatAdapter,
    ReadTyped,
    Row,
    RowCapacity,
    RowMerging,
    at_path,
)
from harpia_formats.model.record import Header, Output, Record, Score

#: Fields of samples that are not made here.
_undecoded = (
    *("messages", "system", "params", "metadata", "choices", "extra"),
    *("outputs.index", "outputs.attribution", "outputs.scores", "outputs.extra"),
    *("outputs.scores.metric", "outputs.scores.value", "outputs.scores.is_correct"),
    *("outputs.scores.signature", "outputs.scores.evaluation_name"),
)
_text = frozenset({str})
_second = (SECOND,)
_two = {len(PARTS)}
#: The types of the settings of a generation.
_settings = frozenset({dict, type(None)})
#: A tuple, since values may be lists.
_right_or_wrong = (0, 1)
_no_filter = ("none", UNSET)
_needed_keys = "doc_id doc target arguments resps filtered_resps filter metrics".split()


def direct_reader(
    around: Mapping[str, Any], target: FormatAdapter, decoder: Any
) -> ReadTyped | None:
    """Return the function for `FormatAdapter.direct_reader`."""
    names = decoder.attributes.get((), {})
    if any(target.carries(path) for path in _undecoded):
        return None
    others = sorted(names.keys() - set(_needed_keys))
    if not (all(key in names for key in _needed_keys) and len(others) > 1):
        return None
    values = attrgetter(*(names[key] for key in (*_needed_keys, *others)))
    marked = {
        name: len(_needed_keys) + others.index(name)
        for name in others
        if name in RIGHT_OR_WRONG
    }
    needs_answers = has_empty_answers(target)
    return _TypedReader(around, values, marked, needs_answers=needs_answers).read


class _TypedReader:
    """Reads typed samples of one file for targets that need little of them."""

    def __init__(
        self,
        around: Mapping[str, Any],
        values: Callable[[Any], tuple[Any, ...]],
        marked: Mapping[str, int],
        *,
        needs_answers: bool,
    ) -> None:
        """Take what `around_of` returned, the getter of all values of a row, and more.

        The values are those of `_needed_keys` and of all other keys. `marked` are the
        metrics by which answers are right or wrong, and their indices. If the target
        `needs_answers`, records of choices have the likelihoods and accuracies of which
        the answer is derived.
        """
        kind: str = around.get("output_type", "")
        self._may_generate = kind in {"", GENERATE}
        self._may_choose = kind in {"", CHOICE}
        self._needs_answers = needs_answers
        self._delimiter: str = around.get("delimiter", DELIMITER)
        self._model: Any = around.get("model", UNSET)
        self._values = values
        self._marked = marked

    def read(self, row: Any) -> tuple[Record, Hashable] | None:
        """Return the needed fields of a typed row and their key; None if it is rare."""
        values = self._values(row)
        id_, doc, target, arguments, answers, kept, filter_, metrics, *others = values
        if (
            type(doc) is not dict
            or type(target) is not str
            or type(metrics) is not list
            or not target
        ):
            return None
        found: Any = None
        if len(arguments) > 1:
            if self._may_choose:
                scores = self._accuracies(metrics, values)
                found = self._chosen(arguments, answers, target, kept, scores)
        elif self._may_generate:
            found = self._generated(arguments, answers, target, kept, filter_)
        if found is None:
            return None
        prompt, reference, choices, outputs, key = found
        right = [values[at] in _right_or_wrong for at in self._marked.values()]
        extra: Any = UNSET
        if self._needs_answers and choices is not UNSET:
            extra = {_vendor: {"resps": answers}}
        record = Record(
            id=id_,
            prompt=prompt,
            references=[reference],
            choices=choices,
            outputs=outputs,
            extra=extra,
        )
        return record, (
            key,
            type(filter_),
            _members(doc),
            (*metrics,),
            (*right,),
            (*map(type, others),),
        )

    def _generated(
        self, arguments: Any, answers: Any, target: str, kept: Any, filter_: Any
    ) -> tuple[str, str, Any, list[Output], Hashable] | None:
        """Return what a generation has: prompt, reference, answers, and its key."""
        request = arguments.get("gen_args_0")
        if request is None or len(request) != len(PARTS) or len(answers) != 1:
            return None
        prompt, settings = request.get(CONTEXT), request.get(SECOND)
        texts = answers[0]
        if type(prompt) is not str or type(settings) is not dict or not texts:
            return None
        if not _text.issuperset(map(type, texts)) or is_list_text(target):
            return None
        if len(kept) != 1 or type(kept[0]) is not str:
            return None
        # Whether the answer is what the filter kept.
        is_kept = filter_ in _no_filter and kept[0] == texts[0]
        model = self._model
        outputs = [Output(model=model, text=text) for text in texts]
        key = is_kept, len(texts), _members(settings)
        return prompt, target, UNSET, outputs, key

    def _accuracies(self, metrics: list[str], values: Sequence[Any]) -> Any:
        """Return the scores of which answers are derived, if the target needs these."""
        # The likelihoods and these are all that the choice of an answer depends on;
        # conversions with `--metric` or `--model`, which read more, take no batches.
        if not self._needs_answers:
            return UNSET
        return [
            Score(metric=name, value=values[at])
            for name, at in self._marked.items()
            if name in metrics and is_score_value(values[at])
        ]

    def _chosen(
        self, arguments: Any, answers: Any, target: str, kept: Any, scores: Any
    ) -> tuple[str, str, Any, list[Output], Hashable] | None:
        """Return what a choice has: prompt, right choice, answers, and its key."""
        requests = requests_of(arguments)
        if not requests or len(answers) != len(requests):
            return None
        if kept != [each[0] for each in answers if each]:
            return None
        prompt = requests[0].get(CONTEXT)
        if type(prompt) is not str or type(answers[0]) is not list:
            return None
        contexts = [request.get(CONTEXT) for request in requests]
        if contexts.count(prompt) < len(contexts) or {*map(len, requests)} != _two:
            return None
        choices = continuations(requests, self._delimiter)
        found = None if choices is None else chosen(target, choices)
        # Else the target is no index, which is read otherwise.
        if found is None or len(found) > 1 or found[0] == target:
            return None
        outputs = [Output(model=self._model, text=None, scores=scores)]
        return prompt, found[0], choices, outputs, "choice"


def _members(members: dict[str, Any]) -> tuple[Hashable, ...]:
    """Return the keys of an object, and behind None those whose value is null."""
    if None in members.values():
        return (*members, None, *(key for key in members if members[key] is None))
    return tuple(members)


_vendor = "lm-eval"


def around_of(document: Mapping[str, Any], name: str) -> dict[str, str]:
    """Return what samples are read with, given their results and their file's name.

    Without results that is the task that the name of the file has.
    """
    task, _ = task_and_date(name)
    configs = document.get("configs")
    if not task and isinstance(configs, dict) and len(configs) == 1:
        (task,) = configs
    config = ("configs", task)
    found = {
        "task": task,
        "model": document.get("model_name"),
        "version": document.get("lm_eval_version"),
        "output_type": output_type_in(at_path(document, config)),
    }
    known = {key: value for key, value in found.items() if value}
    known["delimiter"] = at_path(document, (*config, "target_delimiter"))
    return {key: value for key, value in known.items() if isinstance(value, str)}


def header_of(document: Mapping[str, Any]) -> Header:
    """Return the header that results give: the settings and metrics of the run."""
    return Header(extra={_vendor: dict(document)})


_requests = ("arguments",)

_fields = (
    FieldMapping(("doc_id",), "id", note="unique in one task only"),
    FieldMapping(
        _requests, "prompt", note="the context, with the examples that it begins with"
    ),
    FieldMapping(_requests, "messages", note="of a context that is a chat"),
    FieldMapping(_requests, "system", note="the first message of such a chat"),
    FieldMapping(_requests, "choices", note="without the delimiter in front"),
    FieldMapping(_requests, "params", note="the settings of a generation"),
    FieldMapping(
        ("target",), "references", note="of a multiple choice the choice at the index"
    ),
    FieldMapping(("doc",), "metadata"),
    FieldMapping(("resps",), "outputs.text", note="null where only choices are scored"),
    FieldMapping(
        ("filtered_resps",), "outputs.attribution", note="what the filter kept"
    ),
    FieldMapping(("metrics",), "outputs.scores.metric"),
    FieldMapping(("metrics",), "outputs.scores.value", note="the key of that name"),
    FieldMapping(("filter",), "outputs.scores.signature"),
)


#: What else a row says, by its key in the extra of the record.
_other_names = {
    "target": "target (as it is)",
    "doc": "doc (not an object)",
    "resps": "resps (likelihoods)",
    "filtered_resps": "filtered_resps (as it is)",
    "arguments": "arguments (further parts)",
    "continuation": "arguments (continuation)",
    "metrics": "metrics (without a value)",
    "filter": "filter (without a score)",
    "doc_hash": "doc_hash",
    "prompt_hash": "prompt_hash",
    "target_hash": "target_hash",
}


class _SampleReader:
    """Reads the samples of one file."""

    def __init__(self, around: Mapping[str, Any]) -> None:
        """Take what `around_of` returned for the file."""
        self._type: str = around.get("output_type", "")
        self._delimiter: str = around.get("delimiter", DELIMITER)
        self._model: Any = around.get("model", UNSET)
        self._scores = ScoreReader(around)
        #: Whether there is a row for each of several filters.
        self._has_filters: bool = around.get(HAS_PARTS, False)

    def read(self, row: Row, kept: Row) -> Row:
        """Return the fields of a sample, and keep what they cannot hold."""
        requests = requests_of(row["arguments"])
        answers = row["resps"]
        is_text = _asks_for_text(requests) and _are_texts(answers)
        kind = self._type
        if not kind or (kind == GENERATE and not is_text):
            # Results of another task are not believed.
            kind = guessed_type(row, requests, self._delimiter)
        scores: Any = self._scores.read(row, kept) or UNSET
        fields: Row = {"id": row["doc_id"]}
        if kind == GENERATE and is_text:
            self._generated(row, requests[0], fields, kept)
            fields["outputs"] = self._outputs(row, answers[0], scores, kept)
        else:
            self._scored(row, kind, requests, fields, kept)
            fields["outputs"] = [Output(model=self._model, text=None, scores=scores)]
        filter_ = row.get("filter", "none")
        is_named = scores is not UNSET or any(
            each.attribution for each in fields["outputs"]
        )
        if filter_ != "none" and not is_named:
            kept["filter"] = filter_
        doc = row["doc"]
        if type(doc) is dict:
            fields["metadata"] = doc
        else:
            kept["doc"] = doc
        return fields

    def _generated(self, row: Row, request: Row, fields: Row, rest: Row) -> None:
        """Put what was asked into `fields`, and what they cannot hold into `rest`."""
        _put_context(request, fields, rest)
        settings = request.get(SECOND)
        if settings:
            fields["params"] = settings
        target = row["target"]
        references = texts_of(target)
        if references is None:
            rest["target"] = target
        else:
            fields["references"] = references
            if references[0] != target:
                rest["target"] = target

    def _outputs(
        self, row: Row, texts: list[str], scores: Any, rest: Row
    ) -> list[Output]:
        """Return an output for each repeat; the scores are at the first one.

        What the filter kept goes to `rest` if it is not one text or one of each repeat.
        """
        filter_ = row.get("filter", "none")
        filtered = row["filtered_resps"]
        kept = _kept(filtered, len(texts))
        if not kept or len(filtered) > 1:
            rest["filtered_resps"] = filtered
        outputs = []
        for index, text in enumerate(texts):
            attribution: Any = UNSET
            is_other = filter_ != "none" or self._has_filters
            if index < len(kept) and (is_other or kept[index] != text):
                attribution = [extraction(kept[index], str(filter_))]
            outputs.append(
                Output(
                    model=self._model,
                    index=index if len(texts) > 1 else UNSET,
                    text=text,
                    attribution=attribution,
                    scores=UNSET if index else scores,
                )
            )
        return outputs

    def _scored(
        self, row: Row, kind: str, requests: list[Row], fields: Row, rest: Row
    ) -> None:
        """Put a sample whose answers are likelihoods into `fields` and `rest`."""
        answers, target = row["resps"], row["target"]
        rest["resps"] = answers
        kept = row["filtered_resps"]
        if kept != [each[0] for each in answers if each]:
            rest["filtered_resps"] = kept
        references: list[str] | None = None
        if kind == CHOICE and requests:
            references = self._choice(row, requests, fields, rest)
        elif kind and len(requests) == 1:
            references = self._single(row, kind, requests[0], fields, rest)
        else:
            rest["arguments"] = row["arguments"]
        if references is not None:
            fields["references"] = references
        is_several = fields.get("choices", []).count(target) > 1
        if references is None or references[:1] != [target] or is_several:
            rest["target"] = target

    def _choice(
        self, row: Row, requests: list[Row], fields: Row, rest: Row
    ) -> list[str] | None:
        """Put the requests of a multiple choice where they fit; return the right ones.

        They are kept as they are if they differ in more than the choice.
        """
        asked = first_half(requests, self._delimiter)
        choices = choices_of(asked, self._delimiter)
        if not has_several_inputs(asked):
            _put_context(asked[0], fields, rest)
        added = requests[len(asked) :]
        is_one_context = _are_equal_but_for_choices(asked)
        if (
            choices is None
            or not is_one_context
            or any(each.get(CONTEXT) or not each.keys() <= PARTS for each in added)
        ):
            rest["arguments"] = row["arguments"]
        if choices is None:
            return None
        fields["choices"] = choices
        target = row["target"]
        if has_several_inputs(asked) and _is_continuation(target, asked[0]):
            return None  # which is no index
        return chosen(target, choices)

    def _single(
        self, row: Row, kind: str, request: Row, fields: Row, rest: Row
    ) -> list[str] | None:
        """Put the only request where its parts fit; return the references."""
        _put_context(request, fields, rest)
        target, second = row["target"], request.get(SECOND)
        if kind == GENERATE and second:
            fields["params"] = second
        elif SECOND in request and second != target:
            # The row may have a member of that name.
            rest["continuation" + "_" * ("continuation" in rest)] = second
        if kind == LIKELIHOOD and is_index(target, second, self._delimiter):
            return None
        return texts_of(target)


def _is_continuation(target: Any, request: Row) -> bool:
    """Tell whether a target is the continuation of a request."""
    return str(target).strip() == str(request.get(SECOND)).strip()


def _are_equal_but_for_choices(requests: list[Row]) -> bool:
    """Tell whether requests have all but what is behind the context in common."""
    first = without(requests[0], _second)
    return all(without(each, _second) == first for each in requests[1:])


def _put_context(request: Row, fields: Row, rest: Row) -> None:
    """Put the context of a request into `fields`, and what is no text into `rest`."""
    context = request.get(CONTEXT)
    if type(context) is str:
        fields["prompt"] = context
    else:
        messages = chat_in(context)
        if messages is None:
            rest["arguments"] = request
            return
        fields["messages"] = messages
        first = messages[0] if messages else {}
        if first.get("role") == "system" and type(first.get("content")) is str:
            fields["system"] = first["content"]
    if not request.keys() <= PARTS:  # such as an image
        rest["arguments"] = without(request, PARTS)


def _asks_for_text(requests: list[Row]) -> bool:
    """Tell whether there is one request, without a text behind its context."""
    return len(requests) == 1 and type(requests[0].get(SECOND)) in _settings


def _are_texts(answers: Any) -> bool:
    """Tell whether the answers are the texts of one request, at least one."""
    return (
        len(answers) == 1
        and bool(answers[0])
        and _text.issuperset(map(type, answers[0]))
    )


def _kept(filtered: list[Any], count: int) -> list[str]:
    """Return what a filter kept of so many answers, for the first ones of them.

    That is one text, or one of each answer; else none.
    """
    first: Any = filtered[0] if filtered else None
    if type(first) is str:
        return [first]
    if type(first) is not list or len(first) != count:
        return []
    return first if _text.issuperset(map(type, first)) else []


def _shared(row: Row) -> Any:
    """Return what the rows of one document share, which is all but their filters'."""
    return [row.get(key) for key in ("doc_id", "doc", "target", "arguments", "resps")]


def _merged(parts: Sequence[tuple[str, Record]]) -> Record:
    """Return one record with the extractions and scores of all filters of a document.

    What else filters differ in stands under the name of the filter, as in results:
    such as a metric that is no number.
    """
    (_, first), *others = parts
    outputs = first.outputs
    extra: Row = {} if first.extra is UNSET else {**first.extra[_vendor]}
    own = dict(extra)
    for filter_, other in others:
        outputs = [
            replace(
                output,
                attribution=_joined(output.attribution, more.attribution),
                scores=_joined(output.scores, more.scores),
            )
            for output, more in zip(outputs, other.outputs, strict=True)
        ]
        rest = {} if other.extra is UNSET else other.extra[_vendor]
        for key, value in rest.items():
            if key not in own or own[key] != value:
                extra[f"{key},{filter_}"] = value
    return replace(first, outputs=outputs, extra={_vendor: extra} if extra else UNSET)


def _joined(first: Any, second: Any) -> Any:
    """Return two lists as one, either of which may be absent."""
    if first is UNSET or second is UNSET:
        return second if first is UNSET else first
    return [*first, *second]


SAMPLES = FieldTable(
    _vendor,
    _fields,
    own_keys=("*",),
    run_of=_SampleReader,
    read_own=_SampleReader.read,
    in_order=True,
).adapter(
    is_read_only=True,
    direct_reader=direct_reader,
    around_of=around_of,
    header_of=header_of,
    capacity=RowCapacity(
        references=Cardinality.MANY,
        outputs=Cardinality.MANY_OF_ONE_MODEL,
        scores=Cardinality.MANY,
        messages=True,
    ),
    repeats_answers=True,
    merging=RowMerging("filter", _shared, _merged),
    dialect_normalizers={"lists": as_objects},
    setting_examples={"until": ["\n"]},
    extra_examples=dict.fromkeys(_other_names, "value"),
    other_names={f"extra.{_vendor}.{key}": name for key, name in _other_names.items()},
    other_paths=frozenset(
        {
            "outputs.model",
            "outputs.index",
            "outputs.scores.is_correct",
            "outputs.scores.evaluation_name",
        }
    ),
)
