"""The format json: rows of any keys, which a map gives their meaning."""

from collections.abc import Mapping
from typing import Any

from harpia_formats.model.format import Dialect, Format


def sign_of(row: Mapping[str, Any]) -> str:  # noqa: ARG001 - each format has this function
    """Return "": that keys have names says nothing of what they mean."""
    return ""


FORMAT = Format(
    id="json",
    title="Rows of any keys, which --map gives their meaning",
    vendor="any",
    adapter="harpia_converters.hub.any_keys_mapping:ROWS",
    dialects=(Dialect("json", sign_of),),
    id_key="id",
    ids_repeat=True,
    read_only=True,
    general=True,
)
