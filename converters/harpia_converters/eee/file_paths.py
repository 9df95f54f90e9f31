"""Names and paths of a samples file and of its aggregate."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harpia_converters.eee.aggregate_settings import AggregateSettings
from harpia_converters.eee.companion import stem_of
from harpia_converters.eee.versions import Version
from harpia_formats.formats.detection.file_name import without_compression
from harpia_formats.model.exact_json import encode
from harpia_formats.model.metric_profile import ScoreError, ScoreOptionsError
from harpia_formats.model.problem import Problem

#: The end of the name of a samples file.
_samples_end = "_samples.jsonl"
#: The path of a samples file in EvalEval's collection, as its schema requires.
_uuid = (
    "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-4[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-"
    f"[0-9A-Fa-f]{{12}}{re.escape(_samples_end)}"
)
_in_collection = re.compile(f"(?:^|/)(data/[^/]+/[^/]+/[^/]+/{_uuid})$")
_is_uuid = re.compile(_uuid).fullmatch
#: The place in an aggregate of the path of its samples file.
_path_key = "detailed_evaluation_results.file_path"


def aggregate_name(name: str | None, settings: AggregateSettings, format_: str) -> str:
    """Return the name of the aggregate for the samples file `name`.

    Raises `ScoreError` if `name` does not end with `_samples.jsonl`, or differs from
    the file name that `--set` gives.
    """
    plain = without_compression(Path(name or "").name)
    if not plain.endswith(_samples_end) or plain == _samples_end:
        raise ScoreOptionsError(
            f"{format_} is written with its aggregate NAME.json beside it: give "
            f"--output NAME{_samples_end}"
        )
    given = settings.values.get(_path_key)
    if given is not None and re.split(r"[/\\]", str(given))[-1] != plain:
        raise ScoreError(
            f"{_path_key} ends with {given!r}, but the output is {plain!r}"
        )
    return f"{stem_of(plain)}.json"


def file_path_of(
    name: str, settings: AggregateSettings, version: Version, evaluated: tuple[str, str]
) -> str:
    """Return the path of the samples file `name` in its collection, "" if in none.

    In version 0.3.0 only a file whose name is a UUID can be in a collection; outside of
    one its path is made of `evaluated`, the names of the evaluation and of the model.
    """
    given = settings.values.get(_path_key)
    path = Path(without_compression(name))
    if given is not None:
        return str(given)
    if not version.is_closed:
        return path.name
    found = _in_collection.search(path.absolute().as_posix())
    if found:
        return found[1]
    if not _is_uuid(path.name):
        return ""
    evaluation, model_id = evaluated
    developer, _, model = model_id.rpartition("/")
    folders = (evaluation, developer, model)
    return "/".join(("data", *map(_folder, folders), path.name))


def _folder(name: str) -> str:
    """Return `name` as the name of one folder, without separators."""
    return re.sub(r"[^\w.-]+", "_", name).strip(".") or "unknown"


def check_valid(
    aggregate: dict[str, Any], first_problem: Callable[[bytes, str], Problem | None]
) -> None:
    """Raise `ScoreError` if an aggregate of the values that `--set` gives is not valid.

    `first_problem` returns the first problem of a document in a format.
    """
    first = first_problem(encode(aggregate), "eee-aggregate")
    if first is not None:
        raise ScoreError(
            "what --set gives for the aggregate is not valid at "
            f"{first.place.pointer or '/'}: {first.message}"
        )
