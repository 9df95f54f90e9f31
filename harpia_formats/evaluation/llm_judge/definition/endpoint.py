"""The endpoint of a judge: model, address and request parameters."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from harpia_formats.evaluation.llm_judge.errors import DefinitionError
from harpia_formats.model.text.spelling import hint_on

#: The model that Haystack's page names as the default of its evaluator.
MODEL = "gpt-4o-mini"
#: The default request parameters of Haystack's evaluator.
_params = {"response_format": {"type": "json_object"}, "seed": 42}
_default_url = "https://api.openai.com/v1"
#: Request parameters that users cannot set, and parameters of the client itself.
_reserved_keys = frozenset({"messages", "model", "stream", "stream_options"})
_client_keys = frozenset({"extra_headers", "extra_query", "timeout"})


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible endpoint, and the parameters of its requests."""

    model: str = MODEL
    url: str = _default_url
    params: Mapping[str, Any] = field(default_factory=lambda: dict(_params))
    organization: str | None = None
    #: The time-out of one request, in seconds.
    timeout: float = 30.0
    max_retries: int = 5

    def params_of_vote(self, vote: int) -> dict[str, Any]:
        """Return the parameters of a vote, counted from 0: each has a seed of its own.

        A seed that is not a whole number, or not sent, stays as it is.
        """
        seed = self.params.get("seed")
        if not vote or not isinstance(seed, int) or isinstance(seed, bool):
            return dict(self.params)
        return {**self.params, "seed": seed + vote}


def endpoint_of(given: Mapping[str, Any]) -> Endpoint:
    """Return the endpoint with the given parameters, which have Haystack's names.

    These are `model`, `api_base_url`, `generation_kwargs`, `organization`, `timeout`
    and `max_retries`. A member of `generation_kwargs` that is None is not sent. Without
    `api_base_url` the variable `OPENAI_BASE_URL` is used, as by the openai client.
    Raises `DefinitionError`.
    """
    for key in given:
        if key not in _types:
            raise DefinitionError(
                f"api_params has no {key!r}{hint_on(str(key), _types)}"
            )
    for name, kind in _types.items():
        value = given.get(name)
        if value is not None and (
            not isinstance(value, kind) or isinstance(value, bool)
        ):
            raise DefinitionError(
                f"{name} in api_params is {type(value).__name__}, but must be "
                f"{_type_descriptions[name]}"
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


_types: dict[str, type | tuple[type, ...]] = {
    "model": str,
    "api_base_url": str,
    "generation_kwargs": Mapping,
    "organization": str,
    "timeout": (int, float),
    "max_retries": int,
}
_type_descriptions = {
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
    """Return the time-out of one request in seconds; it must be above 0."""
    seconds = _number(given, "timeout", default)
    if not seconds:
        raise DefinitionError(
            "timeout in api_params must be above 0, not 0: leave it out for "
            f"{default:g} seconds"
        )
    return seconds


def _checked_url(url: str) -> str:
    from urllib.parse import urlsplit  # noqa: PLC0415 - only the judge needs it

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
    for key in given:
        if key in _reserved_keys or key in _client_keys:
            raise DefinitionError(f"{key} cannot be set in generation_kwargs")
    more = given.get("extra_body") or {}
    if not isinstance(more, Mapping):
        raise DefinitionError("extra_body in generation_kwargs must be an object")
    merged = {**_params, **given, **more}
    return {
        key: value
        for key, value in merged.items()
        if value is not None and key != "extra_body"
    }
