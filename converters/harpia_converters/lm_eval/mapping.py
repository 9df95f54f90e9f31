"""The adapter of lm-eval-samples: a record for each document and its filters' rows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from harpia_converters.lm_eval.direct import direct_reader
from harpia_converters.lm_eval.header import around_of, header_of
from harpia_converters.lm_eval.requests import (
    CHOICE,
    CONTEXT,
    DELIMITER,
    GENERATE,
    LIKELIHOOD,
    PARTS,
    SECOND,
    as_objects,
    chat_in,
    choices_of,
    first_half,
    guessed_type,
    has_several_inputs,
    requests_of,
)
from harpia_converters.lm_eval.scores import ScoreReader
from harpia_converters.lm_eval.targets import chosen, texts_of
from harpia_formats.conversion.mapping.row_reader import HAS_PARTS
from harpia_formats.model.adapter import (
    Cardinality,
    FieldMapping,
    FormatAdapter,
    Row,
    RowCapacity,
    RowMerging,
)
from harpia_formats.model.record import Output, Record

_vendor = "lm-eval"
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
_others = {
    "target": "target (as it is)",
    "doc": "doc (not an object)",
    "resps": "resps (likelihoods)",
    "filtered_resps": "filtered_resps (likelihoods)",
    "arguments": "arguments (further parts)",
    "continuation": "arguments (continuation)",
    "metrics": "metrics (without a value)",
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

    def read(self, row: Row) -> Record:
        """Return the record of a sample."""
        requests = requests_of(row["arguments"])
        answers = row["resps"]
        first = answers[0][0] if answers and answers[0] else None
        is_text = len(requests) == 1 and _are_texts(answers)
        kind = self._type
        if not kind or (kind == GENERATE and not is_text):
            # Results of another task are not believed.
            kind = guessed_type(requests, first)
        found, rest = self._scores.read(row)
        scores: Any = found or UNSET
        fields: Row = {"id": row["doc_id"]}
        if kind == GENERATE and is_text:
            self._generated(row, requests[0], fields, rest)
            fields["outputs"] = self._outputs(row, answers[0], scores)
        else:
            self._scored(row, kind, requests, fields, rest)
            fields["outputs"] = [Output(model=self._model, text=None, scores=scores)]
        doc = row["doc"]
        if type(doc) is dict:
            fields["metadata"] = doc
        else:
            rest["doc"] = doc
        if rest:
            fields["extra"] = {_vendor: rest}
        return Record(**fields)

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

    def _outputs(self, row: Row, texts: list[str], scores: Any) -> list[Output]:
        """Return an output for each repeat; the scores are at the first one."""
        filter_ = row.get("filter", "none")
        kept = _kept(row["filtered_resps"], len(texts))
        outputs = []
        for index, text in enumerate(texts):
            attribution: Any = UNSET
            is_other = filter_ != "none" or self._has_filters
            if index < len(kept) and (is_other or kept[index] != text):
                attribution = [_attribution(kept[index], filter_)]
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
            requests = first_half(requests, self._delimiter)
            choices = choices_of(requests, self._delimiter)
            if choices is not None:
                fields["choices"] = choices
                references = chosen(target, choices)
            if has_several_inputs(requests):
                rest["arguments"] = row["arguments"]
            else:
                _put_context(requests[0], fields, rest)
        elif kind and len(requests) == 1:
            _put_context(requests[0], fields, rest)
            references = texts_of(target)
            if kind == LIKELIHOOD and requests[0].get(SECOND) != target:
                rest["continuation"] = requests[0].get(SECOND)
        else:
            rest["arguments"] = row["arguments"]
        if references is not None:
            fields["references"] = references
        if references is None or references[:1] != [target]:
            rest["target"] = target


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
        rest["arguments"] = {
            name: part for name, part in request.items() if name not in PARTS
        }


def _are_texts(answers: Any) -> bool:
    """Tell whether the answers are the texts of one request."""
    return len(answers) == 1 and all(type(text) is str for text in answers[0])


def _kept(filtered: Any, count: int) -> list[str]:
    """Return what a filter kept of so many answers, for the first ones of them."""
    value = filtered[0] if type(filtered) is list and filtered else None
    if type(value) is str:
        return [value]
    if type(value) is list and len(value) == count:
        return value if all(type(each) is str for each in value) else []
    return []


def _attribution(value: str, filter_: Any) -> Row:
    """Return where what a filter kept of an answer is from."""
    return {
        "turn_idx": 0,
        "source": "output.raw",
        "extracted_value": value,
        "extraction_method": str(filter_),
        "is_terminal": True,
    }


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


def _reader_in(around: Mapping[str, Any]) -> Callable[[Row], Record]:
    return _SampleReader(around).read


SAMPLES = FormatAdapter(
    vendor=_vendor,
    fields=_fields,
    read=_SampleReader({}).read,
    reader_in=_reader_in,
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
    extra_examples=dict.fromkeys(_others, "value"),
    other_names={f"extra.{_vendor}.{key}": name for key, name in _others.items()},
    other_paths=frozenset(
        {
            "outputs.model",
            "outputs.index",
            "outputs.scores.is_correct",
            "outputs.scores.evaluation_name",
        }
    ),
)
