"""The format harpia: the instances of an evaluation and the metrics that it runs."""

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
    """Return by which keys `document` is an input, with Portuguese names or English."""
    is_portuguese = _portuguese in document and "instances" not in document
    return sign_of(document, DOCUMENT) if is_portuguese is portuguese else ""


def remarks(instance: Any) -> Iterator[Remark]:
    """Yield remarks on an instance's answer and references (H101-H104, H108)."""
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
            "give one answer as text, or give each answer an instance with its own id",
        )
    if references:
        yield from _reference_remarks(references, instance[references])


def _other_spelling(key: str, name: str) -> Remark:
    return Remark(
        SPELLING,
        (key,),
        f'"{key}" is not how HarpIA spells "{name}"',
        f'rename it to "{name}"',
        at_key=True,
    )


def _no_answer(instance: Mapping[str, Any]) -> Remark:
    """Return the remark on an instance without an answer, at a misspelt key if any."""
    from harpia_formats.model.text.spelling import nearest  # noqa: PLC0415 - start-up: needed for messages only

    name = ANSWER[0]
    key = nearest(name, (other for other in instance if other not in REFERENCES))
    if key:
        message = f'"{name}" is missing, but there is a similar key "{key}"'
        help_ = f'rename it to "{name}"'
        return Remark(NO_ANSWER, (key,), message, help_, at_key=True)
    help_ = f'give the answer of the model in "{name}"'
    return Remark(NO_ANSWER, (), f'"{name}" is missing', help_)


def _reference_remarks(key: str, value: Any) -> Iterator[Remark]:
    if isinstance(value, str):
        yield Remark(
            BARE_REFERENCE,
            (key,),
            f"{key} is one text, not a list of texts",
            "write a list with the text in it",
        )
    elif value == []:
        yield Remark(
            NO_REFERENCE,
            (key,),
            f"{key} is empty, so there is nothing to compare the answer with",
            f"give an acceptable answer, or remove {key}",
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
            lints="harpia_converters.harpia.lints:INSTANCES",
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
            lints="harpia_converters.harpia.lints:INSTANCES",
            remarks_refuse=True,
            documented=False,
            one_of=frozenset({*ANSWER, *REFERENCES, "input"}),
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
