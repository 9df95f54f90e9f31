"""Where samples and their aggregate lie, so that they are found to belong together."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harpia_converters.eee.aggregate_settings import Settings
from harpia_converters.eee.companion import stem_of
from harpia_converters.eee.versions import Form
from harpia_formats.detection.file_name import without_compression
from harpia_formats.model.exact_json import encode
from harpia_formats.model.metric_profile import ScoreError
from harpia_formats.model.problem import Problem

#: What the names of samples end with.
_end = "_samples.jsonl"
#: Where upstream's collection keeps samples, as its schema has it.
_uuid = (
    "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-4[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-"
    f"[0-9A-Fa-f]{{12}}{re.escape(_end)}"
)
_in_collection = re.compile(f"(?:^|/)(data/[^/]+/[^/]+/[^/]+/{_uuid})$")
_is_uuid = re.compile(_uuid).fullmatch
#: What is told of an aggregate.
_told = "detailed_evaluation_results.file_path"


def aggregate_name(name: str | None, settings: Settings, format_: str) -> str:
    """Return what the aggregate of samples is called; raises `ScoreError`.

    Its name tells that they belong together, so not every one will do.
    """
    plain = without_compression(Path(name or "").name)
    if not plain.endswith(_end) or plain == _end:
        raise ScoreError(
            f"{format_} is written with its aggregate beside it: name the output with "
            f"--output NAME{_end}, and that is NAME.json"
        )
    given = settings.told.get(_told)
    if given is not None and re.split(r"[/\\]", str(given))[-1] != plain:
        raise ScoreError(f"{_told} ends with {given!r}, but the output is {plain!r}")
    return f"{stem_of(plain)}.json"


def file_path_of(
    name: str, settings: Settings, form: Form, evaluated: tuple[str, str]
) -> str:
    """Return where samples lie in their collection, "" if they are in none.

    In the shape 0.3.0 only a file with a UUID for its name can be in one; a file that
    is not there yet is placed by what was `evaluated`: the evaluation
    and the model.
    """
    given = settings.told.get(_told)
    path = Path(without_compression(name))
    if given is not None:
        return str(given)
    if not form.is_closed:
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
    """Return a name as that of one folder."""
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
