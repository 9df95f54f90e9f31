"""The names that files may have that are checked against a document."""

import os
from functools import cache
from typing import Any

from harpia_formats.formats.detection.file_name import without_compression
from harpia_formats.formats.detection.sampled_file import Framing
from harpia_formats.formats.registry import all_formats
from harpia_formats.model.format import Companion
from harpia_formats.validation.local import LocalValidation


def companion_names(format_id: str, name: str, document: Any) -> tuple[str, ...]:
    """Return the names of files that are checked against a file called `name`.

    `document` is what it holds, of the format with this id.
    """
    for companion in _companions_by_name():
        if companion.format == format_id and companion.file_names is not None:
            plain = without_compression(os.path.basename(name))  # noqa: PTH119 - several times as fast
            return companion.file_names(plain, companion.expect(document))
    return ()


def names_beside(local: LocalValidation, name: str) -> tuple[str, ...] | None:
    """Return the names of files that are checked against the validated file `name`.

    None if they cannot be known without reading it again: only of a valid document its
    sample is certainly all that it holds.
    """
    merge = local.merge
    plan, sample, count = merge.plan, local.sample, merge.count
    if plan.variant is None:
        return None
    if all(companion.format != plan.format for companion in _companions_by_name()):
        return ()
    is_valid = count.records == 1 and not (count.invalid or count.undetermined)
    is_document = plan.cut is Framing.VALUES and not plan.is_rows
    if sample is None or not (is_valid and is_document and sample.is_one_document):
        return None
    (document,) = sample.rows
    return companion_names(
        plan.format, name, document if isinstance(document, dict) else {}
    )


@cache
def _companions_by_name() -> tuple[Companion, ...]:
    """Return the companions of all formats that are found by their names."""
    companions = (format_.companion for format_ in all_formats().values())
    return tuple(
        companion
        for companion in companions
        if companion is not None and companion.file_names is not None
    )
