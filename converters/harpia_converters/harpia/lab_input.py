"""harpia: the instances of an evaluation, and the metrics that it runs."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from harpia_converters.harpia.detection import DOCUMENT, INSTANCE, sign_of
from harpia_converters.harpia.header_checks import header_remarks
from harpia_converters.harpia.keys import ANSWER, REFERENCES, VENDOR, key_in
from harpia_formats.model.format import Container, Dialect, Format, Remark

SPELLING, ANSWERS, BARE_REFERENCE, NO_REFERENCE = "H101", "H102", "H103", "H104"
NO_ANSWER = "H108"

#: The Portuguese name of the list of instances, and of the dialect that has it.
_portuguese = "instancias"


def sniff_document(document: Mapping[str, Any], *, portuguese: bool) -> str:
    """Return the sign that `document` is an input, with these names around it."""
    is_portuguese = _portuguese in document and "instances" not in document
    return sign_of(document, DOCUMENT) if is_portuguese is portuguese else ""


def remarks(instance: Any) -> Iterator[Remark]:
    """Yield what is tolerated in an instance, and whether its answer is missing."""
    if not isinstance(instance, Mapping):
        return
    answer, references = key_in(instance, ANSWER), key_in(instance, REFERENCES)
    for key, name in ((answer, ANSWER[0]), (references, REFERENCES[0])):
        if key and key != name:
            yield _other_spelling(key, name)
    if not answer:
        yield _no_answer(instance)
    elif isinstance(instance[answer], list):
        yield Remark(
            ANSWERS,
            (answer,),
            f"{answer} is a list, not text",
            "give the one answer as text, or each answer an instance with its own id",
        )
    if references:
        yield from _on_references(references, instance[references])


def _other_spelling(key: str, name: str) -> Remark:
    return Remark(
        SPELLING,
        (key,),
        f'"{key}" is not how HarpIA spells "{name}"',
        f'call it "{name}"',
        at_key=True,
    )


def _no_answer(instance: Mapping[str, Any]) -> Remark:
    """Return what is to be said of an instance without an answer, at a near key."""
    from harpia_formats.text.spelling import nearest  # noqa: PLC0415 - for mistakes only

    name = ANSWER[0]
    key = nearest(name, (each for each in instance if each not in REFERENCES))
    if key:
        message = f'"{name}" is missing, and "{key}" is nearly that'
        return Remark(NO_ANSWER, (key,), message, f'call it "{name}"', at_key=True)
    help_ = f'give the answer of the model in "{name}"'
    return Remark(NO_ANSWER, (), f'"{name}" is missing', help_)


def _on_references(key: str, value: Any) -> Iterator[Remark]:
    if isinstance(value, str):
        yield Remark(
            BARE_REFERENCE,
            (key,),
            f"{key} is one text, not a list of texts",
            "put the text into a list",
        )
    elif value == []:
        yield Remark(
            NO_REFERENCE,
            (key,),
            f"{key} is empty, so there is nothing to compare the answer with",
            f"give an answer that is acceptable, or leave {key} out",
        )


FORMAT = Format(
    id="harpia",
    title="Instances and metrics, the input of HarpIA Lab",
    vendor=VENDOR,
    adapter="harpia_converters.harpia.mapping:LAB_INPUT",
    id_key="id",
    dialects=(
        Dialect(
            "harpia",
            partial(sniff_document, portuguese=False),
            container=Container.WRAPPED,
            rows_at="instances",
            strict="harpia-strict",
            remarks=remarks,
            remarks_refuse=True,
            header_remarks=header_remarks,
        ),
        Dialect(
            "harpia",
            partial(sign_of, kind=INSTANCE),
            name="instances",
            rows_at="instances",
            strict="harpia-strict",
            remarks=remarks,
            remarks_refuse=True,
            documented=False,
        ),
        Dialect(
            "harpia-instancias",
            partial(sniff_document, portuguese=True),
            name=_portuguese,
            container=Container.WRAPPED,
            rows_at=_portuguese,
            documented=False,
        ),
    ),
)
