"""Which model is asked, where, and with which parameters."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harpia_formats.llm_judge.errors import DefinitionError
from harpia_formats.text.spelling import nearest

#: The model that Haystack's page names as the default of its evaluator.
MODEL = "gpt-4o-mini"
#: What Haystack's evaluator sends besides, unless told otherwise.
_params = {"response_format": {"type": "json_object"}, "seed": 42}
_default_url = "https://api.openai.com/v1"
#: Parameters of a request that are not the user's, and those of the client itself.
_ours = frozenset({"messages", "model", "stream", "stream_options"})
_of_client = frozenset({"extra_headers", "extra_query", "timeout"})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible endpoint, and what is asked of it beside a prompt."""

    model: str = MODEL
    url: str = _default_url
    params: Mapping[str, Any] = field(default_factory=lambda: dict(_params))
    organization: str | None = None
    #: Seconds for one request.
    timeout: float = 30.0
    max_retries: int = 5


def endpoint_of(given: Mapping[str, Any]) -> Endpoint:
    """Return the endpoint that parameters name, which are those of `Endpoint`.

    They go by the names that Haystack gives them: `model`, `api_base_url`,
    `generation_kwargs`, `organization`, `timeout`, `max_retries`. A parameter of the
    generation that is None is not sent. The url is that in `OPENAI_BASE_URL` if there
    is none, as for the openai client. Raises `DefinitionError`.
    """
    for each in given:
        if each not in _kinds:
            near = nearest(str(each), _kinds)
            hint = f"; did you mean {near}?" if near else ""
            raise DefinitionError(
                f"api_params has no {each!r}{hint} (known: {', '.join(_kinds)})"
            )
    for name, kind in _kinds.items():
        value = given.get(name)
        if value is not None and (
            not isinstance(value, kind) or isinstance(value, bool)
        ):
            raise DefinitionError(
                f"{name} in api_params is {type(value).__name__}, but must be "
                f"{_words[name]}"
            )
    default = Endpoint()
    url = given.get("api_base_url") or os.environ.get("OPENAI_BASE_URL") or default.url
    return Endpoint(
        model=given.get("model") or default.model,
        url=_checked_url(url),
        params=_params_of(given.get("generation_kwargs") or {}),
        organization=given.get("organization"),
        timeout=_timeout(given, default.timeout),
        max_retries=int(_number(given, "max_retries", default.max_retries)),
    )


_kinds: dict[str, type | tuple[type, ...]] = {
    "model": str,
    "api_base_url": str,
    "generation_kwargs": Mapping,
    "organization": str,
    "timeout": (int, float),
    "max_retries": int,
}
_words = {
    "model": "text",
    "api_base_url": "text",
    "generation_kwargs": "an object",
    "organization": "text",
    "timeout": "a number of seconds",
    "max_retries": "a whole number",
}


def _number(given: Mapping[str, Any], name: str, default: float) -> float:
    value = given.get(name)
    number = default if value is None else value
    if not 0 <= number < float("inf"):
        raise DefinitionError(f"{name} in api_params must be 0 or more, not {number}")
    return number


def _timeout(given: Mapping[str, Any], default: float) -> float:
    """Return the seconds for one request; 0 would mean that nothing can be answered."""
    seconds = _number(given, "timeout", default)
    if not seconds:
        raise DefinitionError(
            "timeout in api_params must be above 0, not 0: leave it out for "
            f"{default:g} seconds"
        )
    return seconds


def _checked_url(url: str) -> str:
    from urllib.parse import urlsplit  # noqa: PLC0415 - for a judge only

    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname)
    except ValueError:
        has_host = False
    if not has_host or parts.scheme not in {"http", "https"}:
        raise DefinitionError(
            "the endpoint must be an address such as https://api.openai.com/v1"
        )
    if parts.username is not None or parts.password is not None or parts.query:
        raise DefinitionError(
            "the endpoint must hold no user, password or query: a key belongs in a "
            "variable of the environment"
        )
    return url.rstrip("/")


def _params_of(given: Mapping[str, Any]) -> dict[str, Any]:
    for each in given:
        if each in _ours or each in _of_client:
            raise DefinitionError(f"{each} cannot stand in generation_kwargs")
    more = given.get("extra_body") or {}
    if not isinstance(more, Mapping):
        raise DefinitionError("extra_body in generation_kwargs must be an object")
    merged = {**_params, **given, **more}
    return {
        key: each
        for key, each in merged.items()
        if each is not None and key != "extra_body"
    }
