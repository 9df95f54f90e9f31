"""Read what a target needs of samples straight from what a typed decoder decoded.

Most samples are a generation with one context, or a choice between continuations of
one. For targets that take what is asked and answered, no scores and nothing else of
them, nothing else is made of these. All other samples are read as a whole.
"""

from collections.abc import Callable, Hashable, Mapping
from operator import attrgetter
from typing import Any

from msgspec import UNSET

from harpia_converters.lm_eval.requests import (
    CHOICE,
    CONTEXT,
    DELIMITER,
    GENERATE,
    PARTS,
    SECOND,
    choices_of,
    requests_of,
)
from harpia_converters.lm_eval.scores import RIGHT_OR_WRONG
from harpia_converters.lm_eval.targets import chosen, is_list_text
from harpia_formats.conversion.mapping.preparation import has_empty_answers
from harpia_formats.model.adapter import FormatAdapter, ReadTyped
from harpia_formats.model.record import Output, Record

#: Fields of samples that are not made here.
_others = (
    *("messages", "system", "params", "metadata", "choices", "extra"),
    *("outputs.index", "outputs.attribution", "outputs.scores", "outputs.extra"),
    *("outputs.scores.metric", "outputs.scores.value", "outputs.scores.is_correct"),
    *("outputs.scores.signature", "outputs.scores.evaluation_name"),
)
_text = frozenset({str})
#: A tuple, since values may be lists.
_right_or_wrong = (0, 1)
_no_filter = ("none", UNSET)
_needed_keys = "doc_id doc target arguments resps filtered_resps filter metrics".split()


def direct_reader(
    around: Mapping[str, Any], target: FormatAdapter, decoder: Any
) -> ReadTyped | None:
    """Return the function for `FormatAdapter.direct_reader`."""
    names = decoder.attributes.get((), {})
    if any(target.carries(path) for path in _others):
        return None
    others = sorted(names.keys() - set(_needed_keys))
    if not (all(key in names for key in _needed_keys) and len(others) > 1):
        return None
    values = attrgetter(*(names[key] for key in (*_needed_keys, *others)))
    marked = [
        len(_needed_keys) + others.index(name)
        for name in others
        if name in RIGHT_OR_WRONG
    ]
    reads_choices = not has_empty_answers(target)
    return _TypedReader(around, values, marked, reads_choices=reads_choices).read


class _TypedReader:
    """Reads typed samples of one file for targets that need little of them."""

    def __init__(
        self,
        around: Mapping[str, Any],
        values: Callable[[Any], tuple[Any, ...]],
        marked: list[int],
        *,
        reads_choices: bool,
    ) -> None:
        """Take what `around_of` returned, the getter of all values of a row, and more.

        The values are those of `_needed_keys` and of all other keys. `marked` are the
        indices of metrics by which answers are right or wrong. If not `reads_choices`,
        an answer is derived from the whole row.
        """
        kind: str = around.get("output_type", "")
        self._may_generate = kind in {"", GENERATE}
        self._may_choose = reads_choices and kind in {"", CHOICE}
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
                found = self._chosen(arguments, answers, target, kept)
        elif self._may_generate:
            found = self._generated(arguments, answers, target, kept, filter_)
        if found is None:
            return None
        prompt, reference, choices, outputs, key = found
        right = [values[index] in _right_or_wrong for index in self._marked]
        record = Record(
            id=id_,
            prompt=prompt,
            references=[reference],
            choices=choices,
            outputs=outputs,
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
        first = kept[0] if kept else None
        if type(first) is not str:
            return None
        # Whether the answer is what the filter kept.
        is_kept = filter_ in _no_filter and first == texts[0]
        model = self._model
        outputs = [Output(model=model, text=text) for text in texts]
        key = is_kept, len(texts), _members(settings)
        return prompt, target, UNSET, outputs, key

    def _chosen(
        self, arguments: Any, answers: Any, target: str, kept: Any
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
        for request in requests:
            if len(request) != len(PARTS) or request.get(CONTEXT) != prompt:
                return None
        choices = choices_of(requests, self._delimiter)
        found = None if choices is None else chosen(target, choices)
        # Else the target is no index, which is read otherwise.
        if found is None or len(found) > 1 or found[0] == target:
            return None
        outputs = [Output(model=self._model, text=None)]
        return prompt, found[0], choices, outputs, "choice"


def _members(members: dict[str, Any]) -> tuple[Hashable, ...]:
    """Return the keys of an object, and behind None those whose value is null."""
    if None in members.values():
        return (*members, None, *(key for key in members if members[key] is None))
    return tuple(members)
