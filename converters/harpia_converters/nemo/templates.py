"""Recognise which text of a record a template in a NeMo configuration stands for."""

import re
from typing import Any

from harpia_formats.model.metric_profile import ScoreError
from harpia_formats.model.text.describe import short_json

#: What a template can stand for.
REFERENCE, ANSWER = "the reference", "the answer"

#: Fields of an item of the data set, with or without `item.` before them.
_item_fields = {
    "reference": REFERENCE,
    "references": REFERENCE,
    "ideal_response": REFERENCE,
    "input.ideal_response": REFERENCE,
    "response": ANSWER,
    "actual_response": ANSWER,
    "output": ANSWER,
}
#: Fields of the model's answer, with or without `sample.` before them.
_sample_fields = {"output_text": ANSWER}
KNOWN = {
    **{f"item.{name}": meant for name, meant in _item_fields.items()},
    **{f"sample.{name}": meant for name, meant in _sample_fields.items()},
    **_item_fields,
    **_sample_fields,
}
_one_field = re.compile(r"\s*\{\{\s*([A-Za-z_][\w.]*)\s*\}\}\s*")


def meant_by(template: Any, metric: str) -> str:
    """Return what a template of `metric` stands for; raises `ScoreError` if unknown."""
    found = _one_field.fullmatch(template) if isinstance(template, str) else None
    if found is not None and found[1] in KNOWN:
        return KNOWN[found[1]]
    names = ", ".join(name for name in KNOWN if name.startswith(("item.", "sample.")))
    raise ScoreError(
        f"the template {short_json(template)} of the metric {metric} is "
        f"not supported: give one field in {{{{ }}}}, without filters, of {names}"
    )


def expect(template: Any, meaning: str, metric: str) -> None:
    """Raise `ScoreError` unless a template of `metric` stands for `meaning`."""
    found = meant_by(template, metric)
    if found != meaning:
        raise ScoreError(
            f"the template {short_json(template)} of the metric {metric} is {found}, "
            f"but must be {meaning}"
        )
