"""The lints of samples: what their targets and metrics are, and their hashes (A1)."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from harpia_converters.lm_eval.sample_fields import (
    CHOICE,
    CONTEXT,
    DELIMITER,
    GENERATE,
    LIKELIHOODS,
    as_objects,
    choices_of,
    chosen,
    first_half,
    guessed_type,
    has_several_inputs,
    is_list_text,
    requests_of,
    texts_of,
)
from harpia_formats.model.adapter import Row
from harpia_formats.model.format import Remark
from harpia_formats.model.lint import Lints, RowLint


def doc_hash(doc: Any) -> str:
    """Return the hash of a document."""
    return _hash_of(json.dumps(doc, indent=2, ensure_ascii=False))


def prompt_hash(context: Any) -> str | None:
    """Return the hash of the first context, None of one that is no text."""
    if isinstance(context, list) and len(context) == 1:
        (context,) = context  # the JSON text of a chat
    return _hash_of(context) if isinstance(context, str) else None


def _hash_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _with_nan(value: Any) -> Any:
    """Return a value in which each null is NaN, which it may have been."""
    if value is None:
        return float("nan")
    if isinstance(value, list):
        return list(map(_with_nan, value))
    if isinstance(value, dict):
        return {key: _with_nan(member) for key, member in value.items()}
    return value


NO_CHOICE, LIST_AS_TEXT, NO_NUMBER = "A121", "A122", "A123"
DOC_HASH, PROMPT_HASH, TARGET_HASH = "A111", "A112", "A113"


def target_remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark on a target that is read otherwise than as it is (A121, A122)."""
    requests, kind = _requests_and_type(row)
    target = row["target"]
    if kind == GENERATE and is_list_text(target):
        references = texts_of(target) or []
        if references != [target]:
            yield Remark(
                LIST_AS_TEXT,
                ("target",),
                "the target is a list as text: it is read as a list of references, "
                f"{len(references):,} in all",
            )
    if kind != CHOICE:
        return
    requests = first_half(requests, DELIMITER)
    choices = choices_of(requests, DELIMITER)
    if not has_several_inputs(requests) and choices and chosen(target, choices) is None:
        yield Remark(
            NO_CHOICE,
            ("target",),
            f"the target is not the index of one of {len(choices):,} choices",
            "it is read as a sample without a reference",
        )


def metric_remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark on each metric that is no number of a sample (A123)."""
    for name in dict.fromkeys(row.get("metrics") or ()):
        value = row.get(name)
        is_number = isinstance(value, (int, float))
        if value is None or (is_number and name not in LIKELIHOODS):
            continue
        what = "a log-likelihood" if is_number else "no number"
        yield Remark(
            NO_NUMBER,
            (name,),
            f"{name} is {what}: what the metric of the task is computed of",
            "it is kept, and is never read as a score",
        )


def hash_remarks(row: Any) -> Iterator[Remark]:
    """Yield a remark on each hash that is not that of what it names (A111-A113)."""
    doc = row["doc"]
    known = row.get("doc_hash", "")
    if known and known not in {doc_hash(doc), doc_hash(_with_nan(doc))}:
        yield _other(DOC_HASH, "doc_hash", "doc")
    requests, _ = _requests_and_type(row)
    found = prompt_hash(requests[0].get(CONTEXT)) if requests else None
    if found and row.get("prompt_hash", found) != found:
        yield _other(PROMPT_HASH, "prompt_hash", "the first context")
    found = _hash_of(str(row["target"]))
    if row.get("target_hash", found) != found:
        yield _other(TARGET_HASH, "target_hash", "target")


def _other(code: str, key: str, what: str) -> Remark:
    return Remark(
        code,
        (key,),
        f"{key} is not the hash of {what}",
        "the row was changed after the run: take the file as the tool wrote it",
    )


def _requests_and_type(row: Mapping[str, Any]) -> tuple[list[Row], str]:
    """Return the requests of a row, and the output type that they seem to have."""
    named = as_objects(dict(row))
    requests = requests_of(named["arguments"])
    return requests, guessed_type(named, requests, DELIMITER)


LINTS = Lints(
    rows=(
        RowLint((NO_CHOICE, LIST_AS_TEXT), target_remarks),
        RowLint((NO_NUMBER,), metric_remarks),
        RowLint((DOC_HASH, PROMPT_HASH, TARGET_HASH), hash_remarks),
    ),
)
